// Confirmations that are answered over HTTP, beside listeners in JavaScript.
import { describe, expect, test } from "vitest";
import type { ToolRegistry } from "../../index.js";
import { type Ask, handedOver, json, overSocket, readUntil, readerOf } from "../support/http.js";
import { useAskingRegistries } from "../support/registries.js";
import { useWorkspace } from "../support/workspace.js";

const workspace = useWorkspace();
const registryHere = useAskingRegistries(workspace);

interface Waiting {
  id: string;
  details: { type: string };
  askedAt: number;
  expiresAt: number;
}

/** Waits for the one confirmation that is requested. */
async function question(ask: Ask): Promise<Waiting> {
  for (;;) {
    const { confirmations } = (await (await ask("/api/confirmations")).json()) as {
      confirmations: Waiting[];
    };
    const [first] = confirmations;
    if (first !== undefined) return first;
  }
}

const command = { command: "touch made-by-command" };

function asked(registry: ToolRegistry) {
  return registry.call("Bash", command);
}

describe("a confirmation of a call", () => {
  test("is answered by REST while a server is open, and refused once it is closed", async () => {
    const registry = registryHere({ policy: { ask: ["Bash"] } });
    const before = await asked(registry);
    expect(before).toMatchObject({ isError: true, error: { type: "PolicyDenied" } });
    const server = await registry.serve();
    const ask = handedOver(registry);
    for (const [approved, isError] of [
      [true, undefined],
      [false, true],
    ]) {
      const answer = asked(registry);
      const { id, askedAt, expiresAt } = await question(ask);
      expect(expiresAt).toBeGreaterThan(askedAt);
      const settled = await ask(`/api/confirmations/${id}`, json({ approved }));
      expect([settled.status, await settled.json()]).toEqual([200, { settled: true }]);
      expect((await answer).isError).toBe(isError);
      expect((await ask(`/api/confirmations/${id}`, json({ approved }))).status).toBe(404);
    }
    await server.close();
    expect(await asked(registry)).toEqual(before);
  });

  test("waits while a client reads the events of `fetch`, until it stops", async () => {
    const registry = registryHere({ policy: { ask: ["Bash"] } });
    const ask = handedOver(registry);
    const reader = readerOf(await ask("/api/events"));
    const answer = asked(registry);
    await readUntil(reader, (text) => text.includes("event: confirmation"));
    const { id } = await question(ask);
    await ask(`/api/confirmations/${id}`, json({ approved: true }));
    expect(await answer).not.toHaveProperty("isError");
    await reader.cancel();
    expect(await asked(registry)).toMatchObject({ error: { type: "PolicyDenied" } });
  });

  test("is answered by a listener in JavaScript or over a socket, whichever is first", async () => {
    const registry = registryHere({ policy: { ask: ["Bash"] } });
    const ask = await overSocket(registry);
    const heard: string[] = [];
    registry.messageBus.on("request", ({ id }) => heard.push(id));
    const first = asked(registry);
    const { id } = await question(ask);
    // The server answers on its own threads, so its answer may come before the event.
    await expect.poll(() => heard).toEqual([id]);
    expect((await ask(`/api/confirmations/${id}`, json({ approved: false }))).status).toBe(200);
    expect(await first).toMatchObject({ isError: true });
    const second = asked(registry);
    const { id: next } = await question(ask);
    await expect.poll(() => heard).toEqual([id, next]);
    registry.messageBus.respondToConfirmation({ id: next, approved: true });
    expect(await second).not.toHaveProperty("isError");
    expect((await ask(`/api/confirmations/${next}`, json({ approved: true }))).status).toBe(404);
  });
});
