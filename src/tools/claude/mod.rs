//! The `claude` set: Claude Code's names and inputs, absolute paths.

mod bash;
mod edit;
mod glob;
mod grep;
mod notebook_edit;
mod read;
mod task_output;
mod task_stop;
mod write;

use std::sync::Arc;

use crate::tool::{DynTool, Typed};

pub(super) fn tools() -> Vec<Arc<dyn DynTool>> {
    vec![
        Typed::erased(bash::Bash),
        Typed::erased(edit::Edit),
        Typed::erased(glob::Glob),
        Typed::erased(grep::Grep),
        Typed::erased(notebook_edit::NotebookEdit),
        Typed::erased(read::Read),
        Typed::erased(task_output::TaskOutput),
        Typed::erased(task_stop::TaskStop),
        Typed::erased(write::Write),
    ]
}
