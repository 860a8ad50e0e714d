//! The `project` set: what a project is, what has changed in it, and what is in its files.

mod file_reader;
mod git_diff_summary;
mod git_status;
mod workspace_info;

use super::BuiltinTool;

/// The tools of the set.
pub(super) const TOOLS: &[BuiltinTool] = &[
    BuiltinTool::of::<file_reader::FileReader>(),
    BuiltinTool::of::<git_diff_summary::GitDiffSummary>(),
    BuiltinTool::of::<git_status::GitStatus>(),
    BuiltinTool::of::<workspace_info::WorkspaceInfo>(),
];
