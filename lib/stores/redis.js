"use strict";

/**
 * @import { KeyValueStore, StoreEntry } from "../types/stores"
 * @import { BunRedisClient, IoredisClient, NodeRedisClient, RedisStoreOptions } from "./redis.js"
 * @typedef {string | Uint8Array} Reply
 * @typedef {(script: string, keys: string[], values: string[], waiting: AbortSignal) => Promise<unknown>} Evaluate
 */

const { randomUUID } = require("node:crypto");
const { shown } = require("../boundary/errors.js");
const { checkedStore, readTimeout, wrongOption } = require("./checked-store.js");
const { keyRange } = require("./key-order.js");

/** How many bytes of values a page has before it ends early. */
const MAX_PAGE_BYTES = 8 * 1024 * 1024;

// Each operation is one script, which Redis runs as a whole. Everything of a store is in three keys: the
// values, their versions, and the names in order. The hash tag in braces keeps them on one node of a cluster.
//
// A client may send a script again if it has lost the connection before the answer (ioredis does). If another
// process has changed the value in between, the second run could not know that the first one succeeded, and the
// caller would make its change twice. So every change leaves a note, which expires with the time limit.
const GET = `
local version = redis.call('HGET', KEYS[2], ARGV[1])
if not version then return {} end
return {version, redis.call('HGET', KEYS[1], ARGV[1])}`;

const SET = `
if redis.call('EXISTS', KEYS[4]) == 1 then return 1 end
local version = redis.call('HGET', KEYS[2], ARGV[1])
if (version and '=' .. version or '') ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[5])
redis.call('HSET', KEYS[2], ARGV[1], ARGV[4])
redis.call('ZADD', KEYS[3], 0, ARGV[1])
redis.call('SET', KEYS[4], 1, 'PX', ARGV[3])
return 1`;

const DELETE = `
if redis.call('EXISTS', KEYS[4]) == 1 then return 1 end
local version = redis.call('HGET', KEYS[2], ARGV[1])
if not version or (ARGV[2] ~= '' and '=' .. version ~= ARGV[2]) then return 0 end
redis.call('HDEL', KEYS[1], ARGV[1])
redis.call('HDEL', KEYS[2], ARGV[1])
redis.call('ZREM', KEYS[3], ARGV[1])
redis.call('SET', KEYS[4], 1, 'PX', ARGV[3])
return 1`;

const LIST = `
local limit = tonumber(ARGV[3])
local keys = redis.call('ZRANGEBYLEX', KEYS[3], ARGV[1], ARGV[2], 'LIMIT', 0, limit + 1)
local page = {#keys > limit and 1 or 0}
local bytes = 0
for index = 1, math.min(#keys, limit) do
  if bytes >= ${MAX_PAGE_BYTES} then
    page[1] = 1
    break
  end
  local value = ''
  if ARGV[4] == 'values' then value = redis.call('HGET', KEYS[1], keys[index]) end
  bytes = bytes + #value
  page[#page + 1] = keys[index]
  page[#page + 1] = redis.call('HGET', KEYS[2], keys[index])
  page[#page + 1] = value
end
return page`;

/**
 * A store in Redis or Valkey, over the client that the host already has. See redis.d.ts.
 *
 * @param {NodeRedisClient | IoredisClient | BunRedisClient} client
 * @param {RedisStoreOptions} options
 * @returns {KeyValueStore}
 */
