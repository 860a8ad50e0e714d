// The official clients against our server, over HTTP: what a client of each era does with the tools.
import { existsSync } from "node:fs";
import { afterEach, describe, expect, test } from "vitest";
import { tool } from "../index.mjs";
import type { ToolRegistry, ToolRegistryOptions } from "../index.js";
import {
  type Connect,
  type Peer,
  type PeerOptions,
  connectNewClient,
  connectNewestClient,
  connectOldClient,
} from "./support/mcp-peers.js";
import { PNG } from "./support/pictures.js";
import { alive, eventually, marker } from "./support/processes.js";
import { deferred, rejection } from "./support/promises.js";
import { useAskingRegistries } from "./support/registries.js";
import { useWorkspace } from "./support/workspace.js";

const workspace = useWorkspace();
const registryOf = useAskingRegistries(workspace);
const peers: Peer[] = [];
afterEach(async () => {
  await Promise.all(peers.splice(0).map((peer) => peer.close()));
});

const PEERS: [title: string, connect: Connect, version: string][] = [
  ["the client of SDK 1", connectOldClient, "2025-11-25"],
  ["the client of SDK 2", connectNewClient, "2025-11-25"],
  ["the client of SDK 2 in the newest era", connectNewestClient, "2026-07-28"],
];

/** A served registry and a client of it. */
async function served(
  connect: Connect,
  options: ToolRegistryOptions = {},
  peerOptions: PeerOptions = {},
): Promise<{ registry: ToolRegistry; peer: Peer }> {
  const registry = registryOf({ toolsets: ["claude"], ...options });
  const { origin, token } = await registry.serve();
  const peer = await connect({ url: `${origin}/mcp`, token }, peerOptions);
  peers.push(peer);
  return { registry, peer };
}

describe.each(PEERS)("%s over HTTP", (_title, connect, version) => {
  test("agrees on a version of the protocol and lists the tools", async () => {
    const { registry, peer } = await served(connect);
    expect(peer.version).toBe(version);
    expect(peer.serverName).toBe("toolwright");
    const tools = await peer.listTools();
    expect(tools.map(({ name }) => name)).toEqual(registry.names());
  });

  test("gets the same result as the host's own call", async () => {
    const file_path = workspace.write("notes.txt", "alpha\nbéta\n");
    const { registry, peer } = await served(connect);
    const { content } = await peer.callTool("Read", { file_path });
    expect(content).toEqual((await registry.call("Read", { file_path })).content);
  });

  test("gets a picture as a picture", async () => {
    const file_path = workspace.write("pixel.png", Buffer.from(PNG, "base64"));
    const { peer } = await served(connect);
    const { content } = await peer.callTool("Read", { file_path });
    expect(content).toContainEqual(
      expect.objectContaining({ type: "image", mimeType: "image/png" }),
    );
  });

  test("is told what failed, and that a tool does not exist", async () => {
    const { peer } = await served(connect);
    const failed = await peer.callTool("Read", { file_path: workspace.path("no") });
    expect(failed.isError).toBe(true);
    expect(JSON.stringify(failed.content)).toContain(workspace.path("no"));
    expect(await rejection(peer.callTool("NoSuchTool", {}))).toMatchObject({ code: -32602 });
  });

  test("hears of progress before the result", async () => {
    const { registry, peer } = await served(connect, { allowedTools: ["walk"] });
    registry.register(
      tool({
        name: "walk",
        handler: (_input, { reportProgress }) => {
          for (const progress of [1, 2, 3]) reportProgress?.({ progress, total: 3 });
          return "there";
        },
      }),
    );
    const heard: number[] = [];
    const onprogress = ({ progress }: { progress: number }) => void heard.push(progress);
    await peer.callTool("walk", {}, { onprogress });
    expect(heard).toEqual([1, 2, 3]);
  });

  test("ends a command by aborting its call", async () => {
    const { peer } = await served(connect, { permissionMode: "bypassPermissions" });
    const id = marker();
    const controller = new AbortController();
    const { signal } = controller;
    const outcome = rejection(peer.callTool("Bash", { command: `sleep ${id}` }, { signal }));
    expect(await eventually(() => alive(id).length > 0, 30_000)).toBe(true);
    controller.abort();
    await outcome;
    expect(await eventually(() => alive(id).length === 0, 30_000)).toBe(true);
  });

  test("ends a command by going away", async () => {
    const { peer } = await served(connect, { permissionMode: "bypassPermissions" });
    const id = marker();
    const outcome = rejection(peer.callTool("Bash", { command: `sleep ${id}` }));
    expect(await eventually(() => alive(id).length > 0, 30_000)).toBe(true);
    await peer.close();
    await outcome;
    expect(await eventually(() => alive(id).length === 0, 30_000)).toBe(true);
  });

  test("hears that a tool has come", async () => {
    const heard = deferred<string[]>();
    const onToolsChanged = (names: string[]) => {
      if (names.includes("late")) heard.resolve(names);
    };
    const { registry } = await served(connect, {}, { onToolsChanged });
    registry.register(tool({ name: "late", handler: () => "" }));
    expect(await heard.promise).toEqual(registry.names());
  });

  test.each([
    ["agrees", { action: "accept", content: { approve: true } }, true],
    ["does not agree", { action: "accept", content: { approve: false } }, false],
    ["declines", { action: "decline" }, false],
  ] as const)("asks its user, who %s", async (_how, answer, isWritten) => {
    const questions: string[] = [];
    const elicit = (message: string) => {
      questions.push(message);
      return answer;
    };
    const { peer } = await served(connect, {}, { elicit });
    const file_path = workspace.path("new.txt");
    const result = await peer.callTool("Write", { file_path, content: "hello" });
    expect(questions).toHaveLength(1);
    expect(questions[0]).toContain("new.txt");
    expect(result.isError ?? false).toBe(!isWritten);
    expect(existsSync(file_path)).toBe(isWritten);
  });

  test.each([true, false])("has the host asked if it can ask nobody: %s", async (approved) => {
    const { registry, peer } = await served(connect);
    registry.messageBus.on("request", ({ id }) => {
      registry.messageBus.respondToConfirmation({ id, approved });
    });
    const file_path = workspace.path("new.txt");
    const result = await peer.callTool("Write", { file_path, content: "hello" });
    expect(result.isError ?? false).toBe(!approved);
    expect(existsSync(file_path)).toBe(approved);
  });
});
