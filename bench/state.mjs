// Memories and todos in the store, compared with a plain script over the same SQLite settings. The script has
// no policy, no validation and no time limit, and it blocks its thread.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createToolRegistry } from "../index.mjs";
import { Suite, sequential, synchronous } from "./harness.mjs";

export const state = new Suite("state");

const MEMORIES = 100_000;
const TODOS = 10_000;
const VALUE = "prefers tabs over spaces, and short answers ".repeat(3);

const Database = await sqlite();
if (Database === undefined) {
  console.error(
    "state: left out, because this runtime has no SQLite; use Node 22 or newer, or Bun",
  );
} else {
  await compare();
}

/** The runtime's own SQLite. */
async function sqlite() {
  if (process.versions.bun) return (await import("bun:sqlite")).Database;
  try {
    return (await import("node:sqlite")).DatabaseSync;
  } catch {
    return undefined;
  }
}

async function compare() {
  const folder = mkdtempSync(join(tmpdir(), "toolwright-bench-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  const ours = await filledRegistry(folder);
  const plain = filledScript(folder, ours.ids);
  let turn = 0;
  const next = (count) => {
    turn = (turn * 7_919 + 104_729) % count;
    return turn;
  };
  const pair = (title, native, script, atMost) =>
    state.task({
      title,
      baseline: "plain script",
      contenders: { "plain script": synchronous(script), toolwright: sequential(native) },
      budgets: atMost === undefined ? [] : [{ contender: "toolwright", atMost }],
    });
  const memory = (input) => ours.call("memory", input);
  const todo = (input) => ours.call("write_todos", input);
  pair(
    `get one of ${MEMORIES} memories`,
    () => memory({ action: "get", key: keyOf(next(MEMORIES)) }),
    () => plain.get(`memory/${keyOf(next(MEMORIES))}`),
  );
  pair(
    `set one of ${MEMORIES} memories`,
    () => memory({ action: "set", key: keyOf(next(MEMORIES)), value: `${VALUE}${turn}` }),
    () => plain.set(`memory/${keyOf(next(MEMORIES))}`, `${VALUE}${turn}`),
  );
  pair(
    `list 1,000 of ${MEMORIES} memories`,
    () => memory({ action: "list", prefix: "topic-7/" }),
    () => plain.keys("memory/topic-7/").join("\n"),
  );
  pair(
    `complete one of ${TODOS} todos`,
    () => todo({ action: "complete", id: ours.ids[next(TODOS)] }),
    () =>
      plain.set(`todo/${ours.ids[next(TODOS)]}`, JSON.stringify({ task: VALUE, completed: true })),
  );
  pair(
    `list ${TODOS} todos`,
    () => todo({ action: "list" }),
    () =>
      plain
        .values("todo/")
        .map((it) => JSON.parse(it).task)
        .join("\n"),
  );
  state.tasks.at(-1).cleanUp = async () => {
    plain.close();
    await ours.close();
  };
}

/** Runs a statement for the keys with a prefix and returns the rows. */
function below(prefix, statement) {
  return statement.all(prefix, `${prefix}\u{10FFFF}`).map(({ it }) => it);
}

function keyOf(number) {
  return `topic-${number % 100}/memory-${number}`;
}

/** A registry with all the memories and todos. */
async function filledRegistry(folder) {
  const registry = createToolRegistry({
    projectPath: folder,
    toolsets: ["classic"],
    permissionMode: "bypassPermissions",
    userPolicyFile: false,
    store: { path: join(folder, "toolwright.sqlite") },
  });
  const call = async (name, input) => {
    const result = await registry.call(name, input);
    if (result.isError) throw new Error(result.error.message);
    return result;
  };
  for (let number = 0; number < MEMORIES; number += 1_000) {
    const some = Array.from({ length: 1_000 }, (_, it) => keyOf(number + it));
    await Promise.all(some.map((key) => call("memory", { action: "set", key, value: VALUE })));
  }
  const ids = [];
  for (let number = 0; number < TODOS; number += 1) {
    const { structuredContent } = await call("write_todos", { action: "add", task: VALUE });
    ids.push(structuredContent.todos[0].id);
  }
  return { call, ids, close: () => registry.close() };
}

/** The same in a plain script: one table, write-ahead log, no fsync per change, compare-and-set writes. */
function filledScript(folder, ids) {
  const database = new Database(join(folder, "plain.sqlite"));
  database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
    CREATE TABLE entries (key TEXT PRIMARY KEY, value TEXT, version INTEGER) WITHOUT ROWID;`);
  const [begin, commit] = ["BEGIN IMMEDIATE", "COMMIT"].map((sql) => database.prepare(sql));
  const select = database.prepare("SELECT value, version FROM entries WHERE key = ?");
  const upsert = database.prepare(
    "INSERT INTO entries VALUES (?, ?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value, version = excluded.version",
  );
  const range = (column) =>
    database.prepare(`SELECT ${column} AS it FROM entries WHERE key >= ? AND key < ? ORDER BY key`);
  const [keys, values] = [range("key"), range("value")];
  const script = {
    get: (key) => select.get(key)?.value,
    set(key, value) {
      begin.run();
      upsert.run(key, value, (select.get(key)?.version ?? 0) + 1);
      commit.run();
    },
    keys: (prefix) => below(prefix, keys),
    values: (prefix) => below(prefix, values),
    close: () => database.close(),
  };
  for (let number = 0; number < MEMORIES; number += 1) script.set(`memory/${keyOf(number)}`, VALUE);
  const todo = JSON.stringify({ task: VALUE, completed: false });
  for (const id of ids) script.set(`todo/${id}`, todo);
  return script;
}
