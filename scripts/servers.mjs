// Real Redis and PostgreSQL servers for tests. Each uses a free loopback port and keeps its data in a temporary
// folder. A test can kill and restart it. It ends with the process that started it.
import { execFileSync, spawn } from "node:child_process";
import { chownSync, closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { asOrdinaryUser, findPostgres, findRedis, ordinaryUser } from "./server-programs.mjs";

/** How long a server may take to start on a loaded machine. */
const PATIENCE_MS = 60_000;

const onLinux = process.platform === "linux";

/** Starts Redis, or returns undefined if the machine has none. `settings` are further ones of `redis.conf`. */
export async function startRedis(settings = {}) {
  const program = findRedis();
  return program && new RedisServer(program, settings).begin();
}

/** Starts PostgreSQL, or returns undefined if the machine has none. */
export async function startPostgres() {
  const folder = findPostgres();
  return folder && new PostgresServer(folder).begin();
}

/** A server that can be killed and restarted with the same data on the same port. */
class Server {
  #child;
  #folder = mkdtempSync(join(tmpdir(), "toolwright-server-"));
  #killAtExit = () => this.#child?.kill("SIGKILL");
  port;

  get folder() {
    return this.#folder;
  }

  async begin() {
    process.on("exit", this.#killAtExit);
    try {
      this.port = await freePort();
      await this.prepare();
      await this.start();
      return this;
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  /** Starts the server and waits until it answers. */
  async start() {
    const deadline = Date.now() + PATIENCE_MS;
    for (;;) {
      if (this.#child === undefined) this.#spawn();
      if (await answers(this.port, this.greeting, this.welcome)) return;
      if (Date.now() > deadline) throw new Error(`the server did not start: ${this.log()}`);
      await pause();
    }
  }

  #spawn() {
    const [program, args] = this.careful(this.command());
    const log = openSync(join(this.#folder, "log"), "a");
    const child = spawn(program, args, { stdio: ["ignore", log, log], cwd: this.#folder });
    closeSync(log);
    this.#child = child;
    // A server that exits is started again: PostgreSQL refuses to start while processes of a killed one still run.
    const ended = () => {
      if (this.#child === child) this.#child = undefined;
    };
    child.on("exit", ended).on("error", ended);
  }

  /** Kills the server, which cannot finish anything, and waits until all its processes have ended. */
  async kill() {
    const child = this.#child;
    if (child === undefined) return;
    // PostgreSQL has one process for each connection. They would answer a moment longer than the server.
    const others = childrenOf(child.pid);
    const gone = new Promise((resolve) => child.once("exit", resolve));
    child.kill("SIGKILL");
    await gone;
    for (const pid of others) killIfThere(pid);
    while (others.some(isRunning)) await pause();
  }

  /** Kills the server and deletes its data. */
  async stop() {
    await this.kill();
    process.off("exit", this.#killAtExit);
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  }

  /** The end of the server's log. */
  log() {
    return readFileSync(join(this.#folder, "log"), "utf8").slice(-2_000);
  }
}

class RedisServer extends Server {
  careful = endingWithUs;
  greeting = Buffer.from("PING\r\n");
  /** While Redis loads its data, it answers with an error. */
  welcome = "+PONG";
  #program;
  #settings;

  constructor(program, settings) {
    super();
    this.#program = program;
    this.#settings = settings;
  }

  get url() {
    return `redis://127.0.0.1:${this.port}`;
  }

  async prepare() {}

  command() {
    const settings = {
      port: this.port,
      bind: "127.0.0.1",
      dir: this.folder,
      save: "",
      // A change is on disk before it is acknowledged.
      appendonly: "yes",
      appendfsync: "always",
      "auto-aof-rewrite-percentage": 0,
      ...this.#settings,
    };
    const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, String(value)]);
    return [this.#program, args];
  }
}

class PostgresServer extends Server {
  // The order matters: changing the user resets `pdeathsig`, so the user is changed first.
  careful = (command) => asOrdinaryUser(endingWithUs(command));
  /** Starts a session of the user `postgres`. The answer begins with R once sessions are allowed. */
  greeting = startupMessage({ user: "postgres", database: "postgres" });
  welcome = "R";
  #programs;

  constructor(programs) {
    super();
    this.#programs = programs;
  }

  get url() {
    return `postgres://postgres@127.0.0.1:${this.port}/postgres`;
  }

  get #data() {
    return join(this.folder, "data");
  }

  async prepare() {
    const owner = ordinaryUser();
    if (owner) chownSync(this.folder, owner.uid, owner.gid);
    // The database does not order text by bytes, so tests notice if the store relies on its order.
    const order = ["--locale=C", "--locale-provider=icu", "--icu-locale=en"];
    const settings = ["--username=postgres", "--auth=trust", "--encoding=UTF8", "--no-sync"];
    const initdb = [
      join(this.#programs, "initdb"),
      ["-D", this.#data, ...settings, ...(this.#hasIcu() ? order : ["--locale=C"])],
    ];
    const [program, args] = asOrdinaryUser(initdb);
    execFileSync(program, args, { cwd: this.folder, stdio: ["ignore", "ignore", "pipe"] });
  }

  #hasIcu() {
    const version = execFileSync(join(this.#programs, "postgres"), ["--version"], {
      encoding: "utf8",
    });
    return Number(/ (\d+)/.exec(version)?.[1]) >= 15;
  }

  command() {
    const settings = {
      listen_addresses: "127.0.0.1",
      unix_socket_directories: "",
      max_connections: 100,
      shared_buffers: "16MB",
    };
    const args = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
    return [join(this.#programs, "postgres"), ["-D", this.#data, "-p", String(this.port), ...args]];
  }
}

/** Wraps a command so that it ends when this process does, even if this process is killed. */
function endingWithUs([program, args]) {
  return onLinux ? ["setpriv", ["--pdeathsig=KILL", "--", program, ...args]] : [program, args];
}

/** The children of a process. Empty where the system has no list of them. */
function childrenOf(pid) {
  if (!onLinux) return [];
  return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean);
}

function killIfThere(pid) {
  try {
    process.kill(Number(pid), "SIGKILL");
  } catch {
    // It has already ended with its parent.
  }
}

function isRunning(pid) {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return false;
  }
}

function startupMessage(parameters) {
  const fields = Object.entries(parameters).flatMap(([name, value]) => [name, value]);
  const body = Buffer.from(`${fields.join("\0")}\0\0`);
  const head = Buffer.alloc(8);
  head.writeInt32BE(head.length + body.length, 0);
  head.writeInt32BE(3 << 16, 4);
  return Buffer.concat([head, body]);
}

/** Whether a server on this port answers a greeting with bytes that begin with `welcome`. */
function answers(port, greeting, welcome) {
  return new Promise((resolve) => {
    const socket = connect({ port, host: "127.0.0.1" }, () => socket.write(greeting));
    const end = (isWelcome) => {
      socket.destroy();
      resolve(isWelcome);
    };
    socket.setTimeout(2_000, () => end(false));
    socket.once("data", (data) => end(data.toString("latin1").startsWith(welcome)));
    socket.once("error", () => end(false));
    socket.once("close", () => end(false));
  });
}

function freePort() {
  return new Promise((resolve, reject) => {
    const probe = createServer().once("error", reject);
    probe.listen(0, "127.0.0.1", () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}

function pause() {
  return new Promise((resolve) => {
    setTimeout(resolve, 20);
  });
}
