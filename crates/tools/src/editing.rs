//! Changes a file for the tools that edit and write.
//!
//! They share the lock, the comparison with what the model has read, the atomic write, and the undo log. A tool
//! only computes the new content from the current one, and is asked again if another program changed the file
//! in between.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use tokio_util::sync::CancellationToken;
use toolwright_base::{Access, ErrorKind, ToolError, shown_path};
use toolwright_core::{
    CallPlan, Change, Content, EngineError as _, ForModel as _, Preview, ReadBeforeWrite,
    ShownContent, ShownFile, ToolContext, ToolOutput,
};
use toolwright_files::{
    ConcurrentChanges, Diff, DiffLimits, Expected, ForEdit, Glimpsed, InPlace, MAX_TEXT_BYTES,
    NotKept, RelativePaths, SeenContent, Stamp, TextFile, TextFileError, WorkspacePath, WriteError,
    Written, is_temporary_name, read_for_edit, unified_diff, write_atomically,
};

/// For hosts: how to allow changes of files that were not read, or have changed since.
pub(super) const WITHOUT_READING: &str =
    "a host can allow it for every file with `readBeforeWrite: false`";
/// How often a change is computed again because another program wrote the file at the same time.
const ATTEMPTS: u32 = 32;

/// A checked call that changes one file.
pub(super) struct FileToChange<Facts> {
    path: WorkspacePath,
    description: String,
    compute: Box<ComputeContent<Facts>>,
}

/// Computes the new content of a file from the current one.
type ComputeContent<Facts> = dyn Fn(&Current) -> Result<NewContent<Facts>, ToolError> + Send + Sync;

impl<Facts> FileToChange<Facts> {
    /// A call with this description for a person. It changes the file to the content that `compute` returns.
    pub(super) fn new<F>(path: WorkspacePath, description: String, compute: F) -> Self
    where
        F: Fn(&Current) -> Result<NewContent<Facts>, ToolError> + Send + Sync + 'static,
    {
        Self { path, description, compute: Box::new(compute) }
    }
}

impl<Facts: Serialize + JsonSchema + Send + 'static> CallPlan for FileToChange<Facts> {
    type Output = Changed<Facts>;

    fn accesses(&self) -> Vec<Access> {
        vec![Access::Write(self.path.absolute().to_owned())]
    }

    fn describe(&self) -> String {
        self.description.clone()
    }

    fn preview(&self, cx: &ToolContext) -> Option<Preview> {
        Some(preview(&self.path, cx, &*self.compute))
    }

    async fn run(self, cx: &ToolContext) -> Result<ToolOutput<Changed<Facts>>, ToolError> {
        change(self.path, cx, self.compute).await
    }
}

/// A file before a change.
pub(super) struct Current {
    /// Its content; `None` if there is no file.
    pub(super) bytes: Option<Vec<u8>>,
    /// Whether the session has seen this content.
    pub(super) seen: Seen,
    pub(super) path: String,
    /// The text that the session saw, if the file has changed since and the text is still kept.
    seen_text: Option<Arc<str>>,
    cancel: CancellationToken,
}

impl Current {
    /// The file at a path, and the stamp by which a write checks that it is unchanged.
    fn of(file: &WorkspacePath, found: Option<ForEdit>, cx: &ToolContext) -> (Self, Option<Stamp>) {
        let session = &cx.session;
        let (bytes, stamp) =
            found.map_or((None, None), |ForEdit { bytes, stamp }| (Some(bytes), Some(stamp)));
        let known = session.ledger.seen(file.absolute());
        let seen = match (&known, &bytes, &stamp) {
            _ if session.shared.files.read_before_write == ReadBeforeWrite::NotRequired => {
                Seen::AsItIs
            }
            (None, ..) => Seen::Never,
            (Some(SeenContent::Whole(hash)), _, Some(now)) if *hash == now.content_hash() => {
                Seen::AsItIs
            }
            (Some(SeenContent::Beginning(glimpse)), Some(bytes), Some(now)) => {
                match glimpse.compare(bytes, now) {
                    Glimpsed::Untouched => Seen::AsItIs,
                    Glimpsed::SameBeginning => Seen::InPart,
                    Glimpsed::Otherwise => Seen::Otherwise,
                }
            }
            (Some(_), ..) => Seen::Otherwise,
        };
        let seen_text = match known {
            Some(SeenContent::Whole(hash)) if seen == Seen::Otherwise => {
                session.shared.files.seen_texts.get(&hash)
            }
            _ => None,
        };
        let (path, cancel) = (shown_path(file.absolute()), cx.cancel.clone());
        (Self { bytes, seen, path, seen_text, cancel }, stamp)
    }

