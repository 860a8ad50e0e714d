//! The `claude` set: tools with the names and inputs of Claude Code, which models know. Paths of files are
//! absolute.

mod bash;
mod edit;
mod glob;
mod grep;
mod notebook_edit;
mod read;
mod task_output;
mod task_stop;
mod web_fetch;
mod web_search;
mod write;

use super::BuiltinTool;

/// The tools of the set.
pub(super) const TOOLS: &[BuiltinTool] = &[
    BuiltinTool::of::<bash::Bash>(),
    BuiltinTool::of::<edit::Edit>(),
    BuiltinTool::of::<glob::Glob>(),
    BuiltinTool::of::<grep::Grep>(),
    BuiltinTool::of::<notebook_edit::NotebookEdit>(),
    BuiltinTool::of::<read::Read>(),
    BuiltinTool::of::<task_output::TaskOutput>(),
    BuiltinTool::of::<task_stop::TaskStop>(),
    BuiltinTool::of::<web_fetch::WebFetch>(),
    BuiltinTool::of::<web_search::WebSearch>(),
    BuiltinTool::of::<write::Write>(),
];
