import type { KeyValueStore } from "../../lib/types/stores.js";

export type ServerName = "redis" | "postgres";

export interface OpenStore {
  store: KeyValueStore;
  close(): unknown;
}

export interface StoreSettings {
  prefix?: string;
  table?: string;
  timeoutMs?: number;
}

export declare function clientsOf(server: ServerName): string[];

export declare function openStore(
  server: ServerName,
  client: string,
  url: string,
  options: StoreSettings,
): Promise<OpenStore>;

export declare function change(
  store: KeyValueStore,
  key: string,
  changed: (old: string | undefined) => string,
): Promise<string>;
