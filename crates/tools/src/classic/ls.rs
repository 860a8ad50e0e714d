//! `ls`: lists a directory, and on request the directories below it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolwright_base::{Access, ErrorKind, SideEffect, ToolError, ToolKind, shown_path};
use toolwright_core::{CallPlan, Tool, ToolContext, ToolOutput};
use toolwright_files::{EntryKind, WorkspacePath};
use toolwright_search::list;
use toolwright_walk::{HiddenFiles, Listing, ListingRequest};

use super::glob::hidden;
use crate::{
    failures::FailedSearch,
    listing::lines_and_notes,
    searching::{self, Paths, Surroundings, rules_in_words},
};

/// The number of entries that an answer shows.
const MAX_ENTRIES: usize = 2_000;
/// The number of levels that a recursive call lists below the first if it does not set `maxDepth`.
const DEFAULT_DEPTH: u32 = 3;

#[derive(Default)]
pub(super) struct Ls;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Input {
    /// The directory to list.
    path: String,
    /// List what is in the directories too, indented.
    #[serde(default)]
    recursive: bool,
    /// Also list names that begin with a dot.
    #[serde(default)]
    include_hidden: bool,
    /// How many levels to list below the first. Default: 3 with `recursive`.
    #[serde(default)]
    #[schemars(range(max = 1_000))]
    max_depth: Option<u32>,
}

/// The entries of a directory.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct DirectoryListingData {
    /// The directory that paths are relative to.
    root: String,
    /// The entries. A directory is followed by its own entries.
    entries: Vec<ListedEntry>,
    /// The number of entries.
    total: usize,
    /// Whether all of them are listed and every directory could be read.
    complete: bool,
    /// The number of entries that were left out because they are ignored or hidden.
    ignored_or_hidden: usize,
}

#[derive(Serialize, JsonSchema)]
struct ListedEntry {
    name: String,
    #[serde(rename = "type")]
    kind: ListedKind,
    /// How many levels below the listed directory the entry is.
    depth: usize,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum ListedKind {
    File,
    Directory,
    Link,
    Other,
}

pub(super) struct Plan {
    start: WorkspacePath,
    hidden: HiddenFiles,
    max_depth: usize,
}

impl Tool for Ls {
    type Input = Input;
    type Plan = Plan;

    const NAME: &'static str = "ls";
    const TITLE: &'static str = "List Directory";
    const DESCRIPTION: &'static str = include_str!("../description/ls.md");
    const SIDE_EFFECT: SideEffect = SideEffect::None;
    const KIND: ToolKind = ToolKind::reads_files(&["path"]);

    fn plan(&self, input: Input, cx: &ToolContext) -> Result<Plan, ToolError> {
        let default = if input.recursive { DEFAULT_DEPTH } else { 0 };
        Ok(Plan {
            start: searching::start(Some(&input.path), cx)?,
            hidden: hidden(input.include_hidden),
            max_depth: input.max_depth.unwrap_or(default) as usize,
        })
    }
}

impl CallPlan for Plan {
    type Output = DirectoryListingData;

    fn accesses(&self) -> Vec<Access> {
        vec![Access::Read(self.start.absolute().to_owned())]
    }

    fn describe(&self) -> String {
        format!("List {}", shown_path(self.start.absolute()))
    }

    async fn run(self, cx: &ToolContext) -> Result<ToolOutput<DirectoryListingData>, ToolError> {
        let around = Surroundings::of(cx);
        let turn = around.turn().await;
        cx.blocking(move |cancel| {
            let _turn = turn;
            let request = ListingRequest {
                start: &self.start,
                hidden: self.hidden,
                max_depth: self.max_depth,
                max_entries: MAX_ENTRIES,
                global_excludes: around.global_excludes(),
                visibility: around.visibility(),
            };
            let index = around.index_of(&self.start);
            let listing = list(&request, index.as_ref(), &|| cancel.is_cancelled())
                .map_err(|error| FailedSearch { error, tool_kind: ErrorKind::Ls })?;
            Ok(present(&listing, &Paths::below(self.start.absolute())))
        })
        .await
    }
}

fn present(listing: &Listing, paths: &Paths) -> ToolOutput<DirectoryListingData> {
    let name = |name: &std::ffi::OsStr| shown_path(name.as_ref());
    let rows: Vec<String> = listing
        .entries
        .iter()
        .map(|entry| {
            let mark = if entry.kind == EntryKind::Folder { 'd' } else { '-' };
            format!("{}{mark} {}", "  ".repeat(entry.depth), name(&entry.name))
        })
        .collect();
    let mut notes = Vec::new();
    let shown = listing.entries.len();
    if shown < listing.total {
        notes.push(format!(
            "showing {shown} of {} entries; list a subdirectory, or set a smaller maxDepth",
            listing.total
        ));
    }
    if listing.total == 0 {
        notes.push(match listing.left_out {
            0 => "the directory is empty".to_owned(),
            count => format!("nothing to list: {count} entries are ignored or hidden"),
        });
    }
    if let Some((path, cause)) = listing.unreadable.first() {
        notes.push(format!("not listed: `{}` ({cause})", paths.shown(path)));
    }
    notes.extend(rules_in_words(&listing.unapplied, paths));
    if shown > 0 {
        paths.owe_the_root();
    }
    notes.extend(paths.root_note());
    let entries = listing.entries.iter().map(|entry| ListedEntry {
        name: name(&entry.name),
        kind: match entry.kind {
            EntryKind::File => ListedKind::File,
            EntryKind::Folder => ListedKind::Directory,
            EntryKind::Link => ListedKind::Link,
            EntryKind::Other => ListedKind::Other,
        },
        depth: entry.depth,
    });
    let data = DirectoryListingData {
        root: paths.root_in_data(),
        entries: entries.collect(),
        total: listing.total,
        complete: shown == listing.total && listing.unreadable.is_empty(),
        ignored_or_hidden: listing.left_out,
    };
    let content = lines_and_notes(&rows, &notes);
    let display = format!("Listed {shown} entries");
    ToolOutput { content, structured: Some(data), ..ToolOutput::default() }.with_display(display)
}
