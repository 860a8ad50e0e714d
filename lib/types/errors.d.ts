// What fails, and why.

import type { RefusalDetails } from "./results";

/** The cause of a failure. These names are stable, so programs can branch on them. */
export type ErrorType =
  | "ValidationError"
  | "UnknownTool"
  | "ToolDisabled"
  | "InvalidTool"
  | "InvalidOptions"
  | "PolicyDenied"
  | "ConfirmationTimeout"
  | "HookBlocked"
  | "Cancelled"
  | "TimeoutError"
  | "RegistryClosed"
  | "ToolFailed"
  | "McpServerError"
  | "HandlerMissing"
  | "InternalError"
  | "PathOutsideWorkspace"
  | "FileNotFoundError"
  | "FileExistsError"
  | "PermissionError"
  | "FileReadError"
  | "FileWriteError"
  | "StaleFileError"
  | "NotReadError"
  | "EditTargetNotFound"
  | "EditTargetAmbiguous"
  | "NothingToUndo"
  | "FileEditError"
  | "GlobError"
  | "GrepError"
  | "LsError"
  | "ShellTimeoutError"
  | "ShellExecutionError"
  | "TaskNotFoundError"
  | "GitError"
  | "AgentError"
  | "PlanModeError"
  | "HttpError"
  | "FetchError"
  | "SearchError"
  | "MemoryError"
  | "TodoError"
  | "ConfigError"
  | "StoreError"
  | "TeamError"
  | "ServeError";

/**
 * The only error that this package throws: for a misuse of the API, and for an aborted call. After an abort
 * `type` is `"Cancelled"`, `name` is `"AbortError"` and `cause` is the signal's reason. A tool that fails
 * does not throw: its result has `isError`.
 */
export declare class ToolError extends Error {
  /** Makes an error with a known cause. A handler may throw one to choose the type of its error result. */
  constructor(type: ErrorType, message: string, options?: ErrorOptions);
  /** The cause, for programs to branch on. */
  readonly type: ErrorType;
  /** The same as `type`, where Node's own errors have it. */
  readonly code: ErrorType;
  /** For a refused call: why it was refused and how to allow it. */
  readonly details?: RefusalDetails;
}
