//! Searches for the tools `Grep`, `Glob`, `grep`, `glob` and `ls`.
//!
//! The tools differ in parameters and wording. They share where a search starts, what it may see, the threads it
//! runs on, and how results become an answer.

mod data;
mod lines;
mod names;
mod shown;

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use toolwright_base::{Access, ErrorKind, ToolError, shortened, shown_path};
use toolwright_core::{CallPlan, EngineError as _, ForModel as _, ToolContext, ToolOutput};
use toolwright_files::{RelativePaths, Visibility, WorkspacePath};
use toolwright_search::{
    CaseSensitivity, MatchSpan, Query, QueryError, Scope, SearchRequest, Shape, WorkspaceIndex,
    WorkspaceIndexes, search,
};
use toolwright_walk::{SearchThreads, SearchTurn, Selection};

use crate::failures::FailedSearch;

pub(super) use data::SearchData;
pub(super) use lines::{ContinuationParameter, Headings, LineStyle};
pub(super) use names::{FilesToFind, NameStyle, RelativeTo};
pub(super) use shown::{Paths, rules_in_words};

/// The number of bytes of text in an answer at most, whatever limit the call asks for.
pub(super) const MAX_BYTES: usize = 1024 * 1024;
/// The largest `offset` that a call may give.
pub(super) const MAX_OFFSET: u64 = 100_000;

/// The file or directory that a search starts at: the workspace, if `path` is missing or empty.
pub(super) fn start(path: Option<&str>, cx: &ToolContext) -> Result<WorkspacePath, ToolError> {
    let asked = path.filter(|it| !it.is_empty()).unwrap_or(".");
    cx.session.shared.files.roots.resolve(asked, RelativePaths::FromFirstRoot).for_model()
}

/// The same for a search in the content of files, which may also be the output file of a command.
pub(super) fn start_in_files(
    path: Option<&str>,
    cx: &ToolContext,
) -> Result<WorkspacePath, ToolError> {
    let asked = path.filter(|it| !it.is_empty()).unwrap_or(".");
    cx.session.resolve_for_reading(asked, RelativePaths::FromFirstRoot).for_model()
}

/// A pattern in the description of a call.
fn shown_pattern(pattern: &str) -> String {
    shortened(&pattern.escape_debug().to_string(), 200).into_owned()
}

/// A checked call. Its pattern is compiled when it runs, because that can take long.
pub(super) struct PlannedSearch {
    pub(super) start: WorkspacePath,
    pub(super) selection: Selection,
    pub(super) pattern: String,
    pub(super) case: CaseSensitivity,
    pub(super) span: MatchSpan,
    pub(super) shape: Shape,
    pub(super) offset: usize,
    pub(super) limit: Option<usize>,
    pub(super) style: LineStyle,
}

impl CallPlan for PlannedSearch {
    type Output = SearchData;

    fn accesses(&self) -> Vec<Access> {
        vec![Access::Read(self.start.absolute().to_owned())]
    }

    fn describe(&self) -> String {
        let pattern = shown_pattern(&self.pattern);
        let quote = self.style.quote;
        format!("Search for {quote}{pattern}{quote} in {}", shown_path(self.start.absolute()))
    }

