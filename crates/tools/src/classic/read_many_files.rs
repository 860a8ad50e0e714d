//! `read_many_files`: shows several files in one answer. For a file that cannot be read, its error is shown,
//! and the other files are not affected.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolwright_base::{
    Access, DataScope, ErrorKind, SideEffect, ToolError, ToolKind, path_from_text,
};
use toolwright_core::{
    CallPlan, Content, ForModel as _, Tool, ToolContext, ToolOutput, whole_lines_within,
};
use toolwright_files::{RelativePaths, WorkspacePath};

use crate::{
    reading::{self, FileFacts, FileToRead},
    searching::Paths,
};

#[derive(Default)]
pub(super) struct ReadManyFiles;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// The files to read, absolute or relative to the workspace.
    #[schemars(length(min = 1, max = 200))]
    paths: Vec<String>,
}

/// The facts about every requested file.
#[derive(Default, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ReadFiles {
    /// The directory that relative paths are relative to.
    root: String,
    /// The files that were read or could not be read, in the order of the call.
    files: Vec<RequestedFile>,
    /// The paths of files that did not fit into the answer and were not read.
    left_out: Vec<String>,
}

#[derive(Serialize, JsonSchema)]
struct RequestedFile {
    /// The path as the call gives it.
    asked: String,
    /// The facts about the file, if it could be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<FileFacts>,
    /// Why the file could not be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// Each path as the call gives it, with the resolved path or the reason why it was refused.
pub(super) struct Plan(Vec<(String, Result<WorkspacePath, ToolError>)>);

impl Tool for ReadManyFiles {
    type Input = Input;
    type Plan = Plan;

    const NAME: &'static str = "read_many_files";
    const TITLE: &'static str = "Read Multiple Files";
    const DESCRIPTION: &'static str = include_str!("../description/read_many_files.md");
    const SIDE_EFFECT: SideEffect = SideEffect::None;
    const KIND: ToolKind = ToolKind::reads_files(&["paths"]);

    fn plan(&self, input: Input, cx: &ToolContext) -> Result<Plan, ToolError> {
        let resolve = |path: String| {
            let place = cx.session.resolve_for_reading(&path, RelativePaths::FromFirstRoot);
            (path, place.for_model())
        };
        Ok(Plan(input.paths.into_iter().map(resolve).collect()))
    }
}

impl CallPlan for Plan {
    type Output = ReadFiles;
    const DATA_SCOPE: DataScope = DataScope::FactsAboutText;

    fn accesses(&self) -> Vec<Access> {
        self.0
            .iter()
            .filter_map(|(_, place)| Some(Access::Read(place.as_ref().ok()?.absolute().to_owned())))
            .collect()
    }

    fn describe(&self) -> String {
        match self.0.as_slice() {
            [(only, _)] => format!("Read {only}"),
            files => format!("Read {} files", files.len()),
        }
    }

    async fn run(self, cx: &ToolContext) -> Result<ToolOutput<ReadFiles>, ToolError> {
        let count = self.0.len();
        let mut answer = ManyFilesAnswer::default();
        let paths = Paths::below(cx.session.shared.files.roots.first());
        if self.0.iter().any(|(asked, _)| path_from_text(asked).is_relative()) {
            paths.owe_the_root();
        }
        let mut failed = 0;
        for (asked, place) in self.0 {
            if cx.cancel.is_cancelled() {
                return Err(ToolError::cancelled());
            }
            if answer.full {
                answer.data.left_out.push(asked);
                continue;
            }
            let read = match place {
                Ok(path) => {
                    let file = FileToRead {
                        path,
                        first: None,
                        last: None,
                        pages: None,
                        wording: reading::RAW,
                    };
                    file.run(cx).await
                }
                Err(error) => Err(error),
            };
            match read {
                Ok(output) => {
                    answer.add(&asked, output.content);
                    answer.data.files.push(RequestedFile {
                        asked,
                        file: output.structured,
                        error: None,
                    });
                }
                Err(error) if error.kind == ErrorKind::Cancelled => return Err(error),
                Err(error) => {
                    failed += 1;
                    answer.add(&asked, vec![Content::text(format!("Error: {error}"))]);
                    let error = Some(error.message);
                    answer.data.files.push(RequestedFile { asked, file: None, error });
                }
            }
        }
        let read = count - failed - answer.data.left_out.len();
        let display = if read == count {
            format!("Read {count} files")
        } else {
            format!("Read {read} of {count} files")
        };
        Ok(answer.into_output(&paths).with_display(display))
    }
}

/// The answer: the text of the files below each other, with images in between.
#[derive(Default)]
struct ManyFilesAnswer {
    content: Vec<Content>,
    text_bytes: usize,
    /// Set once a file did not fit. The files after it are left out, even if they would fit.
    full: bool,
    data: ReadFiles,
}

impl ManyFilesAnswer {
    fn add(&mut self, asked: &str, blocks: Vec<Content>) {
        let between = if self.content.is_empty() { "" } else { "\n" };
        self.push_text(&format!("{between}=== {asked} ===\n"));
        for block in blocks {
            match block {
                Content::Text { text } => {
                    let room = reading::MAX_BYTES.saturating_sub(self.text_bytes);
                    let shown = whole_lines_within(&text, room);
                    self.push_text(shown);
                    if shown.len() < text.len() {
                        self.full = true;
                        self.push_text(&format!(
                            "[{} more bytes did not fit; read this file alone with read_file]",
                            text.len() - shown.len()
                        ));
                    }
                    self.push_text("\n");
                }
                picture => self.content.push(picture),
            }
        }
    }

    fn push_text(&mut self, addition: &str) {
        self.text_bytes += addition.len();
        if let Some(Content::Text { text }) = self.content.last_mut() {
            text.push_str(addition);
        } else {
            self.content.push(Content::text(addition));
        }
    }

    fn into_output(mut self, paths: &Paths) -> ToolOutput<ReadFiles> {
        let left_out = &self.data.left_out;
        if !left_out.is_empty() {
            let names: Vec<_> = left_out.iter().take(50).map(|it| format!("`{it}`")).collect();
            let more = left_out.len().saturating_sub(50);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            self.content.push(Content::text(format!(
                "[{} did not fit and were not read: {}{more}; ask for them in another call]",
                if left_out.len() == 1 {
                    "1 file".to_owned()
                } else {
                    format!("{} files", left_out.len())
                },
                names.join(", ")
            )));
        }
        let root = paths.root_note().map(|it| Content::text(format!("[{it}]")));
        self.content.extend(root);
        self.data.root = paths.root_in_data();
        ToolOutput { content: self.content, structured: Some(self.data), ..ToolOutput::default() }
    }
}
