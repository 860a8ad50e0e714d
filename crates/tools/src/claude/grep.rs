//! `Grep`: searches the content of files, with ripgrep's engine.

use schemars::JsonSchema;
use serde::Deserialize;
use toolwright_base::{SideEffect, ToolError, ToolKind};
use toolwright_core::{Tool, ToolContext};
use toolwright_search::{CaseSensitivity, MatchSpan, Shape};
use toolwright_walk::{HiddenFiles, Selection};

use crate::{
    failures::InvalidParameter,
    searching::{self, ContinuationParameter, Headings, LineStyle, PlannedSearch, split_globs},
};

/// The number of rows that an answer shows if the call does not set `head_limit`.
const DEFAULT_ROWS: u64 = 250;

#[derive(Default)]
pub(super) struct Grep;

// The variants have no doc comments, because the description of the tool says what each shows.
#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum OutputMode {
    Content,
    FilesWithMatches,
    Count,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// The regular expression to search for.
    pattern: String,
    /// The file or directory to search, absolute or relative to the workspace. Default: the workspace.
    #[serde(default)]
    path: Option<String>,
    /// Only search files that match this glob, relative to the workspace: `*.ts`, `src/**/*.{c,h}`. Several
    /// are separated by spaces or commas; `!` excludes files.
    #[serde(default)]
    glob: Option<String>,
    /// Only search files of this type of `rg --type`: js, py, rust, go, java…
    #[serde(default, rename = "type")]
    file_type: Option<String>,
    /// What to show. Default: `files_with_matches`.
    #[serde(default)]
    output_mode: Option<OutputMode>,
    /// Lines to show before each match, with `content`.
    #[serde(default, rename = "-B")]
    #[schemars(range(max = 1_000))]
    before: Option<u32>,
    /// Lines to show after each match, with `content`.
    #[serde(default, rename = "-A")]
    #[schemars(range(max = 1_000))]
    after: Option<u32>,
    /// Lines to show before and after each match; overrides `-A` and `-B`.
    #[serde(default, rename = "-C")]
    #[schemars(range(max = 1_000))]
    around: Option<u32>,
    /// The same as `-C`, and overrides it.
    #[serde(default)]
    #[schemars(range(max = 1_000))]
    context: Option<u32>,
    /// Show line numbers. Default: true.
    #[serde(default, rename = "-n")]
    line_numbers: Option<bool>,
    /// Show paths above their lines (true) or on each line (false). Default: above in answers of more
    /// than 20 lines that get shorter by it.
    #[serde(default)]
    heading: Option<bool>,
    /// Ignore case.
    #[serde(default, rename = "-i")]
    ignore_case: bool,
    /// Show only the part of a line that matches.
    #[serde(default, rename = "-o")]
    only_matching: bool,
    /// Let a match span lines; `.` then matches line ends too.
    #[serde(default)]
    multiline: bool,
    /// How many rows (lines, files or counts) to show. Default: 250; 0 for all that fit.
    #[serde(default)]
    #[schemars(range(max = 9_007_199_254_740_991_u64))]
    head_limit: Option<u64>,
    /// How many rows to skip.
    #[serde(default)]
    #[schemars(range(max = searching::MAX_OFFSET))]
    offset: Option<u64>,
}

impl Tool for Grep {
    type Input = Input;
    type Plan = PlannedSearch;

    const NAME: &'static str = "Grep";
    const TITLE: &'static str = "Search File Contents";
    const DESCRIPTION: &'static str = include_str!("../description/grep.md");
    const SIDE_EFFECT: SideEffect = SideEffect::None;
    const KIND: ToolKind = ToolKind::reads_files(&["path"]);

    fn plan(&self, input: Input, cx: &ToolContext) -> Result<PlannedSearch, ToolError> {
        let start = searching::start_in_files(input.path.as_deref(), cx)?;
        let mut selection = Selection::new(HiddenFiles::Seen);
        if let Some(globs) = input.glob.as_deref().map(split_globs) {
            selection = selection
                .with_globs(&globs, start.root())
                .map_err(|error| InvalidParameter { name: "glob", error })?;
        }
        if let Some(name) = input.file_type.as_deref().filter(|it| !it.is_empty()) {
            selection = selection
                .with_type(name)
                .map_err(|error| InvalidParameter { name: "type", error })?;
        }
        let around = input.context.or(input.around);
        let lines = |side: Option<u32>| around.or(side).unwrap_or(0) as usize;
        let shape = match input.output_mode.unwrap_or(OutputMode::FilesWithMatches) {
            OutputMode::FilesWithMatches => Shape::Files,
            OutputMode::Count => Shape::Counts,
            OutputMode::Content => Shape::Lines {
                before: lines(input.before),
                after: lines(input.after),
                only_matching: input.only_matching,
            },
        };
        let limit = input.head_limit.unwrap_or(DEFAULT_ROWS);
        Ok(PlannedSearch {
            start,
            selection,
            pattern: input.pattern,
            case: if input.ignore_case {
                CaseSensitivity::Insensitive
            } else {
                CaseSensitivity::Sensitive
            },
            span: if input.multiline { MatchSpan::Lines } else { MatchSpan::Line },
            shape,
            offset: usize::try_from(input.offset.unwrap_or(0)).unwrap_or(usize::MAX),
            limit: (limit > 0).then(|| usize::try_from(limit).unwrap_or(usize::MAX)),
            style: LineStyle {
                quote: '`',
                numbers: input.line_numbers.unwrap_or(true),
                before_text: "",
                headings: match input.heading {
                    None => Headings::WhenShorter,
                    Some(true) => Headings::Always,
                    Some(false) => Headings::Never,
                },
                next: ContinuationParameter::Offset("offset"),
                widen: "pass one as path to search it",
                shorten: if input.only_matching {
                    "use a pattern with a shorter match"
                } else {
                    "show only the match with -o"
                },
                over_lines: "set multiline to match across lines",
            },
        })
    }
}
