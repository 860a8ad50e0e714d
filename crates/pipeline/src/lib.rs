//! Runs calls. [`Pipeline::call`] takes one call through all stages, from raw JSON to a bounded result:
//! find, prepare, decide, hooks, confirm, execute, hooks, bound.
//!
//! It must not know a particular tool, JavaScript or how a call arrived. Every caller uses it.
//!
//! The invariant: only `confirm` makes a `Permitted`, and only a `Permitted` can be executed. So no call runs
//! that policy denies, or that a person has to confirm and has not.
//!
//! Start at `call`, then `permit` for the stages before a call runs and `execute` for its work.

mod batch;
mod bound;
mod call;
mod call_input_text;
mod call_records;
mod child_sessions;
mod command_sandbox;
mod describe;
mod execute;
mod explain;
mod hook_decision;
mod kept_grants;
mod limits;
mod panic_fence;
mod permit;
mod running_calls;
mod start_order;
mod undo;
mod visibility;

pub use batch::{TurnCall, TurnOrder};
pub use call::{CallOptions, Pipeline, ToolCall};
pub use call_records::CallRecord;
pub use describe::Description;
pub use kept_grants::RememberGrants;
pub use limits::Limits;
pub use panic_fence::quiet_panic_hook;
pub use start_order::Arrival;

mod confirm;
mod definition;
mod hooks;
mod policy_files;
mod provider;

pub use confirm::{
    BusEvent, BusWatch, ConfirmationAnswer, Confirmations, MessageBus, RequestSpan, Responder,
    SharedBus, Unanswered, WaitingRequest,
};
pub use definition::{Definition, Definitions, StructuredContent};
pub use hooks::{CommandHook, Hook, HookEvent, HookRunner, ToolMatcher};
pub use policy_files::{project_policy_file, read_policy_file, user_policy_file};
pub use provider::{DefinitionFormat, ResultFormat, Strictness, definitions, result_json};
