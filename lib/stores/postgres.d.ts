import type { KeyValueStore } from "../types/stores.js";

/** A `Pool` or `Client` of `pg`. */
export interface PgClient {
  connect(...args: never): unknown;
  query(config: { text: string; values: string[] }): Promise<{ rows: unknown[] }>;
}

/** A client of `postgres` (postgres.js), or Bun's `SQL` for PostgreSQL. */
export interface PostgresClient {
  (...args: never): unknown;
  unsafe(statement: string, values: string[]): PromiseLike<unknown>;
}

/** Settings of a store in PostgreSQL. */
export interface PostgresStoreOptions {
  /**
   * The table, `toolwright_store` if not given; `schema.table` where it is not in the search path. It is
   * made when it is missing.
   */
  table?: string | undefined;
  /** How many milliseconds one operation may take before it fails, up to 599,000; 5,000 if not given. */
  timeoutMs?: number | undefined;
}

/**
 * A store in a table of PostgreSQL 11 or newer, for the option `store` of a registry: all registries with the
 * same table share their memories, todos and settings.
 *
 * They also share what belongs to "the user", memories and kept grants. If several people use one server, give
 * each of them another `table`.
 *
 * The host owns the connection. Close it after the registry, and listen for the `error` events of a `Pool`:
 * without a listener, `pg` ends the process when the connection is lost. While the server is down or slow,
 * operations fail within `timeoutMs`; they work again when it is back. A `Client` of `pg` never reconnects: use
 * a `Pool`.
 *
 * Acknowledged changes survive a crash of the server unless `synchronous_commit` or `fsync` is off.
 *
 * @example
 * const pool = new Pool({ connectionString: "postgres://…" }).on("error", console.error);
 * const registry = createToolRegistry({ store: postgresStore(pool) });
 */
export declare function postgresStore(
  client: PgClient | PostgresClient,
  options?: PostgresStoreOptions,
): KeyValueStore;

export type { KeyValueStore };
