// The client libraries of hosts, by name, and how to make a store of each. Plain JavaScript, because separate
// processes run it too.
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
const { postgresStore } = require("../../lib/stores/postgres.js");
const { redisStore } = require("../../lib/stores/redis.js");

/** Ignores errors of connections, as a host that listens for them: the tests cause outages. */
const heard = () => {};

const CLIENTS = {
  redis: {
    "node-redis": async (url) => {
      const { createClient } = await import("redis");
      const client = createClient({ url }).on("error", heard);
      await client.connect();
      return { client, close: () => client.destroy() };
    },
    "node-redis pool": async (url) => {
      const { createClientPool } = await import("redis");
      const client = createClientPool({ url }).on("error", heard);
      await client.connect();
      return { client, close: () => client.destroy() };
    },
    ioredis: async (url) => {
      const { Redis } = await import("ioredis");
      const client = new Redis(url).on("error", heard);
      return { client, close: () => client.disconnect() };
    },
    ...(process.versions.bun && {
      "Bun.RedisClient": async (url) => {
        const client = new globalThis.Bun.RedisClient(url);
        return { client, close: () => client.close() };
      },
    }),
  },
  postgres: {
    "pg Pool": async (url) => {
      const { Pool } = (await import("pg")).default;
      const client = new Pool({ connectionString: url }).on("error", heard);
      return { client, close: () => client.end() };
    },
    "pg Client": async (url) => {
      const { Client } = (await import("pg")).default;
      const client = new Client({ connectionString: url }).on("error", heard);
      await client.connect();
      return { client, close: () => client.end() };
    },
    "postgres.js": async (url) => {
      const { default: postgres } = await import("postgres");
      // By default it queries the types of arrays on each connection and does not await the answer. If the server is
      // down by then, the unhandled rejection ends the process.
      const client = postgres(url, { onnotice: heard, fetch_types: false });
      return { client, close: () => client.end({ timeout: 0 }) };
    },
    ...(process.versions.bun && {
      "Bun.SQL": async (url) => {
        const client = new globalThis.Bun.SQL(url);
        return { client, close: () => client.close({ timeout: 0 }) };
      },
    }),
  },
};

const STORES = { redis: redisStore, postgres: postgresStore };

/** The names of the clients of a server that this runtime has. */
export function clientsOf(server) {
  return Object.keys(CLIENTS[server]);
}

/** A store with its own connection; `options` are those of the store. */
export async function openStore(server, client, url, options) {
  const opened = await CLIENTS[server][client](url);
  return { store: STORES[server](opened.client, options), close: opened.close };
}

/** Changes a value by a function of the current one, and retries after a conflict with others. */
export async function change(store, key, changed) {
  for (let tried = 0; ; tried += 1) {
    const old = await store.get(key);
    const version = await store.set(key, changed(old?.value), old?.version ?? null);
    if (version !== undefined) return version;
    // A random delay, because processes in step would conflict again.
    await new Promise((resolve) => {
      setTimeout(resolve, Math.random() * Math.min(2 ** tried, 30));
    });
  }
}
