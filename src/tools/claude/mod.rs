//! The `claude` set: tools with the names and inputs of Claude Code, which models know. Paths of files are
//! absolute.

mod agent;
mod bash;
mod config;
mod edit;
mod exit_plan_mode;
mod glob;
mod grep;
mod notebook_edit;
mod read;
mod task_output;
mod task_stop;
mod todo_write;
mod write;

use super::BuiltinTool;

/// The tools of the set.
pub(super) const TOOLS: &[BuiltinTool] = &[
    BuiltinTool::of::<agent::Agent>(),
    BuiltinTool::of::<bash::Bash>(),
    BuiltinTool::of::<config::Config>(),
    BuiltinTool::of::<edit::Edit>(),
    BuiltinTool::of::<exit_plan_mode::ExitPlanMode>(),
    BuiltinTool::of::<glob::Glob>(),
    BuiltinTool::of::<grep::Grep>(),
    BuiltinTool::of::<notebook_edit::NotebookEdit>(),
    BuiltinTool::of::<read::Read>(),
    BuiltinTool::of::<task_output::TaskOutput>(),
    BuiltinTool::of::<task_stop::TaskStop>(),
    BuiltinTool::of::<todo_write::TodoWrite>(),
    BuiltinTool::of::<write::Write>(),
];
