// The shared stores, against real servers that are slow, gone, killed and restarted.
import { describe, expect, test, vi } from "vitest";
import type { KeyValueStore } from "../../lib/types/stores.js";
import { LoopbackProxy } from "../support/loopback-proxy.js";
import { change } from "../support/store-clients.mjs";
import { describeWithServer } from "../support/store-servers.js";

const NAMES = { redis: "Redis", postgres: "PostgreSQL" };
/** Clients that do not reconnect by themselves. */
const STAYS_GONE = new Set(["pg Client"]);
/** Clients that are connected before the store is made. */
const CONNECTED_BEFORE = new Set(["node-redis", "node-redis pool", "pg Client"]);

const CHANGES = 1_000;
const AT_ONCE = 4;
/** After how many acknowledged changes the server is killed. */
const KILLED_AFTER = [100, 300, 500, 700, 900];

/** Far longer than any of them takes on a loaded machine. */
vi.setConfig({ testTimeout: 600_000 });

const pause = () =>
  new Promise((resolve) => {
    setTimeout(resolve, 10);
  });

/** Every operation of a store, as functions. */
function everything(store: KeyValueStore): (() => Promise<unknown>)[] {
  return [
    () => store.get("key"),
    () => store.set("key", "changed", null),
    () => store.delete("another key"),
    () => store.list("", { limit: 10, keysOnly: false }),
  ];
}

/** Repeats an operation until it succeeds, because the client decides when it reconnects. */
async function answer<T>(ask: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch {
      await pause();
    }
  }
}

/** The outcome of a change: the answer, or the type of the error. */
function outcomeOf(pending: Promise<unknown>): Promise<unknown> {
  return pending.then(
    (value) => ({ value }),
    (error: { type?: string }) => ({ failed: error.type }),
  );
}

