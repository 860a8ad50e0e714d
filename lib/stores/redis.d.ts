import type { KeyValueStore } from "../types/stores.js";

/** A client of `redis`: one connection, a pool, a cluster or a sentinel. */
export interface NodeRedisClient {
  sendCommand(...args: never): Promise<unknown>;
  eval(script: string, options: { keys: string[]; arguments: string[] }): Promise<unknown>;
}

/** A client of `ioredis`: one connection or a cluster. */
export interface IoredisClient {
  defineCommand(...args: never): unknown;
  eval(script: string, numberOfKeys: number, ...args: string[]): Promise<unknown>;
}

/** Bun's `RedisClient`, or `Bun.redis`. */
export interface BunRedisClient {
  connect(): Promise<unknown>;
  send(command: string, args: string[]): Promise<unknown>;
}

/** Settings of a store in Redis. */
export interface RedisStoreOptions {
  /**
   * What the names of the store's keys in Redis begin with, `toolwright` if not given. It is written in
   * braces, `{toolwright}:values`, so that all of them are on one node of a Redis Cluster.
   */
  prefix?: string | undefined;
  /** How many milliseconds one operation may take before it fails, up to 599,000; 5,000 if not given. */
  timeoutMs?: number | undefined;
}

/**
 * A store in Redis 6.2 or newer, or Valkey, for the option `store` of a registry: all registries with the
 * same server and prefix share their memories, todos and settings.
 *
 * They also share what belongs to "the user", memories and kept grants. If several people use one server, give
 * each of them another `prefix`.
 *
 * The host owns the connection. Open it before the registry, close it afterwards, and listen for its `error`
 * events: without a listener, `redis` ends the process when the connection is lost. While the server is down or
 * slow, operations fail within `timeoutMs`; they work again when the client has reconnected.
 *
 * Acknowledged changes survive a crash of the server only with `appendonly yes` and `appendfsync always`; with
 * `everysec` the last second is lost. `maxmemory-policy` must not be one of `allkeys-…`, which delete values
 * that were not used lately.
 *
 * @example
 * const client = await createClient({ url: "redis://…" }).on("error", console.error).connect();
 * const registry = createToolRegistry({ store: redisStore(client) });
 */
export declare function redisStore(
  client: NodeRedisClient | IoredisClient | BunRedisClient,
  options?: RedisStoreOptions,
): KeyValueStore;

export type { KeyValueStore };
