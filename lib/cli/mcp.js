"use strict";

const path = require("node:path");
const { CLIENTS, TOKEN_VARIABLE, clientConfig } = require("./mcp-clients.js");
const { openRegistry } = require("./opened-registry.js");
const { POLICY, REGISTRY } = require("./options.js");
const { UsageError } = require("./usage-error.js");

/** The address in the settings of a client where nothing else was said. */
const DEFAULT_URL = "http://127.0.0.1:8642/mcp";

/** Serves the client that started this program until it goes away, or prints the settings of a client. */
async function run({ values, terminal }) {
  if (values.config !== undefined) return printConfig(values, terminal);
  printToStandardError();
  const registry = await openRegistry(values, terminal);
  try {
    await registry.serveStdio();
  } finally {
    await registry.close();
  }
}

/** Whatever plugins and handlers print is for people: a client would take it for the protocol. */
function printToStandardError() {
  const { stderr } = process;
  process.stdout.write = stderr.write.bind(stderr);
  globalThis.console = new console.Console(stderr, stderr);
}

/** The settings go to standard output, and where they belong to standard error. */
function printConfig({ config: client, http, url, ...values }, { out, err }) {
  const address = http || url !== undefined ? (url ?? DEFAULT_URL) : undefined;
  const options = optionsAgain(values);
  if (address !== undefined && options.length > 0) {
    throw new UsageError(
      `\`${options[0]}\` is for the server: give it to \`toolwright serve\`, and leave it out here`,
    );
  }
  const { title, file, also, text } = clientConfig(client, address, options);
  err.line(`${title}: ${file}`);
  if (also !== undefined) err.line(`or: ${also}`);
  if (address !== undefined) {
    err.line(`${TOKEN_VARIABLE}, or <token>: the token that \`toolwright serve\` printed`);
  }
  out.line(text);
}

/** The options of the server as they were typed. Paths are absolute: a client starts it elsewhere. */
function optionsAgain(values) {
  return [...REGISTRY, ...POLICY].flatMap(({ name, value, completes }) => {
    if (values[name] === undefined) return [];
    if (value === undefined) return [`--${name}`];
    const given = [values[name]].flat();
    return given.flatMap((it) => [`--${name}`, completes === undefined ? it : path.resolve(it)]);
  });
}

module.exports = { CLIENTS, DEFAULT_URL, run };
