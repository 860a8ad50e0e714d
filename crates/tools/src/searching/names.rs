//! Finds files by name, and builds the answer as text and as structured data.

use toolwright_base::{Access, ErrorKind, ToolError, shown_path};
use toolwright_core::{CallPlan, ToolContext, ToolOutput};
use toolwright_files::WorkspacePath;
use toolwright_search::{FindFilesRequest, FoundFiles, find_files};
use toolwright_walk::Selection;

use super::{
    MAX_BYTES, Surroundings,
    data::{HiddenNames, NamesData, NoticesData, not_indexed_reason},
    shown::{Paths, ShownFiles, amount, notices_in_words},
    shown_pattern,
};
use crate::{failures::FailedSearch, listing::lines_and_notes};

/// How a tool shows files, and what its notes advise.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NameStyle {
    /// The quotation mark around a pattern in the description of a call.
    pub(crate) quote: &'static str,
    /// What paths are shown relative to.
    pub(crate) relative_to: RelativeTo,
    /// The number of files to show.
    pub(crate) limit: usize,
    /// How to see the rest.
    pub(crate) narrow: &'static str,
    /// How to list files that were left out.
    pub(crate) widen: &'static str,
}

/// What the paths of an answer are relative to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RelativeTo {
    /// The workspace, which relative paths in calls are relative to as well. Paths outside it are absolute.
    Workspace,
    /// The workspace directory that the search is in, which need not be the first one. Only for a set whose
    /// other tools refuse relative paths: they would resolve them against the first.
    RootOfSearch,
}

/// A checked call that finds files by path.
pub(crate) struct FilesToFind {
    pub(crate) start: WorkspacePath,
    pub(crate) selection: Selection,
    pub(crate) pattern: String,
    pub(crate) style: NameStyle,
}

impl CallPlan for FilesToFind {
    type Output = NamesData;

    fn accesses(&self) -> Vec<Access> {
        vec![Access::Read(self.start.absolute().to_owned())]
    }

    fn describe(&self) -> String {
        let pattern = shown_pattern(&self.pattern);
        let quote = self.style.quote;
        format!(
            "Find files matching {quote}{pattern}{quote} in {}",
            shown_path(self.start.absolute())
        )
    }

    async fn run(self, cx: &ToolContext) -> Result<ToolOutput<NamesData>, ToolError> {
        let Self { start, selection, style, .. } = self;
        let mut around = Surroundings::of(cx);
        if style.relative_to == RelativeTo::RootOfSearch {
            around.paths = Paths::below(start.root());
        }
        let turn = around.turn().await;
        cx.blocking(move |cancel| {
            let _turn = turn;
            let index = around.index_of(&start);
            let scope = around.scope(&start, &selection, index.as_ref());
            let request = FindFilesRequest { scope, limit: style.limit };
            let found = find_files(&request, &|| cancel.is_cancelled())
                .map_err(|error| FailedSearch { error, tool_kind: ErrorKind::Glob })?;
            Ok(present(&found, style, &around.paths))
        })
        .await
    }
}

fn present(found: &FoundFiles, style: NameStyle, paths: &Paths) -> ToolOutput<NamesData> {
    let mut files: Vec<String> = Vec::with_capacity(found.files.len());
    let mut bytes = 0;
    let mut shown_files = ShownFiles::new(paths);
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
            "showing the {shown} most recently modified of {} files; {}",
            found.total, style.narrow
        ));
    }
    notes.extend(notices_in_words(&found.notices, paths));
    notes.extend(paths.root_note());
    let content = lines_and_notes(&files, &notes);
    let data = NamesData {
        root: paths.root_in_data(),
        files,
        total: found.total,
        complete: shown == found.total && found.notices.unreadable == 0,
        skipped: NoticesData::of(&found.notices, paths),
        would_match: (!found.left_out.is_empty())
            .then(|| HiddenNames { ignored_or_hidden: paths.all_in_data(&found.left_out) }),
        not_indexed: not_indexed_reason(found.why_cold.as_ref()),
    };
    let rest = if shown < found.total { format!(" (showing {shown})") } else { String::new() };
    let display = format!("Found {}{rest}", amount(found.total, "file"));
    ToolOutput { content, structured: Some(data), ..ToolOutput::default() }.with_display(display)
}
