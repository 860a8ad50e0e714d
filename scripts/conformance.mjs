// `npm run test:conformance`: runs the official conformance suites of the Model Context Protocol against a
// registry that is served over HTTP, and compares the failures with conformance/not-applicable.json. A check
// that fails and is not listed there is an error, and so is one that is listed and passes.
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  closeSync,
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  readdirSync,
  rmSync,
} from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { root, runNpm } from "./command.mjs";
import { nodeOfAtLeast } from "./node-versions.mjs";
import { setup } from "./setup.mjs";

/** The Node version that the suites need. */
const NODE_MAJOR = 22;
/** Each suite is installed from the package.json and lock file in conformance/suites/<folder>. */
const RUNS = [
  { folder: "2025", era: "2025-11-25", label: "0.1 at 2025-11-25" },
  { folder: "2026", era: "2025-11-25", label: "0.2 at 2025-11-25" },
  { folder: "2026", era: "2026-07-28", label: "0.2 at 2026-07-28" },
];
const PATIENCE_MS = 300_000;

/** Installs a suite once, from its lock file, and returns the path of its program. */
async function obtainSuite(folder) {
  const source = join(root, "conformance", "suites", folder);
  const place = join(root, ".setup", `conformance-${folder}`);
  const program = join(place, "node_modules/@modelcontextprotocol/conformance/dist/index.js");
  const lock = join(source, "package-lock.json");
  const installed = join(place, "package-lock.json");
  const isCurrent =
    existsSync(program) && readFileSync(installed, "utf8") === readFileSync(lock, "utf8");
  if (!isCurrent) {
    rmSync(place, { recursive: true, force: true });
    mkdirSync(place, { recursive: true });
    cpSync(source, place, { recursive: true });
    // The suites need a newer Node than the one that may install them.
    const flags = ["--ignore-scripts", "--no-audit", "--no-fund", "--engine-strict=false"];
    await runNpm(["ci", "--prefix", place, ...flags]);
  }
  return program;
}

