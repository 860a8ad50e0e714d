import { Redis } from "ioredis";
import { afterAll, beforeAll, describe } from "vitest";
import {
  clientsOf,
  openStore,
  type OpenStore,
  type ServerName,
  type StoreSettings,
} from "./store-clients.mjs";

interface Server {
  readonly url: string;
  readonly port: number;
  start(): Promise<void>;
  kill(): Promise<void>;
  stop(): Promise<void>;
}

const script = (name: string) => new URL(`../../scripts/${name}`, import.meta.url).href;
const { findRedis, findPostgres } = (await import(script("server-programs.mjs"))) as {
  findRedis(): string | undefined;
  findPostgres(): string | undefined;
};
const { startRedis, startPostgres } = (await import(script("servers.mjs"))) as {
  startRedis(settings?: Record<string, string>): Promise<Server>;
  startPostgres(): Promise<Server>;
};

const SERVERS = {
  redis: { name: "Redis", find: findRedis, start: () => startRedis() },
  postgres: { name: "PostgreSQL", find: findPostgres, start: () => startPostgres() },
};

/** A Redis Cluster of one node, which refuses what a cluster refuses. */
export async function startRedisCluster(): Promise<Server> {
  // A single node does not know its own address, and ioredis needs it.
  const settings = { "cluster-enabled": "yes", "cluster-announce-ip": "127.0.0.1" };
  const server = await startRedis(settings);
  const client = new Redis(server.url);
  try {
    await client.call("CLUSTER", "ADDSLOTSRANGE", "0", "16383");
    while (!String(await client.call("CLUSTER", "INFO")).includes("cluster_state:ok")) {
      await new Promise((resolve) => {
        setTimeout(resolve, 20);
      });
    }
  } finally {
    client.disconnect();
  }
  return server;
}

let made = 0;

/** A server that runs during the tests of a `describe`, and stores in it. */
export class StoreServer {
  readonly #name: ServerName;
  #server: Server | undefined;
  readonly #open: OpenStore[] = [];

  constructor(name: ServerName) {
    this.#name = name;
  }

  get server(): Server {
    if (this.#server === undefined) throw new Error("the server runs only while tests do");
    return this.#server;
  }

  /** Settings that separate a store's entries on this server, with timeouts for a loaded machine. */
  newPlace(): StoreSettings {
    made += 1;
    const name = this.#name === "redis" ? { prefix: `test-${made}` } : { table: `test_${made}` };
    return { ...name, timeoutMs: 60_000 };
  }

  /** A store with its own connection, closed after the tests. */
  async open(
    client: string,
    settings: StoreSettings = this.newPlace(),
    url = this.server.url,
  ): Promise<OpenStore["store"]> {
    const opened = await openStore(this.#name, client, url, settings);
    this.#open.push(opened);
    return opened.store;
  }

  async begin(): Promise<void> {
    this.#server = await SERVERS[this.#name].start();
  }

  async end(): Promise<void> {
    // A connection that an outage has broken may refuse to be closed.
    await Promise.allSettled(this.#open.map(async (it) => it.close()));
    await this.#server?.stop();
  }
}

/**
 * Tests against a real server, with the clients that this runtime has for it. If the machine has no such
 * server, they are left out and the run says so.
 */
export function describeWithServer(
  name: ServerName,
  tests: (server: StoreServer, clients: string[]) => void,
): void {
  const { name: shown, find } = SERVERS[name];
  const isMissing = find() === undefined;
  if (isMissing) console.warn(`LEFT OUT: tests with ${shown}; \`npm test\` says how to get it`);
  describe.skipIf(isMissing)(`with ${shown}`, () => {
    const server = new StoreServer(name);
    beforeAll(() => server.begin());
    afterAll(() => server.end());
    tests(server, clientsOf(name));
  });
}
