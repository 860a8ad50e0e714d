#!/usr/bin/env node
"use strict";

const path = require("node:path");
const { parseArgs } = require("node:util");
const { version } = require("../package.json");
const mcpCommand = require("../lib/cli/mcp.js");
const { askOnTerminal } = require("./terminal-questions.js");

const HELP = `toolwright ${version}: the tools of an agent, from the command line

Usage
  toolwright                        list the tools, then run one real call
  toolwright list                   list the tools
  toolwright call NAME [JSON]       run a tool; JSON is its input, "-" reads it from standard input
  toolwright mcp                    serve the tools to an MCP client; see toolwright mcp --help

Options
  --project DIR                     the workspace (default: the current directory)
  --toolsets LIST                   claude, classic, project, diagnostic (default: claude,classic)
  --json                            print results and listings as JSON
  --version, --help

Examples
  toolwright call Read '{"file_path": "${path.resolve("package.json")}", "limit": 5}'
  toolwright call read_file '{"path": "README.md", "startLine": 1, "endLine": 3}'

Exit codes: 0 the tool succeeded, 1 it failed, 2 the command line was wrong.`;

async function mcp(values) {
  if (values.help) return console.log(mcpCommand.HELP);
  if (values.config !== undefined) {
    const { notes, text } = mcpCommand.configText(values);
    for (const note of notes) console.error(note);
    return console.log(text);
  }
  await mcpCommand.serveMcp(() => {
    const { createToolRegistry } = require("../index.js");
    return createToolRegistry({
      projectPath: values.project,
      toolsets: values.toolsets.split(",").filter(Boolean),
      permissionMode: values["permission-mode"],
    });
  });
}

async function main() {
  const { values, positionals } = readCommandLine();
  if (positionals[0] === "mcp") return mcp(values);
  if (values.help) return console.log(HELP);
  if (values.version) return console.log(version);

  // Loaded here, so that help and version work even if the addon does not load.
  const { createToolRegistry, OutputFormatter } = require("../index.js");
  const registry = createToolRegistry({
    // Whoever types a call wants it to run. Deny rules in the user's policy file still apply.
    permissionMode: "bypassPermissions",
    projectPath: values.project,
    toolsets: values.toolsets.split(",").filter(Boolean),
    handlers: {
      askUser: askOnTerminal({
        input: process.stdin,
        output: process.stderr,
        escaped: (text) => OutputFormatter.formatForDisplay(text),
      }),
    },
  });
  const [command = "tour", ...rest] = positionals;
  switch (command) {
    case "tour":
      list(registry, values.json);
      return tour(registry);
    case "list":
      return list(registry, values.json);
    case "call":
      return call(registry, rest, values.json);
    default:
      throw usage(`there is no command \`${command}\``);
  }
}

function readCommandLine() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        project: { type: "string", default: process.cwd() },
        toolsets: { type: "string", default: "claude,classic" },
        json: { type: "boolean", default: false },
        "permission-mode": { type: "string" },
        ...mcpCommand.OPTIONS,
        help: { type: "boolean", short: "h", default: false },
        version: { type: "boolean", default: false },
      },
    });
  } catch (error) {
    throw usage(error.message);
  }
}

function usage(problem) {
  return Object.assign(new Error(`${problem}; see \`toolwright --help\``), { exitCode: 2 });
}

function list(registry, asJson) {
  const tools = registry.listTools();
  if (asJson) return console.log(JSON.stringify(tools, null, 2));
  const width = Math.max(...tools.map(({ name }) => name.length));
  for (const toolset of new Set(tools.map((tool) => tool.toolset))) {
    console.log(`\n${toolset}`);
    for (const { name, description } of tools.filter((tool) => tool.toolset === toolset)) {
      console.log(`  ${name.padEnd(width)}  ${firstSentence(description)}`);
    }
  }
}

function firstSentence(description) {
  return description.split(/(?<=\.)\s/, 1)[0];
}

async function tour(registry) {
  const name = registry.names().find((it) => it === "Read" || it === "read_file");
  if (name === undefined) return;
  const file = path.join(__dirname, "..", "package.json");
  const input = name === "Read" ? { file_path: file, limit: 5 } : { path: file, endLine: 5 };
  const shown = JSON.stringify(input);
  console.log(`\nOne real call: ${name} ${shown}\n`);
  const started = performance.now();
  const result = await tourRegistry().call(name, input);
  const elapsed = (performance.now() - started).toFixed(1);
  print(result);
  console.log(`\n${result.isError ? "failed" : "done"} in ${elapsed} ms. More: toolwright --help`);
}

/** A registry for the tour, which reads this package's package.json: it may be outside the workspace. */
function tourRegistry() {
  const { createToolRegistry } = require("../index.js");
  return createToolRegistry({
    projectPath: path.join(__dirname, ".."),
    toolsets: ["claude", "classic"],
  });
}

async function call(registry, [name, json], asJson) {
  if (name === undefined) throw usage("call needs the name of a tool");
  const input = parseInput(json === "-" ? await readStandardInput() : (json ?? "{}"));
  const controller = new AbortController();
  process.once("SIGINT", () => controller.abort(new Error("interrupted")));
  const onProgress = asJson
    ? undefined
    : ({ type, text }) => type === "output" && process.stderr.write(text);
  const result = await registry.call(name, input, { signal: controller.signal, onProgress });
  if (asJson) console.log(JSON.stringify(result, null, 2));
  else print(result);
  if (result.isError) process.exitCode = 1;
}

function parseInput(json) {
  try {
    return JSON.parse(json);
  } catch (error) {
    throw usage(`the input is not JSON (${error.message}): ${json.slice(0, 80)}`);
  }
}

async function readStandardInput() {
  const chunks = [];
  for await (const chunk of process.stdin) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}

function print({ content, isError, error, display }) {
  // This is for a person, so a refusal is shown with the way to allow the call.
  const why = error?.details ? display : error?.message;
  if (isError) return console.error(`${error.type}: ${why}`);
  for (const block of content) {
    if (block.type === "text") console.log(block.text);
    else
      console.log(`[${block.mimeType ?? block.type}, ${block.data?.length ?? 0} bytes in base64]`);
  }
}

main().catch((error) => {
  console.error(`toolwright: ${error.message}`);
  process.exitCode = error.exitCode ?? 1;
});
