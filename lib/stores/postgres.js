"use strict";

/**
 * @import { KeyValueStore } from "../types/stores"
 * @import { PgClient, PostgresClient, PostgresStoreOptions } from "./postgres.js"
 * @typedef {{ key: string, value: string, version: string, total: number }} Row
 * @typedef {(statement: string, values: string[], waiting: AbortSignal) => Promise<Row[]>} Query
 */

const { shown } = require("../boundary/errors.js");
const { checkedStore, readTimeout, wrongOption } = require("./checked-store.js");
const { keyRange } = require("./key-order.js");

/** How many bytes of values a page has before it ends early. */
const MAX_PAGE_BYTES = 8 * 1024 * 1024;

const UNDEFINED_TABLE = "42P01";
/** Errors when several processes make the same table at the same moment. The table exists by then. */
const MADE_BY_ANOTHER = ["23505", "42P07", "42710"];
/** In stricter isolation levels than the default: the row was changed by others, and nothing was done. */
const CHANGED_BY_ANOTHER = "40001";

/**
 * A store in a table of PostgreSQL, over the client that the host already has. See postgres.d.ts.
 *
 * @param {PgClient | PostgresClient} client
 * @param {PostgresStoreOptions} options
 * @returns {KeyValueStore}
 */
function postgresStore(client, options = {}) {
  const timeoutMs = readTimeout(options?.timeoutMs);
  const query = queryOf(client, timeoutMs);
  const table = quoted(options?.table);

  /**
   * Runs a statement, and makes the table only if it is missing: a role that may use the table need not
   * have the right to make it.
   *
   * @type {Query}
   */
  async function rowsOf(statement, values, waiting) {
    try {
      return await query(statement, values, waiting);
    } catch (error) {
      if (!hasState(error, UNDEFINED_TABLE)) throw error;
    }
    await makeTable(waiting);
    return query(statement, values, waiting);
  }

  /** @param {AbortSignal} waiting */
  async function makeTable(waiting) {
    try {
      // "C" sorts by bytes, whatever the language of the database.
      await query(
        `CREATE TABLE IF NOT EXISTS ${table} (
          key text COLLATE "C" PRIMARY KEY,
          value text NOT NULL,
          version text NOT NULL
        )`,
        [],
        waiting,
      );
    } catch (error) {
      if (!MADE_BY_ANOTHER.some((state) => hasState(error, state))) throw error;
    }
  }

  /**
   * Whether a statement that changes at most one row has changed it.
   *
   * @param {string} statement
   * @param {string[]} values
   * @param {AbortSignal} waiting
   */
  async function changes(statement, values, waiting) {
    try {
      return (await rowsOf(`${statement} RETURNING key`, values, waiting)).length === 1;
    } catch (error) {
      if (hasState(error, CHANGED_BY_ANOTHER)) return false;
      throw error;
    }
  }

  return checkedStore("PostgreSQL", timeoutMs, {
    async get(key, waiting) {
      const statement = `SELECT value, version FROM ${table} WHERE key = $1`;
      const [row] = await rowsOf(statement, [key], waiting);
      return row && { value: row.value, version: row.version };
    },
    set({ key, value, version, expected }, waiting) {
      const given = [key, value, version];
      return expected === undefined
        ? changes(
            `INSERT INTO ${table} (key, value, version) VALUES ($1, $2, $3) ON CONFLICT (key) DO NOTHING`,
            given,
            waiting,
          )
        : changes(
            `UPDATE ${table} SET value = $2, version = $3 WHERE key = $1 AND version = $4`,
            [...given, expected],
            waiting,
          );
    },
    async delete({ key, expected }, waiting) {
      const statement = `DELETE FROM ${table} WHERE key = $1`;
      if (expected !== undefined) {
        return changes(`${statement} AND version = $2`, [key, expected], waiting);
      }
      for (;;) {
        if (await changes(statement, [key], waiting)) return true;
        // Nothing to delete, or the row was changed at this moment.
        const found = `SELECT 1 AS found FROM ${table} WHERE key = $1`;
        if ((await rowsOf(found, [key], waiting)).length === 0) return false;
      }
    },
    async list({ prefix, after, limit, keysOnly }, waiting) {
      const { from, includesFrom, end } = keyRange(prefix, after);
      const isBefore = end === undefined ? "" : "AND key < $2";
      // The subquery returns one row more than the page has. The page ends early if its values get large.
      const rows = await rowsOf(
        `SELECT key, version, total${keysOnly ? "" : ", value"} FROM (
          SELECT *,
            count(*) OVER ()::int AS total,
            row_number() OVER (ORDER BY key) AS place,
            sum(bytes) OVER (ORDER BY key) - bytes AS before
          FROM (
            SELECT key, version, ${keysOnly ? "0 AS bytes" : "value, octet_length(value) AS bytes"}
            FROM ${table} WHERE key ${includesFrom ? ">=" : ">"} $1 ${isBefore}
            ORDER BY key LIMIT ${limit + 1}
          ) AS found
        ) AS sized
        WHERE place <= ${limit} AND before < ${MAX_PAGE_BYTES} ORDER BY key`,
        end === undefined ? [from] : [from, end],
        waiting,
      );
      const entries = rows.map(({ key, version, value }) =>
        keysOnly ? { key, version } : { key, version, value },
      );
      return { entries, hasMore: (rows[0]?.total ?? 0) > rows.length };
    },
  });
}

