//! Jupyter notebooks: [`read_notebook`] takes the text of an `.ipynb` file apart into cells, and
//! [`render_cells`] shows them as text and images for a model, bounded and free of terminal escapes;
//! [`edit_notebook`] changes one cell and no byte beside it.
//!
//! It must never know about tools, policy or paths.

mod edit;
mod read;
mod render;
mod scan;

pub use edit::{CellEdit, EditedNotebook, NotebookEditError, Splice, edit_notebook};
pub use read::read_notebook;
pub use render::{Piece, render_cells};

/// The largest notebook that is taken apart.
pub const MAX_NOTEBOOK_BYTES: usize = 32 * 1024 * 1024;
/// The most characters of one output's text that are shown.
pub const MAX_OUTPUT_CHARS: usize = 10_000;
/// The most bytes of text that all cells together are shown with.
pub const MAX_RENDERED_BYTES: usize = 256 * 1024;
/// The most base64 characters an image may have: 5 MiB, what model providers accept.
pub const MAX_IMAGE_BASE64: usize = 5 * 1024 * 1024;
/// The most images one rendering holds.
pub const MAX_IMAGES: usize = 20;

/// A notebook as far as reading it goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notebook {
    /// The language of the code cells, such as `python`.
    pub language: String,
    /// The cells in order, as many as can be shown.
    pub cells: Vec<Cell>,
    /// How many cells there are.
    pub total_cells: usize,
}

/// One cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cell {
    /// The cell's own id, or `cell-N` by position from 0 where the file gives none.
    pub id: String,
    /// What the cell holds.
    pub kind: CellKind,
    /// The number Jupyter shows in `In [N]`, if the cell was run.
    pub execution_count: Option<i64>,
    /// The cell's text.
    pub source: String,
    /// What running the cell gave, for code cells.
    pub outputs: Vec<Output>,
    /// How many outputs are of a type that cannot be shown.
    pub skipped_outputs: usize,
}

/// What a cell holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CellKind {
    /// Code in the notebook's language.
    Code,
    /// Markdown text.
    Markdown,
    /// Text that Jupyter passes through unchanged.
    Raw,
}

impl CellKind {
    fn name(self) -> &'static str {
        match self {
            Self::Code => "code",
            Self::Markdown => "markdown",
            Self::Raw => "raw",
        }
    }
}

/// One thing that running a cell gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Output {
    /// Printed text or the text form of a value.
    Text(String),
    /// An exception.
    Error {
        /// The exception's class.
        name: String,
        /// The exception's message.
        value: String,
        /// The stack trace, without terminal escapes.
        traceback: String,
    },
    /// A picture.
    Image {
        /// The media type.
        mime: &'static str,
        /// The picture in base64, without line breaks.
        base64: String,
    },
}

/// Why a text is not a notebook that can be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotebookError {
    /// The text is not JSON.
    #[error("the notebook is not valid JSON: {0}; read the file as plain text to repair it")]
    Json(String),
    /// The JSON is something else than a notebook.
    #[error("the file is not a notebook: {0}; read it as plain text")]
    NotANotebook(String),
    /// The notebook is of a format version before 4.
    #[error(
        "the notebook is in nbformat `{0}`, which is not supported; convert it with `jupyter nbconvert --to notebook`"
    )]
    OldVersion(i64),
}

fn shortened(text: &str) -> String {
    text.chars().take(64).collect()
}

#[cfg(test)]
mod test_cells {
    //! Notebooks for the tests of both halves.

    #![expect(clippy::unwrap_used, reason = "tests")]

    use serde_json::{Value, json};

    use super::{Notebook, read_notebook};

    pub(super) const PIXEL: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

    pub(super) fn notebook(cells: &Value) -> Notebook {
        let root = json!({
            "nbformat": 4, "nbformat_minor": 5, "cells": cells,
            "metadata": { "kernelspec": { "language": "julia" } },
        });
        read_notebook(&root.to_string()).unwrap()
    }

    pub(super) fn code(source: &str, outputs: &Value) -> Value {
        json!({ "cell_type": "code", "id": "a1", "execution_count": 7, "source": source, "outputs": outputs })
    }
}
