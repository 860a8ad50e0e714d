"use strict";

const { CLIENTS, TOKEN_VARIABLE, clientConfig } = require("./mcp-clients.js");

/** Where `toolwright serve` listens if nothing else was said. */
const DEFAULT_URL = "http://127.0.0.1:8642/mcp";

/** The options of the command beside those of every command, as `util.parseArgs` takes them. */
const OPTIONS = {
  config: { type: "string" },
  http: { type: "boolean", default: false },
  url: { type: "string" },
};

const HELP = `toolwright mcp: serve the tools to an MCP client over standard input and output

Usage
  toolwright mcp                    serve the client that started this program
  toolwright mcp --config CLIENT    print the client's settings: ${CLIENTS.join(", ")}

Options
  --http                            with --config: settings for a server that runs (toolwright serve)
  --url URL                         its address (default: ${DEFAULT_URL})`;

/**
 * Serves the client that started this program until it goes away.
 *
 * @param createRegistry makes the registry, once nothing can reach standard output any more but the protocol
 */
async function serveMcp(createRegistry) {
  printToStandardError();
  const registry = await createRegistry();
  const { errors } = await registry.initialize();
  for (const { source, message } of errors) console.error(`toolwright: ${source}: ${message}`);
  await registry.serveStdio();
  await registry.close();
}

/** Whatever plugins and handlers print is for people: a client would take it for the protocol. */
function printToStandardError() {
  const { stderr } = process;
  process.stdout.write = stderr.write.bind(stderr);
  globalThis.console = new console.Console(stderr, stderr);
}

/** What `--config` prints. */
function configText({ config: client, http, url }) {
  if (!CLIENTS.includes(client)) {
    throw new Error(`there is no client \`${client}\`; choose one of ${CLIENTS.join(", ")}`);
  }
  const address = http || url !== undefined ? (url ?? DEFAULT_URL) : undefined;
  const { title, file, also, text } = clientConfig(client, address);
  const notes = [`${title}: ${file}`];
  if (also !== undefined) notes.push(`or: ${also}`);
  if (address !== undefined) {
    notes.push(`${TOKEN_VARIABLE}, or <token>: the token that toolwright serve printed`);
  }
  return { notes, text };
}

module.exports = { HELP, OPTIONS, configText, serveMcp };