function redisStore(client, options = {}) {
  const evaluate = evaluatorOf(client);
  const prefix = readPrefix(options?.prefix);
  const timeoutMs = readTimeout(options?.timeoutMs);
  const keys = ["values", "versions", "keys"].map((name) => `{${prefix}}:${name}`);
  /**
   * @param {string} script
   * @param {string[]} values
   * @param {AbortSignal} waiting
   */
  const run = async (script, values, waiting) =>
    /** @type {Reply[]} */ (await evaluate(script, keys, values, waiting));
  /**
   * @param {string} script
   * @param {string} key
   * @param {string | undefined} expected
   * @param {string[]} rest
   * @param {AbortSignal} waiting
   */
  const change = async (script, key, expected, rest, waiting) => {
    const note = `{${prefix}}:done:${randomUUID()}`;
    const condition = expected === undefined ? "" : `=${expected}`;
    const values = [key, condition, String(timeoutMs), ...rest];
    return Number(await evaluate(script, [...keys, note], values, waiting)) === 1;
  };
  return checkedStore("Redis", timeoutMs, {
    async get(key, waiting) {
      const [version, value] = await run(GET, [key], waiting);
      return version === undefined
        ? undefined
        : { value: text(value ?? ""), version: text(version) };
    },
    set: ({ key, value, version, expected }, waiting) =>
      change(SET, key, expected, [version, value], waiting),
    delete: ({ key, expected }, waiting) => change(DELETE, key, expected, [], waiting),
    async list({ prefix: begin, after, limit, keysOnly }, waiting) {
      const { from, includesFrom, end } = keyRange(begin, after);
      const lower = `${includesFrom ? "[" : "("}${from}`;
      const upper = end === undefined ? "+" : `(${end}`;
      const values = [lower, upper, String(limit), keysOnly ? "keys" : "values"];
      const [hasMore, ...flat] = await run(LIST, values, waiting);
      /** @type {StoreEntry[]} */
      const entries = [];
      for (let at = 0; at < flat.length; at += 3) {
        const [key = "", version = "", value = ""] = flat.slice(at, at + 3).map(text);
        entries.push(keysOnly ? { key, version } : { key, version, value });
      }
      return { entries, hasMore: Number(hasMore) === 1 };
    },
  });
}

/**
 * How a script is run with this client: a function of the script, its keys and its other arguments.
 *
 * @param {NodeRedisClient | IoredisClient | BunRedisClient} client
 * @returns {Evaluate}
 */
function evaluatorOf(client) {
  if (has(client, "eval") && has(client, "defineCommand")) {
    // ioredis.
    const redis = /** @type {IoredisClient} */ (client);
    return (script, keys, values) => redis.eval(script, keys.length, ...keys, ...values);
  }
  if (has(client, "eval") && has(client, "sendCommand")) {
    // node-redis. The signal takes a script that was not sent yet out of its queue.
    const redis =
      /** @type {NodeRedisClient & { withAbortSignal?(signal: AbortSignal): NodeRedisClient }} */ (
        client
      );
    return (script, keys, values, waiting) =>
      (redis.withAbortSignal?.(waiting) ?? redis).eval(script, { keys, arguments: values });
  }
  if (has(client, "send") && has(client, "connect")) {
    // Bun's own.
    const redis = /** @type {BunRedisClient} */ (client);
    return (script, keys, values) =>
      redis.send("EVAL", [script, String(keys.length), ...keys, ...values]);
  }
  throw wrongOption(
    `redisStore needs a client of \`redis\` or \`ioredis\`, or Bun's RedisClient, got ${shown(client)}`,
  );
}

/**
 * @param {unknown} client
 * @param {string} method
 */
function has(client, method) {
  return (
    typeof (/** @type {Record<string, unknown> | null | undefined} */ (client)?.[method]) ===
    "function"
  );
}

function readPrefix(prefix = "toolwright") {
  if (typeof prefix !== "string" || prefix === "" || /[{}\0]/.test(prefix)) {
    throw wrongOption(
      `\`prefix\` must be a text without braces, such as \`myapp:toolwright\`, got ${shown(prefix)}`,
    );
  }
  return prefix;
}

/**
 * A text of an answer. Some clients can be configured to return bytes.
 *
 * @param {Reply} reply
 */
function text(reply) {
  return typeof reply === "string" ? reply : Buffer.from(reply).toString("utf8");
}

module.exports = { redisStore };
