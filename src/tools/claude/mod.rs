//! The `claude` set: Claude Code's names and inputs, absolute paths.

mod edit;
mod notebook_edit;
mod read;
mod write;

use std::sync::Arc;

use crate::tool::{DynTool, Typed};

pub(super) fn tools() -> Vec<Arc<dyn DynTool>> {
    vec![
        Typed::erased(edit::Edit),
        Typed::erased(notebook_edit::NotebookEdit),
        Typed::erased(read::Read),
        Typed::erased(write::Write),
    ]
}
