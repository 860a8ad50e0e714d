//! Computes the new content of a file for `Write` and `write_file`, which replace all of it.

use schemars::JsonSchema;
use serde::Serialize;
use toolwright_base::{ErrorKind, ToolError};
use toolwright_core::ForModel as _;
use toolwright_files::{TextFile, encode_new_file};

use crate::{
    editing::{Current, NewContent, Seen, WITHOUT_READING},
    replacing::other_encoding,
};

/// The facts about a written file.
#[derive(Serialize, JsonSchema)]
pub(super) struct WrittenFacts {
    /// The number of lines in the file.
    lines: usize,
}

/// The content of a file that is created or replaced. An existing file must be unchanged since it was read.
pub(super) fn written(
    current: &Current,
    content: &str,
) -> Result<NewContent<WrittenFacts>, ToolError> {
    let path = &current.path;
    let lines = content.lines().count();
    let count = format!("{lines} {}", if lines == 1 { "line" } else { "lines" });
    let next = |bytes: Vec<u8>, summary, remark, before| NewContent {
        // Kept only if the bytes are not the text itself, to save memory.
        after: (bytes != content.as_bytes()).then(|| content.to_owned()),
        bytes,
        summary,
        remark,
        before,
        facts: WrittenFacts { lines },
    };
    let Some(old_bytes) = &current.bytes else {
        let summary = format!("created `{path}` ({count})");
        let gone = current.seen == Seen::Otherwise;
        let remark = gone.then(|| "the file had been deleted since it was read".to_owned());
        return Ok(next(encode_new_file(content), summary, remark, Some(String::new())));
    };
    let old = TextFile::from_bytes(old_bytes.as_slice());
    match current.seen {
        Seen::AsItIs => {}
        Seen::Never => {
            return Err(ToolError::new(
                ErrorKind::NotRead,
                format!("`{path}` exists and has not been read in this session; read it first"),
            )
            .allowed_by(WITHOUT_READING));
        }
        Seen::InPart => {
            return Err(ToolError::new(
                ErrorKind::StaleFile,
                format!(
                    "`{path}` was only read in part and may have changed since; nothing was written; read it again"
                ),
            ));
        }
        Seen::Otherwise => {
            let drift = current.drift(old.as_ref().map_or("", TextFile::text));
            return Err(ToolError::new(
                ErrorKind::StaleFile,
                format!(
                    "`{path}` has changed since it was read; nothing was written; read it again{drift}"
                ),
            )
            .allowed_by(WITHOUT_READING));
        }
    }
    let (bytes, remark, before) = match old {
        Ok(old) => {
            let bytes = old.encode_whole(content).for_model()?;
            let remark = other_encoding(&old, &bytes);
            (bytes, remark, old.into_text_unlike_bytes())
        }
        // A binary file is replaced by text.
        Err(_) => (encode_new_file(content), None, Some(String::new())),
    };
    let summary = if bytes == *old_bytes {
        format!("`{path}` has this content already ({count}); nothing was written")
    } else {
        format!("replaced the content of `{path}` ({count})")
    };
    Ok(next(bytes, summary, remark, before))
}