/**
 * How a statement is run with this client: a function of the statement, its values and a signal that is
 * aborted when the caller no longer waits.
 *
 * @param {PgClient | PostgresClient} client
 * @param {number} timeoutMs
 * @returns {Query}
 */
function queryOf(client, timeoutMs) {
  if (typeof client === "function" && typeof client.unsafe === "function") {
    /** @type {PostgresClient & { options?: { adapter?: string } }} */
    const { options } = client;
    const adapter = options?.adapter;
    if (adapter !== undefined && adapter !== "postgres") {
      throw wrongOption(`postgresStore needs PostgreSQL, got a client of \`${adapter}\``);
    }
    // postgres.js and Bun.sql. "Unsafe" only means that the statement is a plain text. Our values are passed beside it.
    return async (statement, values, waiting) => {
      waiting.throwIfAborted();
      return /** @type {Row[]} */ (await client.unsafe(statement, values));
    };
  }
  if (isPg(client)) {
    /** @type {Query} */
    const query = async (text, values, waiting) => {
      waiting.throwIfAborted();
      // Its own limit makes a pool drop a connection that does not answer, instead of waiting for it.
      const config = { text, values, query_timeout: timeoutMs };
      return /** @type {Row[]} */ ((await client.query(config)).rows);
    };
    // pg. A pool counts its connections; a client is one, and from pg 9 on takes one query at a time.
    return typeof client.totalCount === "number" ? query : oneByOne(query);
  }
  throw wrongOption(
    `postgresStore needs a Pool or Client of \`pg\`, a client of \`postgres\`, or Bun's SQL, got ${shown(client)}`,
  );
}

/**
 * @param {unknown} client
 * @returns {client is PgClient & { totalCount?: unknown }}
 */
function isPg(client) {
  return (
    typeof client === "object" &&
    client !== null &&
    "query" in client &&
    typeof client.query === "function" &&
    "connect" in client &&
    typeof client.connect === "function"
  );
}

/**
 * A function that begins each call when the one before has ended.
 *
 * @param {Query} work
 * @returns {Query}
 */
function oneByOne(work) {
  /** @type {Promise<unknown>} */
  let last = Promise.resolve();
  return (...args) => {
    const next = last.then(() => work(...args));
    last = next.catch(() => {});
    return next;
  };
}

/**
 * Whether PostgreSQL answered with this code. Bun has it in `errno`, the others in `code`.
 *
 * @param {unknown} error
 * @param {string} state
 */
function hasState(error, state) {
  const { code, errno } = /** @type {{ code?: unknown, errno?: unknown }} */ (error ?? {});
  return code === state || errno === state;
}

/**
 * The table as it is written in a statement.
 *
 * @param {string} [table]
 */
function quoted(table = "toolwright_store") {
  const parts = typeof table === "string" ? table.split(".") : [];
  const areNames = parts.every((part) => /^[A-Za-z_][\w$]{0,62}$/.test(part));
  if (parts.length < 1 || parts.length > 2 || !areNames) {
    throw wrongOption(
      `\`table\` must be a name such as \`toolwright_store\` or \`myschema.toolwright_store\`, got ${shown(table)}`,
    );
  }
  return parts.map((part) => `"${part}"`).join(".");
}

module.exports = { postgresStore };
