import type { JsonSchema } from "./schemas";

/** The kinds of handlers that a plugin tool can have. */
export type PluginHandlerType = "shell" | "http" | "file-read";

/** Runs a command. Its output is the answer. */
export interface ShellHandlerConfig {
  readonly type: "shell";
  /**
   * The command. `{{name}}` stands for a parameter, whose value is always a single argument and is never
   * read by a shell. An argument whose parameter is missing is left out.
   */
  readonly command: string;
  /** How long it may run, in milliseconds. Default: 30,000. */
  readonly timeout?: number | undefined;
  /** The directory to run it in: absolute, from home (`~/…`), or relative to the workspace, the default. */
  readonly cwd?: string | undefined;
}

/** Sends a request. The body of the response is the answer. */
export interface HttpHandlerConfig {
  readonly type: "http";
  /**
   * The address. `{{name}}` stands for a parameter, which is encoded for its place. At the very beginning
   * it stands for a whole URL.
   */
  readonly url: string;
  /** Default: `"POST"`. The parameters that the URL does not use are the JSON body of POST and PUT. */
  readonly method?: "GET" | "POST" | "PUT" | undefined;
  /** Headers to send, as they are. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** How long it may take, in milliseconds. Default: 10,000. */
  readonly timeout?: number | undefined;
}

/** Reads the file that the parameter `path` names. */
export interface FileReadHandlerConfig {
  readonly type: "file-read";
  /** The directory that the file has to be in: absolute, from home (`~/…`), or relative to the workspace. */
  readonly basePath: string;
  /** The largest file that is read, in bytes. Default: 1 MiB. */
  readonly maxSize?: number | undefined;
}

/** One tool of a plugin file. */
export interface PluginToolDefinition {
  /** Letters, digits, `_` and `-`, at most 64. No other tool may have the name. */
  readonly name: string;
  readonly description: string;
  /** A `default` of a property is used where a call leaves it out. */
  readonly inputSchema: JsonSchema;
  readonly handler: ShellHandlerConfig | HttpHandlerConfig | FileReadHandlerConfig;
}

/** The content of a plugin file. */
export interface PluginConfigFile {
  readonly $schema?: string | undefined;
  /** The name of the tools as a whole, such as `"my-tools"`. */
  readonly name: string;
  readonly version?: string | undefined;
  readonly tools: readonly PluginToolDefinition[];
}

/** The errors in the content of a plugin file, or the content as it is used. */
export interface PluginConfigValidation {
  valid: boolean;
  errors: string[];
  config?: PluginConfigFile;
}

/** The errors in the definition of a plugin tool. */
export interface PluginToolValidation {
  valid: boolean;
  errors: string[];
}

/** Checks the content of a plugin file as loading it does, without the file. */
export declare function validatePluginConfigFile(data: unknown): PluginConfigValidation;

/** Checks the definition of one plugin tool. */
export declare function validatePluginToolDefinition(data: unknown): PluginToolValidation;