    /// True if the call was cancelled.
    pub(super) fn is_cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }

    /// For messages: how the file differs from what the session has seen. Empty if it does not.
    pub(super) fn drift(&self, now: &str) -> String {
        if self.seen != Seen::Otherwise {
            return String::new();
        }
        let Some(diff) = self.drift_from_seen(now) else {
            return "; the text that was read is no longer kept, so the change cannot be shown"
                .to_owned();
        };
        if diff.text.is_empty() {
            return "; the text is the same, but its bytes differ".to_owned();
        }
        format!(" (- as read, + as it is):\n{}", diff.text.trim_end())
    }

    /// True if the session knows the whole content, whether it read that or was shown what changed.
    fn is_known(&self, now: &str) -> bool {
        !matches!(self.seen, Seen::Otherwise | Seen::InPart)
            || self.bytes.is_none()
            || self.drift_from_seen(now).is_some_and(|it| !it.cut)
    }

    fn drift_from_seen(&self, now: &str) -> Option<Diff> {
        let limits = DiffLimits { max_lines: 20, max_bytes: 2_000, max_line_chars: 200 };
        self.seen_text.as_ref().map(|seen| unified_diff(seen, now, &self.path, &limits))
    }
}

/// Whether a session knows the content of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Seen {
    Never,
    /// The current content.
    AsItIs,
    /// Only the beginning, which is unchanged. The rest may have changed.
    InPart,
    /// A content that the file no longer has.
    Otherwise,
}

/// A file after a change, as computed by a tool.
pub(super) struct NewContent<Facts> {
    pub(super) bytes: Vec<u8>,
    /// The answer to the model.
    pub(super) summary: String,
    /// What the model should know besides. May have several lines.
    pub(super) remark: Option<String>,
    /// The decoded text before and after the change, for the diff. `None` if the bytes are that text.
    pub(super) before: Option<String>,
    pub(super) after: Option<String>,
    /// The facts that only this tool has.
    pub(super) facts: Facts,
}

/// The facts about a change.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Changed<Facts> {
    /// The text of the answer.
    message: String,
    /// The path of the file.
    path: String,
    /// Whether the file was created.
    created: bool,
    #[serde(flatten)]
    facts: Facts,
    lines_added: usize,
    lines_removed: usize,
}

impl<Facts> NewContent<Facts> {
    fn before<'a>(&'a self, current: &'a Current) -> &'a str {
        text_or_bytes(self.before.as_deref(), current.bytes.as_deref().unwrap_or_default())
    }

    fn after(&self) -> &str {
        text_or_bytes(self.after.as_deref(), &self.bytes)
    }
}

fn text_or_bytes<'a>(text: Option<&'a str>, bytes: &'a [u8]) -> &'a str {
    text.unwrap_or_else(|| std::str::from_utf8(bytes).unwrap_or_default())
}

/// Resolves the path of a file to change.
pub(super) fn resolve(
    asked: &str,
    relative: RelativePaths<'_>,
    cx: &ToolContext,
) -> Result<WorkspacePath, ToolError> {
    let refused =
        |why: &str| Err(ToolError::new(ErrorKind::Validation, format!("`{asked}` {why}")));
    if matches!(asked.rsplit('/').next(), Some("" | "." | "..")) {
        return refused("names a directory; give the path of a file");
    }
    let file = cx.session.shared.files.roots.resolve(asked, relative).for_model()?;
    if file.absolute().file_name().is_some_and(is_temporary_name) {
        return refused("has a name that is reserved for temporary files; choose another");
    }
    Ok(file)
}

/// The diff that a change would make to the current content. There is no diff if the change would fail.
fn preview<Facts>(
    file: &WorkspacePath,
    cx: &ToolContext,
    compute: &ComputeContent<Facts>,
) -> Preview {
    let path = file.absolute().to_owned();
    let Ok(found) = read_current(file) else {
        let file = ShownFile { path, content: ShownContent::Unreadable };
        return Preview { diff: None, file };
    };
    let (current, stamp) = Current::of(file, found, cx);
    let diff = compute(&current).ok().map(|next| {
        let (before, after) = (next.before(&current), next.after());
        unified_diff(before, after, &current.path, &DiffLimits::default()).text
    });
    Preview {
        diff: diff.filter(|it| !it.is_empty()),
        file: ShownFile { path, content: content_of(stamp.as_ref()) },
    }
}

fn content_of(stamp: Option<&Stamp>) -> ShownContent {
    stamp.map_or(ShownContent::Absent, |it| ShownContent::Held(it.content_hash()))
}

/// Fails if the file has changed since a person was shown the change and agreed to it.
fn refuse_unless_shown(
    file: &WorkspacePath,
    now: Option<&Stamp>,
    cx: &ToolContext,
) -> Result<(), ToolError> {
    let is_still = |it: &ShownFile| it.is_still(file.absolute(), content_of(now));
    if cx.shown_file.as_ref().is_none_or(is_still) {
        return Ok(());
    }
    let path = shown_path(file.absolute());
    let message = format!(
        "`{path}` changed while the user was asked to confirm this change; nothing was written; read the file \
         again and repeat the call"
    );
    Err(ToolError::new(ErrorKind::StaleFile, message))
}

