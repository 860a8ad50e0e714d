//! Errors of calls and of the API, named by their cause.
//!
//! The strings of [`ErrorKind`] are public API: hosts and models branch on them.

use std::{borrow::Cow, fmt};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};

use crate::terminal::{visible, visible_text};

macro_rules! error_kinds {
    ($($(#[doc = $doc:literal])+ $variant:ident => $name:literal,)+) => {
        /// Why a call failed; [`ErrorKind::as_str`] is the stable name a host sees as `error.type`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum ErrorKind {
            $($(#[doc = $doc])+ $variant,)+
        }

        impl ErrorKind {
            /// Every kind, in the order of declaration.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The stable public name.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)+
                }
            }
        }
    };
}

error_kinds! {
    /// Input that does not match the tool's schema.
    Validation => "ValidationError",
    /// A name that no registered tool has.
    UnknownTool => "UnknownTool",
    /// A tool that the host has disabled.
    ToolDisabled => "ToolDisabled",
    /// A tool that cannot be registered, because its name, schema or shape is invalid.
    InvalidTool => "InvalidTool",
    /// Invalid options of a registry or of one of its methods.
    InvalidOptions => "InvalidOptions",
    /// The policy or a person refused the call.
    PolicyDenied => "PolicyDenied",
    /// A confirmation request was not answered in time.
    ConfirmationTimeout => "ConfirmationTimeout",
    /// A hook stopped the call.
    HookBlocked => "HookBlocked",
    /// The caller cancelled the call.
    Cancelled => "Cancelled",
    /// The call reached its time limit.
    Timeout => "TimeoutError",
    /// The registry was closed.
    RegistryClosed => "RegistryClosed",
    /// A host's tool threw an error, or returned something that is not a result.
    ToolFailed => "ToolFailed",
    /// An MCP server is not connected, or the connection was lost during a call.
    McpServer => "McpServerError",
    /// The host did not provide the function that the tool needs.
    HandlerMissing => "HandlerMissing",
    /// A bug in toolwright itself.
    Internal => "InternalError",
    /// A path that leaves the workspace.
    PathOutsideWorkspace => "PathOutsideWorkspace",
    /// There is no file at the path.
    FileNotFound => "FileNotFoundError",
    /// A file exists where a new one was to be created.
    FileExists => "FileExistsError",
    /// The operating system refused access.
    Permission => "PermissionError",
    /// A file could not be read or decoded.
    FileRead => "FileReadError",
    /// A file could not be written.
    FileWrite => "FileWriteError",
    /// A file changed since the session read it.
    StaleFile => "StaleFileError",
    /// A file must be read before it is changed.
    NotRead => "NotReadError",
    /// The text to replace is not in the file.
    EditTargetNotFound => "EditTargetNotFound",
    /// The text to replace is in the file more than once.
    EditTargetAmbiguous => "EditTargetAmbiguous",
    /// No change of the call is stored that could be undone.
    NothingToUndo => "NothingToUndo",
    /// An edit could not be applied.
    FileEdit => "FileEditError",
    /// A glob could not be evaluated.
    Glob => "GlobError",
    /// A search could not be run.
    Grep => "GrepError",
    /// A directory could not be listed.
    Ls => "LsError",
    /// A command reached its time limit.
    ShellTimeout => "ShellTimeoutError",
    /// A command could not be run, or ended with an error.
    ShellExecution => "ShellExecutionError",
    /// No task has this id, or the task is no longer kept.
    TaskNotFound => "TaskNotFoundError",
    /// Git refused, or there is no repository.
    Git => "GitError",
    /// An agent could not be started, or failed.
    Agent => "AgentError",
    /// Plan mode cannot be left: the session is not in it, or its parent controls it.
    PlanMode => "PlanModeError",
    /// A server answered with an error status.
    Http => "HttpError",
    /// A request could not be made.
    Fetch => "FetchError",
    /// A web search failed.
    Search => "SearchError",
    /// The memory store could not be read or written.
    Memory => "MemoryError",
    /// The todo list could not be read or written.
    Todo => "TodoError",
    /// A setting could not be read or changed.
    Config => "ConfigError",
    /// The store of the registry could not be used.
    Store => "StoreError",
    /// A team could not be created, written to or deleted.
    Team => "TeamError",
    /// The local server could not be opened.
    Serve => "ServeError",
}

impl Serialize for ErrorKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl JsonSchema for ErrorKind {
    fn schema_name() -> Cow<'static, str> {
        "ErrorKind".into()
    }

    fn json_schema(_generator: &mut SchemaGenerator) -> Schema {
        let names: Vec<&str> = Self::ALL.iter().map(|it| it.as_str()).collect();
        json_schema!({ "type": "string", "enum": names })
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The longest message in bytes. A path alone may have 4 KiB.
const MAX_MESSAGE_BYTES: usize = 10_000;

/// Why a call failed, for two readers. The message is for the model: what went wrong, with the value,
/// and what to do next. The details are for the host and people only: they say how to allow what was
/// refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema, thiserror::Error)]
#[error("{message}")]
pub struct ToolError {
    /// The cause, which hosts branch on.
    #[serde(rename = "type")]
    pub kind: ErrorKind,
    /// The text for the model.
    pub message: String,
    /// Details for people and the host. The model does not see them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<Box<RefusalDetails>>,
}

/// Details of a refusal for people and the host. A model must not see them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RefusalDetails {
    /// Why the call was refused, with the rule or setting that decided it.
    pub reason: String,
    /// What to change so that the same call runs.
    pub how_to_allow: String,
    /// The narrowest rules that would allow the call, if rules can.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub suggested_rules: Vec<String>,
}

impl RefusalDetails {
    /// The details as text for a person.
    pub fn for_people(&self) -> String {
        format!("{}\n{}", self.reason, self.how_to_allow)
    }
}

impl ToolError {
    /// An error with its kind and message. A message that is too long is cut.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        // Messages contain paths and values unchanged, so invisible characters are escaped.
        let message = cut(visible_text(&message.into()).into_owned());
        Self { kind, message, details: None }
    }

    /// Adds details on how to allow what was refused. Their reason is the message for the model.
    #[must_use]
    pub fn allowed_by(self, how_to_allow: &str) -> Self {
        let reason = self.message.clone();
        self.with_details(&reason, how_to_allow, Vec::new())
    }

    /// Adds details for people and the host.
    #[must_use]
    pub fn with_details(
        mut self,
        reason: &str,
        how_to_allow: &str,
        suggested_rules: Vec<String>,
    ) -> Self {
        let shown = |text: &str| cut(visible(text).into_owned());
        self.details = Some(Box::new(RefusalDetails {
            reason: shown(reason),
            how_to_allow: shown(how_to_allow),
            suggested_rules,
        }));
        self
    }

    /// The same error with another message for the model.
    #[must_use]
    pub fn reworded(self, message: impl Into<String>) -> Self {
        Self { details: self.details, ..Self::new(self.kind, message) }
    }

    /// The error of a cancelled call.
    pub fn cancelled() -> Self {
        Self::new(ErrorKind::Cancelled, "the call was cancelled")
    }
}

fn cut(mut message: String) -> String {
    if message.len() > MAX_MESSAGE_BYTES {
        let left_out = message.len() - MAX_MESSAGE_BYTES;
        message.truncate(message.floor_char_boundary(MAX_MESSAGE_BYTES));
        message.push_str(&format!("… [{left_out} more bytes]"));
    }
    message
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_kind_has_a_unique_name() {
        let names: HashSet<_> = ErrorKind::ALL.iter().map(|kind| kind.as_str()).collect();
        assert_eq!(names.len(), ErrorKind::ALL.len());
    }
}
