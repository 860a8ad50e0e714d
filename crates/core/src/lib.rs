//! The contract of tools, and the state that their calls share.

mod agents;
mod registry;
mod session;
mod tool;

pub use agents::{AgentLimits, AgentRecord, BegunAgent, NewAgent, is_agent_id};
pub use registry::{Entry, Registry, Snapshot, ToolSource, needs_gemini_prefix};
pub use session::{
    Change, DEFAULT_SESSION, Environment, EnvironmentRules, MCP_SESSION, ReadBeforeWrite, Session,
    Sessions, SharedState, configuration_directory, data_directory, home_directory,
};
pub use tool::{
    AnswerData, Backlog, ChildSession, CommandSandbox, Commitment, Content, DynTool, EngineError,
    ForModel, ForeignInput, HandlerName, Handlers, HostHandler, InputValidator, InvocationView,
    NoData, OwnConfirmation, PlannedSandbox, Prepared, Preview, Progress, ProgressSink, ResultView,
    SandboxPlanner, SessionControl, ShownContent, ShownFile, Tool, ToolContext, ToolOutput,
    TruncationLimits, Typed, Words, check_foreign_schema, check_input_size, closed_schema,
    derived_schema, for_display, for_model, has_references, image_in_words, kind_of, known_tool,
    shown_schema, strict_schema, truncate, whole_lines_within,
};
