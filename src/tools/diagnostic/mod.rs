//! The `diagnostic` set: tools that answer, wait or fail on demand.
//!
//! A host that asks for them can check its own wiring (cancellation, progress, errors), and our tests
//! and benchmarks reach the whole path through them.

mod echo;
mod panic;
mod sleep;

use super::BuiltinTool;

/// The tools of the set.
pub(super) const TOOLS: &[BuiltinTool] = &[
    BuiltinTool::of::<echo::Echo>(),
    BuiltinTool::of::<sleep::Sleep>(),
    BuiltinTool::of::<panic::Panic>(),
];
