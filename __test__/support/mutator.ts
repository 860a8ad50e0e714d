import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { type Interface, createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { runtimes } from "./runtimes.js";

const script = fileURLToPath(new URL("mutator.mjs", import.meta.url));

/** Another process that changes a tree. */
export class Mutator {
  readonly #process: ChildProcess;
  readonly #lines: Interface;

  constructor(root: string) {
    const node = runtimes[0]?.path as string;
    this.#process = spawn(node, [script, root], { stdio: ["pipe", "pipe", "inherit"] });
    this.#lines = createInterface({ input: this.#process.stdout! });
  }

  /** Makes changes. Resolves when their system calls have returned. */
  async change(seed: number, count: number): Promise<void> {
    const done = once(this.#lines, "line");
    this.#process.stdin!.write(`${seed} ${count}\n`);
    await done;
  }

  async end(): Promise<void> {
    const ended = once(this.#process, "exit");
    this.#process.stdin!.end();
    await ended;
  }
}
