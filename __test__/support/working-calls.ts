/** A call of each built-in tool that would work, with every parameter, in a workspace with `a.txt`. */
export function workingCalls(root: string): Record<string, Record<string, unknown>> {
  return {
    Read: { file_path: `${root}/a.txt`, offset: 1, limit: 1, pages: "1" },
    Write: { file_path: `${root}/new.txt`, content: "x" },
    Edit: {
      file_path: `${root}/a.txt`,
      old_string: "one",
      new_string: "two",
      replace_all: false,
    },
    NotebookEdit: {
      notebook_path: `${root}/a.ipynb`,
      new_source: "x",
      cell_id: "cell-0",
      cell_type: "code",
      edit_mode: "replace",
    },
    read_file: { path: "a.txt", startLine: 1, endLine: 1 },
    read_many_files: { paths: ["a.txt"] },
    write_file: { path: "new.txt", content: "x", overwrite: true },
    edit_file: { path: "a.txt", edits: [{ target: "one", replacement: "two", lineHint: 1 }] },
    diagnostic_echo: { text: "x", repeat: 1 },
    diagnostic_sleep: { ms: 0, steps: 1 },
    diagnostic_panic: { message: "a panic on purpose", stage: "run" },
  };
}
