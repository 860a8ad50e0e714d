//! The structured data of the answers of `Grep`, `Glob`, `grep` and `glob`: the content of their texts, for
//! programs.

use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;
use toolwright_search::{FileRows, Notices, Row, RowKind, RowText, Skipped, WhyCold, WouldMatch};

use super::shown::Paths;

/// The result of a search in the content of files.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SearchData {
    #[serde(flatten)]
    pub(super) found: FoundData,
    /// The directory that paths are relative to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) root: Option<String>,
    /// The number of files that match, if all were searched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) total_files: Option<u64>,
    /// The number of matches, if all were counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) total_matches: Option<u64>,
    /// The offset at which the rest begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) next_offset: Option<usize>,
    /// Whether nothing was left out and everything could be read.
    pub(super) complete: bool,
    /// What was not searched, or only in part.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) skipped: Option<SkippedData>,
    /// Files that were left out although they match, if the answer is empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) would_match: Option<WouldMatchData>,
    /// Why nothing is shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) note: Option<String>,
    /// Why every file was read although there is an index, if that is not expected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) not_indexed: Option<String>,
}

/// Why an index was not used, if that is worth reporting.
pub(super) fn not_indexed_reason(why_cold: Option<&WhyCold>) -> Option<String> {
    why_cold.filter(|it| it.is_worth_reporting()).map(WhyCold::without_names)
}

/// The results, in the form that the call asked for.
#[derive(Serialize, JsonSchema)]
#[serde(tag = "mode")]
pub(super) enum FoundData {
    #[serde(rename = "files_with_matches")]
    Files {
        /// The files with a match.
        files: Vec<String>,
    },
    #[serde(rename = "count")]
    Counts {
        /// The files with a match, and the number of matches in each.
        counts: Vec<CountData>,
    },
    #[serde(rename = "content")]
    Lines {
        /// The files with a match, and the lines that are shown of each.
        files: Vec<FileLinesData>,
    },
}

#[derive(Serialize, JsonSchema)]
pub(super) struct CountData {
    pub(super) file: String,
    pub(super) count: u64,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct FileLinesData {
    pub(super) file: String,
    pub(super) lines: Vec<LineData>,
}

#[derive(Serialize, JsonSchema)]
pub(super) struct LineData {
    /// The line number, if it is known.
    line: Option<u64>,
    /// The text of the line.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<Box<str>>,
    /// The number of characters of a line that is too long to be shown, instead of its text.
    #[serde(skip_serializing_if = "Option::is_none")]
    characters: Option<usize>,
    /// Set for a line of context, which has no match itself.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    context: bool,
}

impl LineData {
    pub(super) fn all(file: &FileRows) -> Vec<Self> {
        file.rows.iter().filter(|row| row.kind != RowKind::Gap).map(Self::of).collect()
    }

