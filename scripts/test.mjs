// `npm test`: installs and builds what is missing, runs every check and prints a summary. A failed check does
// not stop the others.
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { obtainChromium } from "./chromium.mjs";
import { bunPath, root, run, runTool, seconds } from "./command.mjs";
import { conformance } from "./conformance.mjs";
import { checkCrates } from "./crates.mjs";
import { digest, failureLines } from "./digest.mjs";
import { checkGenerated, writeGenerated } from "./generate.mjs";
import { otherNodes, otherNodesRunHere } from "./node-versions.mjs";
import { obtainServers } from "./server-programs.mjs";
import { cargoTarget, setup } from "./setup.mjs";
import { runVitest } from "./vitest-runs.mjs";

const cargo = (...args) => run("cargo", args);

const STEPS = [
  { name: "rustfmt", about: "Rust formatting", run: () => cargo("fmt", "--all", "--check") },
  {
    name: "clippy",
    about: "Rust lints",
    // In the directory of the build, so that macros and C code are not compiled again.
    run: () =>
      cargo("clippy", "--workspace", "--all-targets", ...cargoTarget(), "--", "-D", "warnings"),
  },
  {
    name: "cargo",
    about: "Rust tests",
    run: () => cargo("test", "--workspace", "--no-fail-fast", ...cargoTarget()),
  },
  {
    name: "deps",
    about: "crates: licences, sources, unused ones",
    run: checkCrates,
  },
  {
    name: "oxlint",
    about: "JavaScript and TypeScript lints",
    run: () => runTool("oxlint", ["--deny-warnings"]),
  },
  {
    name: "oxfmt",
    about: "JavaScript and TypeScript formatting",
    run: () => runTool("oxfmt", ["--check"]),
  },
  { name: "types", about: "types of lib/, tests and declarations", run: types },
  { name: "drift", about: "generated files match their source", run: checkGenerated },
  {
    name: "servers",
    about: "Redis and PostgreSQL for the tests of stores",
    run: async (_options, note) => note({ leftOut: await obtainServers() }),
  },
  {
    name: "node",
    about: "vitest on Node",
    run: ({ quick }, note) => runVitest(quick ? ["--exclude", SLOW] : [], note),
  },
  {
    name: "bun",
    about: "vitest on Bun",
    run: (_options, note) => runVitest([], note, { runtime: [bunPath(), "--bun"] }),
  },
  { name: "page", about: "the page in a browser", run: pageInBrowser },
  { name: "conformance", about: "the official conformance suites of MCP", run: conformance },
  { name: "smoke", about: "loads, works and exits on each runtime", run: smoke },
  {
    name: "publint",
    about: "package.json is publishable",
    run: () => runTool("publint", ["run", "--strict"]),
  },
  {
    name: "attw",
    about: "types resolve for require and import",
    run: () =>
      runTool("@arethetypeswrong/cli", ["--pack", ".", "--profile", "node16"], { command: "attw" }),
  },
];
const QUICK = ["cargo", "node"];
/** Test files that together take longer than all others: thousands of cases and processes, and waiting. */
const SLOW = "__test__/**/*.slow.test.ts";

/** Checks our tests, lib/, the declarations alone, and a strict user's project for each kind of module. */
async function types() {
  const consumer = join("__test__", "types", "consumer");
  const ways = readdirSync(join(root, consumer)).filter((name) =>
    /^tsconfig\..+\.json$/.test(name),
  );
  if (ways.length === 0) throw new Error(`no tsconfig.<way>.json in \`${consumer}\``);
  const projects = [
    "tsconfig.json",
    "tsconfig.lib.json",
    "tsconfig.types.json",
    ...ways.map((it) => join(consumer, it)),
  ];
  for (const project of projects) await runTool("typescript", ["-p", project], { command: "tsc" });
}

/** Runs the tests of the page, if there is a browser or one can be installed. */
async function pageInBrowser(_options, note) {
  const leftOut = await obtainChromium();
  note({ leftOut });
  if (leftOut.length > 0) return;
  const files = readdirSync(join(root, "e2e")).filter((name) => name.endsWith(".test.mjs"));
  await run(process.execPath, ["--test", ...files.map((name) => join("e2e", name))]);
}

