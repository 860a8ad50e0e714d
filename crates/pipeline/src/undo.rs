//! Undoes the file changes of a call, unless the files have changed since.

use std::sync::Arc;

use serde::Serialize;
use toolwright_base::{ErrorKind, ToolError, shown_path};
use toolwright_core::{Change, EngineError as _, ForModel as _, Session, ToolContext};
use toolwright_files::{
    Expected, ForEdit, MAX_TEXT_BYTES, Turn, WriteError, read_for_edit, remove_unchanged,
    write_atomically,
};

use super::{CallOptions, Pipeline, execute::BoundedCall};

/// A file whose change was undone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Undone {
    /// The path of the file.
    pub path: String,
    /// How the change was undone.
    pub action: UndoAction,
}

/// How the change of a file was undone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum UndoAction {
    /// The file has its old content again.
    Restored,
    /// The call had created the file, which was removed.
    Removed,
}

impl Pipeline {
    /// Undoes the changes of one call, the last one first. Stops at the first that cannot be undone.
    ///
    /// The read ledger is not changed. The model still believes that the file has the content that was
    /// undone, so its next write must fail because the file has changed.
    pub async fn undo(
        &self,
        tool_use_id: String,
        session_id: Option<String>,
    ) -> Result<Vec<Undone>, ToolError> {
        self.refuse_when_closed()?;
        let options =
            CallOptions { tool_use_id: Some(tool_use_id), session_id, ..CallOptions::default() };
        let cx = self.context(options);
        let _ended = cx.cancel.clone().drop_guard();
        let changes = cx.session.shared.files.undo.of_call(&cx.session.id, &cx.tool_use_id);
        if changes.is_empty() {
            return Err(ToolError::new(
                ErrorKind::NothingToUndo,
                format!(
                    "no change of call `{}` is kept in session `{}`: it changed no file, was undone already, or the old content was dropped to make room for later changes",
                    cx.tool_use_id, cx.session.id
                ),
            ));
        }
        let mut undone = Vec::new();
        for change in changes {
            let turn = cx.session.shared.files.locks.queue_up(&change.file);
            let taker = cx.clone();
            let work = cx.blocking(move |_| undo_change(&change, turn, &taker));
            let within = BoundedCall::new(&cx, &self.closed, self.limits.call_timeout());
            match within.run(work).await {
                Ok(file) => undone.push(file),
                Err(error) => return Err(after_others(error, &undone)),
            }
        }
        Ok(undone)
    }
}

/// Adds to an error which files were restored before it.
fn after_others(error: ToolError, undone: &[Undone]) -> ToolError {
    if undone.is_empty() {
        return error;
    }
    let paths: Vec<String> = undone.iter().map(|it| format!("`{}`", it.path)).collect();
    let message = format!("{}; undone before that: {}", error.message, paths.join(", "));
    error.reworded(message)
}

fn undo_change(change: &Arc<Change>, turn: Turn, cx: &ToolContext) -> Result<Undone, ToolError> {
    let _turn = turn.wait(&|| cx.cancel.is_cancelled()).for_model()?;
    let session = &cx.session;
    let file = &change.file;
    let path = shown_path(file.absolute());
    let stamp = match read_for_edit(file, MAX_TEXT_BYTES as u64) {
        Ok(ForEdit { stamp, .. }) if stamp.content_hash() == change.after => stamp,
        Ok(_) => return Err(changed_since(change, session, &path, "has changed")),
        Err(WriteError::Missing(_)) => {
            return Err(changed_since(change, session, &path, "is gone"));
        }
        Err(error) => return Err(error.into_tool_error()),
    };
    cx.commitment.commit()?;
    let action = if let Some(before) = &change.before {
        write_atomically(file, before, Expected::Unchanged(&stamp)).for_model()?;
        UndoAction::Restored
    } else {
        remove_unchanged(file, &stamp).for_model()?;
        UndoAction::Removed
    };
    session.shared.files.undo.forget(change);
    Ok(Undone { path, action })
}

fn changed_since(change: &Arc<Change>, session: &Session, path: &str, how: &str) -> ToolError {
    let later = session.shared.files.undo.last_of(change.file.absolute());
    let next_step = match later.filter(|it| !Arc::ptr_eq(it, change)) {
        Some(later) if later.session_id == change.session_id => {
            format!("undo call `{}` first", later.tool_use_id)
        }
        Some(later) => {
            format!("undo call `{}` of session `{}` first", later.tool_use_id, later.session_id)
        }
        None => "restoring the old content would lose that".to_owned(),
    };
    ToolError::new(
        ErrorKind::StaleFile,
        format!(
            "`{path}` {how} since call `{}` wrote it, and was left as it is; {next_step}",
            change.tool_use_id
        ),
    )
}
