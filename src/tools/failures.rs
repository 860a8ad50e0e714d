//! What an engine's failure is called in public.

use std::io;

use crate::{
    error::{ErrorKind, ToolError},
    workspace::{
        LockError, PathError, ReadError, TextFileError, WriteError, notebook::NotebookEditError,
        search::SearchError,
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

/// The public name of a failed search; what is special to a tool bears the tool's own kind.
pub(super) fn search_failure(error: &SearchError, own: ErrorKind) -> ToolError {
    let kind = match error {
        SearchError::Cancelled(_) => return ToolError::cancelled(),
        SearchError::NotFound { .. } => ErrorKind::FileNotFound,
        SearchError::Io(_, cause) if cause.kind() == io::ErrorKind::PermissionDenied => {
            ErrorKind::Permission
        }
        SearchError::NotSearchable(_) | SearchError::NotAFolder(_) | SearchError::Io(..) => own,
    };
    ToolError::new(kind, error.to_string())
}
