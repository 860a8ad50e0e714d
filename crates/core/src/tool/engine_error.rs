//! Turns the errors of engines into [`ToolError`].
//!
//! Engines know nothing of [`ErrorKind`], whose names are public API, so each of their errors is assigned its
//! kind here. Errors of engines that only tools use are converted beside the tools.

use std::io;

use toolwright_base::{ErrorKind, ToolError};
use toolwright_files::{LockError, PathError, TextFileError, WriteError};
use toolwright_process::StartError;
use toolwright_search::QueryError;
use toolwright_store::SettingError;

use crate::agents::AgentRefusal;

/// An error of an engine, which does not know [`ErrorKind`].
pub trait EngineError {
    /// The error of the call.
    fn into_tool_error(self) -> ToolError;
}

/// Results of engines, for `?` in a tool.
pub trait ForModel<T> {
    /// The same result with the error of the call.
    fn for_model(self) -> Result<T, ToolError>;
}

impl<T, E: EngineError> ForModel<T> for Result<T, E> {
    fn for_model(self) -> Result<T, ToolError> {
        self.map_err(E::into_tool_error)
    }
}

impl EngineError for PathError {
    fn into_tool_error(self) -> ToolError {
        let kind = match &self {
            PathError::NotAbsolute { .. } | PathError::Malformed(..) => ErrorKind::Validation,
            PathError::Outside { .. }
            | PathError::Dangling(_)
            | PathError::Nul(_)
            | PathError::UpFromNothing(_) => ErrorKind::PathOutsideWorkspace,
            PathError::BadRoot(..) => ErrorKind::InvalidOptions,
            PathError::Unresolvable(_, cause) => match cause.kind() {
                io::ErrorKind::NotFound => ErrorKind::FileNotFound,
                io::ErrorKind::PermissionDenied => ErrorKind::Permission,
                _ => ErrorKind::FileRead,
            },
        };
        let refused = ToolError::new(kind, self.to_string());
        match self {
            PathError::Outside { .. } => refused
                .allowed_by("a host can allow further directories with `additionalDirectories`"),
            _ => refused,
        }
    }
}

impl EngineError for WriteError {
    fn into_tool_error(self) -> ToolError {
        let kind = match &self {
            WriteError::Changed(_) => ErrorKind::StaleFile,
            WriteError::Exists(_) => ErrorKind::FileExists,
            WriteError::Missing(_) => ErrorKind::FileNotFound,
            WriteError::Denied(..) => ErrorKind::Permission,
            WriteError::TooLarge { .. } => ErrorKind::FileEdit,
            WriteError::NotAFile { .. }
            | WriteError::NotADirectory { .. }
            | WriteError::Full(..)
            | WriteError::Failed(..) => ErrorKind::FileWrite,
        };
        ToolError::new(kind, self.to_string())
    }
}

impl EngineError for LockError {
    fn into_tool_error(self) -> ToolError {
        match self {
            LockError::Cancelled(_) => ToolError::cancelled(),
            LockError::Busy { .. } => ToolError::new(ErrorKind::FileWrite, self.to_string()),
        }
    }
}

impl EngineError for TextFileError {
    fn into_tool_error(self) -> ToolError {
        ToolError::new(ErrorKind::FileEdit, self.to_string())
    }
}

impl EngineError for SettingError {
    fn into_tool_error(self) -> ToolError {
        let kind = match &self {
            SettingError::WrongValue { .. } => ErrorKind::Validation,
            SettingError::HostOnly(_) => ErrorKind::Config,
        };
        ToolError::new(kind, self.to_string())
    }
}

impl EngineError for StartError {
    fn into_tool_error(self) -> ToolError {
        ToolError::new(ErrorKind::ShellExecution, self.to_string())
    }
}

impl EngineError for AgentRefusal {
    fn into_tool_error(self) -> ToolError {
        let refused = ToolError::new(ErrorKind::Agent, self.to_string());
        match self {
            AgentRefusal::TooDeep { .. } => {
                refused.allowed_by("a host can allow more by `limits.maxAgentDepth`")
            }
            AgentRefusal::TooMany { .. } => {
                refused.allowed_by("a host can allow more by `limits.maxAgents`")
            }
            AgentRefusal::Unknown { .. } | AgentRefusal::Running(_) => refused,
        }
    }
}

impl EngineError for QueryError {
    fn into_tool_error(self) -> ToolError {
        ToolError::new(ErrorKind::Grep, self.to_string())
    }
}
