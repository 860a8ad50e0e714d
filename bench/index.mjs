// `node bench/index.mjs [suite…] [--quick] [--json]`: runs the benchmarks and prints how contenders compare.
import { execFileSync } from "node:child_process";
import { readdirSync, statSync } from "node:fs";
import { availableParallelism, cpus, loadavg, totalmem } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { table } from "./harness.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const ADDON_BUDGET_MB = 24;

const SUITES = {
  dispatch: async () => (await import("./dispatch.mjs")).dispatch,
  results: async () => (await import("./results.mjs")).results,
  edit: async () => (await import("./edit.mjs")).edit,
  bash: async () => (await import("./bash.mjs")).bash,
  plugins: async () => (await import("./plugins.mjs")).plugins,
  state: async () => (await import("./state.mjs")).state,
  web: async () => (await import("./web.mjs")).web,
  mcp: async () => (await import("./mcp.mjs")).mcp,
};

const HELP = `Usage: node bench/index.mjs [suite…] [options]     (bun bench/index.mjs works the same)

Suites: ${Object.keys(SUITES).join(", ")} (all when none is named)

  --quick   few and short rounds: shows that it runs, not how fast
  --json    print what was measured as JSON
  --help    show this text`;

function addonSize() {
  const folder = join(root, "native");
  return readdirSync(folder)
    .filter((name) => name.endsWith(".node"))
    .map((name) => {
      const megabytes = statSync(join(folder, name)).size / 1e6;
      const withinBudget = megabytes < ADDON_BUDGET_MB;
      return { file: `native/${name}`, megabytes, budget: ADDON_BUDGET_MB, withinBudget };
    });
}

function git(...args) {
  try {
    return execFileSync("git", args, { cwd: root, encoding: "utf8", stdio: "pipe" }).trim();
  } catch {
    return undefined;
  }
}

function facts() {
  const revision = git("rev-parse", "--short", "HEAD") ?? "unknown";
  const changed = git("status", "--porcelain", "--untracked-files=no");
  return {
    date: new Date().toISOString(),
    runtime: process.versions.bun ? `Bun ${process.versions.bun}` : `Node ${process.version}`,
    platform: `${process.platform}-${process.arch}`,
    cpu: `${availableParallelism()} × ${cpus()[0]?.model ?? "unknown"}`,
    memoryGb: Math.round(totalmem() / 1e9),
    load: loadavg()[0],
    revision: changed ? `${revision} with changes` : revision,
    addon: addonSize(),
  };
}

function shown({ date, runtime, platform, cpu, memoryGb, load, revision, addon }) {
  return [
    `${date}  ${runtime}  ${platform}  revision ${revision}`,
    `${cpu}, ${memoryGb} GB, load ${load.toFixed(1)} before the start`,
    ...addon.map(
      ({ file, megabytes, budget, withinBudget }) =>
        `${file}: ${megabytes.toFixed(1)} MB, ${withinBudget ? "ok" : "OVER"}: less than ${budget} MB`,
    ),
  ].join("\n");
}

async function main() {
  const { values: options, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      quick: { type: "boolean", default: false },
      json: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (options.help) return console.log(HELP);
  const unknown = positionals.find((name) => !Object.hasOwn(SUITES, name));
  if (unknown !== undefined) {
    throw new Error(
      `there is no suite \`${unknown}\`; the suites are ${Object.keys(SUITES).join(", ")}`,
    );
  }

  const machine = facts();
  if (!options.json) console.log(shown(machine));
  const suites = [];
  for (const name of positionals.length > 0 ? positionals : Object.keys(SUITES)) {
    const suite = await SUITES[name]();
    const onTask = (task) => options.json || console.log(`\n${suite.name}: ${table(task)}`);
    suites.push(await suite.run({ quick: options.quick, onTask }));
  }
  if (options.json)
    console.log(JSON.stringify({ ...machine, quick: options.quick, suites }, null, 2));
}

await main().catch((error) => {
  console.error(`bench failed: ${error.message}`);
  process.exitCode = 1;
});
