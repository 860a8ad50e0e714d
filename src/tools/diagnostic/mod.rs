//! The `diagnostic` set: tools that answer, wait or fail on demand.
//!
//! A host that asks for them can check its own wiring (cancellation, progress, errors), and our tests
//! and benchmarks reach the whole path through them.

mod echo;
mod panic;
mod sleep;

use std::sync::Arc;

use crate::tool::{DynTool, Typed};

pub(super) fn tools() -> Vec<Arc<dyn DynTool>> {
    vec![Typed::erased(echo::Echo), Typed::erased(sleep::Sleep), Typed::erased(panic::Panic)]
}