for (const server of ["redis", "postgres"] as const) {
  describeWithServer(server, (servers, clients) => {
    const failure = new RegExp(
      `^the store in ${NAMES[server]} (?:failed: .|did not answer within \\d+ ms)`,
    );
    const unknown = /; the change may have been made, look at the value before changing it again$/;

    describe.each(clients.filter((client) => !STAYS_GONE.has(client)))("with %s", (client) => {
      test("loses no acknowledged change when the server is killed during changes", async () => {
        const store = await servers.open(client, { ...servers.newPlace(), timeoutMs: 2_000 });
        const acknowledged = new Set<string>();
        const failures: { type: string; message: string }[] = [];
        const restarts: Promise<void>[] = [];
        const restart = async () => {
          await servers.server.kill();
          await servers.server.start();
        };

        const add = async (item: string) => {
          for (;;) {
            try {
              const old = await store.get("list");
              const list: string[] = JSON.parse(old?.value ?? "[]");
              // A change whose answer was lost may have been made.
              if (list.includes(item)) return;
              const value = JSON.stringify([...list, item]);
              if (await store.set("list", value, old?.version ?? null)) {
                acknowledged.add(item);
                if (KILLED_AFTER.includes(acknowledged.size)) restarts.push(restart());
                return;
              }
            } catch (error) {
              failures.push(error as (typeof failures)[number]);
            }
            await pause();
          }
        };
        const items = Array.from({ length: CHANGES }, (_, index) => `item ${index}`);
        const remaining = [...items];
        const worker = async () => {
          for (let item = remaining.shift(); item !== undefined; item = remaining.shift()) {
            await add(item);
          }
        };
        await Promise.all(Array.from({ length: AT_ONCE }, worker));
        await Promise.all(restarts);

        expect(restarts).toHaveLength(KILLED_AFTER.length);
        for (const { type, message } of failures) {
          expect(["ToolFailed", "TimeoutError"]).toContain(type);
          expect(message).toMatch(failure);
        }
        const list: string[] = JSON.parse((await answer(() => store.get("list")))?.value ?? "[]");
        expect([...acknowledged].filter((item) => !list.includes(item))).toEqual([]);
        expect([...list].sort()).toEqual([...items].sort());
      });

      test("fails while the server is down, and works when it is back", async () => {
        const place = servers.newPlace();
        const patient = await servers.open(client, place);
        const version = await patient.set("kept", "value", null);
        const store = await servers.open(client, { ...place, timeoutMs: 500 });
        await servers.server.kill();
        try {
          for (const ask of everything(store)) {
            await expect(ask()).rejects.toThrow(failure);
          }
          await expect(store.set("kept", "lost", version ?? null)).rejects.toThrow(unknown);
        } finally {
          await servers.server.start();
        }
        const kept = await answer(() => store.get("kept"));
        // The client may have queued the last change.
        expect(["value", "lost"]).toContain(kept?.value);
        const changed = await answer(() => change(patient, "kept", () => "changed"));
        expect(await answer(() => store.get("kept"))).toEqual({
          value: "changed",
          version: changed,
        });
      });

      test("distinguishes a change that was made from one that was not, when the answer is lost", async () => {
        const proxy = await LoopbackProxy.before(servers.server.port);
        try {
          const place = servers.newPlace();
          const other = await servers.open(client, place);
          const url = proxy.through(servers.server.url);
          const store = await servers.open(client, { ...place, timeoutMs: 60_000 }, url);
          const ours = [
            (version: string) => store.set("key", "ours", version),
            (version: string) => store.delete("key", version),
          ];
          for (const make of ours) {
            const base = await change(other, "key", () => "base");
            expect((await answer(() => store.get("key")))?.value).toBe("base");
            const withheld = proxy.withholdAnswers();
            const outcome = outcomeOf(make(base));
            await withheld;
            await change(other, "key", () => "theirs");
            proxy.cut();
            // A client that repeats its request must not get a conflict, because its change was made.
            expect([
              { value: expect.stringMatching(/./) },
              { value: true },
              { failed: "ToolFailed" },
            ]).toContainEqual(await outcome);
            expect((await other.get("key"))?.value).toBe("theirs");
          }
        } finally {
          await proxy.close();
        }
      });
    });

    describe.each(clients)("with %s", (client) => {
      test("fails in time when the server hangs, and works when it continues", async () => {
        const proxy = await LoopbackProxy.before(servers.server.port);
        try {
          const settings = { ...servers.newPlace(), timeoutMs: 500 };
          const store = await servers.open(client, settings, proxy.through(servers.server.url));
          expect(await answer(() => store.list("", { limit: 1, keysOnly: true }))).toEqual({
            entries: [],
            hasMore: false,
          });
          proxy.stall();
          for (const ask of everything(store)) {
            await expect(ask()).rejects.toMatchObject({
              type: "TimeoutError",
              message: expect.stringContaining(`${NAMES[server]} did not answer within 500 ms`),
            });
          }
          const signal = AbortSignal.timeout(10);
          await expect(store.get("key", { signal })).rejects.toMatchObject({ type: "Cancelled" });
          proxy.resume();
          await answer(() => change(store, "key", () => "moved"));
          expect((await answer(() => store.get("key")))?.value).toBe("moved");
        } finally {
          await proxy.close();
        }
      });
    });

    test.each(clients.filter((client) => !CONNECTED_BEFORE.has(client)))(
      "fails in time when no connection is ever made, with %s",
      async (client) => {
        const proxy = await LoopbackProxy.before(servers.server.port);
        try {
          proxy.stall();
          const settings = { ...servers.newPlace(), timeoutMs: 300 };
          const store = await servers.open(client, settings, proxy.through(servers.server.url));
          for (const ask of everything(store)) await expect(ask()).rejects.toThrow(failure);
          proxy.resume();
          await answer(() => change(store, "key", () => "connected"));
          expect((await answer(() => store.get("key")))?.value).toBe("connected");
        } finally {
          await proxy.close();
        }
      },
    );
  });
}
