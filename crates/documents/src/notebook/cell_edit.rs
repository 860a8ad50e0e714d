//! The possible changes of a notebook's cells, and the errors.

use super::{CellKind, MAX_NOTEBOOK_BYTES, NotebookError};

/// A change of one cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CellEdit {
    /// Gives a cell a new source and, if a kind is given, a new kind.
    Replace {
        /// The id of the cell.
        id: String,
        /// The new source of the cell.
        source: String,
        /// The new kind of the cell; its kind stays as it is if this is `None`.
        kind: Option<CellKind>,
    },
    /// Inserts a new cell.
    Insert {
        /// The id of the cell before the new one; without it the new cell comes first.
        after: Option<String>,
        /// The source of the new cell.
        source: String,
        /// The kind of the new cell.
        kind: CellKind,
    },
    /// Removes a cell, with its outputs.
    Delete {
        /// The id of the cell.
        id: String,
    },
}

/// Why a notebook could not be changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotebookEditError {
    /// The text is not a notebook.
    #[error("{0}")]
    Unreadable(#[from] NotebookError),
    /// The text is too long to be parsed.
    #[error(
        "the notebook has {0} bytes, and at most {MAX_NOTEBOOK_BYTES} bytes can be edited; clear its outputs with `jupyter nbconvert --clear-output --inplace`"
    )]
    TooLarge(usize),
    /// There is no cell with this id.
    #[error("no cell has the id `{id}`; there are {known}")]
    UnknownCell {
        /// The id that was asked for, shortened.
        id: String,
        /// The ids that exist, as a list for the message.
        known: String,
    },
    /// More than one cell has this id.
    #[error("several cells have the id `{id}`; name one by its position: {positions}")]
    AmbiguousCell {
        /// The id that was asked for, shortened.
        id: String,
        /// The names of these cells by position, as a list for the message.
        positions: String,
    },
}
