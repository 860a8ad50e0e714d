//! What the tools that change files share: the lock, the read ledger, the write, the way back.

use std::sync::Arc;

use serde_json::json;

use crate::{
    error::{ErrorKind, ToolError},
    session::{Change, ContentHash},
    tool::{Content, ToolContext, ToolOutput, shown_path},
    workspace::{
        Diff, DiffLimits, Expected, ForEdit, InPlace, NotKept, WorkspacePath, WriteError, Written,
        read_for_edit, unified_diff, write_atomically,
    },
};

/// The largest file that is changed in memory.
const MAX_BYTES: u64 = 256 * 1024 * 1024;

/// What a file holds before a change.
pub(super) struct Current {
    /// Its bytes; nothing where there is no file.
    pub(super) bytes: Option<Vec<u8>>,
    /// Whether the session has seen them.
    pub(super) seen: Seen,
    pub(super) path: String,
}

/// What a session knows of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seen {
    Never,
    AsItIs,
    Otherwise,
}

/// What a file is to hold after a change.
pub(super) struct Next {
    pub(super) bytes: Vec<u8>,
    /// What the model is told.
    pub(super) summary: String,
    /// The change as a person sees it: the text before and after.
    pub(super) before: String,
    pub(super) after: String,
    /// Facts for programs.
    pub(super) facts: serde_json::Map<String, serde_json::Value>,
}

/// Changes one file: in its turn, from what it holds now, all or nothing.
pub(super) async fn change<F>(
    place: WorkspacePath,
    cx: &ToolContext,
    compute: F,
) -> Result<ToolOutput, ToolError>
where
    F: FnOnce(&Current) -> Result<Next, ToolError> + Send + 'static,
{
    // Queued here and not on the blocking thread: calls take effect in the order they were made.
    let turn = cx.session.locks.queue_up(place.absolute());
    let session = Arc::clone(&cx.session);
    let tool_use_id = cx.tool_use_id.to_string();
    cx.blocking(move |cancel| {
        let _turn = turn.wait(&|| cancel.is_cancelled())?;
        let path = place.absolute().to_owned();
        let before = read_current(&place)?;
        let hash = before.as_ref().map(|it| blake3::hash(&it.bytes));
        let seen = match (session.ledger.seen(&path), hash) {
            (None, _) => Seen::Never,
            (Some(seen), Some(now)) if seen == now => Seen::AsItIs,
            (Some(_), _) => Seen::Otherwise,
        };
        let (bytes, stamp) =
            before.map_or((None, None), |ForEdit { bytes, stamp }| (Some(bytes), Some(stamp)));
        let current = Current { bytes, seen, path: shown_path(&path) };
        let next = compute(&current)?;
        if cancel.is_cancelled() {
            return Err(ToolError::cancelled());
        }
        let expected = stamp.as_ref().map_or(Expected::Absent, Expected::Unchanged);
        let written = write_atomically(&place, &next.bytes, expected)?;
        let after: ContentHash = blake3::hash(&next.bytes);
        session.ledger.record(path.clone(), after);
        session.undo.keep(Change { tool_use_id, path, before: current.bytes, after });
        Ok(present(next, &current.path, &written))
    })
    .await
}

fn read_current(place: &WorkspacePath) -> Result<Option<ForEdit>, ToolError> {
    let bytes = place.absolute().symlink_metadata().map_or(0, |it| it.len());
    if bytes > MAX_BYTES {
        let path = shown_path(place.absolute());
        return Err(ToolError::new(
            ErrorKind::FileEdit,
            format!(
                "`{path}` has {bytes} bytes; files of at most {MAX_BYTES} bytes can be changed"
            ),
        ));
    }
    match read_for_edit(place) {
        Ok(read) => Ok(Some(read)),
        Err(WriteError::Missing(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

fn present(next: Next, path: &str, written: &Written) -> ToolOutput {
    let Diff { text, added, removed, .. } =
        unified_diff(&next.before, &next.after, path, &DiffLimits::default());
    let mut facts = next.facts;
    facts.insert("path".to_owned(), json!(path));
    facts.insert("created".to_owned(), json!(written.created));
    facts.insert("linesAdded".to_owned(), json!(added));
    facts.insert("linesRemoved".to_owned(), json!(removed));
    let mut notes = vec![next.summary];
    let why_in_place = written.in_place.map(|why| match why {
        InPlace::HardLinked => "the file has other names",
        InPlace::NotRenamable => "nothing can be renamed onto the file",
    });
    notes.extend(why_in_place.map(|why| format!("{why}, so it was written in place")));
    if !written.not_kept.is_empty() {
        let lost: Vec<String> = written.not_kept.iter().map(words).collect();
        notes.push(format!("the file could not keep {}", lost.join(", ")));
    }
    let mut output =
        ToolOutput { content: vec![Content::text(notes.join("; "))], ..ToolOutput::default() };
    output.display = Some(if text.is_empty() { notes.join("; ") } else { text });
    output.meta.insert("toolwright/change".to_owned(), serde_json::Value::Object(facts));
    output
}

fn words(lost: &NotKept) -> String {
    match lost {
        NotKept::Owner => "its owner".to_owned(),
        NotKept::Group => "its group".to_owned(),
        NotKept::Mode => "its mode".to_owned(),
        NotKept::Privileges => "its set-id bits and capabilities".to_owned(),
        NotKept::Attribute(name) => format!("its attribute `{name}`"),
    }
}
