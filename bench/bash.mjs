// The cost of a command, compared with child_process, which a host would use without toolwright.
import { execFile, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { createToolRegistry } from "../index.mjs";
import { Suite, concurrent, sequential } from "./harness.mjs";

export const bash = new Suite("bash");

const WIDTH = 64;
const FLOOD = "head -c 1G /dev/zero | base64";

const projectPath = mkdtempSync(join(tmpdir(), "toolwright-bench-"));
process.once("exit", () => rmSync(projectPath, { recursive: true, force: true }));
const options = { projectPath, permissionMode: "bypassPermissions", userPolicyFile: false };
const registry = createToolRegistry(options);
const withoutSandbox = createToolRegistry({ ...options, sandbox: "off" });
// The cost of sandbox rules: a protected repository, and three files that a rule hides.
for (const name of [".env", "a/.env", "a/b/.env"]) {
  mkdirSync(dirname(join(projectPath, name)), { recursive: true });
  writeFileSync(join(projectPath, name), "");
}
const withRules = createToolRegistry({ ...options, policy: { deny: ["Read(**/.env)"] } });
process.once("beforeExit", () => {
  for (const each of [registry, withoutSandbox, withRules]) each.close();
});

const run = promisify(execFile);
const inNode = () => run("bash", ["-c", "true"], { cwd: projectPath });
const through = (each) => () => each.call("Bash", { command: "true" });

const { level = "none" } = (await through(registry)())._meta["toolwright/command"].sandbox ?? {};
const SANDBOXED = `toolwright: Bash, sandbox: ${level}`;
const WITH_RULES = "the same, three files hidden";
const WITHOUT = "toolwright: Bash, sandbox: off";

bash.task({
  title: "`true`, one after the other",
  baseline: 'Node: execFile("bash")',
  budgets: [
    { contender: SANDBOXED, atMost: 1 },
    { contender: WITHOUT, atMost: 1 },
  ],
  contenders: {
    'Node: execFile("bash")': sequential(inNode),
    [SANDBOXED]: sequential(through(registry)),
    [WITH_RULES]: sequential(through(withRules)),
    [WITHOUT]: sequential(through(withoutSandbox)),
  },
});

bash.task({
  title: `\`true\`, ${WIDTH} at once`,
  baseline: 'Node: execFile("bash")',
  budgets: [
    { contender: SANDBOXED, atMost: 0.9 },
    { contender: WITHOUT, atMost: 0.9 },
  ],
  width: WIDTH,
  contenders: {
    'Node: execFile("bash")': concurrent(WIDTH, inNode),
    [SANDBOXED]: concurrent(WIDTH, through(registry)),
    [WITH_RULES]: concurrent(WIDTH, through(withRules)),
    [WITHOUT]: concurrent(WIDTH, through(withoutSandbox)),
  },
});

bash.task({
  title: `\`${FLOOD}\``,
  baseline: "Node: spawn, read the pipe",
  budgets: [{ contender: "toolwright: Bash", atMost: 0.8 }],
  rounds: 7,
  contenders: {
    "Node: spawn, read the pipe": sequential(readFlood),
    "toolwright: Bash": sequential(floodThroughBash),
  },
});

/** The cheapest reader there is: it counts the bytes and keeps none. */
function readFlood() {
  return new Promise((resolve, reject) => {
    const child = spawn("bash", ["-c", FLOOD], { stdio: ["ignore", "pipe", "inherit"] });
    let bytes = 0;
    child.stdout.on("data", (chunk) => {
      bytes += chunk.length;
    });
    child.on("error", reject);
    child.on("close", () => resolve(checked(bytes)));
  });
}

async function floodThroughBash() {
  const { _meta } = await registry.call("Bash", { command: FLOOD });
  return checked(_meta["toolwright/command"].outputBytes);
}

function checked(bytes) {
  if (bytes !== 1_450_493_344) throw new Error(`expected 1450493344 bytes of output, got ${bytes}`);
}
