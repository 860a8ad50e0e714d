//! The `classic` set: tools with `snake_case` names. Paths may be relative to the workspace.

mod edit_file;
mod glob;
mod grep;
mod ls;
mod memory;
mod read_file;
mod read_many_files;
mod shell;
mod task_output;
mod task_stop;
mod web_fetch;
mod web_search;
mod write_file;
mod write_todos;

use super::BuiltinTool;

/// The tools of the set.
pub(super) const TOOLS: &[BuiltinTool] = &[
    BuiltinTool::of::<edit_file::EditFile>(),
    BuiltinTool::of::<glob::ClassicGlob>(),
    BuiltinTool::of::<grep::ClassicGrep>(),
    BuiltinTool::of::<ls::Ls>(),
    BuiltinTool::of::<memory::Memory>(),
    BuiltinTool::of::<read_file::ReadFile>(),
    BuiltinTool::of::<read_many_files::ReadManyFiles>(),
    BuiltinTool::of::<shell::Shell>(),
    BuiltinTool::of::<task_output::ClassicTaskOutput>(),
    BuiltinTool::of::<task_stop::ClassicTaskStop>(),
    BuiltinTool::of::<web_fetch::ClassicWebFetch>(),
    BuiltinTool::of::<web_search::ClassicWebSearch>(),
    BuiltinTool::of::<write_file::WriteFile>(),
    BuiltinTool::of::<write_todos::WriteTodos>(),
];
