// The state of the page, as events and lists of the server arrive. The page itself is tested in a browser.
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";

interface Confirmation {
  id: string;
  details?: { diff?: string };
}

interface PageState {
  state: { confirmations: Map<string, Confirmation>; calls: Map<number, { status: string }> };
  take(event: { event: string; data: string }): void;
  loadAll(): Promise<void>;
}

let page: PageState;
/** Answers the pending requests for lists, by the last part of their address. */
let answers: Map<string, (list: object) => void>;

beforeAll(async () => {
  vi.stubGlobal("sessionStorage", { getItem: () => null });
  vi.stubGlobal("requestAnimationFrame", () => 0);
  vi.stubGlobal("fetch", (url: URL) => {
    const list = new Promise((resolve) => {
      answers.set(url.pathname.split("/").at(-1) ?? "", resolve);
    });
    return Promise.resolve({ ok: true, json: () => list });
  });
  const file = new URL("../../crates/http/page/state.js", import.meta.url).href;
  page = (await import(file)) as PageState;
});

afterAll(() => {
  vi.unstubAllGlobals();
});

beforeEach(() => {
  answers = new Map();
});

const tell = (event: string, data: object) => page.take({ event, data: JSON.stringify(data) });
const asked = (id: string) =>
  tell("confirmation", { type: "request", id, details: {}, timeout: 1_000 });

async function answer(list: string, value: object): Promise<void> {
  await expect.poll(() => answers.has(list)).toBe(true);
  answers.get(list)?.(value);
}

test("a request that was too long for its event is taken from the list, where it is complete", async () => {
  tell("confirmation", { type: "request", id: "long", details: { diff: "the beg…" }, cut: true });
  expect(page.state.confirmations.has("long")).toBe(false);
  await answer("confirmations", { confirmations: [{ id: "long", details: { diff: "all" } }] });
  await expect.poll(() => page.state.confirmations.get("long")?.details?.diff).toBe("all");
});

test("a list does not undo events that arrived while it was requested", async () => {
  asked("answered");
  const loaded = page.loadAll();
  asked("new");
  tell("confirmation", { type: "settled", id: "answered", outcome: "denied" });
  tell("call", { number: 1, status: "succeeded" });
  await answer("tools", { tools: [] });
  await answer("tasks", { tasks: [] });
  await answer("calls", { calls: [{ number: 1, status: "running" }] });
  await answer("confirmations", { confirmations: [{ id: "answered", details: {} }] });
  await loaded;
  expect([...page.state.confirmations.keys()]).toEqual(["new"]);
  expect(page.state.calls.get(1)?.status).toBe("succeeded");
});
