"use strict";

// What to write into which file, so that a client uses the tools.

/**
 * @typedef {object} Client
 * @property {string} title
 * @property {string} file the file that its settings are in
 * @property {string} [folder] the client's variable for the open folder, if it starts servers elsewhere
 * @property {(args: string[]) => string} [also] a command that does the same
 * @property {(args: string[]) => string} stdio the settings for a server that the client starts
 * @property {(url: string) => string} http the settings for a server that runs
 */

const NAME = "toolwright";
const COMMAND = "npx";
const ARGS = ["-y", "toolwright", "mcp"];
const TOKEN_VARIABLE = "TOOLWRIGHT_TOKEN";

/** @type {Record<string, Client>} */
const CLIENTS = {
  "claude-code": {
    title: "Claude Code",
    file: ".mcp.json in the project",
    also: (args) => `claude mcp add ${NAME} -- ${[COMMAND, ...args].map(quoted).join(" ")}`,
    stdio: (args) => json({ mcpServers: { [NAME]: { command: COMMAND, args } } }),
    http: (url) =>
      json({
        mcpServers: { [NAME]: { type: "http", url, headers: bearer(`\${${TOKEN_VARIABLE}}`) } },
      }),
  },
  cursor: {
    title: "Cursor",
    file: ".cursor/mcp.json in the project, or ~/.cursor/mcp.json",
    folder: "${workspaceFolder}",
    stdio: (args) => json({ mcpServers: { [NAME]: { command: COMMAND, args } } }),
    http: (url) =>
      json({ mcpServers: { [NAME]: { url, headers: bearer(`\${env:${TOKEN_VARIABLE}}`) } } }),
  },
  vscode: {
    title: "VS Code",
    file: ".vscode/mcp.json in the project",
    folder: "${workspaceFolder}",
    stdio: (args) => json({ servers: { [NAME]: { type: "stdio", command: COMMAND, args } } }),
    http: (url) => {
      const id = `${NAME}-token`;
      const description = "The token that toolwright serve printed";
      return json({
        inputs: [{ type: "promptString", id, description, password: true }],
        servers: { [NAME]: { type: "http", url, headers: bearer(`\${input:${id}}`) } },
      });
    },
  },
  zed: {
    title: "Zed",
    file: ".zed/settings.json in the project, or ~/.config/zed/settings.json",
    stdio: (args) => json({ context_servers: { [NAME]: { command: COMMAND, args, env: {} } } }),
    http: (url) => json({ context_servers: { [NAME]: { url, headers: bearer("<token>") } } }),
  },
  codex: {
    title: "Codex",
    file: "~/.codex/config.toml, or .codex/config.toml in a trusted project",
    also: (args) => `codex mcp add ${NAME} -- ${[COMMAND, ...args].map(quoted).join(" ")}`,
    stdio: (args) =>
      [
        `[mcp_servers.${NAME}]`,
        `command = ${JSON.stringify(COMMAND)}`,
        `args = [${args.map((it) => JSON.stringify(it)).join(", ")}]`,
      ].join("\n"),
    http: (url) =>
      [
        `[mcp_servers.${NAME}]`,
        `url = ${JSON.stringify(url)}`,
        `bearer_token_env_var = ${JSON.stringify(TOKEN_VARIABLE)}`,
      ].join("\n"),
  },
  gemini: {
    title: "Gemini CLI",
    file: ".gemini/settings.json in the project, or ~/.gemini/settings.json",
    stdio: (args) => json({ mcpServers: { [NAME]: { command: COMMAND, args } } }),
    http: (url) =>
      json({ mcpServers: { [NAME]: { httpUrl: url, headers: bearer(`$${TOKEN_VARIABLE}`) } } }),
  },
};

/**
 * The settings of a client, and in which file they belong.
 *
 * @param {string} client
 * @param {string | undefined} url the address of a server that runs, or undefined for one that the client starts
 * @param {string[]} [options] further arguments of a server that the client starts
 */
function clientConfig(client, url, options = []) {
  const known = CLIENTS[client];
  if (known === undefined) throw new Error(`there is no client \`${client}\``);
  const { title, file, also, folder, stdio, http } = known;
  if (url !== undefined) return { title, file, text: http(url) };
  const isPlaced = folder === undefined || options.includes("--project");
  const args = [...ARGS, ...(isPlaced ? [] : ["--project", folder]), ...options];
  return { title, file, also: also?.(args), text: stdio(args) };
}

/**
 * A word as a shell reads it.
 *
 * @param {string} word
 */
function quoted(word) {
  return /^[\w./:=@%+-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** @param {string} token */
function bearer(token) {
  return { Authorization: `Bearer ${token}` };
}

/** @param {unknown} value */
function json(value) {
  return JSON.stringify(value, null, 2);
}

module.exports = { CLIENTS: Object.keys(CLIENTS), TOKEN_VARIABLE, clientConfig };
