//! `Edit`: replaces text in a file and leaves every other byte as it is.

use schemars::JsonSchema;
use serde::Deserialize;
use toolwright_base::{ErrorKind, SideEffect, ToolError, ToolKind, shown_path};
use toolwright_core::{ForModel as _, Tool, ToolContext};
use toolwright_files::{RelativePaths, TextFile, encode_new_file};

use crate::{
    editing::{self, Current, FileToChange, NewContent},
    replacing::{
        Occurrences, Replacements, WantedReplacement, explain_drift, refuse_notebook, remark,
        replace, text_to_edit,
    },
};

#[derive(Default)]
pub(super) struct Edit;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// The absolute path of the file to change.
    file_path: String,
    /// The text to replace, as it stands in the file.
    old_string: String,
    /// The text that takes its place.
    new_string: String,
    /// Replace every occurrence instead of the only one.
    #[serde(default)]
    replace_all: bool,
}

impl Tool for Edit {
    type Input = Input;
    type Plan = FileToChange<Option<Replacements>>;

    const NAME: &'static str = "Edit";
    const TITLE: &'static str = "Edit File";
    const DESCRIPTION: &'static str = include_str!("../description/edit.md");
    const SIDE_EFFECT: SideEffect = SideEffect::Mutating;
    const KIND: ToolKind = ToolKind::edits_files(&["file_path"]).naming_its_family();
    const ALIASES: &'static [&'static str] = &["FileEdit"];

    fn plan(&self, input: Input, cx: &ToolContext) -> Result<Self::Plan, ToolError> {
        let path = editing::resolve(&input.file_path, RelativePaths::Refused(&cx.visibility), cx)?;
        if input.old_string == input.new_string {
            let message =
                "parameter `new_string`: it equals `old_string`, so there is nothing to change";
            return Err(ToolError::new(ErrorKind::Validation, message));
        }
        refuse_notebook(&path, "change its cells with NotebookEdit")?;
        let what = format!("Edit {}", shown_path(path.absolute()));
        Ok(FileToChange::new(path, what, move |current| edited(current, &input)))
    }
}

fn edited(current: &Current, input: &Input) -> Result<NewContent<Option<Replacements>>, ToolError> {
    if input.old_string.is_empty() {
        return created(current, &input.new_string);
    }
    let file = text_to_edit(current)?;
    let occurrences = if input.replace_all { Occurrences::All } else { Occurrences::One };
    let wanted = WantedReplacement {
        target: &input.old_string,
        replacement: &input.new_string,
        occurrences,
    };
    let replaced = replace(&file, &wanted, "old_string", &|| current.is_cancelled())
        .map_err(|error| explain_drift(error, current, &file))?;
    Ok(NewContent {
        summary: format!("edited `{}`: {}", current.path, replaced.summary()),
        remark: remark(current, &file, &replaced.bytes),
        facts: Some(replaced.facts()),
        after: file.says_after(&replaced.bytes),
        bytes: replaced.bytes,
        before: file.into_text_unlike_bytes(),
    })
}

/// The content of a new or empty file, which an empty `old_string` asks for.
fn created(
    current: &Current,
    content: &str,
) -> Result<NewContent<Option<Replacements>>, ToolError> {
    let bytes = match current.bytes.as_deref().map(TextFile::from_bytes) {
        None => encode_new_file(content),
        // An empty text may still have a byte order mark, which is kept.
        Some(Ok(file)) if file.text().is_empty() => file.encode_whole(content).for_model()?,
        Some(_) => {
            return Err(ToolError::new(
                ErrorKind::FileEdit,
                format!(
                    "`{}` exists and is not empty; give the text to replace as old_string",
                    current.path
                ),
            ));
        }
    };
    let done = if current.bytes.is_none() { "created" } else { "filled the empty file" };
    Ok(NewContent {
        bytes,
        summary: format!("{done} `{}`", current.path),
        remark: None,
        before: Some(String::new()),
        after: Some(content.to_owned()),
        facts: None,
    })
}
