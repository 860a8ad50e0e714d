// The options of registries and calls.

import type { MessageBus } from "./confirmations";
import type { HostHandlers } from "./handlers";
import type { Hooks } from "./hooks";
import type { IndexMode, IndexOptions } from "./indexing";
import type { McpServerConfig } from "./mcp-servers";
import type { PermissionMode, PolicyConfig } from "./policy";
import type { TurnResults } from "./provider-formats";
import type { SandboxMode, SandboxOptions } from "./sandbox";
import type { SettingSpec } from "./state";
import type { FileStoreOptions, KeyValueStore } from "./stores";
import type { SearchOptions, WebOptions } from "./web";

/** A set of built-in tools. Those of `diagnostic` let a host test how it calls tools. */
export type ToolsetName = "claude" | "classic" | "project" | "diagnostic";

/** Options of a registry. All of them are optional. */
export interface ToolRegistryOptions {
  /** The workspace: file tools stay inside it. Default: the current directory. */
  projectPath?: string | undefined;
  /** Further directories that file tools may touch. */
  additionalDirectories?: readonly string[] | undefined;
  /** Sets of built-in tools. Default: `["claude"]` for `createToolRegistry`, none for `new ToolRegistry`. */
  toolsets?: readonly ToolsetName[] | undefined;
  /** The MCP server's name; part of `mcp__<server>__<tool>`. Default: `"toolwright"`. */
  serverName?: string | undefined;
  /** The MCP server's version. Default: that of this package. */
  version?: string | undefined;
  /** A text about the tools as a whole for an MCP client's model. The path of the workspace is appended. */
  instructions?: string | undefined;
  /**
   * Whether results over MCP, and those of a tool's `handler`, have `structuredContent`, and `tools/list`
   * the matching `outputSchema`. Default: false, because Claude's hosts then show the model the data instead
   * of the text. If true, the data of tools that answer with a text, such as `Read`, contain it as `text`.
   * Data that are too large, or suppressed by a hook, are reduced to `text`. `call` always returns the data.
   */
  structuredContent?: boolean | undefined;
  /** Rules that allow calls, deny them, or have a person asked about them. */
  policy?: PolicyConfig | undefined;
  /**
   * What happens to calls that no rule decides. By default read-only tools run, and all others ask on
   * `messageBus`, and are refused if it has no listener. A host that asks its user itself, as an agent host
   * does, sets `"bypassPermissions"`; deny and ask rules still apply there.
   */
  permissionMode?: PermissionMode | undefined;
  /** Rules that allow, such as `"Write"`, `"Bash(git status:*)"` or `"mcp__github__*"`. */
  allowedTools?: readonly string[] | undefined;
  /**
   * Rules that deny, such as `"Bash(rm:*)"`. A tool's name alone disables the tool, so that models do not
   * see it either. The same tool in other sets is denied.
   */
  disallowedTools?: readonly string[] | undefined;
  /**
   * How long a person's "always allow" applies: for the session (the default), or permanently in this project
   * or in all projects, kept in the store. Rules that name a file of the project are always kept for the
   * project only. A kept rule never overrides a deny or ask rule. If the store fails, there is a process
   * warning, and the rule applies for the session. See `grants` and `forgetGrant`.
   */
  rememberGrants?: "session" | "project" | "user" | undefined;
  /**
   * An id under which the store keeps what belongs to the project: 1 to 64 letters, digits, `.`, `_` or `-`.
   * Default: one made from `projectPath`. Set it if the project has different paths on different machines
   * that share a store.
   */
  projectId?: string | undefined;
  /** Settings that the tool `Config` knows, with their types, beside `language`, `model`, `theme` and `verbose`. */
  settings?: Readonly<Record<string, SettingSpec>> | undefined;
  /** Whether to read rules from `.toolwright/policy.json` of the project. Default: `false`. */
  trustProject?: boolean | undefined;
  /** The file with the user's own rules; `false` for none. Default: `~/.config/toolwright/policy.json`. */
  userPolicyFile?: string | false | undefined;
  /**
   * The directory of plugin files (`*.json`), which `initialize` loads; `false` for none. Default: the
   * variable `TOOLWRIGHT_TOOLS_DIR`, or else `~/.config/toolwright/tools`. Plugin files are code: no tool
   * writes there without a rule that names the place.
   */
  pluginDir?: string | false | undefined;
  /**
   * Whether plugin files are loaded again when they change, from `initialize` on. The event `plugins` reports
   * the result and errors in files. Default: `false`.
   */
  watchPlugins?: boolean | undefined;
  /**
   * MCP servers whose tools the registry gets, as `mcp__<server>__<tool>`, by name. `initialize` connects them
   * in parallel. A server that does not answer is listed in its `errors` and retried.
   */
  mcpServers?: Readonly<Record<string, McpServerConfig>> | undefined;
  /**
   * Whether tools that change files, such as `Write` and `Edit`, require that the file was read in the
   * session, and `Write` also that it has not changed since. Default: `true`.
   */
  readBeforeWrite?: boolean | undefined;
  /** Where confirmation requests go. Default: a new bus for this registry. */
  messageBus?: MessageBus | undefined;
  /** Functions that built-in tools need from the host, such as one that asks the user. */
  handlers?: HostHandlers | undefined;
  /**
   * Where tools such as `memory` keep values: in a file (the default), in memory until the registry is closed,
   * or in a store of the host, which a fleet of machines can share.
   */
  store?: FileStoreOptions | "memory" | KeyValueStore | undefined;
  /** Functions and commands that run before and after calls, in the form of the Claude Agent SDK. */
  hooks?: Hooks | undefined;
  /** Limits on time and size of calls. */
  limits?:
    | {
        /** How long a person has to answer a confirmation request. Default: 60,000 ms. */
        confirmationTimeoutMs?: number | undefined;
        /** How long a call may run. Default: 600,000 ms; commands have their own limits. */
        callTimeoutMs?: number | undefined;
        /** How long the user has to answer questions. Default: 600,000 ms; `callTimeoutMs` does not apply. */
        questionTimeoutMs?: number | undefined;
        /** How deep agents may start agents. Default: 3; with 0 there are no agents. */
        maxAgentDepth?: number | undefined;
        /** How many agents may run at once. Default: 16. */
        maxAgents?: number | undefined;
        /** How long an agent may run. Default: 3,600,000 ms. */
        agentTimeoutMs?: number | undefined;
        /** How many bytes of text a result may have. Default: 4 MiB. */
        maxResultBytes?: number | undefined;
      }
    | undefined;
  /**
   * Variables for commands, in addition to the host's environment. No name is filtered out. Entries of
   * `PATH` that depend on the current directory are removed, as they are from the host's own `PATH`.
   */
  env?: Readonly<Record<string, string | undefined>> | undefined;
  /** How commands are run. */
  shell?:
    | {
        /**
         * The shell: an absolute path, or a name to look up in `PATH`. Default: bash, or sh where there is
         * none.
         */
        path?: string | undefined;
        /**
         * The absolute path of the program `toolwright-supervisor`. Default: beside the addon, or beside
         * the executable of this process. Only used on Linux.
         */
        supervisorPath?: string | undefined;
        /**
         * Names of variables that commands may see although they look like secrets. The environment is
         * copied when the registry is made.
         */
        allowEnv?: readonly string[] | undefined;
        /** What happens to a command that times out: it ends (the default), or continues as a task. */
        onTimeout?: "stop" | "background" | undefined;
        /** How long processes have between SIGTERM and SIGKILL. Default: 2,000 ms. */
        graceMs?: number | undefined;
        /** Stops a foreground command that prints nothing for this long. Default: never. */
        idleTimeoutMs?: number | undefined;
        /** How many bytes of a command's output its file may hold. Default: 128 MiB. */
        maxOutputFileBytes?: number | undefined;
      }
    | undefined;
  /**
   * The sandbox of commands, in which the kernel enforces policy: a file that a rule denies stays closed to
   * every command line. A mode, or an object with more settings. Default: `"auto"`, the best sandbox that this
   * machine supports. Linux only; elsewhere the mode `required` refuses every command.
   */
  sandbox?: SandboxMode | SandboxOptions | undefined;
  /** Which addresses web tools may reach, and how much they fetch. Default: the public internet only. */
  web?: WebOptions | undefined;
  /**
   * The service that web search uses. Default: the one that `SEARXNG_URL`, `BRAVE_API_KEY` or
   * `TAVILY_API_KEY` of the environment names, in this order. `handlers.search` is used before any.
   */
  search?: SearchOptions | undefined;
  /**
   * Whether searches use an index of the workspace, which registries of the same workspace share. Results are
   * the same with and without it, and include every change made before the search. Only used on Linux.
   * Default: `"auto"`.
   */
  index?: IndexMode | IndexOptions | undefined;
}

/** A progress report of a running call. */
export type ToolProgress =
  | { type: "start"; tool: string; toolUseId: string }
  | { type: "output"; text: string }
  | { type: "step"; progress: number; total?: number; message?: string }
  | { type: "end"; tool: string; toolUseId: string; elapsedMs: number; isError: boolean };

/** Options of a single call. */
export interface CallOptions {
  /** The id that the model gave the call. */
  toolUseId?: string | undefined;
  /** The conversation that the call belongs to. State, such as which files were read, is kept for each. */
  sessionId?: string | undefined;
  /** Ends the call early; the promise then rejects with a `ToolError` of type `"Cancelled"`. */
  signal?: AbortSignal | undefined;
  /** Called with the progress of the running call. The promise settles after the last report. */
  onProgress?: ((news: ToolProgress) => void) | undefined;
}

/** Options of `executeTools`, which apply to all calls of the turn. */
export interface TurnOptions<Format extends keyof TurnResults = "anthropic"> extends Omit<
  CallOptions,
  "toolUseId"
> {
  /** The format of the results. Default: `"anthropic"`. */
  format?: Format | undefined;
  /** Runs neighbouring calls of read-only tools in parallel. Default: `false`. */
  parallelReads?: boolean | undefined;
}
