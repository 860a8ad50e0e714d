//! Finds files by name, and shows them as text and as data.

use serde_json::{Value, json};

use super::{
    MAX_BYTES, Surroundings,
    shown::{Paths, ShownFiles, amount, notices_data, notices_in_words},
};
use crate::{
    error::{ErrorKind, ToolError},
    tool::{Content, ToolContext, ToolOutput},
    tools::failures::search_failure,
    workspace::{
        WorkspacePath,
        search::{FindFilesRequest, FoundFiles, find_files},
        walk::Selection,
    },
};

/// How a tool shows files.
#[derive(Clone, Copy, Debug)]
pub(in crate::tools) struct NameStyle {
    /// Whether paths are absolute, as the tools of the set take them.
    pub(in crate::tools) absolute: bool,
    /// How many are shown.
    pub(in crate::tools) limit: usize,
    /// What to do about the rest.
    pub(in crate::tools) narrow: &'static str,
    /// What to do about files that are left out.
    pub(in crate::tools) widen: &'static str,
}

/// Finds the files of a selection and shows them.
pub(in crate::tools) async fn find(
    start: WorkspacePath,
    selection: Selection,
    style: NameStyle,
    cx: &ToolContext,
) -> Result<ToolOutput, ToolError> {
    let around = Surroundings::of(cx);
    let turn = around.turn().await;
    cx.blocking(move |cancel| {
        let _turn = turn;
        let request =
            FindFilesRequest { scope: around.scope(&start, &selection), limit: style.limit };
        let found = find_files(&request, &|| cancel.is_cancelled())
            .map_err(|error| search_failure(&error, ErrorKind::Glob))?;
        Ok(present(&found, style, &around.paths))
    })
    .await
}

fn present(found: &FoundFiles, style: NameStyle, paths: &Paths) -> ToolOutput {
    let mut files: Vec<String> = Vec::with_capacity(found.files.len());
    let mut bytes = 0;
    let mut shown_files = ShownFiles::new(paths, style.absolute);
    for file in &found.files {
        let shown = shown_files.shown(file);
        bytes += shown.len() + 1;
        if bytes > MAX_BYTES {
            break;
        }
        files.push(shown);
    }
    let shown = files.len() as u64;
    let mut notes = Vec::new();
    if found.total == 0 {
        let mut note = "no files match".to_owned();
        if !found.left_out.is_empty() {
            let names = paths.named(&found.left_out);
            note += &format!(", but ignored or hidden ones do: {names}; {}", style.widen);
        }
        notes.push(note);
    } else if shown < found.total {
        notes.push(format!(
            "the {shown} files changed last are shown of {}; {}",
            found.total, style.narrow
        ));
    }
    notes.extend(notices_in_words(&found.notices, paths));
    let mut content = Vec::new();
    if !files.is_empty() {
        content.push(Content::text(files.join("\n")));
    }
    if !notes.is_empty() {
        content.push(Content::text(format!("[{}]", notes.join("; "))));
    }
    let files: Vec<Value> = files.into_iter().map(Value::String).collect();
    let complete = shown == found.total && found.notices.unreadable == 0;
    let mut data = json!({ "total": found.total, "complete": complete });
    let skipped = notices_data(&found.notices, paths);
    if let Some(data) = data.as_object_mut() {
        data.shift_insert(0, "files".to_owned(), Value::Array(files));
        if !skipped.is_empty() {
            data.insert("skipped".to_owned(), Value::Object(skipped));
        }
        if !found.left_out.is_empty() {
            let files: Vec<String> = found.left_out.iter().map(|it| paths.shown(it)).collect();
            data.insert("wouldMatch".to_owned(), json!({ "ignoredOrHidden": files }));
        }
    }
    let rest = if shown < found.total { format!(" (showing {shown})") } else { String::new() };
    let display = format!("Found {}{rest}", amount(found.total, "file"));
    ToolOutput { content, structured: Some(data), ..ToolOutput::default() }.with_display(display)
}
