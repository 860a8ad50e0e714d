import type { KeyValueStore, StoredValue, ToolRegistryOptions } from "../../index.js";
import type { Workspace } from "./workspace.js";

type NamedStore = [name: string, options: (workspace: Workspace) => ToolRegistryOptions];

/** Stores that several registries can share. Each test has its own, because each has its own workspace. */
export const SHARED_STORES: NamedStore[] = [
  ["SQLite", (workspace) => ({ store: { path: workspace.path("store/values.sqlite") } })],
  ["of the host", ({ root }) => ({ store: storeOf(root) })],
];

/** The stores for tests of persistent values, with the options that choose each. */
export const STORES: NamedStore[] = [["memory", () => ({ store: "memory" })], ...SHARED_STORES];

const stores = new Map<string, KeyValueStore>();

function storeOf(root: string): KeyValueStore {
  const store = stores.get(root) ?? hostStore();
  stores.set(root, store);
  return store;
}

/** A store as a host could write one. */
export function hostStore(): KeyValueStore {
  const values = new Map<string, StoredValue>();
  let versions = 0;
  return {
    get: async (key) => values.get(key),
    set: async (key, value, expected) => {
      if ((values.get(key)?.version ?? null) !== expected) return undefined;
      versions += 1;
      const version = String(versions);
      values.set(key, { value, version });
      return version;
    },
    delete: async (key, expected) => {
      const there = values.get(key);
      if (there === undefined || (expected ?? there.version) !== there.version) return false;
      return values.delete(key);
    },
    list: async (prefix, { after, limit, keysOnly }) => {
      const order = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));
      const keys = [...values.keys()]
        .filter((it) => it.startsWith(prefix) && (after === undefined || order(it, after) > 0))
        .toSorted(order);
      const entries = keys.slice(0, limit).map((key) => {
        const { value, version } = values.get(key) as StoredValue;
        return keysOnly ? { key, version } : { key, value, version };
      });
      return { entries, hasMore: keys.length > limit };
    },
  };
}
