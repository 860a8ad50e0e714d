//! `edit_file`: makes several replacements in one file, all of them or none.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolwright_base::{ErrorKind, SideEffect, ToolError, ToolKind, shown_path};
use toolwright_core::{Tool, ToolContext};
use toolwright_files::{RelativePaths, TextFile};

use crate::{
    editing::{self, Current, FileToChange, NewContent},
    replacing::{
        LineMoves, Occurrences, Replacements, WantedReplacement, explain_drift, refuse_notebook,
        remark, replace, text_to_edit,
    },
};

#[derive(Default)]
pub(super) struct EditFile;

/// The name of the target in messages if there is one edit. With several edits, each target is named by its
/// index.
const ONLY_TARGET: &str = "target";

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// The file to change, absolute or relative to the workspace.
    path: String,
    /// The replacements, applied in order.
    #[schemars(length(min = 1, max = 1_000))]
    edits: Vec<OneEdit>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct OneEdit {
    /// The text to replace.
    #[schemars(length(min = 1))]
    target: String,
    /// The text that takes its place.
    replacement: String,
    /// Chooses the occurrence nearest to this line of the file.
    #[serde(default)]
    #[schemars(range(min = 1, max = 9_007_199_254_740_991_u64))]
    line_hint: Option<u64>,
}

/// The facts about all replacements of a call.
#[derive(Serialize, JsonSchema)]
pub(super) struct AllReplacements {
    /// One entry for each edit, in the order of the call.
    edits: Vec<Replacements>,
}

impl Tool for EditFile {
    type Input = Input;
    type Plan = FileToChange<AllReplacements>;

    const NAME: &'static str = "edit_file";
    const TITLE: &'static str = "Edit File";
    const DESCRIPTION: &'static str = include_str!("../description/edit_file.md");
    const SIDE_EFFECT: SideEffect = SideEffect::Mutating;
    const KIND: ToolKind = ToolKind::edits_files(&["path"]).twin_of("Edit");

    fn plan(&self, input: Input, cx: &ToolContext) -> Result<Self::Plan, ToolError> {
        let path = editing::resolve(&input.path, RelativePaths::FromFirstRoot, cx)?;
        refuse_notebook(&path, "write it whole with write_file")?;
        for (index, edit) in input.edits.iter().enumerate() {
            if edit.target == edit.replacement {
                let message = format!(
                    "parameter `edits[{index}].replacement`: it equals `target`, so there is nothing to change"
                );
                return Err(ToolError::new(ErrorKind::Validation, message));
            }
        }
        let what = format!("Edit {} ({} edits)", shown_path(path.absolute()), input.edits.len());
        Ok(FileToChange::new(path, what, move |current| edited(current, &input.edits)))
    }
}

fn edited(current: &Current, edits: &[OneEdit]) -> Result<NewContent<AllReplacements>, ToolError> {
    let original = text_to_edit(current)?;
    // The file after the edits so far; `None` before the first.
    let mut edited: Option<TextFile> = None;
    let mut bytes = Vec::new();
    let mut moves: Vec<LineMoves> = Vec::new();
    let mut certificates = Vec::new();
    let mut leniently = String::new();
    for (index, edit) in edits.iter().enumerate() {
        let name = match edits.len() {
            1 => ONLY_TARGET.to_owned(),
            _ => format!("edits[{index}].target"),
        };
        // A hint is a line number of the file as it was read, before any edit of this call.
        let hint = edit.line_hint.map(|line| moves.iter().fold(line, |line, it| it.line_now(line)));
        let occurrences = hint.map_or(Occurrences::One, Occurrences::Nearest);
        let wanted =
            WantedReplacement { target: &edit.target, replacement: &edit.replacement, occurrences };
        if index > 0 {
            edited = Some(original.changed_to(bytes));
        }
        let file = edited.as_ref().unwrap_or(&original);
        let replaced = replace(file, &wanted, &name, &|| current.is_cancelled())
            .map_err(|error| explain_drift(naming(error, &name), current, &original))?;
        if replaced.is_lenient() {
            leniently.push_str(&format!("; {name}: {}", replaced.places()));
        }
        certificates.push(replaced.facts());
        moves.push(replaced.moves());
        bytes = replaced.bytes;
    }
    let count = edits.len();
    let summary = format!(
        "applied {count} {} to `{}`{leniently}",
        if count == 1 { "edit" } else { "edits" },
        current.path
    );
    Ok(NewContent {
        remark: remark(current, &original, &bytes),
        after: original.says_after(&bytes),
        bytes,
        summary,
        before: original.into_text_unlike_bytes(),
        facts: AllReplacements { edits: certificates },
    })
}

/// Adds the name of the edit to an error that does not contain it.
fn naming(error: ToolError, name: &str) -> ToolError {
    if name == ONLY_TARGET || error.message.contains(name) {
        return error;
    }
    let message = format!("{name}: {}", error.message);
    error.reworded(message)
}