/** Runs small programs on each runtime. The timeout checks that a loaded addon does not keep them alive. */
async function smoke() {
  const folder = join("__test__", "smoke");
  const files = readdirSync(join(root, folder)).filter((name) => /\.[cm]js$/.test(name));
  if (files.length === 0) throw new Error(`no .cjs or .mjs file in \`${folder}\``);
  if (!otherNodesRunHere)
    console.log(
      "other Node versions are left out: npm has their binaries for linux-x64-glibc only",
    );
  for (const runtime of [
    process.execPath,
    ...(otherNodesRunHere ? await otherNodes() : []),
    bunPath(),
  ]) {
    for (const file of files) await run(runtime, [join(folder, file)], { timeoutMs: 30_000 });
  }
}

const HELP = `Usage: npm test -- [options]

  --only <step,…>   run only these steps
  --skip <step,…>   leave these steps out
  --quick           the edit-test loop: debug addon, generated files rewritten, ${QUICK.join(" and ")}
                    without ${SLOW}
  --list            list the steps
  --help            show this text`;

async function main() {
  const { values: options } = parseArgs({
    options: {
      only: { type: "string" },
      skip: { type: "string" },
      quick: { type: "boolean" },
      list: { type: "boolean" },
      help: { type: "boolean" },
    },
  });
  if (options.help) return console.log(HELP);
  if (options.list)
    return console.log(STEPS.map(({ name, about }) => `${name.padEnd(12)} ${about}`).join("\n"));

  const steps = selected(options);
  if (options.quick) {
    await setup({ profile: "any" });
    writeGenerated();
    return summarize(await outcomes(steps, options));
  }
  const rustTests = steps.some(({ name }) => name === "cargo");
  const build = {
    name: "setup",
    about: "npm dependencies, the addon and the Rust tests",
    run: () => setup({ profile: "any", rustTests }),
  };
  const built = await outcome(build, options);
  summarize([built, ...(built.error ? [] : await outcomes(steps, options))]);
}

async function outcomes(steps, options) {
  const results = [];
  for (const step of steps) results.push(await outcome(step, options));
  return results;
}

function selected({ only, skip, quick }) {
  const wanted = only ? stepNames(only) : quick ? QUICK : STEPS.map(({ name }) => name);
  const unwanted = skip ? stepNames(skip) : [];
  return STEPS.filter(({ name }) => wanted.includes(name) && !unwanted.includes(name));
}

function stepNames(list) {
  const names = list.split(",").map((name) => name.trim());
  const known = STEPS.map(({ name }) => name);
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined)
    throw new Error(`there is no step \`${unknown}\`; the steps are ${known.join(", ")}`);
  return names;
}

async function outcome({ name, about, run: action }, options) {
  console.log(`\n=== ${name}: ${about}`);
  const started = Date.now();
  let error;
  const noted = { slowest: [], leftOut: [] };
  try {
    await action(options, (notes) => Object.assign(noted, notes));
  } catch (caught) {
    error = caught;
    console.error(error.message);
  }
  return { name, about, error, ...noted, took: Date.now() - started };
}

function summarize(results) {
  const failed = results.filter(({ error }) => error);
  // The causes are printed before and after the summary, so that they remain where a log is cut.
  for (const { name, error } of failed) {
    if (error.output) console.log(`\n=== what failed in ${name}\n${digest(error.output)}`);
  }
  console.log("\n=== summary");
  for (const { name, about, error, took } of results) {
    console.log(
      `${error ? "FAILED" : "ok    "}  ${name.padEnd(12)} ${seconds(took).padStart(8)}  ${about}`,
    );
  }
  for (const what of results.flatMap(({ leftOut }) => leftOut)) console.log(`\nLEFT OUT: ${what}`);
  if (failed.length === 0) return showSlowest(results);
  const names = failed.map(({ name }) => name).join(",");
  for (const { error } of failed) console.log(failureLines(error.output ?? error.message));
  console.error(
    `\n${failed.length} of ${results.length} steps failed; run them again with: npm test -- --only ${names}`,
  );
  process.exitCode = 1;
}

function showSlowest(results) {
  for (const { name, slowest } of results) {
    if (slowest.length > 0) console.log(`\nthe slowest files of ${name}:\n${slowest.join("\n")}`);
  }
}

await main().catch((error) => {
  console.error(`npm test failed: ${error.message}`);
  process.exitCode = 1;
});
