"use strict";

/**
 * @import { CommandCall, Values } from "./commands.js"
 * @import { Terminal } from "./terminal.js"
 */

const path = require("node:path");
const { CLIENTS, TOKEN_VARIABLE, clientConfig } = require("./mcp-clients.js");
const { openRegistry } = require("./opened-registry.js");
const { POLICY, REGISTRY } = require("./options.js");
const { UsageError } = require("./usage-error.js");

/** The default address in the settings of a client. */
const DEFAULT_URL = "http://127.0.0.1:8642/mcp";

/**
 * Serves the client that started this program until it disconnects, or prints the settings of a client.
 *
 * @param {CommandCall} call
 */
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

/** Sends everything that is printed to standard error. A client would read it as a message otherwise. */
function printToStandardError() {
  const { stderr } = process;
  process.stdout.write = stderr.write.bind(stderr);
  globalThis.console = new console.Console(stderr, stderr);
}

/**
 * The settings go to standard output, and where they belong to standard error.
 *
 * @param {Values} values
 * @param {Terminal} terminal
 */
function printConfig({ config: client = "", http, url, ...values }, { out, err }) {
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

/**
 * The options of the server as they were typed. Paths are absolute: a client starts it elsewhere.
 *
 * @param {Values} values
 */
function optionsAgain(values) {
  return [...REGISTRY, ...POLICY].flatMap(({ name, value, completes }) => {
    /** @type {string | true | string[] | undefined} */
    const given = Reflect.get(values, name);
    if (given === undefined) return [];
    if (value === undefined || given === true) return [`--${name}`];
    return [given]
      .flat()
      .flatMap((it) => [`--${name}`, completes === undefined ? it : path.resolve(it)]);
  });
}

module.exports = { CLIENTS, DEFAULT_URL, run };
