//! Converts the errors of other crates to [`ToolError`]. No other file does this.
//!
//! Engines do not know [`ErrorKind`], whose names are public API, so each of their errors is assigned its
//! kind here. If the kind or the message also depends on the call, a struct of this module carries the
//! engine's error together with the facts of the call.

use std::{fmt, io};

use toolwright_base::{ErrorKind, ToolError};
use toolwright_documents::{NotebookEditError, ReadError};
use toolwright_search::SearchError;
use toolwright_store::{StateError, StoreError};
use toolwright_web::{FetchError, WebSearchError};

use super::fetching::{DocumentError, excerpt_words};
use crate::git::GitError;

/// A file that could not be read.
pub(super) struct FailedRead(pub(super) ReadError);

impl From<FailedRead> for ToolError {
    fn from(FailedRead(error): FailedRead) -> Self {
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

/// A notebook that could not be edited.
pub(super) struct FailedNotebookEdit(pub(super) NotebookEditError);

impl From<FailedNotebookEdit> for ToolError {
    fn from(FailedNotebookEdit(error): FailedNotebookEdit) -> Self {
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
pub struct FailedState {
    /// What failed.
    pub error: StateError,
    /// The kind of the error in a result of the tool.
    pub tool_kind: ErrorKind,
}

impl From<FailedState> for ToolError {
    fn from(FailedState { error, tool_kind }: FailedState) -> Self {
        Self::new(tool_kind, error.to_string())
    }
}

/// A page that could not be fetched.
pub(super) struct FailedFetch(pub(super) FetchError);

impl From<FailedFetch> for ToolError {
    fn from(FailedFetch(error): FailedFetch) -> Self {
        let kind = match &error {
            FetchError::Cancelled => return Self::cancelled(),
            FetchError::Closed => ErrorKind::RegistryClosed,
            FetchError::Http { .. } => ErrorKind::Http,
            FetchError::BadUrl { .. } => ErrorKind::Validation,
            _ => ErrorKind::Fetch,
        };
        let failed = match &error {
            FetchError::Http { url, excerpt, .. } => {
                Self::new(kind, format!("{error}{}", excerpt_words(url, excerpt)))
            }
            _ => Self::new(kind, error.to_string()),
        };
        match error.for_people() {
            Some((reason, how)) => failed.with_details(&reason, &how, Vec::new()),
            None => failed,
        }
    }
}

/// A failed search, and the error kind of the tool that ran it.
pub(super) struct FailedSearch {
    pub(super) error: SearchError,
    /// The kind for errors without a more specific one.
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

impl From<DocumentError> for ToolError {
    fn from(error: DocumentError) -> Self {
        match error {
            DocumentError::Cancelled => Self::cancelled(),
            DocumentError::SelectorWithoutHtml { .. } => {
                Self::new(ErrorKind::Validation, error.to_string())
            }
            DocumentError::Binary { .. }
            | DocumentError::Image { .. }
            | DocumentError::Pdf { .. }
            | DocumentError::CutPdf { .. }
            | DocumentError::TooSlow(_) => Self::new(ErrorKind::Fetch, error.to_string()),
        }
    }
}

/// A web search that failed.
pub(super) struct FailedWebSearch {
    pub(super) error: WebSearchError,
}

impl From<FailedWebSearch> for ToolError {
    fn from(FailedWebSearch { error }: FailedWebSearch) -> Self {
        match error {
            WebSearchError::Cancelled => Self::cancelled(),
            WebSearchError::Refused { .. }
            | WebSearchError::RateLimited { .. }
            | WebSearchError::Failed { .. }
            | WebSearchError::Unreadable { .. } => Self::new(ErrorKind::Search, error.to_string()),
        }
    }
}

/// No search service is configured, or the configured one cannot be used for this cause.
pub(super) struct NoSearchService {
    pub(super) cause: Option<String>,
}

impl From<NoSearchService> for ToolError {
    fn from(NoSearchService { cause }: NoSearchService) -> Self {
        let how = "set `SEARXNG_URL`, `BRAVE_API_KEY` or `TAVILY_API_KEY`, or give the registry the option `search` or `handlers.search`";
        let what = match cause {
            None => "no search provider is set up".to_owned(),
            Some(cause) => format!("the search provider cannot be used: {cause}"),
        };
        Self::new(ErrorKind::Search, format!("{what}; {how}")).allowed_by(how)
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
