"use strict";

// The checks of `toolwright doctor`.

/**
 * @import { IndexStatus } from "../types/indexing"
 * @import { McpServerStatus } from "../types/mcp-servers"
 * @import { ToolRegistryOptions } from "../types/options"
 * @import { ToolRegistry } from "../types/registry"
 * @import { CommandSandbox } from "../types/sandbox"
 * @import { Values } from "./commands.js"
 * @import { InstallationFacts } from "./installation.js"
 * @typedef {{ state: "ok" | "note" | "problem", found: string, advice?: string }} Finding
 * @typedef {object} Bed what the checks look at
 * @property {Values} values
 * @property {string} project
 * @property {InstallationFacts} facts
 * @property {ToolRegistry} registry a registry without rules and MCP servers
 * @property {ToolRegistry} indexing one that builds an index
 * @property {ToolRegistry} aggregating one with the MCP servers
 * @typedef {(bed: Bed) => Finding | Finding[] | Promise<Finding | Finding[]>} Check
 */

const fs = require("node:fs");
const path = require("node:path");
const { engines, version } = require("../../package.json");
const { wordsOf } = require("../boundary/errors.js");
const { filesIn } = require("./plugin-files.js");

/** How long the check of the index waits until it is built. */
const INDEX_PATIENCE_MS = 5_000;

/** @type {Record<string, Check>} */
const CHECKS = {
  runtime() {
    const { bun, node } = process.versions;
    const name = bun === undefined ? `Node.js ${node}` : `Bun ${bun}`;
    const wanted = Number(/\d+/.exec(engines.node)?.[0]);
    if (bun === undefined && Number.parseInt(node, 10) < wanted) {
      return problem(name, `toolwright needs Node.js ${wanted} or newer; update it`);
    }
    return ok(`${name} on ${process.platform} ${process.arch}`);
  },

  addon() {
    // Throws with the cause and what to do about it.
    require("../native/addon.js");
    const { buildName } = require("../native/platform.js");
    return ok(`toolwright ${version} for ${buildName()}`);
  },

  project({ project }) {
    if (fs.statSync(project, { throwIfNoEntry: false })?.isDirectory()) return ok(project);
    return problem(`${project} is no directory`, "name the workspace with `--project`");
  },

  async supervisor({ facts, registry }) {
    const { supervisor } = facts;
    if (supervisor === "otherSystem") {
      return note(
        "this system has none",
        "commands are ended with their process group; a process that leaves its group may survive them",
      );
    }
    if (supervisor.problem !== undefined) {
      return problem("commands are not contained", supervisor.problem);
    }
    const trouble = await containment(registry);
    return trouble === undefined ? ok(supervisor.program) : problem(supervisor.program, trouble);
  },

  async sandbox({ registry }) {
    const { isError, error, _meta } = await registry.call("Bash", { command: "exit 0" });
    if (isError) return problem("a command failed", error.message);
    const command = /** @type {{ sandbox: CommandSandbox }} */ (_meta?.["toolwright/command"]);
    const { level, cause, notHeld = [] } = command.sandbox;
    if (level === "namespaces" && notHeld.length === 0) return ok(level);
    if (level === "namespaces") return note(level, `not enforced: ${notHeld.join("; ")}`);
    const held =
      level === "landlock"
        ? "where commands may write and connect is enforced, but rules about single files are not"
        : "commands can do whatever their user can";
    return note(level, cause === undefined ? held : `${held}; ${cause}`);
  },

  async shell({ facts, registry }) {
    const { isError, error } = await registry.call("Bash", { command: "exit 0" });
    if (isError) return problem(facts.shell, `a command failed: ${error.message}`);
    if (path.basename(facts.shell).startsWith("bash")) return ok(facts.shell);
    return note(facts.shell, "there is no bash, so commands run in another shell; install bash");
  },

  git({ facts }) {
    if (facts.git !== undefined) return ok(facts.git);
    return note(
      "not found",
      "the tools of the set `project` that ask git do not work; install git",
    );
  },

  async store({ facts, registry }) {
    const { storeFile } = facts;
    if (storeFile === undefined) {
      return problem(
        "no place for it",
        "this user has no home directory; set HOME or XDG_DATA_HOME",
      );
    }
    try {
      await registry.config.list();
    } catch (error) {
      return problem(storeFile, wordsOf(error));
    }
    const folder = nearestFolder(storeFile);
    if (!isWritable(folder)) {
      return problem(
        storeFile,
        `\`${folder}\` cannot be written to; memories and todos are not kept`,
      );
    }
    return ok(
      fs.existsSync(storeFile) ? storeFile : `${storeFile} (created when something is kept)`,
    );
  },

  async plugins({ facts, values, registry }) {
    const folder = values["plugin-dir"] ?? facts.pluginDir;
    if (values["no-plugins"] || folder === undefined) return note("not loaded");
    const { errors } = await registry.reloadPlugins();
    const tools = registry.listTools().filter(({ source }) => source === "plugin");
    const files = fs.existsSync(folder) ? filesIn(folder).length : 0;
    const problems = errors.map(({ source, toolName, message }) =>
      problem(toolName === undefined ? source : `${source}, \`${toolName}\``, message),
    );
    return [
      ok(`${count(tools.length, "tool")} of ${count(files, "file")} in ${folder}`),
      ...problems,
    ];
  },

  policy({ facts, project, values }) {
    const { userPolicyFile, projectPolicyFile } = facts;
    const user = policyFile(userPolicyFile, "the user's rules", { userPolicyFile }, project);
    if (!fs.existsSync(projectPolicyFile)) return user;
    /** @type {ToolRegistryOptions} */
    const alone = { userPolicyFile: false, trustProject: true };
    const found = policyFile(projectPolicyFile, "the project's rules", alone, project);
    const advice = "used only with `trustProject` or `--trust-project`";
    return [
      user,
      found.state === "ok" && !values["trust-project"] ? note(found.found, advice) : found,
    ];
  },

  "web search"({ facts: { search } }) {
    if (search.service !== undefined) return ok(search.service);
    if (search.problem !== undefined) return problem("cannot be used", search.problem);
    return note(
      "no service is set up",
      "set SEARXNG_URL, BRAVE_API_KEY or TAVILY_API_KEY for the tools that search the web",
    );
  },

  async index({ indexing }) {
    await indexing.initialize();
    const started = Date.now();
    while (isBuilding(indexing) && Date.now() - started < INDEX_PATIENCE_MS) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    return indexing.indexStatus().map(indexFound);
  },

  async "MCP servers"(bed) {
    if (bed.values["mcp-config"] === undefined)
      return ok("none; `--mcp-config FILE` checks those of a file");
    const { aggregating } = bed;
    await aggregating.initialize();
    return aggregating.mcpServerStatus().map(serverFound);
  },
};

