//! What `Write` and `write_file` share: a file's whole content.

use serde_json::Map;

use crate::{
    error::{ErrorKind, ToolError},
    tools::editing::{Current, Next, Seen},
    workspace::{DiffLimits, TextFile, encode_new_file, unified_diff},
};

/// The content of a file that is created or replaced: one that is there has to be as it was read.
pub(super) fn written(current: &Current, content: &str) -> Result<Next, ToolError> {
    let path = &current.path;
    let lines = content.lines().count();
    let Some(old) = &current.bytes else {
        return Ok(next(
            encode_new_file(content),
            format!("created `{path}` ({lines} lines)"),
            "",
            content,
        ));
    };
    let old = TextFile::from_bytes(old.clone());
    match current.seen {
        Seen::AsItIs => {}
        Seen::Never => {
            return Err(ToolError::new(
                ErrorKind::NotRead,
                format!("`{path}` exists and has not been read in this session; read it first"),
            ));
        }
        Seen::Otherwise => return Err(stale(current, old.as_ref().map_or("", TextFile::text))),
    }
    let summary = format!("replaced the content of `{path}` ({lines} lines)");
    match old {
        Ok(old) => Ok(next(old.encode_whole(content)?, summary, old.text(), content)),
        // What was no text becomes one.
        Err(_) => Ok(next(encode_new_file(content), summary, "", content)),
    }
}

fn next(bytes: Vec<u8>, summary: String, before: &str, after: &str) -> Next {
    Next { bytes, summary, before: before.to_owned(), after: after.to_owned(), facts: Map::new() }
}

/// The ledger keeps hashes, not contents: what is there now is what can be shown.
fn stale(current: &Current, now: &str) -> ToolError {
    let limits = DiffLimits { max_lines: 20, max_bytes: 2_000, ..DiffLimits::default() };
    let shown = unified_diff("", now, &current.path, &limits).text;
    ToolError::new(
        ErrorKind::StaleFile,
        format!(
            "`{}` changed since it was read, and was not written; read it again. It begins now with:\n{shown}",
            current.path
        ),
    )
}
