//! A host can use them to check its integration (cancellation, progress, errors), and our tests and
//! benchmarks use them to exercise the whole path of a call.

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
