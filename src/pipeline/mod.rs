//! Runs calls. [`Pipeline::call`] takes one call through all its stages, from raw JSON to a bounded result:
//! find, prepare, decide, hooks, confirm, execute, hooks, bound.

mod batch;
mod bound;
mod call;
mod call_input_text;
mod call_records;
mod child_sessions;
mod describe;
mod execute;
mod heed;
mod kept_grants;
mod limits;
mod panic_fence;
mod permit;
mod running_calls;
#[cfg(unix)]
mod sandbox_plan;
#[cfg(not(unix))]
#[path = "no_sandbox_plan.rs"]
mod sandbox_plan;
mod start_order;
mod undo;
mod visibility;

pub use batch::{TurnCall, TurnOrder};
pub use call::{CallOptions, Pipeline, ToolCall};
pub use call_records::{CallRecord, CallRecords, CallStatus, MAX_KEPT_CALLS, RecordedDecision};
pub use describe::Description;
pub use kept_grants::RememberGrants;
pub use limits::Limits;
pub use panic_fence::quiet_panic_hook;
pub use sandbox_plan::{ExplainedCall, SandboxExplanation};
pub use start_order::Arrival;
pub use undo::{UndoAction, Undone};
