// The shared stores, against real servers: the contract of a store, with every client library.
import { beforeAll, describe, expect, test } from "vitest";
import type { KeyValueStore, StoreEntry } from "../../lib/types/stores.js";
import { describeWithServer } from "../support/store-servers.js";

const NOBODYS = "00000000-0000-0000-0000-000000000000";
/** Sorted by their bytes in UTF-8. In UTF-16, JavaScript's order, the last two are swapped. */
const IN_ORDER = ["", "!", "%", "*", "A", "Z", "[", "\\", "_", "a", "{", "é", "ﬀ", "😀"];

/** Sets a value that must not exist yet. */
async function create(store: KeyValueStore, key: string, value = key): Promise<string> {
  const version = await store.set(key, value, null);
  if (typeof version !== "string") throw new Error(`\`${key}\` was there`);
  return version;
}

/** All entries, read in pages. */
async function listed(
  store: KeyValueStore,
  prefix: string,
  { limit, keysOnly = false }: { limit: number; keysOnly?: boolean },
): Promise<StoreEntry[]> {
  const entries: StoreEntry[] = [];
  for (;;) {
    const after = entries.at(-1)?.key;
    const page = await store.list(prefix, { after, limit, keysOnly });
    expect(page.entries.length).toBeLessThanOrEqual(limit);
    entries.push(...page.entries);
    if (!page.hasMore) return entries;
    expect(page.entries).not.toEqual([]);
  }
}

const keysOf = (entries: StoreEntry[]) => entries.map(({ key }) => key);

