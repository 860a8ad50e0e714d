"use strict";

// What to write into which file, so that a client uses the tools.

const NAME = "toolwright";
const COMMAND = "npx";
const ARGS = ["-y", "toolwright", "mcp"];
const TOKEN_VARIABLE = "TOOLWRIGHT_TOKEN";

/**
 * Of each client: its name, the file, and its settings for a server that it starts, with the arguments to start
 * it with, and for one that runs. `folder` is how the client names the folder that is open, where it does not
 * start servers in it.
 */
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
 * @param url the address of a server that runs, or undefined for one that the client starts
 * @param options further arguments of a server that the client starts
 */
function clientConfig(client, url, options = []) {
  const { title, file, also, folder, stdio, http } = CLIENTS[client];
  if (url !== undefined) return { title, file, text: http(url) };
  const isPlaced = folder === undefined || options.includes("--project");
  const args = [...ARGS, ...(isPlaced ? [] : ["--project", folder]), ...options];
  return { title, file, also: also?.(args), text: stdio(args) };
}

/** A word as a shell reads it. */
function quoted(word) {
  return /^[\w./:=@%+-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

function bearer(token) {
  return { Authorization: `Bearer ${token}` };
}

function json(value) {
  return JSON.stringify(value, null, 2);
}

module.exports = { CLIENTS: Object.keys(CLIENTS), TOKEN_VARIABLE, clientConfig };
