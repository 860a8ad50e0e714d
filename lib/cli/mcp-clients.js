"use strict";

// What to write into which file, so that a client uses the tools.

const NAME = "toolwright";
const COMMAND = "npx";
const ARGS = ["-y", "toolwright", "mcp"];
const TOKEN_VARIABLE = "TOOLWRIGHT_TOKEN";

/** Of each client: its name, the file, and its settings for a started and for a running server. */
const CLIENTS = {
  "claude-code": {
    title: "Claude Code",
    file: ".mcp.json in the project",
    also: `claude mcp add ${NAME} -- ${[COMMAND, ...ARGS].join(" ")}`,
    stdio: () => json({ mcpServers: { [NAME]: { command: COMMAND, args: ARGS } } }),
    http: (url) =>
      json({
        mcpServers: { [NAME]: { type: "http", url, headers: bearer(`\${${TOKEN_VARIABLE}}`) } },
      }),
  },
  cursor: {
    title: "Cursor",
    file: ".cursor/mcp.json in the project, or ~/.cursor/mcp.json",
    stdio: () => {
      const args = [...ARGS, "--project", "${workspaceFolder}"];
      return json({ mcpServers: { [NAME]: { command: COMMAND, args } } });
    },
    http: (url) =>
      json({ mcpServers: { [NAME]: { url, headers: bearer(`\${env:${TOKEN_VARIABLE}}`) } } }),
  },
  vscode: {
    title: "VS Code",
    file: ".vscode/mcp.json in the project",
    stdio: () => {
      const args = [...ARGS, "--project", "${workspaceFolder}"];
      return json({ servers: { [NAME]: { type: "stdio", command: COMMAND, args } } });
    },
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
    stdio: () => json({ context_servers: { [NAME]: { command: COMMAND, args: ARGS, env: {} } } }),
    http: (url) => json({ context_servers: { [NAME]: { url, headers: bearer("<token>") } } }),
  },
  codex: {
    title: "Codex",
    file: "~/.codex/config.toml, or .codex/config.toml in a trusted project",
    also: `codex mcp add ${NAME} -- ${[COMMAND, ...ARGS].join(" ")}`,
    stdio: () =>
      [
        `[mcp_servers.${NAME}]`,
        `command = ${JSON.stringify(COMMAND)}`,
        `args = [${ARGS.map((it) => JSON.stringify(it)).join(", ")}]`,
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
    stdio: () => json({ mcpServers: { [NAME]: { command: COMMAND, args: ARGS } } }),
    http: (url) =>
      json({ mcpServers: { [NAME]: { httpUrl: url, headers: bearer(`$${TOKEN_VARIABLE}`) } } }),
  },
};

/**
 * The settings of a client, and in which file they belong.
 *
 * @param url the address of a server that runs, or undefined for one that the client starts
 */
function clientConfig(client, url) {
  const { title, file, also, stdio, http } = CLIENTS[client];
  return {
    title,
    file,
    also: url === undefined ? also : undefined,
    text: url === undefined ? stdio() : http(url),
  };
}

function bearer(token) {
  return { Authorization: `Bearer ${token}` };
}

function json(value) {
  return JSON.stringify(value, null, 2);
}

module.exports = { CLIENTS: Object.keys(CLIENTS), TOKEN_VARIABLE, clientConfig };
