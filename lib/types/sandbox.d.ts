// The sandbox of commands.

/**
 * How much the kernel holds a command to, from most to least: `namespaces` for its files, its processes and its
 * network, `landlock` for where it writes and whom it connects to, `none` for nothing.
 */
export type SandboxLevel = "namespaces" | "landlock" | "none";

/**
 * Whether commands run in a sandbox: with the best one that this machine has (`auto`), not without one
 * (`required`), or with none (`off`).
 */
export type SandboxMode = "auto" | "required" | "off";

/** What the kernel holds commands to, in addition to what policy says about files. Linux only. */
export interface SandboxOptions {
  /**
   * Whether commands need a sandbox. Default: `"auto"`, the best one that this machine has.
   * `_meta["toolwright/command"].sandbox` of each answer, and `toolwright doctor`, say which one that is.
   */
  mode?: SandboxMode | undefined;
  /**
   * The least level that the mode `required` accepts. `"landlock"` runs commands also where user namespaces are
   * refused, as in most containers; rules about reading files are not held there. Default: `"namespaces"`.
   */
  level?: "namespaces" | "landlock" | undefined;
  /**
   * Where commands may write, apart from what policy denies: anywhere that the user may, or only in the
   * workspace, in the directory for temporary files and in `writable`. Default: `"anywhere"`.
   */
  write?: "anywhere" | "workspace" | undefined;
  /** Directories that commands may write to under `write: "workspace"` as well. Absolute paths. */
  writable?: readonly string[] | undefined;
  /**
   * Whom commands may reach: everybody, nobody but their own processes, or some hosts, through a proxy. Hosts are
   * names as in `WebFetch(domain:…)`: `"docs.rs"`, or `"*.example.com"` for all below it. Private addresses need
   * `web.allow` as well. Default: `"allow"`.
   */
  network?: "allow" | "deny" | { hosts: readonly string[] } | undefined;
  /** How much a command may use. */
  limits?: SandboxLimits | undefined;
  /**
   * What hooks have that are shell commands: nothing, processes of their own and the limits, or all that
   * commands have. Default: `"processes"`.
   */
  hooks?: "off" | "processes" | "commands" | undefined;
  /** The same for MCP servers that are programs, at the time they are started. Default: `"commands"`. */
  mcpServers?: "off" | "processes" | "commands" | undefined;
}

/** How much a command may use. An answer says so if a command reached a limit. */
export interface SandboxLimits {
  /** The CPU time of each process, in seconds. Default: no limit. */
  cpuSeconds?: number | undefined;
  /**
   * The memory in megabytes: of the whole command where a cgroup (version 2) was delegated to this process, and
   * otherwise of each process, as what it can write to and does not share. Default: no limit.
   */
  memoryMb?: number | undefined;
  /** The number of processes and threads. Default: 2,048. */
  processes?: number | undefined;
  /** The size of each file that it writes, in megabytes. Default: no limit. */
  fileSizeMb?: number | undefined;
}

/** What the kernel held a command to: `_meta["toolwright/command"].sandbox`. */
export interface CommandSandbox {
  readonly level: SandboxLevel;
  /** Why it was no better level. */
  readonly cause?: string;
  /** Whom it could reach. */
  readonly network: "allow" | "deny" | "hosts";
  /** The number of places that it could not read. */
  readonly hidden: number;
  /** The number of places that it could not change or make. */
  readonly readOnly: number;
  /** Why it may have been held to less than policy says, because not every file was looked at. */
  readonly incomplete?: string;
  /** The limit that it is known to have reached. */
  readonly limitHit?: "cpu" | "memory" | "processes" | "fileSize";
  /** What policy and options say and the sandbox did not hold. */
  readonly notHeld?: readonly string[];
}
