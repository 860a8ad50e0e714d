// State that is kept between calls: todos, settings, and rules that people always allow.

import type { McpServerStatus } from "./mcp-servers";
import type { ToolRegistrationResult } from "./registry";

/** A todo of a session. */
export interface TodoItem {
  /** What is to be done: "Run the tests". */
  content: string;
  status: "pending" | "in_progress" | "completed";
  /** The same while it happens: "Running the tests". */
  activeForm: string;
}

/** The value of a setting. */
export type SettingValue = string | boolean | number;

/** The definition of a setting. */
export interface SettingSpec {
  type: "string" | "boolean" | "number";
  /** The only values it takes. Default: any of its type. */
  values?: readonly SettingValue[] | undefined;
  /** Its value until it is set. */
  default?: SettingValue | undefined;
  /** What it is for, in a few words for the model. */
  description?: string | undefined;
}

/** A setting that is known or was set. */
export interface SettingInfo extends Partial<SettingSpec> {
  setting: string;
  /** Its value, if it was set. */
  value?: SettingValue;
  /** Whether its type is known. */
  known: boolean;
}

/** The settings of a project. With `handlers.config` the host keeps them itself, and these methods reject. */
export interface RegistryConfig {
  /** The value of a setting, or its default. */
  get(setting: string): Promise<SettingValue | undefined>;
  /** Sets a value, or removes it with `null`. Rejects with `ValidationError` if a known setting does not take it. */
  set(setting: string, value: SettingValue | null): Promise<void>;
  /** Every setting that is known or was set, sorted by name. */
  list(): Promise<SettingInfo[]>;
}

/** A rule that a person granted with "always allow". */
export type Grant =
  | {
      rule: string;
      /** Where it applies: in this project, or in all projects. */
      scope: "project" | "user";
      /** In milliseconds since 1970, like `Date.now()`. */
      grantedAt: number;
    }
  | { rule: string; scope: "session"; sessionId: string };

/** The events of `ToolRegistry.on`, beside those of tasks. */
export interface StateEvents {
  /** A session's todo list was replaced. */
  todos: { sessionId: string; todos: TodoItem[]; previous: TodoItem[] };
  /** A setting was changed, or removed if there is no `value`; by the host if there is no `sessionId`. */
  config: {
    setting: string;
    value?: SettingValue;
    previous?: SettingValue;
    sessionId?: string;
  };
  /** An "always allow" was kept in the store. */
  grant: Extract<Grant, { grantedAt: number }>;
  /** Watched plugin files changed and were loaded again. The event is the result of `reloadPlugins`. */
  plugins: ToolRegistrationResult;
  /** An MCP server was connected, lost or could not be connected, or its tools changed. */
  mcpServer: McpServerStatus;
}
