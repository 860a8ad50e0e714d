// The index of a workspace. With it, a search reads only the files that can match.

/**
 * When an index is built. `"auto"`: in the background, after a search that took longer than 100 ms. `"on"`: in the
 * background, from `initialize` on. `"off"`: never; every search reads every file.
 */
export type IndexMode = "auto" | "on" | "off";

/** When an index is built, and how much memory it may take. */
export interface IndexOptions {
  /** Default: `"auto"`. */
  readonly mode?: IndexMode | undefined;
  /**
   * The most memory for the index of one directory of the workspace, in megabytes. Files beyond it are searched as
   * without an index. If several registries share an index, the largest value counts. Default: 128.
   */
  readonly maxMemoryMb?: number | undefined;
}

/** The state of the index of one directory of the workspace. */
export interface IndexStatus {
  /** `projectPath`, or one of `additionalDirectories`, without links. */
  readonly root: string;
  /**
   * `"off"`: there is no index by choice. `"cold"`: there is none yet, or it may be outdated, for the reason in
   * `whyCold`; searches read every file. `"building"`: searches use it for the files that it knows. `"warm"`: it
   * knows every file.
   */
  readonly state: "off" | "cold" | "building" | "warm";
  /** How many files it knows. */
  readonly files: number;
  /** How many of them it knows the content of. */
  readonly learned: number;
  readonly memoryBytes: number;
  /** How long it took to list all files and to learn them. */
  readonly lastBuildMs?: number;
  /** Why searches read every file. */
  readonly whyCold?: string;
  /** Directories whose files are all read, and why, such as those of a network file system. */
  readonly coldSubtrees?: readonly { readonly path: string; readonly why: string }[];
}
