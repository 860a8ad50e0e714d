// Runs the real command line in child processes: over pipes, and on a pseudo terminal of `script`.
import { spawn, spawnSync, type ChildProcessWithoutNullStreams } from "node:child_process";
import { join } from "node:path";
import { afterEach } from "vitest";
import { root } from "./runtimes.js";
import type { Workspace } from "./workspace.js";

export const program = join(root, "bin", "toolwright.js");

/** Processes that a failed test leaves running are ended with it. */
const open = new Set<ChildProcessWithoutNullStreams>();

afterEach(() => {
  for (const child of open) child.kill("SIGKILL");
});

export interface CommandEnded {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** A running command line. */
export class RunningCommand {
  stdout = "";
  stderr = "";
  readonly ended: Promise<CommandEnded>;
  #heard = new Set<() => void>();
  #child: ChildProcessWithoutNullStreams;

  constructor(child: ChildProcessWithoutNullStreams) {
    this.#child = child;
    open.add(child);
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      this.stdout += text;
      this.#tell();
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      this.stderr += text;
      this.#tell();
    });
    // A process that has ended reads no more input.
    child.stdin.on("error", () => {});
    this.ended = new Promise((resolve, reject) => {
      child.on("error", reject);
      child.on("close", (code) => {
        open.delete(child);
        resolve({ code, stdout: this.stdout, stderr: this.stderr });
        this.#tell();
      });
    });
  }

  type(text: string): void {
    this.#child.stdin.write(text);
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }

  /** Closes its standard output, like `head`. */
  stopReading(): void {
    this.#child.stdout.destroy();
  }

  /** Ends its standard input, with a last text. */
  endInput(text = ""): void {
    this.#child.stdin.end(text);
  }

  /** Waits until it has written something. */
  async wrote(wanted: string | RegExp): Promise<string> {
    const isThere = () => {
      const text = this.stdout + this.stderr;
      return typeof wanted === "string" ? text.includes(wanted) : wanted.test(text);
    };
    let isOver = false;
    void this.ended.then(() => (isOver = true));
    while (!isThere()) {
      if (isOver || this.#child.exitCode !== null) {
        await this.ended;
        if (isThere()) break;
        throw new Error(`it ended without ${String(wanted)}:\n${this.stdout}${this.stderr}`);
      }
      await new Promise<void>((resolve) => {
        const heard = () => {
          this.#heard.delete(heard);
          resolve();
        };
        this.#heard.add(heard);
      });
    }
    return this.stdout + this.stderr;
  }

  #tell(): void {
    for (const heard of this.#heard) heard();
  }
}

/** The command line in a workspace, with one runtime. The user's own files are not used. */
export class CommandLine {
  constructor(
    readonly runtime: string,
    readonly workspace: Workspace,
  ) {}

  environment(more: Record<string, string | undefined> = {}): NodeJS.ProcessEnv {
    const environment: NodeJS.ProcessEnv = {
      ...process.env,
      XDG_CONFIG_HOME: this.workspace.path(".config"),
      TERM: "xterm",
      ...more,
    };
    const own = ["NO_COLOR", "FORCE_COLOR", "TOOLWRIGHT_TOOLS_DIR", "TOOLWRIGHT_TOKEN"];
    for (const name of own) if (!(name in more)) delete environment[name];
    return environment;
  }

  start(args: string[], more: Record<string, string | undefined> = {}): RunningCommand {
    const child = spawn(this.runtime, [program, ...args], {
      cwd: this.workspace.root,
      env: this.environment(more),
    });
    return new RunningCommand(child);
  }

  /** Runs it until it ends, with this as its whole standard input. */
  run(
    args: string[],
    input = "",
    more: Record<string, string | undefined> = {},
  ): Promise<CommandEnded> {
    const running = this.start(args, more);
    running.endInput(input);
    return running.ended;
  }

  /** Starts it on a terminal with this many columns. All output arrives as `stdout`. */
  startOnTerminal(args: string[], columns = 80, more: Record<string, string> = {}): RunningCommand {
    const words = [this.runtime, program, ...args].map((it) => `'${it.replaceAll("'", `'\\''`)}'`);
    const line = `stty cols ${columns}; exec ${words.join(" ")}`;
    const child = spawn("script", ["-qec", line, "/dev/null"], {
      cwd: this.workspace.root,
      env: this.environment(more),
    });
    return new RunningCommand(child);
  }
}

/** True if `script` makes terminals, like the one of util-linux. */
export const hasTerminals = spawnSync("script", ["-qec", "true", "/dev/null"]).status === 0;