for (const server of ["redis", "postgres"] as const) {
  describeWithServer(server, (servers, clients) => {
    describe.each(clients)("with %s", (client) => {
      let store: KeyValueStore;
      beforeAll(async () => {
        store = await servers.open(client);
      });

      test.each([
        ["a plain one", "plain"],
        ["an empty one", ""],
        ["one with quotes and line breaks", "'; DROP TABLE x; --\r\n\t\"`\\"],
        ["one beyond ASCII", "naïve 😀 ￿ \u{10ffff}"],
        ["one that looks like something else", '{"a":[1,null]}'],
        ["one of 1 MiB", "é".repeat(512 * 1024)],
      ])("returns a value unchanged: %s", async (name, value) => {
        const key = `round trip/${name}`;
        expect((await store.get(key)) ?? undefined).toBeUndefined();
        const version = await create(store, key, value);
        expect(await store.get(key)).toEqual({ value, version });
      });

      test("accepts any text as a key", async () => {
        for (const key of IN_ORDER) {
          const version = await create(store, `key/${key}`, "here");
          expect(await store.get(`key/${key}`)).toEqual({ value: "here", version });
        }
        const version = await create(store, "", "the empty key");
        expect(await store.get("")).toEqual({ value: "the empty key", version });
        expect(await store.delete("", version)).toBe(true);
      });

      test("sets a value only if the caller names its version", async () => {
        const first = await create(store, "cas", "one");
        expect((await store.set("cas", "again", null)) ?? undefined).toBeUndefined();
        expect((await store.set("cas", "wrong", NOBODYS)) ?? undefined).toBeUndefined();
        expect((await store.set("cas", "empty", "")) ?? undefined).toBeUndefined();
        const second = await store.set("cas", "two", first);
        expect((await store.set("cas", "late", first)) ?? undefined).toBeUndefined();
        expect(await store.get("cas")).toEqual({ value: "two", version: second });
        expect((await store.set("cas/absent", "x", NOBODYS)) ?? undefined).toBeUndefined();
        expect((await store.set("cas/absent", "x", "")) ?? undefined).toBeUndefined();
        expect((await store.get("cas/absent")) ?? undefined).toBeUndefined();
      });

      test("deletes a value with its version, not with another one, and always without one", async () => {
        const version = await create(store, "delete", "one");
        expect(await store.delete("delete", NOBODYS)).toBe(false);
        expect(await store.delete("delete", "")).toBe(false);
        expect(await store.delete("delete", version)).toBe(true);
        expect(await store.delete("delete", version)).toBe(false);
        expect(await store.delete("delete")).toBe(false);
        await create(store, "delete", "two");
        expect(await store.delete("delete", null)).toBe(true);
        expect((await store.get("delete")) ?? undefined).toBeUndefined();
        expect(await listed(store, "delete", { limit: 10 })).toEqual([]);
      });

      test("never uses a version twice, even if a value is created again", async () => {
        const versions = [];
        for (let round = 0; round < 5; round += 1) {
          const created = await create(store, "aba", "same");
          versions.push(created, await store.set("aba", "same", created));
          expect(await store.delete("aba")).toBe(true);
        }
        expect(new Set(versions).size).toBe(10);
        await create(store, "aba", "same");
        for (const old of versions) {
          expect((await store.set("aba", "late", old ?? null)) ?? undefined).toBeUndefined();
          expect(await store.delete("aba", old)).toBe(false);
        }
        expect((await store.get("aba"))?.value).toBe("same");
      });

      test.each([1, 2, 3, 100])("lists keys by their bytes, in pages of %i", async (limit) => {
        const prefix = `order ${limit}/`;
        const keys = IN_ORDER.map((name) => prefix + name);
        const versions = new Map<string, string>();
        for (const key of [...keys].reverse()) versions.set(key, await create(store, key));
        expect(await listed(store, prefix, { limit })).toEqual(
          keys.map((key) => ({ key, value: key, version: versions.get(key) })),
        );
        expect(await listed(store, prefix, { limit, keysOnly: true })).toEqual(
          keys.map((key) => ({ key, version: versions.get(key) })),
        );
      });

      test("treats a prefix literally", async () => {
        const names = [
          "a",
          "a%",
          "a%b",
          "aXb",
          "a_b",
          "a*",
          "a?",
          "a[bc]",
          "a\\",
          "a\\b",
          "b",
          "A",
        ];
        for (const name of names) await create(store, `letter/${name}`);
        for (const prefix of names.map((name) => `letter/${name}`)) {
          const wanted = names
            .map((name) => `letter/${name}`)
            .filter((it) => it.startsWith(prefix));
          const found = keysOf(await listed(store, prefix, { limit: 3 }));
          expect(found).toEqual(wanted.sort());
        }
      });

      test("lists the keys after a prefix at the end of Unicode, and none before it", async () => {
        const keys = [
          "end/\u{10ffff}",
          "end/\u{10ffff}\u{10ffff}",
          "end/\u{10ffff}a",
          "end/\ud7ff!",
        ];
        for (const key of keys) await create(store, key);
        const prefixed = keysOf(await listed(store, "end/\u{10ffff}", { limit: 2 }));
        expect(prefixed).toEqual([keys[0], keys[2], keys[1]]);
        expect(keysOf(await listed(store, "end/\ud7ff", { limit: 2 }))).toEqual([keys[3]]);
        expect(keysOf(await listed(store, "\u{10ffff}", { limit: 2 }))).toEqual([]);
      });

      test("starts a page after a key, whether it exists or not", async () => {
        for (const name of ["a", "c", "e"]) await create(store, `after/${name}`);
        const from = async (after: string) =>
          keysOf((await store.list("after/", { after, limit: 9, keysOnly: true })).entries);
        expect(await from("after/a")).toEqual(["after/c", "after/e"]);
        expect(await from("after/b")).toEqual(["after/c", "after/e"]);
        expect(await from("after/e")).toEqual([]);
        expect(await from("aft")).toEqual(["after/a", "after/c", "after/e"]);
        expect(await from("b")).toEqual([]);
        // By bytes, 😀 comes after ﬀ; in UTF-16 it comes before.
        await create(store, "ﬀ/behind");
        const page = await store.list("ﬀ", { after: "😀", limit: 9, keysOnly: true });
        expect(page).toEqual({ entries: [], hasMore: false });
      });

      test("ends a page early when its values are large", async () => {
        const keys = Array.from({ length: 12 }, (_, index) => `large/${index + 10}`);
        const value = "x".repeat(1024 * 1024);
        for (const key of keys) await create(store, key, value);
        const page = await store.list("large/", { limit: 1_000, keysOnly: false });
        expect(keysOf(page.entries)).toEqual(keys.slice(0, 8));
        expect(page.hasMore).toBe(true);
        expect(keysOf(await listed(store, "large/", { limit: 1_000 }))).toEqual(keys);
        const all = await store.list("large/", { limit: 12, keysOnly: true });
        expect([keysOf(all.entries), all.hasMore]).toEqual([keys, false]);
        for (const key of keys) await store.delete(key);
      });

      test("lets one of many callers create a value, and one of many replace it", async () => {
        const racers = Array.from({ length: 20 }, (_, index) => `racer ${index}`);
        const race = async (expected: string | null) => {
          const versions = await Promise.all(racers.map((it) => store.set("race", it, expected)));
          const won = versions.flatMap((version, index) => (version ? [{ version, index }] : []));
          expect(won).toHaveLength(1);
          const value = racers[won[0]?.index ?? -1];
          expect(await store.get("race")).toEqual({ value, version: won[0]?.version });
          return won[0]?.version ?? null;
        };
        await race(await race(null));
        const deleted = await Promise.all(racers.map(() => store.delete("race")));
        expect(deleted.filter(Boolean)).toHaveLength(1);
      });

      test("refuses what a server would not return unchanged", async () => {
        const nul = /^the (?:key|value|prefix) has a NUL character; leave it out$/;
        const half = /^the (?:key|value|prefix) has half of a surrogate pair/;
        for (const [text, message] of [
          ["a\0b", nul],
          ["a\ud83d", half],
        ] as const) {
          const refused = { type: "ValidationError", message: expect.stringMatching(message) };
          await expect(store.get(text)).rejects.toMatchObject(refused);
          await expect(store.set(text, "v", null)).rejects.toMatchObject(refused);
          await expect(store.set("k", text, null)).rejects.toMatchObject(refused);
          await expect(store.delete(text)).rejects.toMatchObject(refused);
          await expect(store.list(text, { limit: 1, keysOnly: true })).rejects.toMatchObject(
            refused,
          );
        }
        await expect(store.list("", { limit: 0, keysOnly: true })).rejects.toThrow(
          "`limit` must be a whole number from 1, got number `0`",
        );
        await expect(store.get(5 as unknown as string)).rejects.toThrow(
          "the key must be a string, got number `5`",
        );
      });

      test("rejects when the caller aborts", async () => {
        const aborted = { type: "Cancelled", name: "AbortError", cause: "enough" };
        const signal = AbortSignal.abort("enough");
        await expect(store.get("k", { signal })).rejects.toMatchObject(aborted);
        const controller = new AbortController();
        const pending = store.set("aborted", "v", null, { signal: controller.signal });
        controller.abort("enough");
        await expect(pending).rejects.toMatchObject(aborted);
      });

      test("shares a table or prefix with others, and nothing with another one", async () => {
        const place = servers.newPlace();
        const [one, same, other] = await Promise.all([
          servers.open(client, place),
          servers.open(client, place),
          servers.open(client),
        ]);
        const version = await create(one, "shared", "value");
        expect(await same.get("shared")).toEqual({ value: "value", version });
        expect((await other.get("shared")) ?? undefined).toBeUndefined();
        expect(await same.delete("shared", version)).toBe(true);
        expect((await one.get("shared")) ?? undefined).toBeUndefined();
      });
    });

    test("understands values that any client has written", async () => {
      const place = servers.newPlace();
      const stores = await Promise.all(clients.map((client) => servers.open(client, place)));
      let version: string | null = null;
      for (const [index, store] of stores.entries()) {
        version = (await store.set("key", `written by ${index}`, version)) ?? null;
        const read = await Promise.all(stores.map((it) => it.get("key")));
        expect(read).toEqual(stores.map(() => ({ value: `written by ${index}`, version })));
      }
    });
  });
}
