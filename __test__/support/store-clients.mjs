// The client libraries that hosts use, by name, and how one of them becomes a store. Also run by processes of
// their own, so plain JavaScript.
import { createRequire } from "node:module";

const require = createRequire(import.meta.url);
const { postgresStore } = require("../../lib/stores/postgres.js");
const { redisStore } = require("../../lib/stores/redis.js");

/** A host listens for errors of its connections; those of outages are what the tests are about. */
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
      // On its own it asks for the types of arrays with each connection. Nobody waits for that, so if the server is
      // gone by then, nobody hears of the failure but the whole process.
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

/** A store with a connection of its own; `options` are those of the store. */
export async function openStore(server, client, url, options) {
  const opened = await CLIENTS[server][client](url);
  return { store: STORES[server](opened.client, options), close: opened.close };
}

/** Changes a value by a function of what is there, as often as it takes against others who do the same. */
export async function change(store, key, changed) {
  for (let tried = 0; ; tried += 1) {
    const old = await store.get(key);
    const version = await store.set(key, changed(old?.value), old?.version ?? null);
    if (version !== undefined) return version;
    // Not in step with the others, or all of them would lose again.
    await new Promise((resolve) => {
      setTimeout(resolve, Math.random() * Math.min(2 ** tried, 30));
    });
  }
}
