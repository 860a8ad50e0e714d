// `node bench/search.mjs [--tree DIR] [--peers DIR]`: compares searching with ripgrep spawned from Node, and
// with native and JavaScript peers. README.md says how to get the tree that the goals refer to.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { createToolRegistry } from "../index.mjs";
import { Suite, sequential, table } from "./harness.mjs";
import { loadPeers } from "./search-peers.mjs";

const RARE = "EXPORT_SYMBOL_NS_GPL";
const REGEX = "\\b(kmalloc|kzalloc|kcalloc)\\([^,]+, GFP_\\w+\\)";
const COMMON = "return";
const GLOB = "**/*.{c,rs}";
/** Further patterns for the index: most match in few files, one matches in many. */
const RARE_REGEX = "\\bdevm_k(m|z)alloc_array\\(.*sizeof\\(struct [a-z]+_port\\)";
const LITERALS =
  "kmemdup_nul|EXPORT_SYMBOL_NS_GPL|dma_fence_chain|cpuhp_setup_state_multi|rhashtable_walk_peek";
const COUNTED = "[a-z]+_lock\\(&";
const MISSING = "nothing_in_this_tree_has_this_name";
const MEMORY_LIMIT_MB = 64;
const DELAY_LIMIT_MS = 20;
const ABORT_LIMIT_MS = 50;
const BUILD_LIMIT = 4.5;
const BYTES_PER_BYTE_LIMIT = 0.035;
const INDEXED = "toolwright, with an index";

const { values: options } = parseArgs({
  options: {
    tree: { type: "string" },
    small: { type: "string" },
    peers: { type: "string" },
    quick: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
    probe: { type: "string" },
  },
});

function registryOf(projectPath, index) {
  const toolsets = ["claude", "classic"];
  return createToolRegistry({ projectPath, userPolicyFile: false, toolsets, index });
}

/** Our contenders, by name. */
function searches(registry) {
  const grep = (input) => () => registry.call("Grep", input);
  return {
    rare: grep({ pattern: RARE }),
    rareRegex: grep({ pattern: RARE_REGEX }),
    literals: grep({ pattern: LITERALS }),
    counted: grep({ pattern: COUNTED, output_mode: "count", head_limit: 0 }),
    missing: grep({ pattern: MISSING }),
    regex: grep({ pattern: REGEX, output_mode: "count", head_limit: 0 }),
    common: grep({ pattern: COMMON, output_mode: "content", head_limit: 250 }),
    glob: () => registry.call("glob", { pattern: GLOB, maxResults: 1_000_000 }),
    newest: () => registry.call("Glob", { pattern: GLOB }),
  };
}

/** How much memory one search adds to the process. Runs in a child process. */
async function probe(name) {
  const search = searches(registryOf(resolve(options.tree), "off"))[name];
  // Not `maxRSS`, which a process inherits from the one that started it.
  writeFileSync("/proc/self/clear_refs", "5");
  const before = peakMegabytes();
  await search();
  console.log(peakMegabytes() - before);
}

function peakMegabytes() {
  const [, kilobytes] = /VmHWM:\s+(\d+)/.exec(readFileSync("/proc/self/status", "utf8"));
  return (Number(kilobytes) * 1024) / 1e6;
}

function memoryOf(name, tree) {
  const script = fileURLToPath(import.meta.url);
  const output = execFileSync(process.execPath, [script, "--probe", name, "--tree", tree]);
  return Number(output);
}

/** How late the event loop was while an operation ran. */
async function delayOf(run) {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  await run();
  delay.disable();
  return { longest: delay.max / 1e6, mean: delay.mean / 1e6, p99: delay.percentile(99) / 1e6 };
}

function files(count, folders, text) {
  const root = mkdtempSync(join(tmpdir(), "toolwright-bench-"));
  process.once("exit", () => rmSync(root, { recursive: true, force: true }));
  for (let index = 0; index < count; index += 1) {
    const folder = join(root, `d${index % folders}`);
    mkdirSync(folder, { recursive: true });
    const name = `f${index}.${["c", "rs", "txt", "md"][index % 4]}`;
    writeFileSync(join(folder, name), `${text.repeat(20 + (index % 50))}${index}\n`);
  }
  return root;
}

const LINES =
  "static int probe(struct device *dev)\n{\n\treturn kzalloc(sizeof(*x), GFP_KERNEL);\n}\n";

function contenders(all) {
  return Object.fromEntries(
    Object.entries(all).flatMap(([name, operation]) =>
      operation ? [[name, sequential(operation)]] : [],
    ),
  );
}

/** fff scans once and then watches the tree, so only a query of its index is measured. */
function indexed(FileFinder, basePath) {
  if (!FileFinder) return undefined;
  const created = FileFinder.create({ basePath });
  if (!created.ok) return undefined;
  process.once("exit", () => created.value.destroy());
  return created.value.waitForScan(60_000).then(() => created.value);
}