/** @param {ToolRegistry} registry */
function isBuilding(registry) {
  return registry.indexStatus().some(({ state }) => state === "building");
}

/** @param {IndexStatus} status */
function indexFound({ root, state, files, learned, memoryBytes, whyCold, coldSubtrees = [] }) {
  if (state === "cold") {
    return note(`${root}: searches read every file`, whyCold ?? "the index is not built yet");
  }
  const size = `${count(files, "file")}, ${(memoryBytes / 1e6).toFixed(1)} MB`;
  const found = `${root}: ${size}${learned < files ? `, ${learned} learned` : ""}`;
  const [first] = coldSubtrees;
  if (first === undefined) return ok(found);
  const others = coldSubtrees.length > 1 ? ` (and ${coldSubtrees.length - 1} more)` : "";
  return note(found, `\`${first.path}\`${others} is searched without it: ${first.why}`);
}

/** @param {McpServerStatus} status */
function serverFound({ name, state, tools, error }) {
  if (state === "connected") return ok(`${name}: ${count(tools.length, "tool")}`);
  if (state === "disabled") return note(`${name}: disabled`);
  return problem(`${name}: ${state}`, error ?? "it has not answered yet");
}

/**
 * Why a command is not sure to end with all that it starts; `undefined` if it is.
 *
 * @param {ToolRegistry} registry
 */
async function containment(registry) {
  const input = { command: "exit 0", run_in_background: true };
  const { isError, error } = await registry.call("Bash", input);
  if (isError) return error.message;
  const task = registry.tasks().at(-1);
  return task?.contained ? undefined : (task?.notContained ?? "the command was not contained");
}

/**
 * Whether a policy file can be used, and how many of its rules look wrong.
 *
 * @param {string | undefined} file
 * @param {string} whose
 * @param {ToolRegistryOptions} options
 * @param {string} project
 */
function policyFile(file, whose, options, project) {
  if (file === undefined || !fs.existsSync(file))
    return ok(`${whose}: none (${file ?? "no home"})`);
  const { createToolRegistry } = require("../../index.js");
  /** @type {ToolRegistry | undefined} */
  let registry;
  try {
    registry = createToolRegistry({ projectPath: project, pluginDir: false, ...options });
    const found = registry.lintPolicy();
    if (found.length === 0) return ok(`${whose}: ${file}`);
    return note(
      `${whose}: ${file}`,
      `${count(found.length, "rule")} to look at: see \`toolwright policy lint ${file}\``,
    );
  } catch (error) {
    return problem(`${whose}: ${file}`, wordsOf(error));
  } finally {
    void registry?.close();
  }
}

/**
 * The directory that a file would be created in, or the nearest one above it that exists.
 *
 * @param {string} file
 */
function nearestFolder(file) {
  let folder = path.dirname(file);
  while (!fs.existsSync(folder) && path.dirname(folder) !== folder) folder = path.dirname(folder);
  return folder;
}

/** @param {string} folder */
function isWritable(folder) {
  try {
    fs.accessSync(folder, fs.constants.W_OK | fs.constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * @param {number} number
 * @param {string} noun
 */
function count(number, noun) {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}

/**
 * @param {string} found
 * @returns {Finding}
 */
function ok(found) {
  return { state: "ok", found };
}

/**
 * @param {string} found
 * @param {string} [advice]
 * @returns {Finding}
 */
function note(found, advice) {
  return { state: "note", found, ...(advice !== undefined && { advice }) };
}

/**
 * @param {string} found
 * @param {string} advice
 * @returns {Finding}
 */
function problem(found, advice) {
  return { state: "problem", found, advice };
}

module.exports = { CHECKS };
