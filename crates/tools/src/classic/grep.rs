//! `grep`: searches the content of files, with ripgrep's engine.

use schemars::JsonSchema;
use serde::Deserialize;
use toolwright_base::{SideEffect, ToolError, ToolKind};
use toolwright_core::{Tool, ToolContext};
use toolwright_search::{CaseSensitivity, MatchSpan, Shape};
use toolwright_walk::{Depth, HiddenFiles, PathPattern, Selection};

use crate::{
    failures::InvalidParameter,
    searching::{self, ContinuationParameter, Headings, LineStyle, PlannedSearch},
};

/// The number of lines that an answer shows if the call does not set `maxResults`.
const DEFAULT_LINES: u64 = 1_000;

#[derive(Default)]
pub(super) struct ClassicGrep;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Input {
    /// The regular expression to search for.
    pattern: String,
    /// The directory, or the file, to search. Default: the workspace.
    #[serde(default)]
    directory: Option<String>,
    /// Only search files whose path below the directory matches this glob: `**/*.ts` at any depth, `*.ts`
    /// at the top.
    #[serde(default)]
    file_pattern: Option<String>,
    /// Match case.
    #[serde(default)]
    case_sensitive: bool,
    /// How many lines to show. Default: 1,000.
    #[serde(default)]
    #[schemars(range(min = 1, max = 1_000_000))]
    max_results: Option<u64>,
}

impl Tool for ClassicGrep {
    type Input = Input;
    type Plan = PlannedSearch;

    const NAME: &'static str = "grep";
    const TITLE: &'static str = "Search File Contents";
    const DESCRIPTION: &'static str = include_str!("../description/classic_grep.md");
    const SIDE_EFFECT: SideEffect = SideEffect::None;
    const KIND: ToolKind = ToolKind::reads_files(&["directory"]).twin_of("Grep");

    fn plan(&self, input: Input, cx: &ToolContext) -> Result<PlannedSearch, ToolError> {
        let start = searching::start_in_files(input.directory.as_deref(), cx)?;
        let mut selection = Selection::new(HiddenFiles::LeftOut);
        if let Some(pattern) = input.file_pattern.as_deref().filter(|it| !it.is_empty()) {
            let pattern = PathPattern::new(pattern, Depth::Top)
                .map_err(|error| InvalidParameter { name: "filePattern", error })?;
            selection = selection.with_pattern(pattern);
        }
        let limit = input.max_results.unwrap_or(DEFAULT_LINES);
        Ok(PlannedSearch {
            start,
            selection,
            pattern: input.pattern,
            case: if input.case_sensitive {
                CaseSensitivity::Sensitive
            } else {
                CaseSensitivity::Insensitive
            },
            span: MatchSpan::Line,
            shape: Shape::Lines { before: 0, after: 0, only_matching: false },
            offset: 0,
            limit: Some(usize::try_from(limit).unwrap_or(usize::MAX)),
            style: LineStyle {
                quote: '"',
                numbers: true,
                before_text: " ",
                // The grep of this set has always shown the path on each line.
                headings: Headings::Never,
                next: ContinuationParameter::Limit("maxResults"),
                widen: "pass one as directory to search it",
                shorten: "",
                over_lines: "search for a part within one line",
            },
        })
    }
}
