"use strict";

/**
 * @import { HttpServeOptions, RegistryServer } from "../types/http"
 * @import { CommandCall, Values } from "./commands.js"
 * @import { Terminal } from "./terminal.js"
 */

const { interruptible } = require("./interrupts.js");
const { projectOf, withRegistry } = require("./opened-registry.js");
const { inLine } = require("./terminal.js");
const { UsageError } = require("./usage-error.js");

/** How long a person has to answer on the page. */
const PATIENCE_MS = 600_000;

/** @param {CommandCall} call */
async function run({ values, terminal }) {
  const address = addressOf(values);
  const options = { limits: { confirmationTimeoutMs: PATIENCE_MS } };
  await interruptible((signal) =>
    withRegistry(values, terminal, options, async (registry) => {
      const server = await registry.serve(address);
      printAddress(server, values, terminal);
      await aborted(signal);
      // The terminal shows `^C` in the current line.
      if (terminal.err.isTerminal) terminal.err.line("\nstopped");
      await server.close();
    }),
  );
  // Ctrl-C is the normal way to stop a server, so it is no failure.
  return 0;
}

/**
 * @param {Values} values
 * @returns {HttpServeOptions}
 */
function addressOf({ port, host, token = process.env.TOOLWRIGHT_TOKEN, ...values }) {
  const isPort = port === undefined || (/^\d{1,5}$/.test(port) && Number(port) <= 65_535);
  if (!isPort) throw new UsageError(`\`--port\` is a number from 0 to 65535, got \`${port}\``);
  return {
    ...(port !== undefined && { port: Number(port) }),
    ...(host !== undefined && { host }),
    ...(values["allow-host"] !== undefined && { allowedHosts: values["allow-host"] }),
    ...(token !== undefined && token !== "" && { token }),
  };
}

/**
 * @param {RegistryServer} server
 * @param {Values} values
 * @param {Terminal} terminal
 */
function printAddress(server, values, { out, err }) {
  const { url, origin, host, port, token, mcpToken } = server;
  // A client of MCP gets a token that opens nothing else: it must not approve its own calls.
  const mcp = { url: `${origin}/mcp`, headers: { Authorization: `Bearer ${mcpToken}` } };
  if (values.json) {
    // In one line, so that a program can wait for it.
    out.line(JSON.stringify({ url, origin, host, port, token, mcp }));
    return;
  }
  err.line(inLine(`toolwright serves the tools of ${projectOf(values)}`));
  if (out.isTerminal) out.line();
  out.line(`  ${out.styled("bold", out.styled("cyan", url))}`);
  if (out.isTerminal) out.line();
  if (values.mcp) {
    out.line(`  MCP: ${mcp.url}`);
    out.json({ mcpServers: { toolwright: { type: "http", ...mcp } } });
  }
  err.line("Open the address in a browser. Anyone who has it can call the tools. Ctrl-C stops.");
}

/**
 * @param {AbortSignal} signal
 * @returns {Promise<void>}
 */
function aborted(signal) {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

module.exports = { run };
