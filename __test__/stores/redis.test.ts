// Specific to the store in Redis: its keys, clusters, and clients that return bytes.
import { Cluster, Redis } from "ioredis";
import { RESP_TYPES, createClient, createCluster } from "redis";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { redisStore, type KeyValueStore } from "../../lib/stores/redis.js";
import { change } from "../support/store-clients.mjs";
import { describeWithServer, startRedisCluster } from "../support/store-servers.js";

const quiet = () => {};

/** Runs every operation of a store once. */
async function answersOf(store: KeyValueStore): Promise<unknown[]> {
  const version = await change(store, "a/é", () => "value");
  return [
    await store.get("a/é"),
    await store.list("a/", { limit: 1, keysOnly: false }),
    await store.set("a/é", "late", "another version"),
    await store.delete("a/é", version),
    await store.get("a/é"),
  ];
}

const version = expect.stringMatching(/^[\da-f-]{36}$/);
const ANSWERS = [
  { value: "value", version },
  { entries: [{ key: "a/é", value: "value", version }], hasMore: false },
  undefined,
  true,
  undefined,
];

describeWithServer("redis", (servers) => {
  test("has three keys, and records that expire", async () => {
    const client = await createClient({ url: servers.server.url }).on("error", quiet).connect();
    try {
      const store = redisStore(client, { prefix: "app:one", timeoutMs: 60_000 });
      await store.set("key", "value", null);
      const keys = (await client.keys("*app:one*")).sort();
      expect(keys).toEqual([
        expect.stringMatching(/^\{app:one\}:done:[\da-f-]{36}$/),
        "{app:one}:keys",
        "{app:one}:values",
        "{app:one}:versions",
      ]);
      expect(await client.hGetAll("{app:one}:values")).toEqual({ key: "value" });
      const lifetimes = await Promise.all(keys.map((key) => client.pTTL(key)));
      expect(lifetimes.slice(1)).toEqual([-1, -1, -1]);
      expect(lifetimes[0]).toBeGreaterThan(0);
    } finally {
      client.destroy();
    }
  });

  test("reads answers that the host's client returns as bytes", async () => {
    const client = await createClient({ url: servers.server.url }).on("error", quiet).connect();
    try {
      const givesBytes = client.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer });
      expect(await answersOf(redisStore(givesBytes))).toEqual(ANSWERS);
    } finally {
      client.destroy();
    }
  });

  test("passes on Redis' message when it refuses", async () => {
    const client = new Redis(servers.server.url);
    try {
      await client.set("{taken}:versions", "a text of somebody else");
      await expect(redisStore(client, { prefix: "taken" }).get("key")).rejects.toMatchObject({
        type: "ToolFailed",
        message: expect.stringMatching(/^the store in Redis failed: .*WRONGTYPE/),
      });
    } finally {
      client.disconnect();
    }
  });

  describe("a cluster", () => {
    let cluster: Awaited<ReturnType<typeof startRedisCluster>>;
    beforeAll(async () => {
      cluster = await startRedisCluster();
    });
    afterAll(() => cluster.stop());

    test("keeps a store on one node, with node-redis", async () => {
      const client = createCluster({ rootNodes: [{ url: cluster.url }] }).on("error", quiet);
      await client.connect();
      try {
        expect(await answersOf(redisStore(client))).toEqual(ANSWERS);
      } finally {
        client.destroy();
      }
    });

    test("keeps a store on one node, with ioredis", async () => {
      const client = new Cluster([cluster.url]);
      try {
        expect(await answersOf(redisStore(client))).toEqual(ANSWERS);
      } finally {
        client.disconnect();
      }
    });
  });
});