    fn of(row: &Row) -> Self {
        let (text, characters) = match &row.text {
            RowText::Whole(text) => (Some(text.clone()), None),
            RowText::Long { chars } => (None, Some(*chars)),
        };
        Self { line: row.line, text, characters, context: row.kind == RowKind::Context }
    }
}

/// What a search left out.
#[derive(Serialize, JsonSchema)]
pub(super) struct SkippedData {
    #[serde(flatten)]
    notices: NoticesData,
    /// The number of binary files, which were not searched.
    #[serde(skip_serializing_if = "Option::is_none")]
    binary: Option<u64>,
    /// Files that only begin as text and were searched up to the first binary byte.
    #[serde(skip_serializing_if = "Option::is_none")]
    partly: Option<PartlyData>,
}

#[derive(Serialize, JsonSchema)]
struct PartlyData {
    count: u64,
    /// The first of them.
    files: Vec<PartlySearchedFile>,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct PartlySearchedFile {
    file: String,
    /// The approximate offset of the first binary byte.
    binary_from: u64,
}

impl SkippedData {
    /// `None` if nothing was skipped.
    pub(super) fn of(skipped: &Skipped, paths: &Paths) -> Option<Self> {
        let notices = NoticesData::of(&skipped.notices, paths);
        if notices.is_none() && skipped.binary == 0 && skipped.partly == 0 {
            return None;
        }
        let partly = (skipped.partly > 0).then(|| {
            let files = skipped.partly_examples.iter().map(|(path, from)| PartlySearchedFile {
                file: paths.in_data(path),
                binary_from: *from,
            });
            PartlyData { count: skipped.partly, files: files.collect() }
        });
        let binary = (skipped.binary > 0).then_some(skipped.binary);
        Some(Self { notices: notices.unwrap_or_default(), binary, partly })
    }
}

/// What could not be read, and which ignore rules were not applied.
#[derive(Default, Serialize, JsonSchema)]
pub(super) struct NoticesData {
    /// The number of files and directories that could not be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    unreadable: Option<u64>,
    /// The first of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    examples: Option<Vec<PathAndCause>>,
    /// The ignore files with rules that were not applied.
    #[serde(skip_serializing_if = "Option::is_none")]
    rules: Option<UnappliedRulesData>,
}

#[derive(Serialize, JsonSchema)]
struct UnappliedRulesData {
    count: u64,
    /// The first of them.
    files: Vec<PathAndCause>,
}

#[derive(Serialize, JsonSchema)]
struct PathAndCause {
    path: String,
    cause: String,
}

impl NoticesData {
    /// `None` if there is nothing to report.
    pub(super) fn of(notices: &Notices, paths: &Paths) -> Option<Self> {
        let named = |path: &Path, cause: &str| PathAndCause {
            path: paths.in_data(path),
            cause: cause.to_owned(),
        };
        let (unreadable, examples) = match notices.unreadable {
            0 => (None, None),
            count => {
                let examples = notices.examples.iter().map(|(path, cause)| named(path, cause));
                (Some(count), Some(examples.collect()))
            }
        };
        let rules = (notices.unapplied > 0).then(|| {
            let files = notices.unapplied_examples.iter().map(|it| named(&it.file, &it.cause));
            UnappliedRulesData { count: notices.unapplied, files: files.collect() }
        });
        (unreadable.is_some() || rules.is_some()).then_some(Self { unreadable, examples, rules })
    }
}

/// Files that an empty answer left out although they match.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct WouldMatchData {
    /// Files that are ignored or hidden.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) ignored_or_hidden: Vec<String>,
    /// Binary files.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) binary: Vec<String>,
    /// Set if the check for such files was stopped before its end.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) incomplete: bool,
}

impl WouldMatchData {
    /// `None` if nothing was left out.
    pub(super) fn of(would_match: &WouldMatch, paths: &Paths) -> Option<Self> {
        let WouldMatch { left_out, binary, gave_up } = would_match;
        let any = !left_out.is_empty() || !binary.is_empty() || *gave_up;
        any.then(|| Self {
            ignored_or_hidden: paths.all_in_data(left_out),
            binary: paths.all_in_data(binary),
            incomplete: *gave_up,
        })
    }
}

/// The result of a search for files by name.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct NamesData {
    /// The directory that paths are relative to.
    pub(super) root: String,
    /// The files, the most recently modified first.
    pub(super) files: Vec<String>,
    /// The number of files that match.
    pub(super) total: u64,
    /// Whether all of them are listed and everything could be read.
    pub(super) complete: bool,
    /// What could not be searched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) skipped: Option<NoticesData>,
    /// Files that were left out although they match, if the answer is empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) would_match: Option<HiddenNames>,
    /// Why every directory was read although there is an index, if that is not expected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) not_indexed: Option<String>,
}

/// Files that an empty answer left out although their names match.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct HiddenNames {
    /// Files that are ignored or hidden.
    pub(super) ignored_or_hidden: Vec<String>,
}
