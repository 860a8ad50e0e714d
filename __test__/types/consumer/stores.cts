// Checked by tsc, never run: the same as stores.mts, for a CommonJS module.
import postgres = require("toolwright/stores/postgres");
import redis = require("toolwright/stores/redis");

declare const client: { sendCommand(args: string[]): Promise<string>; eval(): Promise<unknown> };
declare const sql: { (): void; unsafe(statement: string, values?: unknown[]): Promise<object[]> };

const stores: redis.KeyValueStore[] = [
  redis.redisStore(client, { prefix: undefined, timeoutMs: 1_000 }),
  postgres.postgresStore(sql, { table: "app.store", timeoutMs: undefined }),
];

export = stores;
