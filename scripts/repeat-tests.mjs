// `npm run test:repeat`: runs vitest many times beside busy loops, to find tests that fail only sometimes.
import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { bunPath, root, seconds } from "./command.mjs";
import { failureLines } from "./digest.mjs";
import { failures, vitestReport } from "./vitest-runs.mjs";

const HELP = `Usage: npm run test:repeat -- [options] [file…]

Runs the tests of these files, or all tests. Build the addon first.

  --node <count>      runs on Node (20)
  --bun <count>       runs on Bun (10)
  --busy <count>      busy loops beside the tests (2)
  --workers <count>   test files that run at the same time (the configured number)
  --minutes <count>   starts no run after this time (240)
  --help              shows this text`;

const MAX_BUSY = 32;
/** A run that takes longer than this hangs, and is killed. */
const MAX_RUN_MS = 60 * 60_000;
const ERROR_LENGTH = 300;
/** Outputs of failed runs are kept here. */
const outputs = join(root, "target", "repeat-tests");

/** Ends within milliseconds when the script that started it is gone, however the script ended. */
const BUSY_LOOP = `
  const parent = process.ppid;
  for (let count = 0; ; count += 1) if (count % 1_000_000 === 0 && process.ppid !== parent) break;
`;

async function main() {
  const { values, positionals: files } = parseArgs({
    allowPositionals: true,
    options: {
      node: { type: "string", default: "20" },
      bun: { type: "string", default: "10" },
      busy: { type: "string", default: "2" },
      workers: { type: "string" },
      minutes: { type: "string", default: "240" },
      help: { type: "boolean" },
    },
  });
  if (values.help) return console.log(HELP);
  const { busy, minutes, node, bun } = Object.fromEntries(
    ["busy", "minutes", "node", "bun"].map((name) => [name, count(name, values[name])]),
  );
  if (busy > MAX_BUSY) throw new Error(`\`--busy\` is at most ${MAX_BUSY}, not ${busy}`);
  const args = values.workers
    ? [...files, "--maxWorkers", String(count("workers", values.workers))]
    : files;
  const runs = interleaved(
    { name: "Node", wanted: node },
    { name: "Bun", wanted: bun, runtime: [bunPath(), "--bun"] },
  );
  const deadline = Date.now() + minutes * 60_000;
  startLoops(busy);
  summarize(await repeat(runs, args, deadline), runs.length);
}

function count(name, text) {
  if (!/^\d+$/.test(text)) throw new Error(`\`--${name}\` must be a number, not \`${text}\``);
  return Number(text);
}

/** All runs in an order that spreads each runtime over the whole time. */
function interleaved(...runtimes) {
  return runtimes
    .flatMap(({ name, wanted, runtime }) =>
      Array.from({ length: wanted }, (_, at) => ({ name, runtime, place: (at + 0.5) / wanted })),
    )
    .toSorted((one, other) => one.place - other.place);
}

function startLoops(number) {
  for (let loop = 0; loop < number; loop += 1)
    spawn(process.execPath, ["-e", BUSY_LOOP], { stdio: "ignore" }).unref();
}

/** The runs that were made, with what failed in each. */
async function repeat(runs, args, deadline) {
  const made = [];
  for (const { name, runtime } of runs) {
    if (Date.now() > deadline) break;
    const started = Date.now();
    const options = { quiet: true, timeoutMs: MAX_RUN_MS, ...(runtime ? { runtime } : {}) };
    const { report, error } = await vitestReport(args, options);
    const failed = report ? failures(report) : [];
    // An error outside of any test is only in the output.
    if (error && failed.length === 0)
      failed.push({ file: "vitest", test: error.message, error: failureLines(error.output ?? "") });
    made.push({ name, failed });
    const took = seconds(Date.now() - started);
    const passed = report ? `${report.numPassedTests} passed, ` : "";
    console.log(
      `run ${made.length} of ${runs.length} on ${name}: ${passed}${failed.length} failed, ${took}`,
    );
    if (error) keep(`${made.length}-${name.toLowerCase()}.log`, error.output ?? error.message);
    for (const { file, test } of failed) console.log(`  ${file}: ${test}`);
  }
  return made;
}

function keep(name, output) {
  mkdirSync(outputs, { recursive: true });
  writeFileSync(join(outputs, name), output);
}

/** Prints every test that failed in any run, how often on each runtime, and the first error it failed with. */
function summarize(made, wanted) {
  const runsOn = grouped(made, ({ name }) => name);
  const counts = Object.entries(runsOn).map(([name, { length }]) => `${length} on ${name}`);
  console.log(`\n=== ${made.length} of ${wanted} runs made: ${counts.join(", ") || "none"}`);
  const all = made.flatMap(({ name, failed }) => failed.map((it) => ({ ...it, name })));
  const byTest = grouped(all, ({ file, test }) => `${file}: ${test}`);
  for (const [test, failed] of Object.entries(byTest)) {
    const on = Object.entries(grouped(failed, ({ name }) => name)).map(
      ([name, { length }]) => `${length} of ${runsOn[name].length} on ${name}`,
    );
    console.log(`\nFAILED ${on.join(", ")}: ${test}`);
    console.log(failed[0].error.slice(0, ERROR_LENGTH).replace(/^/gm, "    "));
  }
  if (all.length === 0) return console.log("no test failed");
  console.log(`\nthe outputs of the failed runs are in \`${outputs}\``);
  process.exitCode = 1;
}

function grouped(items, keyOf) {
  const groups = {};
  for (const item of items) (groups[keyOf(item)] ??= []).push(item);
  return groups;
}

await main().catch((error) => {
  console.error(`npm run test:repeat failed: ${error.message}`);
  process.exitCode = 1;
});
