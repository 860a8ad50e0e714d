// Speaks MCP with a server line by line, so that a test can send what no client would.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";

export interface Message {
  jsonrpc?: string;
  id?: number | string | null;
  method?: string;
  params?: Record<string, unknown>;
  result?: Record<string, unknown>;
  error?: { code: number; message: string };
}

/** A server that was started as a program. */
export class LineServer {
  readonly child: ChildProcess;
  stderr = "";
  readonly messages: Message[] = [];
  readonly #waiting = new Set<() => void>();
  #hasEnded = false;
  #next = 1;

  constructor(program: string, args: string[], options: { cwd: string; env?: NodeJS.ProcessEnv }) {
    this.child = spawn(program, args, { ...options, stdio: "pipe" });
    this.child.stderr?.on("data", (chunk) => (this.stderr += chunk));
    // Without readline, which also ends lines at U+2028.
    let rest = "";
    this.child.stdout?.setEncoding("utf8").on("data", (chunk: string) => {
      const lines = (rest + chunk).split("\n");
      rest = lines.pop() ?? "";
      // Throws, and so fails the test, if anything but the protocol is printed.
      this.messages.push(...lines.map((line) => JSON.parse(line) as Message));
      this.#look();
    });
    this.child.on("close", () => {
      this.#hasEnded = true;
      this.#look();
    });
    // A server that ends before it has read everything does not fail the test.
    this.child.stdin?.on("error", () => {});
  }

  #look(): void {
    for (const look of this.#waiting) look();
  }

  send(line: string | object): void {
    this.child.stdin?.write(`${typeof line === "string" ? line : JSON.stringify(line)}\n`);
  }

  notify(method: string, params: object = {}): void {
    this.send({ jsonrpc: "2.0", method, params });
  }

  /** Sends a request and waits for its answer. */
  async ask(method: string, params: object = {}, id: number | string = this.#next++) {
    this.send({ jsonrpc: "2.0", id, method, params });
    return this.heard((it) => it.id === id && it.method === undefined);
  }

  /** Waits for a message. */
  heard(isMeant: (message: Message) => boolean): Promise<Message> {
    return new Promise((resolve, reject) => {
      const look = () => {
        const message = this.messages.find(isMeant);
        if (message !== undefined) resolve(message);
        else if (this.#hasEnded) reject(new Error(`the server ended; it said: ${this.stderr}`));
        else return;
        this.#waiting.delete(look);
      };
      this.#waiting.add(look);
      look();
    });
  }

  async initialize(capabilities: object = {}): Promise<Message> {
    const clientInfo = { name: "lines", version: "1" };
    const protocolVersion = "2025-11-25";
    const told = await this.ask("initialize", { protocolVersion, capabilities, clientInfo });
    this.notify("notifications/initialized");
    return told;
  }

  /** Closes the input, waits for the end, and returns the exit code. */
  async end(): Promise<number | null> {
    const closed = once(this.child, "close");
    this.child.stdin?.end();
    const [code] = (await closed) as [number | null];
    return code;
  }

  async kill(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const closed = once(this.child, "close");
    this.child.kill("SIGKILL");
    await closed;
  }
}
