//! The contract of tools, and the state that their calls share: the registry, sessions and agents.
//!
//! An author writes a [`Tool`], the registry stores a [`DynTool`], and a call with a valid input is a
//! [`Prepared`]. This crate must not know a particular tool, policy, the pipeline or JavaScript.
//!
//! The invariant: a [`Prepared`] declares everything that it will access before it runs, so policy can judge
//! a call without running any of it.
//!
//! Start at [`Tool`], then [`ToolContext`] and [`SharedState`].

mod agents;
mod registry;
mod session;
mod tool;

pub use agents::{AgentLimits, AgentRecord, BegunAgent, NewAgent, is_agent_id};
pub use registry::{Entry, Registry, Snapshot, ToolSource, needs_gemini_prefix};
pub use session::{
    Change, DEFAULT_SESSION, Environment, EnvironmentRules, FileState, MCP_SESSION, Mail, MailSlot,
    ReadBeforeWrite, Session, Sessions, SharedState, StoredState, configuration_directory,
    data_directory, home_directory,
};
pub use tool::{
    AnswerData, Backlog, CallPlan, ChildSession, CommandSandbox, Commitment, Content, DynTool,
    EngineError, ForModel, ForeignInput, ForeignTool, HandlerName, Handlers, HostHandler,
    InputValidator, InvocationView, NoData, OwnConfirmation, PlannedSandbox, Prepared, Preview,
    Progress, ProgressSink, ResultView, SandboxPlanner, SessionControl, ShownContent, ShownFile,
    Tool, ToolContext, ToolOutput, TruncationLimits, Typed, Words, check_foreign_schema,
    check_input_size, closed_schema, derived_schema, for_display, for_model, has_references,
    image_in_words, kind_of, known_tool, shown_schema, strict_schema, truncate, whole_lines_within,
};
