//! `NotebookEdit`: replaces, inserts or deletes one cell of a Jupyter notebook.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolwright_base::{ErrorKind, SideEffect, ToolError, ToolKind, shown_path};
use toolwright_core::{ForModel as _, Tool, ToolContext};
use toolwright_documents::{CellEdit, CellKind, edit_notebook};
use toolwright_files::RelativePaths;

use crate::{
    editing::{self, Current, FileToChange, NewContent},
    failures::FailedNotebookEdit,
    replacing::{explain_drift, remark, text_to_edit},
};

#[derive(Default)]
pub(super) struct NotebookEdit;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// The absolute path of the notebook.
    notebook_path: String,
    /// The new text of the cell.
    #[serde(default)]
    new_source: Option<String>,
    /// The id of the cell; without ids, `cell-N` counted from 0.
    #[serde(default)]
    cell_id: Option<String>,
    /// The kind of the cell.
    #[serde(default)]
    cell_type: Option<Kind>,
    /// What to do with the cell.
    #[serde(default)]
    edit_mode: Mode,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Code,
    Markdown,
}

#[derive(Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Mode {
    #[default]
    Replace,
    Insert,
    Delete,
}

impl From<Kind> for CellKind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Code => Self::Code,
            Kind::Markdown => Self::Markdown,
        }
    }
}

/// The cell that was changed.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct EditedCell {
    cell_id: String,
    /// Its position in the notebook, counted from 0.
    cell_index: usize,
}

impl Tool for NotebookEdit {
    type Input = Input;
    type Plan = FileToChange<EditedCell>;

    const NAME: &'static str = "NotebookEdit";
    const TITLE: &'static str = "Edit Notebook";
    const DESCRIPTION: &'static str = include_str!("../description/notebook_edit.md");
    const SIDE_EFFECT: SideEffect = SideEffect::Mutating;
    const KIND: ToolKind = ToolKind::edits_files(&["notebook_path"]);

    fn plan(&self, input: Input, cx: &ToolContext) -> Result<Self::Plan, ToolError> {
        let path =
            editing::resolve(&input.notebook_path, RelativePaths::Refused(&cx.visibility), cx)?;
        let missing = |what: &str| {
            ToolError::new(ErrorKind::Validation, format!("missing required parameter {what}"))
        };
        let id = || input.cell_id.clone().ok_or_else(|| missing("`cell_id`: the id of the cell"));
        let source = || {
            let what = "`new_source`: the new text of the cell; to empty it, give an empty text";
            input.new_source.clone().ok_or_else(|| missing(what))
        };
        let edit = match input.edit_mode {
            Mode::Replace => CellEdit::Replace {
                id: id()?,
                source: source()?,
                kind: input.cell_type.map(CellKind::from),
            },
            Mode::Insert => CellEdit::Insert {
                after: input.cell_id,
                source: source()?,
                kind: input
                    .cell_type
                    .ok_or_else(|| missing("`cell_type`: the kind of the inserted cell"))?
                    .into(),
            },
            Mode::Delete => CellEdit::Delete { id: id()? },
        };
        let what = format!("Edit a cell of {}", shown_path(path.absolute()));
        Ok(FileToChange::new(path, what, move |current| edited(current, &edit)))
    }
}

fn edited(current: &Current, edit: &CellEdit) -> Result<NewContent<EditedCell>, ToolError> {
    let file = text_to_edit(current)?;
    let notebook = edit_notebook(file.text(), edit)
        .map_err(|error| explain_drift(FailedNotebookEdit(error).into(), current, &file))?;
    let done = match edit {
        CellEdit::Replace { .. } => "replaced",
        CellEdit::Insert { .. } => "inserted",
        CellEdit::Delete { .. } => "deleted",
    };
    let bytes = file.splice(&notebook.splices).for_model()?;
    let summary = if current.bytes.as_ref() == Some(&bytes) {
        format!(
            "cell `{}` of `{}` has this source already; nothing was written",
            notebook.cell_id, current.path
        )
    } else {
        format!("{done} cell `{}` of `{}`", notebook.cell_id, current.path)
    };
    let remark = remark(current, &file, &bytes);
    let after = file.says_after(&bytes);
    Ok(NewContent {
        bytes,
        summary,
        remark,
        before: file.into_text_unlike_bytes(),
        after,
        facts: EditedCell { cell_id: notebook.cell_id, cell_index: notebook.index },
    })
}