    async fn run(self, cx: &ToolContext) -> Result<ToolOutput<SearchData>, ToolError> {
        let around = Surroundings::of(cx);
        let turn = around.turn().await;
        cx.blocking(move |cancel| {
            // Held by the blocking work and not by the call, so that a cancelled search keeps its turn until it
            // stops.
            let _turn = turn;
            let query = match Query::new(&self.pattern, self.case, self.span) {
                Ok(query) => query,
                // The pattern is valid, but cannot match within a line.
                Err(error @ QueryError::NeedsLines) => {
                    let why = format!("{error}; {}", self.style.over_lines);
                    return Ok(lines::present_nothing(&self, &why));
                }
                // Another part of the pattern could match, so an answer without matches would be wrong.
                Err(error @ QueryError::PartNeedsLines) => {
                    let message = format!("{error}; {}", self.style.over_lines);
                    return Err(error.into_tool_error().reworded(message));
                }
                Err(error @ QueryError::Malformed(_)) => return Err(error.into_tool_error()),
            };
            let index = around.index_of(&self.start);
            let request = SearchRequest {
                scope: around.scope(&self.start, &self.selection, index.as_ref()),
                query: &query,
                shape: self.shape,
                offset: self.offset,
                limit: self.limit,
                max_bytes: MAX_BYTES,
            };
            let answer = search(&request, &|| cancel.is_cancelled())
                .map_err(|error| FailedSearch { error, tool_kind: ErrorKind::Grep })?;
            Ok(lines::present_answer(&answer, &self, &around.paths))
        })
        .await
    }
}

/// What a search needs from the context of its call.
pub(super) struct Surroundings {
    pub(super) paths: Paths,
    visibility: Visibility,
    threads: SearchThreads,
    global_excludes: Option<Arc<PathBuf>>,
    workspace: PathBuf,
    indexes: Arc<WorkspaceIndexes>,
}

impl Surroundings {
    pub(super) fn of(cx: &ToolContext) -> Self {
        Self {
            paths: Paths::below(cx.session.shared.files.roots.first()),
            visibility: cx.visibility.clone(),
            threads: cx.session.shared.files.search_threads.clone(),
            global_excludes: cx.session.shared.files.global_excludes.clone(),
            workspace: cx.session.shared.files.roots.first().to_owned(),
            indexes: Arc::clone(&cx.session.shared.files.indexes),
        }
    }

    pub(super) fn global_excludes(&self) -> Option<(&Path, &Path)> {
        let file = self.global_excludes.as_deref()?;
        Some((file.as_path(), self.workspace.as_path()))
    }

    /// Waits while too many searches run.
    pub(super) async fn turn(&self) -> SearchTurn {
        self.threads.turn().await
    }

    /// The index of the root that a path is in.
    pub(super) fn index_of(&self, start: &WorkspacePath) -> Option<WorkspaceIndex> {
        self.indexes.of(start.root())
    }

    pub(super) fn visibility(&self) -> &Visibility {
        &self.visibility
    }

    pub(super) fn scope<'a>(
        &'a self,
        start: &'a WorkspacePath,
        selection: &'a Selection,
        index: Option<&'a WorkspaceIndex>,
    ) -> Scope<'a> {
        Scope {
            start,
            selection,
            global_excludes: self.global_excludes(),
            visibility: &self.visibility,
            threads: &self.threads,
            index,
        }
    }
}

/// Splits a list of globs at spaces and commas, except inside braces. A backslash escapes the character
/// after it.
pub(super) fn split_globs(globs: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut depth = 0_usize;
    let mut characters = globs.chars();
    while let Some(character) = characters.next() {
        match character {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 && (character == ',' || character.is_whitespace()) {
            parts.push(String::new());
            continue;
        }
        let Some(part) = parts.last_mut() else { continue };
        part.push(character);
        if character == '\\'
            && let Some(kept) = characters.next()
        {
            part.push(kept);
        }
    }
    parts.retain(|it| !it.is_empty());
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_are_split_at_spaces_and_commas_except_in_braces() {
        let cases: [(&str, &[&str]); 6] = [
            ("*.ts", &["*.ts"]),
            ("*.ts *.py", &["*.ts", "*.py"]),
            ("*.ts, !*.d.ts", &["*.ts", "!*.d.ts"]),
            ("**/*.{ts,js},x", &["**/*.{ts,js}", "x"]),
            ("a\\ b.txt", &["a\\ b.txt"]),
            ("  ", &[]),
        ];
        for (globs, parts) in cases {
            assert_eq!(split_globs(globs), parts, "{globs}");
        }
    }
}
