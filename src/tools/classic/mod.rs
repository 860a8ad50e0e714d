//! The `classic` set: `snake_case` names, paths relative to the workspace.

mod read_file;
mod read_many_files;

use std::sync::Arc;

use crate::tool::{DynTool, Typed};

pub(super) fn tools() -> Vec<Arc<dyn DynTool>> {
    vec![Typed::erased(read_file::ReadFile), Typed::erased(read_many_files::ReadManyFiles)]
}
