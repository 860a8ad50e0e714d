//! The `claude` set: Claude Code's names and inputs, absolute paths.

mod read;

use std::sync::Arc;

use crate::tool::{DynTool, Typed};

pub(super) fn tools() -> Vec<Arc<dyn DynTool>> {
    vec![Typed::erased(read::Read)]
}
