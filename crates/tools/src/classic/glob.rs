//! `glob`: finds files by path, the most recently modified first.

use schemars::JsonSchema;
use serde::Deserialize;
use toolwright_base::{SideEffect, ToolError, ToolKind};
use toolwright_core::{Tool, ToolContext};
use toolwright_walk::{Depth, HiddenFiles, PathPattern, Selection};

use crate::{
    failures::InvalidParameter,
    searching::{self, FilesToFind, NameStyle, RelativeTo},
};

/// The number of files that an answer shows if the call does not set `maxResults`.
const DEFAULT_FILES: u64 = 1_000;

#[derive(Default)]
pub(super) struct ClassicGlob;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Input {
    /// The glob that paths below the directory have to match.
    pattern: String,
    /// The directory to look in. Default: the workspace.
    #[serde(default)]
    directory: Option<String>,
    /// How many files to show. Default: 1,000.
    #[serde(default)]
    #[schemars(range(min = 1, max = 1_000_000))]
    max_results: Option<u64>,
    /// Also find files whose name, or directory, begins with a dot.
    #[serde(default)]
    include_hidden: bool,
}

impl Tool for ClassicGlob {
    type Input = Input;
    type Plan = FilesToFind;

    const NAME: &'static str = "glob";
    const TITLE: &'static str = "Find Files by Pattern";
    const DESCRIPTION: &'static str = include_str!("../description/classic_glob.md");
    const SIDE_EFFECT: SideEffect = SideEffect::None;
    const KIND: ToolKind = ToolKind::reads_files(&["directory"]).twin_of("Glob");

    fn plan(&self, input: Input, cx: &ToolContext) -> Result<FilesToFind, ToolError> {
        let start = searching::start(input.directory.as_deref(), cx)?;
        let pattern = PathPattern::new(&input.pattern, Depth::Top)
            .map_err(|error| InvalidParameter { name: "pattern", error })?;
        let limit = input.max_results.unwrap_or(DEFAULT_FILES);
        Ok(FilesToFind {
            start,
            selection: Selection::new(hidden(input.include_hidden)).with_pattern(pattern),
            style: NameStyle {
                quote: "",
                relative_to: RelativeTo::Workspace,
                limit: usize::try_from(limit).unwrap_or(usize::MAX),
                narrow: "raise maxResults or narrow the pattern to see more",
                widen: "to list one, give its path as pattern, without directory",
            },
            pattern: input.pattern,
        })
    }
}

pub(super) fn hidden(included: bool) -> HiddenFiles {
    if included { HiddenFiles::Seen } else { HiddenFiles::LeftOut }
}