/** Starts the registry with the fixture tools in a separate process. */
async function startFixture() {
  const child = spawn(process.execPath, [join(root, "conformance", "fixture-server.mjs")], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const exit = new Promise((resolve) => {
    child.once("exit", resolve);
  });
  const lines = createInterface({ input: child.stdout });
  const url = await Promise.race([
    new Promise((resolve) => {
      lines.once("line", resolve);
    }),
    exit.then((code) => Promise.reject(new Error(`the fixture server ended with ${code}`))),
  ]);
  return {
    url,
    stop: () => {
      child.stdin.end();
      return exit;
    },
  };
}

/** The checks of every scenario that was run, by the scenario's name. */
function resultsIn(folder) {
  const results = new Map();
  for (const name of readdirSync(folder)) {
    const scenario = /^server-(?<scenario>.+)-\d{4}-\d\d-\d\dT[\d-]+Z$/.exec(name)?.groups.scenario;
    const file = join(folder, name, "checks.json");
    if (scenario === undefined) continue;
    const unfinished = [{ id: scenario, status: "FAILURE", errorMessage: "it did not end" }];
    results.set(scenario, existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : unfinished);
  }
  return results;
}

/** Runs every scenario of a suite that applies to the era. */
async function runSuite(node, { folder, era, label }, url) {
  const program = await obtainSuite(folder);
  const output = join(root, ".setup", "conformance-results", label.replaceAll(/[^\w.]+/g, "-"));
  rmSync(output, { recursive: true, force: true });
  mkdirSync(output, { recursive: true });
  const which = ["--suite", "all", "--spec-version", era];
  const server = ["server", "--url", url, "--output-dir", output, ...which];
  await runQuietly(node, [program, ...server], join(output, "output.txt"));
  return resultsIn(output);
}

/** Runs a suite with its output in a file. It fails if any check fails, expected or not. */
async function runQuietly(node, args, file) {
  const output = openSync(file, "w");
  const child = spawn(node, args, {
    stdio: ["ignore", output, output],
    timeout: PATIENCE_MS,
    killSignal: "SIGKILL",
  });
  const [code, signal] = await once(child, "exit");
  closeSync(output);
  if (code !== 0 && code !== 1) {
    throw new Error(`the suite ended with ${signal ?? `exit code ${code}`}; see \`${file}\``);
  }
}

/** The server scenarios that a suite has. */
async function scenariosOf(node, folder) {
  const program = await obtainSuite(folder);
  const child = spawn(node, [program, "list", "--server"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const names = [];
  for await (const line of createInterface({ input: child.stdout })) {
    const name = /^ {2}- (?<name>\S+)/.exec(line)?.groups.name;
    if (name !== undefined) names.push(name);
  }
  return names;
}

/** The differences between one scenario's outcome and the list; empty if there are none. */
function compare(scenario, era, checks, listed) {
  const failed = checks.filter(({ status }) => status === "FAILURE" || status === "WARNING");
  const bad = new Map(failed.map((it) => [it.id, it.errorMessage ?? it.description]));
  const entry = listed.scenarios[`${scenario}@${era}`] ?? listed.scenarios[scenario];
  if (typeof entry === "string") {
    return bad.size > 0
      ? []
      : [
          `\`${scenario}\` passes at ${era}, but is listed as not applicable; remove it from the list`,
        ];
  }
  const expected = Object.keys(entry ?? {});
  return [
    ...[...bad].filter(([id]) => !expected.includes(id)).map(([id, why]) => `\`${id}\`: ${why}`),
    ...expected
      .filter((id) => !bad.has(id))
      .map((id) => `\`${id}\` passes at ${era}, but is listed; remove it from the list`),
  ];
}

function outcome(scenario, era, checks, listed, problems) {
  if (problems.length > 0) return "WRONG";
  const entry = listed.scenarios[`${scenario}@${era}`] ?? listed.scenarios[scenario];
  if (typeof entry === "string") return "not applicable";
  const passed = new Set(checks.filter(({ status }) => status === "SUCCESS").map(({ id }) => id));
  const skipped = Object.keys(entry ?? {}).length;
  return `passes (${passed.size}${skipped > 0 ? `, ${skipped} not applicable` : ""})`;
}

/** Runs the suites on the addon that was built last. Rejects with every difference from the list. */
export async function conformance() {
  const list = join(root, "conformance", "not-applicable.json");
  const listed = JSON.parse(readFileSync(list, "utf8"));
  const node = await nodeOfAtLeast(NODE_MAJOR);
  const problems = [];
  const known = new Set();
  const table = new Map();
  const fixture = await startFixture();
  try {
    for (const suite of RUNS) {
      for (const name of await scenariosOf(node, suite.folder)) known.add(name);
      for (const [scenario, checks] of await runSuite(node, suite, fixture.url)) {
        const found = compare(scenario, suite.era, checks, listed);
        problems.push(...found.map((it) => `${suite.label}: ${scenario}: ${it}`));
        const row = table.get(scenario) ?? {};
        row[suite.label] = outcome(scenario, suite.era, checks, listed, found);
        table.set(scenario, row);
      }
    }
  } finally {
    await fixture.stop();
  }
  for (const name of known) {
    if (table.has(name) === name in listed.notRun) {
      problems.push(
        table.has(name)
          ? `\`${name}\` was run, but is listed under \`notRun\``
          : `\`${name}\` was never run; give a reason under \`notRun\``,
      );
    }
  }
  for (const name of [...Object.keys(listed.scenarios), ...Object.keys(listed.notRun)]) {
    if (!known.has(name.split("@")[0])) problems.push(`no suite has a scenario \`${name}\``);
  }
  console.log(shown(table));
  if (problems.length > 0) {
    throw new Error(`differs from \`conformance/not-applicable.json\`:\n${problems.join("\n")}`);
  }
}

/** The outcomes as a text table, one line per scenario. */
function shown(table) {
  const labels = RUNS.map(({ label }) => label);
  const rows = [...table].map(([name, row]) =>
    [name].concat(labels.map((label) => row[label] ?? "")),
  );
  const all = [["scenario", ...labels], ...rows];
  const widths = all[0].map((_, column) => Math.max(...all.map((row) => row[column].length)));
  return all
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column]))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const run = setup({ profile: "any" }).then(conformance);
  await run.catch((error) => {
    console.error(`conformance: ${error.message}`);
    process.exitCode = 1;
  });
}
