// The sandbox of commands.

/**
 * How much the kernel enforces, from most to least: `namespaces` limits files, processes and network,
 * `landlock` limits where a command writes and connects to, `none` limits nothing.
 */
export type SandboxLevel = "namespaces" | "landlock" | "none";

/**
 * Whether commands run in a sandbox: in the best one that this machine supports (`auto`), only if there is one
 * (`required`), or in none (`off`).
 */
export type SandboxMode = "auto" | "required" | "off";

/** The sandbox of commands. It also enforces the rules of the policy about files. Linux only. */
export interface SandboxOptions {
  /**
   * Whether commands need a sandbox. Default: `"auto"`, the best one that this machine supports.
   * `_meta["toolwright/command"].sandbox` of each answer, and `toolwright doctor`, name its level.
   */
  mode?: SandboxMode | undefined;
  /**
   * The least level that the mode `required` accepts. `"landlock"` also runs commands where user namespaces are
   * not available, as in most containers, but does not enforce rules about reading. Default: `"namespaces"`.
   */
  level?: "namespaces" | "landlock" | undefined;
  /**
   * Where commands may write, except for files that policy denies: anywhere that the user may, or only in the
   * workspace, in the directory for temporary files and in `writable`. Default: `"anywhere"`.
   */
  write?: "anywhere" | "workspace" | undefined;
  /** Directories that commands may write to under `write: "workspace"` as well. Absolute paths. */
  writable?: readonly string[] | undefined;
  /**
   * Which network commands may use: all of it, none, or some hosts through a proxy. Hosts are names as in
   * `WebFetch(domain:…)`: `"docs.rs"`, or `"*.example.com"` for all its subdomains. Private addresses need
   * `web.allow` as well. Default: `"allow"`.
   */
  network?: "allow" | "deny" | { hosts: readonly string[] } | undefined;
  /** How much a command may use. */
  limits?: SandboxLimits | undefined;
  /**
   * The sandbox of hooks that are shell commands: none, one that limits processes and resources only, or the
   * same as for commands. Default: `"processes"`.
   */
  hooks?: "off" | "processes" | "commands" | undefined;
  /** The same for MCP servers that are programs. It is applied when they start. Default: `"commands"`. */
  mcpServers?: "off" | "processes" | "commands" | undefined;
}

/** How much a command may use. The answer to a command reports a limit that was reached. */
export interface SandboxLimits {
  /** The CPU time of each process, in seconds. Default: no limit. */
  cpuSeconds?: number | undefined;
  /**
   * The memory in megabytes: of the whole command if a cgroup (version 2) was delegated to this process, and
   * otherwise the private writable memory of each process. Default: no limit.
   */
  memoryMb?: number | undefined;
  /** The number of processes and threads. Default: 2,048. */
  processes?: number | undefined;
  /** The size of each file that it writes, in megabytes. Default: no limit. */
  fileSizeMb?: number | undefined;
}

/** The sandbox that a command ran in: `_meta["toolwright/command"].sandbox`. */
export interface CommandSandbox {
  readonly level: SandboxLevel;
  /** Why there was no better level. */
  readonly cause?: string;
  /** The network that it could use. */
  readonly network: "allow" | "deny" | "hosts";
  /** The number of paths that it could not read. */
  readonly hidden: number;
  /** The number of paths that it could not change or create. */
  readonly readOnly: number;
  /** Why some rules may not have been enforced: not every file could be checked against them. */
  readonly incomplete?: string;
  /** The limit that it reached, if that is known. */
  readonly limitHit?: "cpu" | "memory" | "processes" | "fileSize";
  /** The rules and options that the sandbox did not enforce. */
  readonly notHeld?: readonly string[];
}
