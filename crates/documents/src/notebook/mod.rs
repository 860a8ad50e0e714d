//! Jupyter notebooks. [`read_notebook`] parses the text of an `.ipynb` file into cells,
//! [`render_cells`] renders cells as text and images for a model, within a size limit and without
//! terminal escapes, and [`edit_notebook`] changes one cell and nothing else.
//!
//! This module must not know about tools, policy or paths.

mod cell_edit;
mod cell_format;
mod edit;
mod json_scan;
mod read;
mod render;

pub use cell_edit::{CellEdit, NotebookEditError};
pub use edit::edit_notebook;
pub(crate) use read::read_notebook;
pub use render::{NotebookPiece, render_cells};

/// The size of the largest notebook that is parsed.
pub(crate) const MAX_NOTEBOOK_BYTES: usize = 32 * 1024 * 1024;
/// The most characters of one output that are rendered.
pub(crate) const MAX_OUTPUT_CHARS: usize = 10_000;
/// The most bytes of text that are rendered for all cells together.
pub(crate) const MAX_RENDERED_BYTES: usize = 256 * 1024;
/// The most base64 characters of an image: 5 MiB, which is what model providers accept.
pub(crate) const MAX_IMAGE_BASE64: usize = 5 * 1024 * 1024;
/// The most characters of an id or name that are shown. Valid ids of cells are no longer.
const SHOWN_ID: usize = 64;
/// The most images that are rendered for all cells together.
pub(crate) const MAX_IMAGES: usize = 20;

/// The parts of a notebook that are shown to a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notebook {
    /// The language of the code cells, such as `python`.
    pub(crate) language: String,
    /// The cells in order. Those after the size limit of a rendering are not parsed.
    pub(crate) cells: Vec<Cell>,
    /// How many cells the notebook has.
    pub total_cells: usize,
}

/// One cell of a notebook, with its outputs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cell {
    /// The id of the cell, or `cell-N` with its position from 0 if the file gives none.
    pub(crate) id: String,
    /// Whether the cell is code or text.
    pub(crate) kind: CellKind,
    /// The number Jupyter shows in `In [N]`, if the cell was run.
    pub(crate) execution_count: Option<i64>,
    /// The code or text of the cell.
    pub(crate) source: String,
    /// The outputs of the last run, for code cells.
    pub(crate) outputs: Vec<CellOutput>,
    /// How many outputs are of a type that cannot be shown.
    pub(crate) skipped_outputs: usize,
}

/// The kinds of cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CellKind {
    /// Code in the notebook's language.
    Code,
    /// Text in Markdown.
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

/// One output of a cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CellOutput {
    /// Printed text, or a value as text.
    Text(String),
    /// An exception that the cell raised.
    Error {
        /// The class of the exception.
        name: String,
        /// The message of the exception.
        value: String,
        /// The stack trace, without terminal escapes.
        traceback: String,
    },
    /// An image that can be shown to a model.
    Image {
        /// The media type, such as `image/png`.
        mime: &'static str,
        /// The image in base64, without line breaks.
        base64: String,
    },
}

/// Why a text cannot be read as a notebook.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotebookError {
    /// The text is not JSON.
    #[error("the notebook is not valid JSON: {0}; read the file as plain text to repair it")]
    Json(String),
    /// The JSON is not a notebook.
    #[error("the file is not a notebook: {0}; read it as plain text")]
    NotANotebook(String),
    /// The notebook is of a format version before 4.
    #[error(
        "the notebook is in nbformat `{0}`, which is not supported; convert it with `jupyter nbconvert --to notebook`"
    )]
    OldVersion(i64),
}

#[cfg(test)]
mod test_cells {
    //! Notebooks for the tests of reading and of rendering.

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
