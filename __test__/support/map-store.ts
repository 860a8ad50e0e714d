import type { KeyValueStore, StoreEntry, StoreListOptions, StoredValue } from "../../index.js";

/** A minimal store of a host. */
export class MapStore implements KeyValueStore {
  readonly values = new Map<string, StoredValue>();
  isClosed = false;
  #last = 0;

  async get(key: string): Promise<StoredValue | undefined> {
    return this.values.get(key);
  }

  async set(key: string, value: string, expected: string | null): Promise<string | undefined> {
    if ((this.values.get(key)?.version ?? null) !== expected) return undefined;
    this.#last += 1;
    const version = `v${this.#last}`;
    this.values.set(key, { value, version });
    return version;
  }

  async delete(key: string, expected?: string | null): Promise<boolean> {
    const version = this.values.get(key)?.version;
    if (expected !== undefined && expected !== null && version !== expected) return false;
    return this.values.delete(key);
  }

  async list(prefix: string, { after, limit, keysOnly }: StoreListOptions) {
    const bytes = (key: string) => Buffer.from(key);
    const found = [...this.values]
      .filter(([key]) => key.startsWith(prefix))
      .filter(([key]) => after === undefined || Buffer.compare(bytes(key), bytes(after)) > 0)
      .sort(([a], [b]) => Buffer.compare(bytes(a), bytes(b)));
    const entries: StoreEntry[] = found
      .slice(0, limit)
      .map(([key, { value, version }]) => (keysOnly ? { key, version } : { key, value, version }));
    return { entries, hasMore: found.length > limit };
  }

  close(): void {
    this.isClosed = true;
  }
}
