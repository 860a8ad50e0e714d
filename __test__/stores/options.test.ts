// The options of the shared stores: clients, settings, and how they are imported.
import { createRequire } from "node:module";
import { describe, expect, test } from "vitest";
import { postgresStore } from "../../lib/stores/postgres.js";
import { redisStore } from "../../lib/stores/redis.js";

/** Types do not protect callers in JavaScript. */
const untyped = (make: unknown) => make as (client: unknown, options?: unknown) => unknown;

const answer = async () => [];
const nodeRedis = { eval: answer, sendCommand: answer };
const ioredis = { eval: answer, sendCommand: answer, defineCommand: () => {} };
const bunRedis = { eval: answer, send: answer, connect: answer };
const pg = { query: async () => ({ rows: [] }), connect: answer };
const postgresJs = Object.assign(() => {}, { unsafe: answer });
const bunSql = (adapter: string) =>
  Object.assign(() => {}, { unsafe: answer, options: { adapter } });

const REFUSED: [string, unknown][] = [
  ["undefined", undefined],
  ["null", null],
  ["the string `redis://localhost`", "redis://localhost"],
  ["an object", {}],
  ["an object", { query: answer }],
];

describe("redisStore", () => {
  const make = untyped(redisStore);

  test("accepts the clients of three libraries", () => {
    for (const client of [nodeRedis, ioredis, bunRedis]) {
      expect(make(client, { timeoutMs: 20_000 })).toEqual({
        timeoutMs: 21_000,
        get: expect.any(Function),
        set: expect.any(Function),
        delete: expect.any(Function),
        list: expect.any(Function),
      });
    }
  });

  test.each([...REFUSED, ["an object", pg] as const])("refuses %s as a client", (shown, client) => {
    expect(() => make(client)).toThrow(
      expect.objectContaining({
        type: "InvalidOptions",
        message: `redisStore needs a client of \`redis\` or \`ioredis\`, or Bun's RedisClient, got ${shown}`,
      }),
    );
  });

  test.each(["", "{a}", "a}", "a\0", 5, null])("refuses %j as a prefix", (prefix) => {
    expect(() => make(nodeRedis, { prefix })).toThrow("`prefix` must be a text without braces");
  });
});

describe("postgresStore", () => {
  const make = untyped(postgresStore);

  test("accepts the clients of three libraries", () => {
    for (const client of [pg, postgresJs, bunSql("postgres")]) {
      expect(make(client)).toHaveProperty("list");
    }
  });

  test.each([...REFUSED, ["an object", ioredis] as const])(
    "refuses %s as a client",
    (shown, client) => {
      expect(() => make(client)).toThrow(
        expect.objectContaining({
          type: "InvalidOptions",
          message: `postgresStore needs a Pool or Client of \`pg\`, a client of \`postgres\`, or Bun's SQL, got ${shown}`,
        }),
      );
    },
  );

  test.each(["mysql", "sqlite"])("refuses Bun's SQL for %s", (adapter) => {
    expect(() => make(bunSql(adapter))).toThrow(
      `postgresStore needs PostgreSQL, got a client of \`${adapter}\``,
    );
  });

  test.each(["", "a b", 'a"b', "a.b.c", "1a", ".a", "a.", "x".repeat(64), "a;b", "é", 5, null])(
    "refuses %j as a table",
    (table) => {
      expect(() => make(pg, { table })).toThrow("`table` must be a name such as");
    },
  );

  test.each(["a", "A", "_", "schema.table_1", "select", "x".repeat(63)])(
    "accepts %j as a table",
    (table) => {
      expect(() => make(pg, { table })).not.toThrow();
    },
  );
});

test.each([0, -1, 1.5, Number.NaN, 599_001, "5000", null])(
  "refuses %j as a time limit",
  (timeoutMs) => {
    for (const make of [
      () => untyped(redisStore)(nodeRedis, { timeoutMs }),
      () => untyped(postgresStore)(pg, { timeoutMs }),
    ]) {
      expect(make).toThrow("`timeoutMs` must be a whole number from 1 to 599000");
    }
  },
);

test("the package exports the same functions to import and to require", async () => {
  const require = createRequire(import.meta.url);
  for (const [path, name, store] of [
    ["toolwright/stores/redis", "redisStore", redisStore],
    ["toolwright/stores/postgres", "postgresStore", postgresStore],
  ] as const) {
    const imported = (await import(path)) as Record<string, unknown>;
    const required = require(path) as Record<string, unknown>;
    expect(Object.keys(imported)).toEqual([name]);
    expect(Object.keys(required)).toEqual([name]);
    expect(imported[name]).toBe(required[name]);
    expect(String(required[name])).toBe(String(store));
  }
});
