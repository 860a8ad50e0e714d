//! `Glob`: finds files by path, the most recently modified first.

use schemars::JsonSchema;
use serde::Deserialize;
use toolwright_base::{SideEffect, ToolError, ToolKind};
use toolwright_core::{Tool, ToolContext};
use toolwright_walk::{Depth, HiddenFiles, PathPattern, Selection, split_absolute};

use crate::{
    failures::InvalidParameter,
    searching::{self, FilesToFind, NameStyle, RelativeTo},
};

const STYLE: NameStyle = NameStyle {
    quote: "`",
    relative_to: RelativeTo::RootOfSearch,
    limit: 100,
    narrow: "narrow the pattern or give a path to see more",
    widen: "to list one, give its path as pattern, without path",
};

#[derive(Default)]
pub(super) struct Glob;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Input {
    /// The glob that paths have to match, for example `src/**/*.{c,h}`.
    pattern: String,
    /// The directory to look in, absolute or relative to the workspace. Default: the workspace.
    #[serde(default)]
    path: Option<String>,
}

impl Tool for Glob {
    type Input = Input;
    type Plan = FilesToFind;

    const NAME: &'static str = "Glob";
    const TITLE: &'static str = "Find Files by Pattern";
    const DESCRIPTION: &'static str = include_str!("../description/glob.md");
    const SIDE_EFFECT: SideEffect = SideEffect::None;
    const KIND: ToolKind = ToolKind::reads_files(&["path"]);

    fn plan(&self, input: Input, cx: &ToolContext) -> Result<FilesToFind, ToolError> {
        // Models also write absolute patterns, although the schema does not mention them.
        let absolute = split_absolute(&input.pattern);
        let (folder, pattern, depth) = match &absolute {
            Some((folder, below)) => (Some(folder.as_str()), below.as_str(), Depth::Top),
            None => (input.path.as_deref(), input.pattern.as_str(), Depth::Any),
        };
        let start = searching::start(folder, cx)?;
        let compiled = PathPattern::new(pattern, depth)
            .map_err(|error| InvalidParameter { name: "pattern", error })?;
        let selection = Selection::new(HiddenFiles::Seen).with_pattern(compiled);
        Ok(FilesToFind { start, selection, pattern: input.pattern, style: STYLE })
    }
}
