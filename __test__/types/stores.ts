// Checked by tsc, never run: the stores take the clients as their packages declare them.
import { Redis, Cluster } from "ioredis";
import { Client, Pool } from "pg";
import postgres from "postgres";
import { createClient, createClientPool, createCluster } from "redis";
import { postgresStore } from "../../lib/stores/postgres.js";
import { redisStore, type KeyValueStore } from "../../lib/stores/redis.js";

const stores: KeyValueStore[] = [
  redisStore(createClient()),
  redisStore(await createClient({ RESP: 3 }).connect()),
  redisStore(createClientPool()),
  redisStore(createCluster({ rootNodes: [] }), { prefix: "app", timeoutMs: 1_000 }),
  redisStore(new Redis(), {}),
  redisStore(new Cluster([]), { prefix: undefined }),
  postgresStore(new Pool()),
  postgresStore(new Client(), { table: "app.store", timeoutMs: undefined }),
  postgresStore(postgres()),
];

// @ts-expect-error: an object that is no client
redisStore({});
// @ts-expect-error: the wrong kind of server
redisStore(new Pool());
// @ts-expect-error: the wrong kind of server
postgresStore(new Redis());

export { stores };
