// `node bench/http.mjs [--quick] [--json]`: the throughput of the local server compared with a plain Node http
// server that does the same with fs. Each server has its own process, and they take turns under the same load.
import { fork } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import autocannon from "autocannon";

const { values: options } = parseArgs({
  options: {
    quick: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
  },
});

const BASELINE = "node http with fs";
const NAMES = [
  BASELINE,
  "the same, list made once",
  "registry.serve",
  "registry.fetch in node http",
];
const ROUNDS = options.quick ? 1 : 7;
const SAMPLE_SECONDS = options.quick ? 1 : 2;
const CONNECTIONS = 16;

const folder = mkdtempSync(join(tmpdir(), "toolwright-bench-"));
const file = join(folder, "notes.txt");
writeFileSync(file, Array.from({ length: 40 }, (_, at) => `line ${at} of a small file\n`).join(""));

const TASKS = [
  { title: "GET /api/tools", goal: 2, request: { path: "/api/tools", method: "GET" } },
  {
    title: "POST /api/tools/Read/call, a file of 40 lines",
    goal: 1,
    request: {
      path: "/api/tools/Read/call",
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ input: { file_path: file } }),
    },
  },
];

/** Starts the servers and returns their addresses. */
async function start() {
  const script = fileURLToPath(new URL("http-servers.mjs", import.meta.url));
  const servers = NAMES.map(async (name) => {
    const child = fork(script, [name, folder]);
    const [{ origin, token }] = await once(child, "message");
    return { name, child, origin, token };
  });
  return Promise.all(servers);
}

/** The answers per second, and the 99th percentile of their times. */
async function throughput({ name, origin, token }, { path, headers, ...request }) {
  const run = await autocannon({
    ...request,
    url: origin + path,
    headers: { ...headers, authorization: `Bearer ${token}` },
    duration: SAMPLE_SECONDS,
    connections: CONNECTIONS,
  });
  if (run.non2xx + run.errors > 0) {
    throw new Error(`${name}: ${run.non2xx + run.errors} requests to ${path} were not answered`);
  }
  return { perSecond: run["2xx"] / ((run.finish - run.start) / 1_000), slowest: run.latency.p99 };
}

async function measure(servers, { title, goal, request }) {
  const samples = new Map(servers.map(({ name }) => [name, []]));
  // The first turn warms up.
  for (let round = -1; round < ROUNDS; round += 1) {
    for (const server of servers) {
      const sample = await throughput(server, request);
      if (round >= 0) samples.get(server.name).push(sample);
    }
  }
  const reference = samples.get(BASELINE);
  const rows = servers.map(({ name }) => {
    const taken = samples.get(name);
    const ratios = taken.map(({ perSecond }, round) => perSecond / reference[round].perSecond);
    return {
      name,
      perSecond: median(taken.map(({ perSecond }) => perSecond)),
      slowestMs: median(taken.map(({ slowest }) => slowest)),
      ratio: median(ratios),
      ratioRange: [Math.min(...ratios), Math.max(...ratios)],
      goal: name === "registry.serve" ? goal : undefined,
    };
  });
  return { title, rows };
}

function median(values) {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)];
}

function shown({ title, rows }) {
  const lines = rows.map(({ name, perSecond, slowestMs, ratio, ratioRange, goal }) => {
    const range = ratioRange.map((it) => it.toFixed(2)).join("–");
    const judged =
      goal === undefined ? "" : `  ${ratio >= goal ? "ok" : "BELOW"}: at least ${goal}×`;
    const figures = `${perSecond.toFixed(0).padStart(7)} /s  99 %: ${slowestMs} ms`;
    return `  ${name.padEnd(28)}${figures}  ${ratio.toFixed(2)}× (${range})${judged}`;
  });
  return [title, ...lines].join("\n");
}

const servers = await start();
try {
  const load = loadavg()[0];
  const results = [];
  for (const task of TASKS) results.push(await measure(servers, task));
  if (options.json) console.log(JSON.stringify({ load, results }));
  else
    console.log([`load ${load.toFixed(1)} before the start`, ...results.map(shown)].join("\n\n"));
} finally {
  for (const { child } of servers) child.kill();
  rmSync(folder, { recursive: true, force: true });
}
