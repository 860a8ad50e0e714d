// Specific to the store in PostgreSQL: its table, permissions and isolation levels.
import pg from "pg";
import { afterEach, expect, test } from "vitest";
import { postgresStore } from "../../lib/stores/postgres.js";
import { change } from "../support/store-clients.mjs";
import { describeWithServer } from "../support/store-servers.js";

describeWithServer("postgres", (servers) => {
  const pools: pg.Pool[] = [];
  const connect = (settings: pg.PoolConfig = {}) => {
    const pool = new pg.Pool({ connectionString: servers.server.url, max: 2, ...settings });
    pools.push(pool.on("error", () => {}));
    return pool;
  };
  afterEach(async () => {
    await Promise.all(pools.splice(0).map((pool) => pool.end()));
  });

  test("creates its table when many start at the same moment", async () => {
    for (let round = 0; round < 5; round += 1) {
      const table = `begun_${round}`;
      const stores = Array.from({ length: 10 }, () => postgresStore(connect(), { table }));
      const created = await Promise.all(
        stores.map((store, index) => store.set(`key ${index}`, "value", null)),
      );
      expect(created).toEqual(stores.map(() => expect.any(String)));
      const { entries } = await postgresStore(connect(), { table }).list("", {
        limit: 100,
        keysOnly: true,
      });
      expect(entries).toHaveLength(10);
      await Promise.all(pools.splice(0).map((pool) => pool.end()));
    }
  });

  test("creates its table again if it was dropped", async () => {
    const pool = connect();
    const store = postgresStore(pool, { table: "dropped" });
    expect(await store.set("key", "value", null)).toEqual(expect.any(String));
    await pool.query("DROP TABLE dropped");
    expect(await store.get("key")).toBeUndefined();
    expect(await store.set("key", "value", null)).toEqual(expect.any(String));
  });

  test("uses a table with exactly the given schema and name", async () => {
    const pool = connect();
    await pool.query('CREATE SCHEMA "Own"');
    for (const table of ["Own.Select", "select", "Mixed_Case$"]) {
      const store = postgresStore(pool, { table });
      await store.set("key", `in ${table}`, null);
      const quoted = table.split(".").map((part) => `"${part}"`);
      const { rows } = await pool.query(`SELECT key, value FROM ${quoted.join(".")}`);
      expect(rows).toEqual([{ key: "key", value: `in ${table}` }]);
    }
    await expect(postgresStore(pool, { table: "nowhere.store" }).get("key")).rejects.toMatchObject({
      type: "ToolFailed",
      message: 'the store in PostgreSQL failed: schema "nowhere" does not exist',
    });
  });

  test("needs no permission to create tables if the table exists", async () => {
    const owner = connect();
    await postgresStore(owner, { table: "granted" }).set("key", "value", null);
    await owner.query("REVOKE CREATE ON SCHEMA public FROM PUBLIC");
    await owner.query("CREATE ROLE guest LOGIN");
    await owner.query("GRANT SELECT, INSERT, UPDATE, DELETE ON granted TO guest");
    const guest = connect({ connectionString: servers.server.url.replace("postgres@", "guest@") });
    const store = postgresStore(guest, { table: "granted" });
    await change(store, "key", (old) => `${old} changed`);
    expect((await store.get("key"))?.value).toBe("value changed");
    expect(await store.delete("key")).toBe(true);
    await expect(postgresStore(guest, { table: "ungranted" }).get("key")).rejects.toThrow(
      "the store in PostgreSQL failed: permission denied for schema public",
    );
  });

  test.each(["repeatable read", "serializable"])(
    "loses no change if transactions are %s",
    async (level) => {
      const options = `-c default_transaction_isolation=${level.replace(" ", "\\ ")}`;
      const table = level.replace(" ", "_");
      const stores = Array.from({ length: 4 }, () =>
        postgresStore(connect({ options }), { table }),
      );
      await Promise.all(
        stores.map(async (store) => {
          for (let made = 0; made < 50; made += 1) {
            await change(store, "counter", (old = "0") => String(Number(old) + 1));
          }
        }),
      );
      expect((await stores[0]?.get("counter"))?.value).toBe("200");
      const deleted = await Promise.all(stores.map((store) => store.delete("counter")));
      expect(deleted.filter(Boolean)).toHaveLength(1);
    },
  );

  test("waits no longer than its limit for a row that another transaction has locked", async () => {
    const pool = connect();
    const patient = postgresStore(pool, { table: "held", timeoutMs: 60_000 });
    const version = await patient.set("key", "value", null);
    const store = postgresStore(pool, { table: "held", timeoutMs: 500 });
    const holder = await connect().connect();
    try {
      await holder.query("BEGIN");
      await holder.query("SELECT * FROM held FOR UPDATE");
      await expect(store.set("key", "changed", version ?? null)).rejects.toMatchObject({
        type: "TimeoutError",
        message:
          "the store in PostgreSQL did not answer within 500 ms; the change may have been made, look at the value before changing it again",
      });
      expect(await patient.get("key")).toEqual({ value: "value", version });
    } finally {
      await holder.query("ROLLBACK");
      holder.release();
    }
    // The pool has dropped the connection that waited, and has others.
    expect(await patient.get("key")).toBeDefined();
  });
});
