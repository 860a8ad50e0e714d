//! The contract of tools: how a tool describes itself, the stages of a call, and its result.
//!
//! Authors write [`Tool`]; the registry stores [`DynTool`]; a call that may run is a [`Prepared`].
//! Nothing here depends on napi, a provider's format or a particular tool.

mod answer_data;
mod coerce;
mod command_sandbox;
mod commitment;
mod context;
mod contract;
mod engine_error;
mod foreign_input;
mod foreign_tool;
mod format;
mod handlers;
mod input;
mod input_size;
mod output;
mod own_confirmation;
mod preview;
mod progress;
mod schema;
mod session_control;
mod typed;

pub use answer_data::AnswerData;
pub use command_sandbox::{CommandSandbox, PlannedSandbox, SandboxPlanner};
pub use commitment::Commitment;
pub use context::ToolContext;
pub use contract::{CallPlan, DynTool, Prepared, Tool, known_tool};
pub use engine_error::{EngineError, ForModel};
pub use foreign_input::ForeignInput;
pub use foreign_tool::ForeignTool;
pub use format::{TruncationLimits, for_display, for_model, truncate, whole_lines_within};
pub use handlers::{HandlerName, Handlers, HostHandler};
pub use input::{InputValidator, kind_of};
pub use input_size::check_input_size;
pub use output::{Content, InvocationView, NoData, ResultView, ToolOutput, image_in_words};
pub use own_confirmation::OwnConfirmation;
pub use preview::{Preview, ShownContent, ShownFile};
pub use progress::{Backlog, Progress, ProgressSink};
pub(crate) use schema::SchemaError;
pub(crate) use schema::derived_output_schema;
pub use schema::{
    Words, check_foreign_schema, closed_schema, derived_schema, has_references, shown_schema,
    strict_schema,
};
pub use session_control::{ChildSession, SessionControl};
pub use typed::Typed;
