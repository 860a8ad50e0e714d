// Checked by tsc, never run: the shared stores in a strict project without any of the clients.
import { postgresStore, type PostgresStoreOptions } from "toolwright/stores/postgres";
import { redisStore, type KeyValueStore, type RedisStoreOptions } from "toolwright/stores/redis";

declare const redis: { sendCommand(args: string[]): Promise<string>; eval(): Promise<unknown> };
declare const sql: { (): void; unsafe(statement: string, values?: unknown[]): Promise<object[]> };

const inRedis: RedisStoreOptions = { prefix: undefined, timeoutMs: 1_000 };
const inPostgres: PostgresStoreOptions = { table: "app.store", timeoutMs: undefined };

export const stores: KeyValueStore[] = [redisStore(redis, inRedis), postgresStore(sql, inPostgres)];
