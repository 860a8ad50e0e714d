//! The `claude` set: tools with the names and inputs of Claude Code, which models know. Paths of files are
//! absolute.

mod agent;
mod ask_user_question;
mod bash;
mod config;
mod edit;
mod exit_plan_mode;
mod glob;
mod grep;
mod list_mcp_resources;
mod notebook_edit;
mod read;
mod read_mcp_resource;
mod send_message;
mod task_output;
mod task_stop;
mod team_create;
mod team_delete;
mod todo_write;
mod web_fetch;
mod web_search;
mod write;

use super::{BuiltinTool, Experiment};

/// The tools of the set.
pub(super) const TOOLS: &[BuiltinTool] = &[
    BuiltinTool::of::<agent::Agent>(),
    BuiltinTool::of::<ask_user_question::AskUserQuestion>(),
    BuiltinTool::of::<bash::Bash>(),
    BuiltinTool::of::<config::Config>(),
    BuiltinTool::of::<edit::Edit>(),
    BuiltinTool::of::<exit_plan_mode::ExitPlanMode>(),
    BuiltinTool::of::<glob::Glob>(),
    BuiltinTool::of::<grep::Grep>(),
    BuiltinTool::of::<list_mcp_resources::ListMcpResources>(),
    BuiltinTool::of::<notebook_edit::NotebookEdit>(),
    BuiltinTool::of::<read::Read>(),
    BuiltinTool::of::<read_mcp_resource::ReadMcpResource>(),
    BuiltinTool::of::<send_message::SendMessage>().behind(Experiment::AgentTeams),
    BuiltinTool::of::<task_output::TaskOutput>(),
    BuiltinTool::of::<task_stop::TaskStop>(),
    BuiltinTool::of::<team_create::TeamCreate>().behind(Experiment::AgentTeams),
    BuiltinTool::of::<team_delete::TeamDelete>().behind(Experiment::AgentTeams),
    BuiltinTool::of::<todo_write::TodoWrite>(),
    BuiltinTool::of::<web_fetch::WebFetch>(),
    BuiltinTool::of::<web_search::WebSearch>(),
    BuiltinTool::of::<write::Write>(),
];
