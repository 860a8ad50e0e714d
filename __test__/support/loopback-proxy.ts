import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";

/** A proxy in front of a server. It can pause, withhold answers and cut connections. */
export class LoopbackProxy {
  readonly #server: Server;
  readonly #pairs = new Set<{ client: Socket; server: Socket }>();
  #isStalled = false;
  #onWithheld: (() => void) | undefined;

  private constructor(targetPort: number) {
    this.#server = createServer((client) => {
      const server = connect(targetPort, "127.0.0.1");
      const pair = { client, server };
      this.#pairs.add(pair);
      const end = () => {
        this.#pairs.delete(pair);
        client.destroy();
        server.destroy();
      };
      client.on("data", (data) => server.write(data));
      server.on("data", (data) => {
        if (this.#onWithheld === undefined) client.write(data);
        else this.#onWithheld();
      });
      for (const socket of [client, server]) socket.on("error", end).on("close", end);
      if (this.#isStalled) for (const socket of [client, server]) socket.pause();
    });
  }

  static async before(targetPort: number): Promise<LoopbackProxy> {
    const proxy = new LoopbackProxy(targetPort);
    proxy.#server.listen(0, "127.0.0.1");
    await once(proxy.#server, "listening");
    return proxy;
  }

  /** A URL of the target, as seen through the proxy. */
  through(url: string): string {
    const changed = new URL(url);
    changed.port = String((this.#server.address() as AddressInfo).port);
    return changed.href;
  }

  /** Stops forwarding in both directions; new connections are accepted and never answered. */
  stall(): void {
    this.#isStalled = true;
    for (const { client, server } of this.#pairs) {
      client.pause();
      server.pause();
    }
  }

  /** Forwards everything that was received meanwhile, and continues. */
  resume(): void {
    this.#isStalled = false;
    for (const { client, server } of this.#pairs) {
      client.resume();
      server.resume();
    }
  }

  /** Forwards requests and drops the answers; resolves when the first one was dropped. */
  withholdAnswers(): Promise<void> {
    return new Promise((resolve) => {
      this.#onWithheld = resolve;
    });
  }

  /** Ends all connections and restores the initial state. */
  cut(): void {
    this.#onWithheld = undefined;
    this.#isStalled = false;
    for (const { client, server } of this.#pairs) {
      client.destroy();
      server.destroy();
    }
  }

  async close(): Promise<void> {
    const closed = once(this.#server, "close");
    this.#server.close();
    this.cut();
    await closed;
  }
}
