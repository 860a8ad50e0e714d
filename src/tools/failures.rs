//! What an engine's failure is called in public.

use std::io;

use crate::{
    error::{ErrorKind, ToolError},
    workspace::{PathError, ReadError},
};

impl From<PathError> for ToolError {
    fn from(error: PathError) -> Self {
        let kind = match &error {
            PathError::Relative { .. } | PathError::Malformed(..) => ErrorKind::Validation,
            PathError::Outside { .. } | PathError::Dangling(_) => ErrorKind::PathOutsideWorkspace,
            PathError::BadRoot(..) => ErrorKind::InvalidOptions,
            PathError::Unresolvable(_, cause) => match cause.kind() {
                io::ErrorKind::NotFound => ErrorKind::FileNotFound,
                io::ErrorKind::PermissionDenied => ErrorKind::Permission,
                _ => ErrorKind::FileRead,
            },
        };
        Self::new(kind, error.to_string())
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
