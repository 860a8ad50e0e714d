/** What every method of a store gets as its last argument. */
export interface StoreCallOptions {
  /** Aborted when the time limit has passed, and the registry no longer waits for the answer. */
  signal?: AbortSignal | undefined;
}

/** A value, and its version, which is needed to replace it. */
export interface StoredValue {
  value: string;
  /** Any text. A store never uses a version twice for a key, also after the value was deleted. */
  version: string;
}

/** A value in a page of a listing. */
export interface StoreEntry {
  key: string;
  /** Missing where only keys were asked for. */
  value?: string | undefined;
  version: string;
}

/** Which entries a listing gives. */
export interface StoreListOptions extends StoreCallOptions {
  /** The key after which the page begins. */
  after?: string | undefined;
  /** How many entries the page may have. */
  limit: number;
  /** Whether the values are left out. */
  keysOnly: boolean;
}

/** A page of entries. */
export interface StorePage {
  /** Sorted by the bytes of their keys in UTF-8. */
  entries: StoreEntry[];
  /** Whether there are more entries after the last one. */
  hasMore: boolean;
}

/**
 * Keeps values. Each method is atomic, and a change is durable once its promise resolves, so that registries in
 * several processes can share a store. A method that fails rejects; the tool then reports the error's message.
 */
export interface KeyValueStore {
  /** The value of a key; `undefined` or `null` if there is none. */
  get(key: string, options?: StoreCallOptions): Promise<StoredValue | undefined | null>;
  /**
   * Sets a value if the version there is still `expected`; with `null`, if there is no value. Resolves with
   * the new version, or with `undefined` or `null` if the value was not set because it has changed.
   */
  set(
    key: string,
    value: string,
    expected: string | null,
    options?: StoreCallOptions,
  ): Promise<string | undefined | null>;
  /**
   * Deletes a value if its version is still `expected`, or any version if that is missing. Resolves with
   * whether a value was deleted.
   */
  delete(
    key: string,
    expected?: string | null | undefined,
    options?: StoreCallOptions,
  ): Promise<boolean>;
  /** A page of the entries whose keys begin with `prefix`. */
  list(prefix: string, options: StoreListOptions): Promise<StorePage>;
  /** How many milliseconds an operation may take. Default: 10,000. */
  readonly timeoutMs?: number | undefined;
  /** Ends connections. A registry never calls it, because the store belongs to the host. */
  close?(): Promise<void> | void;
}

/** A store in an SQLite file, which several processes can share and a person can open. */
export interface FileStoreOptions {
  /**
   * The file. It and its directory are created when the first value is set. Default: `toolwright/store.sqlite`
   * in the user's data directory, which is `$XDG_DATA_HOME` or `~/.local/share`, on macOS
   * `~/Library/Application Support` and on Windows `%LOCALAPPDATA%`. A relative path starts at the current
   * directory.
   */
  path?: string | undefined;
  /** How many values it may have. Default: 1,000,000. */
  maxEntries?: number | undefined;
  /** How many bytes its keys and values may have in all. Default: 1 GiB. */
  maxBytes?: number | undefined;
  /** How many milliseconds an operation may take, also while others lock the file. Default: 10,000. */
  timeoutMs?: number | undefined;
}
