//! Turns the errors of engines into [`ToolError`], by `From` alone and nowhere else.
//!
//! Engines know nothing of [`ErrorKind`], whose names are public API, so each of their errors is assigned its
//! kind here. Where the kind or the message also depends on the call, a struct of this module carries the
//! engine's error together with what the call adds.

use std::{fmt, io};

use crate::{
    agents::AgentRefusal,
    error::{ErrorKind, ToolError},
    git::GitError,
    net::FetchError,
    process::StartError,
    state::{SettingError, StateError},
    store::StoreError,
    team::TeamError,
    workspace::{
        LockError, PathError, ReadError, TextFileError, WriteError,
        notebook::NotebookEditError,
        search::{QueryError, SearchError},
    },
};

impl From<PathError> for ToolError {
    fn from(error: PathError) -> Self {
        let kind = match &error {
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
        let refused = Self::new(kind, error.to_string());
        match error {
            PathError::Outside { .. } => refused
                .allowed_by("a host can allow further directories with `additionalDirectories`"),
            _ => refused,
        }
    }
}

impl From<ReadError> for ToolError {
    fn from(error: ReadError) -> Self {
        let kind = match &error {
            ReadError::NotFound { .. } => ErrorKind::FileNotFound,
            ReadError::Permission(_) => ErrorKind::Permission,
            ReadError::Cancelled => return Self::cancelled(),
            ReadError::NotAFile { .. }
            | ReadError::Binary { .. }
            | ReadError::Mislabelled { .. }
            | ReadError::TooLarge { .. }
            | ReadError::Image(..)
            | ReadError::Pdf(..)
            | ReadError::Notebook(..)
            | ReadError::Io(..) => ErrorKind::FileRead,
        };
        Self::new(kind, error.to_string())
    }
}

impl From<WriteError> for ToolError {
    fn from(error: WriteError) -> Self {
        let kind = match &error {
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
        Self::new(kind, error.to_string())
    }
}

impl From<LockError> for ToolError {
    fn from(error: LockError) -> Self {
        match error {
            LockError::Cancelled(_) => Self::cancelled(),
            LockError::Busy { .. } => Self::new(ErrorKind::FileWrite, error.to_string()),
        }
    }
}

impl From<TextFileError> for ToolError {
    fn from(error: TextFileError) -> Self {
        Self::new(ErrorKind::FileEdit, error.to_string())
    }
}

impl From<NotebookEditError> for ToolError {
    fn from(error: NotebookEditError) -> Self {
        let kind = match &error {
            NotebookEditError::Unreadable(_) | NotebookEditError::TooLarge(_) => {
                ErrorKind::FileEdit
            }
            NotebookEditError::UnknownCell { .. } => ErrorKind::EditTargetNotFound,
            NotebookEditError::AmbiguousCell { .. } => ErrorKind::EditTargetAmbiguous,
        };
        Self::new(kind, error.to_string())
    }
}

/// A store that failed, and the error kind of the tool that used it.
pub(super) struct FailedStore {
    pub(super) error: StoreError,
    pub(super) tool_kind: ErrorKind,
}

impl From<FailedStore> for ToolError {
    fn from(FailedStore { error, tool_kind }: FailedStore) -> Self {
        Self::new(tool_kind, error.to_string())
    }
}

impl From<GitError> for ToolError {
    fn from(error: GitError) -> Self {
        let kind = match &error {
            GitError::Start(_) => ErrorKind::ShellExecution,
            GitError::Missing
            | GitError::Refused { .. }
            | GitError::TooLong { .. }
            | GitError::Unusable(_) => ErrorKind::Git,
        };
        Self::new(kind, error.to_string())
    }
}

/// Memories, todos or settings that could not be read or changed, and the error kind of the tool.
pub(crate) struct FailedState {
    pub(crate) error: StateError,
    pub(crate) tool_kind: ErrorKind,
}

impl From<FailedState> for ToolError {
    fn from(FailedState { error, tool_kind }: FailedState) -> Self {
        Self::new(tool_kind, error.to_string())
    }
}

impl From<SettingError> for ToolError {
    fn from(error: SettingError) -> Self {
        let kind = match &error {
            SettingError::WrongValue { .. } => ErrorKind::Validation,
            SettingError::HostOnly(_) => ErrorKind::Config,
        };
        Self::new(kind, error.to_string())
    }
}

impl From<TeamError> for ToolError {
    fn from(error: TeamError) -> Self {
        let kind = match &error {
            TeamError::InvalidName { .. } | TeamError::TooLong { .. } => ErrorKind::Validation,
            TeamError::Closed => ErrorKind::RegistryClosed,
            _ => ErrorKind::Team,
        };
        Self::new(kind, error.to_string())
    }
}

impl From<FetchError> for ToolError {
    fn from(error: FetchError) -> Self {
        let kind = match &error {
            FetchError::Cancelled => return Self::cancelled(),
            FetchError::Closed => ErrorKind::RegistryClosed,
            FetchError::Http { .. } => ErrorKind::Http,
            FetchError::BadUrl { .. } => ErrorKind::Validation,
            _ => ErrorKind::Fetch,
        };
        let failed = Self::new(kind, error.to_string());
        match error.for_people() {
            Some((reason, how)) => failed.with_details(&reason, &how, Vec::new()),
            None => failed,
        }
    }
}

impl From<StartError> for ToolError {
    fn from(error: StartError) -> Self {
        Self::new(ErrorKind::ShellExecution, error.to_string())
    }
}

impl From<AgentRefusal> for ToolError {
    fn from(error: AgentRefusal) -> Self {
        let refused = Self::new(ErrorKind::Agent, error.to_string());
        match error {
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

impl From<QueryError> for ToolError {
    fn from(error: QueryError) -> Self {
        Self::new(ErrorKind::Grep, error.to_string())
    }
}

/// A failed search, and the error kind of the tool that ran it.
pub(super) struct FailedSearch {
    pub(super) error: SearchError,
    /// The kind of failures that have no kind of their own.
    pub(super) tool_kind: ErrorKind,
}

impl From<FailedSearch> for ToolError {
    fn from(FailedSearch { error, tool_kind }: FailedSearch) -> Self {
        let kind = match &error {
            SearchError::Cancelled(_) => return Self::cancelled(),
            SearchError::NotFound { .. } => ErrorKind::FileNotFound,
            SearchError::Io(_, cause) if cause.kind() == io::ErrorKind::PermissionDenied => {
                ErrorKind::Permission
            }
            SearchError::NotSearchable(_) | SearchError::NotAFolder(_) | SearchError::Io(..) => {
                tool_kind
            }
        };
        Self::new(kind, error.to_string())
    }
}

/// A parameter whose value an engine could not parse or compile, such as a glob or a page range.
pub(super) struct InvalidParameter<E> {
    pub(super) name: &'static str,
    pub(super) error: E,
}

impl<E: fmt::Display> From<InvalidParameter<E>> for ToolError {
    fn from(InvalidParameter { name, error }: InvalidParameter<E>) -> Self {
        Self::new(ErrorKind::Validation, format!("parameter `{name}`: {error}"))
    }
}

/// A task whose output file could not be read.
pub(super) struct UnreadableOutput {
    pub(super) task_id: String,
    pub(super) cause: io::Error,
}

impl From<UnreadableOutput> for ToolError {
    fn from(UnreadableOutput { task_id, cause }: UnreadableOutput) -> Self {
        let message = format!("the output of task `{task_id}` cannot be read: {cause}");
        Self::new(ErrorKind::FileRead, message)
    }
}
