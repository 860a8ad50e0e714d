//! The contract of tools: how a tool describes itself, what a call of it goes through, and what it returns.
//!
//! Authors write [`Tool`]; the registry holds [`DynTool`]; a call that may run is a [`Prepared`].
//! Nothing here knows napi, a provider's format or a particular tool.

mod access;
mod answer_data;
mod catalogue;
mod coerce;
mod command_sandbox;
mod commitment;
mod context;
mod contract;
mod foreign_input;
mod format;
mod handlers;
mod input;
mod input_size;
mod kind;
mod output;
mod permission_mode;
mod preview;
mod progress;
mod schema;
mod session_control;
mod spec;
mod statement;
mod typed;

pub use access::Access;
pub(crate) use access::{shown_path, shown_text};
pub use answer_data::AnswerData;
pub use catalogue::{KnownTool, ToolCatalogue};
pub use command_sandbox::CommandSandbox;
pub(crate) use command_sandbox::{PlannedSandbox, SandboxPlanner};
pub use commitment::Commitment;
pub use context::ToolContext;
pub use contract::{DynTool, Prepared, Tool};
pub(crate) use foreign_input::ForeignInput;
pub(crate) use format::whole_lines_within;
pub use format::{Truncated, TruncationLimits, for_display, for_model, truncate};
pub use handlers::{HandlerName, Handlers, HostHandler};
pub use input::InputValidator;
pub(crate) use input::kind_of;
pub use input_size::{MAX_INPUT_BYTES, check_input_size};
pub use kind::{InPlanMode, ToolFamily, ToolKind};
pub(crate) use output::image_in_words;
pub use output::{Content, InvocationView, NoData, ResultView, ToolOutput};
pub use permission_mode::PermissionMode;
pub use preview::{Preview, ShownContent, ShownFile};
pub use progress::{Backlog, Progress, ProgressSink};
pub use schema::{SchemaError, Words, check_foreign_schema};
pub(crate) use schema::{
    closed_schema, derived_output_schema, derived_schema, has_references, shown_schema,
    strict_schema,
};
pub use session_control::{ChildSession, PlanMode, SessionControl};
pub(crate) use spec::NAME_RULE;
pub use spec::{
    Annotations, DataScope, HintsFrom, OutputSpec, Risk, SideEffect, ToolSpec, is_valid_name,
};
pub use statement::Statement;
pub use typed::Typed;