/** A registry with a complete index, the time to build the index, and its memory. */
async function indexedRegistry(tree) {
  const registry = registryOf(tree, { mode: "on", maxMemoryMb: 1_024 });
  await registry.initialize();
  for (;;) {
    const [status] = registry.indexStatus();
    if (status.state === "warm") return { registry, status };
    if (status.state === "cold") throw new Error(`there is no index: ${status.whyCold}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

function tasks(suite, tree, small, peers, warm) {
  const ours = searches(registryOf(tree, "off"));
  const quick = searches(warm);
  const { rg, pi, fastGlob, tinyglobby } = peers;
  const rounds = 11;
  const baseline = "rg spawned";
  const newest = `${INDEXED}, the newest 100`;
  const add = (title, atMost, all, atMostIndexed) =>
    suite.task({
      title,
      baseline,
      rounds,
      contenders: contenders(all),
      budgets: [
        { contender: "toolwright", atMost },
        { contender: INDEXED, atMost: atMostIndexed },
        { contender: newest, atMost: newest in all ? atMostIndexed : undefined },
      ].filter((it) => it.atMost !== undefined),
    });
  const fff = indexed(peers.fff, tree);
  const piGrep = (root, more) => pi && (() => pi.grep({ path: root, hidden: true, ...more }));
  add(
    `rare literal, files_with_matches: ${RARE}`,
    0.75,
    {
      [baseline]: () => rg(tree, ["-l", RARE]),
      toolwright: ours.rare,
      [INDEXED]: quick.rare,
      "pi-natives": piGrep(tree, { pattern: RARE, mode: "filesWithMatches" }),
      "fff (keeps an index)": fff && (async () => (await fff).grep(RARE, { mode: "plain" })),
    },
    0.005,
  );
  add(
    `rare regex, files_with_matches: ${RARE_REGEX}`,
    undefined,
    {
      [baseline]: () => rg(tree, ["-l", RARE_REGEX]),
      toolwright: ours.rareRegex,
      [INDEXED]: quick.rareRegex,
    },
    0.04,
  );
  add(
    `five literals, files_with_matches: ${LITERALS}`,
    undefined,
    {
      [baseline]: () => rg(tree, ["-l", LITERALS]),
      toolwright: ours.literals,
      [INDEXED]: quick.literals,
    },
    0.02,
  );
  add(
    `regex with a literal, count of all: ${COUNTED}`,
    undefined,
    {
      [baseline]: () => rg(tree, ["-c", COUNTED]),
      toolwright: ours.counted,
      [INDEXED]: quick.counted,
    },
    0.15,
  );
  add(
    `no match, and why: ${MISSING}`,
    undefined,
    {
      [baseline]: () => rg(tree, ["-l", MISSING]),
      toolwright: ours.missing,
      [INDEXED]: quick.missing,
    },
    0.05,
  );
  add(`regex, count of all: ${REGEX}`, 0.62, {
    [baseline]: () => rg(tree, ["-c", REGEX]),
    toolwright: ours.regex,
    [INDEXED]: quick.regex,
    "pi-natives": piGrep(tree, { pattern: REGEX, mode: "count" }),
  });
  add(
    `common literal, content, the first 250 lines: ${COMMON}`,
    0.5,
    {
      [baseline]: () => rg(tree, ["-n", COMMON]),
      toolwright: ours.common,
      [INDEXED]: quick.common,
      "pi-natives": piGrep(tree, { pattern: COMMON, mode: "content", maxCount: 250 }),
      "fff (keeps an index)":
        fff && (async () => (await fff).grep(COMMON, { mode: "plain", pageSize: 250 })),
    },
    0.25,
  );
  add(
    `all files of a glob: ${GLOB}`,
    0.6,
    {
      [baseline]: async () => (await rg(tree, ["--files", "-g", GLOB])).split("\n"),
      toolwright: ours.glob,
      "toolwright, the newest 100": ours.newest,
      [INDEXED]: quick.glob,
      [newest]: quick.newest,
      "pi-natives": pi && (() => pi.glob({ pattern: GLOB, path: tree, hidden: true })),
      "fff (keeps an index)": fff && (async () => (await fff).glob(GLOB, { pageSize: 1_000_000 })),
      "fast-glob": fastGlob && (() => fastGlob(GLOB, { cwd: tree, dot: true })),
      tinyglobby: tinyglobby && (() => tinyglobby.glob(GLOB, { cwd: tree, dot: true })),
    },
    0.03,
  );
  const few = registryOf(small, "off");
  const fewIndexed = registryOf(small, "on");
  void fewIndexed.initialize();
  suite.task({
    title: "grep in a directory of 60 files",
    baseline,
    rounds: 31,
    contenders: contenders({
      [baseline]: () => rg(small, ["-n", "probe"]),
      toolwright: () => few.call("Grep", { pattern: "probe", output_mode: "content" }),
      [INDEXED]: () => fewIndexed.call("Grep", { pattern: "probe", output_mode: "content" }),
      "pi-natives": piGrep(small, { pattern: "probe", mode: "content", maxCount: 250 }),
    }),
    budgets: [
      { contender: "toolwright", atMost: 0.08 },
      { contender: INDEXED, atMost: 0.08 },
    ],
  });
  return ours;
}

/** How long searches take to settle after an abort, in milliseconds, in ascending order. */
async function abortTimes(root) {
  const registry = registryOf(root, "off");
  const times = [];
  for (let round = 0; round < 20; round++) {
    const controller = new AbortController();
    const input = { pattern: REGEX, output_mode: "count", head_limit: 0 };
    const settled = registry.call("Grep", input, { signal: controller.signal }).catch(() => {});
    await new Promise((resolve) => setTimeout(resolve, 5 * round));
    const aborted = performance.now();
    controller.abort();
    await settled;
    times.push(performance.now() - aborted);
  }
  return times.toSorted((a, b) => a - b);
}

/** The cost of an index: its build time in cold searches, and its memory per byte of all files. */
async function cost({ lastBuildMs, memoryBytes }, search, tree, rg) {
  const times = [];
  for (let round = 0; round < 5; round++) {
    const began = performance.now();
    await search();
    times.push(performance.now() - began);
  }
  const files = (await rg(tree, ["--files"])).split("\n").filter((it) => it !== "");
  const bytes = files.reduce((sum, it) => sum + statSync(join(tree, it)).size, 0);
  const cold = middle(times.toSorted((a, b) => a - b));
  return { searches: lastBuildMs / cold, perByte: memoryBytes / bytes };
}

const middle = (ascending) => ascending[Math.floor(ascending.length / 2)];
const within = (is) => (is ? "ok" : "OVER");

async function main() {
  if (options.probe) return probe(options.probe);
  const say = (text) => options.json || console.log(text);
  const peers = await loadPeers(options.peers, say);
  if (!peers.rg) throw new Error("there is no ripgrep to compare with; run `npm install`");
  if (!options.tree) {
    say("no --tree is given: 4,000 small files are made up, which says little about the goals");
  }
  const tree = options.tree ? resolve(options.tree) : files(4_000, 200, LINES);
  const small = options.small ? resolve(options.small) : files(60, 1, LINES);
  const suite = new Suite("search");
  const { registry: warm, status } = await indexedRegistry(tree);
  const ours = tasks(suite, tree, small, peers, warm);
  const onTask = (task) => say(`\n${table(task)}`);
  const result = await suite.run({ quick: options.quick, onTask });

  const memory = Object.keys(ours).map((name) => ({ name, megabytes: memoryOf(name, tree) }));
  say("\npeak memory beyond what the process had");
  for (const { name, megabytes } of memory) {
    const verdict = within(megabytes < MEMORY_LIMIT_MB);
    say(`  ${name.padEnd(8)} ${megabytes.toFixed(1)} MB, ${verdict}: less than ${MEMORY_LIMIT_MB}`);
  }
  // A busy machine delays the event loop too, so the delay without a search is shown as well.
  const idle = await delayOf(() => new Promise((resolve) => setTimeout(resolve, 1_000)));
  const delay = await delayOf(() =>
    Promise.all([1, 2, 3, 4].flatMap(() => [ours.rare(), ours.regex()])),
  );
  const verdict = within(delay.longest < DELAY_LIMIT_MS);
  say(
    `\nevent loop delay while eight searches run: longest ${delay.longest.toFixed(1)} ms ` +
      `(99 %: ${delay.p99.toFixed(1)}; with none: longest ${idle.longest.toFixed(1)}), ` +
      `${verdict}: less than ${DELAY_LIMIT_MS}`,
  );
  const building = await cost(status, ours.rare, tree, peers.rg);
  say(
    `\nan index of ${status.files} files took ${status.lastBuildMs} ms, ${building.searches.toFixed(1)} cold ` +
      `searches, ${within(building.searches <= BUILD_LIMIT)}: at most ${BUILD_LIMIT}; it takes ` +
      `${(status.memoryBytes / 1e6).toFixed(1)} MB, ${building.perByte.toFixed(3)} bytes for each byte, ` +
      `${within(building.perByte <= BYTES_PER_BYTE_LIMIT)}: at most ${BYTES_PER_BYTE_LIMIT}`,
  );
  const aborts = await abortTimes(tree);
  say(
    `\nan aborted search settles after ${middle(aborts).toFixed(1)} ms, at most ` +
      `${aborts.at(-1).toFixed(1)}, ${within(aborts.at(-1) < ABORT_LIMIT_MS)}: less than ${ABORT_LIMIT_MS}`,
  );
  if (options.json) {
    console.log(
      JSON.stringify(
        { tree, ...result, memory, delay, idle, aborts, index: { ...status, ...building } },
        null,
        2,
      ),
    );
  }
}

await main().catch((error) => {
  console.error(`bench failed: ${error.message}`);
  process.exitCode = 1;
});
