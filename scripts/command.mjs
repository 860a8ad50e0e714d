// Runs child processes for the other scripts. Only node: imports, so that it works before `npm ci`.
import { spawn } from "node:child_process";
import { accessSync, constants, existsSync, readFileSync, readdirSync, statSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** How many characters of a failed command's output its error keeps for the digest. */
const KEPT_OUTPUT = 2_000_000;

/**
 * Runs a command in the repository and streams its output; rejects unless it exits with 0. If stdout is
 * not a terminal, the output has no colours, and the error's `output` contains it. With `quiet` it is not
 * printed.
 */
export function run(command, args, { env = {}, timeoutMs, quiet = false } = {}) {
  const line = [command, ...args].map(displayed).join(" ");
  if (!quiet) console.log(`$ ${line}`);
  const watched = process.stdout.isTTY && !quiet;
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd: root,
      stdio: ["inherit", watched ? "inherit" : "pipe", watched ? "inherit" : "pipe"],
      env: { ...process.env, ...(watched ? {} : { NO_COLOR: "1" }), ...env },
      timeout: timeoutMs,
      killSignal: "SIGKILL",
    });
    const started = Date.now();
    let output = "";
    const passOn = (from, to) => {
      from?.setEncoding("utf8").on("data", (text) => {
        if (!quiet) to.write(text);
        output = (output + text).slice(-KEPT_OUTPUT);
      });
    };
    passOn(child.stdout, process.stdout);
    passOn(child.stderr, process.stderr);
    child.on("error", (error) =>
      reject(new Error(`\`${line}\` could not start: ${error.message}`)),
    );
    // A child of the command may still have the pipes open; `close` must not wait for it.
    const closePipes = () => [child.stdout, child.stderr].forEach((it) => it?.destroy());
    child.on("exit", () => setTimeout(closePipes, 2_000).unref());
    child.on("close", (code, signal) => {
      if (code === 0) return resolve();
      const timedOut = signal === "SIGKILL" && Date.now() - started >= timeoutMs;
      const how = timedOut
        ? `did not exit within ${seconds(timeoutMs)}`
        : `ended with ${signal ?? `exit code ${code}`}`;
      reject(Object.assign(new Error(`\`${line}\` ${how}`), { output }));
    });
  });
}

/** Runs an npm package's command with this Node, without a shell or a `.cmd` wrapper, on every system. */
export function runTool(
  name,
  args,
  { command = name.split("/").at(-1), runtime = [process.execPath], ...options } = {},
) {
  const [program, ...before] = runtime;
  return run(program, [...before, toolPath(name, command), ...args], options);
}

/** Runs npm: with this Node if npm has set its path, because on Windows the command is a `.cmd`. */
export function runNpm(args, options) {
  const npm = process.env.npm_execpath;
  if (npm?.endsWith(".js")) return run(process.execPath, [npm, ...args], options);
  return run(process.platform === "win32" ? "npm.cmd" : "npm", args, options);
}

function toolPath(name, command) {
  const folder = join(root, "node_modules", name);
  const { bin } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  return join(folder, typeof bin === "string" ? bin : bin[command]);
}

/**
 * The path of the Bun binary. Bun's postinstall script moves it from the platform package into `bun`. If
 * install scripts were not allowed, it is still in the platform package, and `bun/bin` has a small stub.
 */
export function bunPath() {
  const modules = join(root, "node_modules");
  const platforms = join(modules, "@oven");
  const folders = existsSync(platforms)
    ? readdirSync(platforms).map((name) => join(platforms, name, "bin"))
    : [];
  const candidates = [join(modules, "bun", "bin"), ...folders].flatMap((folder) => [
    join(folder, "bun.exe"),
    join(folder, "bun"),
  ]);
  const found = candidates.find((path) => existsSync(path) && statSync(path).size > 1_000_000);
  if (!found)
    throw new Error(
      `no Bun binary in \`node_modules/bun\` or \`node_modules/@oven\`; run \`npm rebuild bun\``,
    );
  return found;
}

/** The path of a program that the system would start by this name, if there is one. */
export function programOnPath(name) {
  return (process.env.PATH ?? "")
    .split(delimiter)
    .filter((folder) => folder !== "")
    .map((folder) => join(folder, name))
    .find(isProgram);
}

function isProgram(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

export function seconds(milliseconds) {
  return `${(milliseconds / 1000).toFixed(1)} s`;
}

function displayed(word) {
  const short = word === process.execPath ? "node" : word.replace(root + "/", "");
  return /\s/.test(short) ? JSON.stringify(short) : short;
}
