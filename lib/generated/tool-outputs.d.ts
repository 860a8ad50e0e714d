// A stand-in until this file is generated from the tools' output schemas.

/** The `structuredContent` of each built-in tool's results, by name and alias. */
export interface ToolOutputs {
  "Bash": Record<string, unknown>;
  "Edit": Record<string, unknown>;
  "FileEdit": Record<string, unknown>;
  "Glob": Record<string, unknown>;
  "Grep": Record<string, unknown>;
  "NotebookEdit": Record<string, unknown>;
  "Read": Record<string, unknown>;
  "FileRead": Record<string, unknown>;
  "TaskOutput": Record<string, unknown>;
  "TaskStop": Record<string, unknown>;
  "Write": Record<string, unknown>;
  "FileWrite": Record<string, unknown>;
  "edit_file": Record<string, unknown>;
  "glob": Record<string, unknown>;
  "grep": Record<string, unknown>;
  "ls": Record<string, unknown>;
  "read_file": Record<string, unknown>;
  "read_many_files": Record<string, unknown>;
  "shell": Record<string, unknown>;
  "write_file": Record<string, unknown>;
  "diagnostic_echo": Record<string, unknown>;
  "diagnostic_sleep": Record<string, unknown>;
  "diagnostic_panic": Record<string, unknown>;
}