/// Changes one file, completely or not at all. Waits for earlier changes of the same file.
async fn change<Facts: Send + 'static>(
    file: WorkspacePath,
    cx: &ToolContext,
    compute: Box<ComputeContent<Facts>>,
) -> Result<ToolOutput<Changed<Facts>>, ToolError> {
    // Queued before the blocking thread starts, so that calls take effect in the order they were made.
    let turn = cx.session.shared.files.locks.queue_up(&file);
    let changer = cx.clone();
    cx.blocking(move |cancel| {
        let mut turn = turn.wait(&|| cancel.is_cancelled()).for_model()?;
        let session = &changer.session;
        let mut attempts = ATTEMPTS;
        let (current, next, written) = loop {
            let (current, stamp) = Current::of(&file, read_current(&file)?, &changer);
            refuse_unless_shown(&file, stamp.as_ref(), &changer)?;
            let next = compute(&current)?;
            if next.bytes.len() > MAX_TEXT_BYTES {
                return Err(TextFileError::TooLarge.into_tool_error());
            }
            changer.commitment.commit()?;
            if current.bytes.as_ref() == Some(&next.bytes) {
                break (current, next, None);
            }
            let expected = stamp.as_ref().map_or(Expected::Absent, Expected::Unchanged);
            match write_atomically(&file, &next.bytes, expected) {
                Ok(written) => break (current, next, Some(written)),
                // Another program wrote the file first: the change is computed again from that content.
                Err(WriteError::Changed(_) | WriteError::Exists(_)) if attempts > 1 => {
                    attempts -= 1;
                    turn.renew(&|| false).for_model()?;
                }
                Err(error) => return Err(error.into_tool_error()),
            }
        };
        let after = match &written {
            Some(written) => written.stamp.content_hash(),
            None => blake3::hash(&next.bytes),
        };
        // A change by another program that the model was not shown must not count as read.
        if current.is_known(next.before(&current)) {
            session.ledger.record(file.absolute().to_owned(), SeenContent::Whole(after));
            session.shared.files.seen_texts.remember(after, next.after());
        }
        let output = present(next, &current, written.as_ref());
        if written.is_none() {
            return Ok(output);
        }
        let (session_id, before) = (session.id.clone(), current.bytes);
        let tool_use_id = changer.tool_use_id.to_string();
        session.shared.files.undo.keep(Change { session_id, tool_use_id, file, before, after });
        Ok(output)
    })
    .await
}

fn read_current(file: &WorkspacePath) -> Result<Option<ForEdit>, ToolError> {
    match read_for_edit(file, MAX_TEXT_BYTES as u64) {
        Ok(read) => Ok(Some(read)),
        Err(WriteError::Missing(_)) => Ok(None),
        Err(error) => Err(error.into_tool_error()),
    }
}

/// Builds the answer. `written` is `None` if the file already had the new content.
fn present<Facts>(
    next: NewContent<Facts>,
    current: &Current,
    written: Option<&Written>,
) -> ToolOutput<Changed<Facts>> {
    let path = &current.path;
    let Diff { text, added, removed, .. } =
        unified_diff(next.before(current), next.after(), path, &DiffLimits::default());
    let mut notes = vec![next.summary];
    if TextFile::is_binary(&next.bytes) {
        notes.push("it contains a NUL character, so it now counts as binary".to_owned());
    }
    let why_in_place = written.and_then(|it| it.in_place).map(|why| match why {
        InPlace::HardLinked => "the file has other hard links",
        InPlace::NotRenamable => "the file cannot be replaced by renaming",
    });
    notes.extend(why_in_place.map(|why| format!("{why}, so it was written in place")));
    let lost: Vec<String> =
        written.map(|it| it.not_kept.iter().map(words).collect()).unwrap_or_default();
    if !lost.is_empty() {
        notes.push(format!("the file could not keep {}", lost.join(", ")));
    }
    notes.extend(written.into_iter().flat_map(|it| concurrent_change_notes(&it.foreign)));
    notes.extend(next.remark);
    let message = notes.join("; ");
    let data = Changed {
        // Some hosts show a model the structured data instead of the text.
        message: message.clone(),
        path: path.clone(),
        created: written.is_some_and(|it| it.created),
        facts: next.facts,
        lines_added: added,
        lines_removed: removed,
    };
    ToolOutput {
        display: Some(if text.is_empty() { message.clone() } else { text }),
        content: vec![Content::text(message)],
        structured: Some(data),
        ..ToolOutput::default()
    }
}

/// Notes about concurrent changes of the file by other programs.
fn concurrent_change_notes(foreign: &ConcurrentChanges) -> Vec<String> {
    let mut notes = Vec::new();
    if foreign.appended > 0 {
        let bytes = foreign.appended;
        notes.push(format!(
            "another program appended {bytes} bytes at the same time, which were kept at the end of the file; read it again to see them"
        ));
    }
    if foreign.wrote_to_replaced {
        notes.push(
            "another program wrote to the replaced version of the file, and that write is lost; have it write again"
                .to_owned(),
        );
    }
    if foreign.has_replaced_open {
        notes.push(
            "another program still has the replaced version of the file open; its writes are lost until it opens the file again"
                .to_owned(),
        );
    }
    notes
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
