//! What the tools that search tell programs: the facts of their texts, as data.

use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;

use super::shown::Paths;
use crate::workspace::search::{FileRows, Notices, Row, RowKind, RowText, Skipped, WouldMatch};

/// What a search in files found.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::tools) struct SearchData {
    #[serde(flatten)]
    pub(super) found: FoundData,
    /// The directory that paths are relative to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) root: Option<String>,
    /// How many files match, where all were searched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) total_files: Option<u64>,
    /// How many matches there are, where all were counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) total_matches: Option<u64>,
    /// The offset that continues behind what is shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) next_offset: Option<usize>,
    /// Whether this is all there is, and everything could be read.
    pub(super) complete: bool,
    /// What was not searched, or not to its end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) skipped: Option<SkippedData>,
    /// What an empty answer left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) would_match: Option<WouldMatchData>,
    /// Why nothing is shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) note: Option<String>,
}

/// What was asked for, and what there is of it.
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
        /// The files with a match, and how many they have.
        counts: Vec<CountData>,
    },
    #[serde(rename = "content")]
    Lines {
        /// The files with a match, and their lines.
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
    /// Its number, where it is known.
    line: Option<u64>,
    /// Its text.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<Box<str>>,
    /// How long it is, in place of a text that is too long to be shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    characters: Option<usize>,
    /// Set for a line that only stands beside a match.
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

/// What a search did not look at.
#[derive(Serialize, JsonSchema)]
pub(super) struct SkippedData {
    #[serde(flatten)]
    notices: NoticesData,
    /// How many binary files there were.
    #[serde(skip_serializing_if = "Option::is_none")]
    binary: Option<u64>,
    /// The files that are text at their beginning only, and were searched up to there.
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
    /// About where it stops being text, in bytes.
    binary_from: u64,
}

impl SkippedData {
    /// Nothing where nothing was skipped.
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

/// What could not be read, and which rules did not hold.
#[derive(Default, Serialize, JsonSchema)]
pub(super) struct NoticesData {
    /// How many files and directories could not be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    unreadable: Option<u64>,
    /// The first of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    examples: Option<Vec<PlaceAndCause>>,
    /// The files of ignore rules that do not hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    rules: Option<UnappliedRulesData>,
}

#[derive(Serialize, JsonSchema)]
struct UnappliedRulesData {
    count: u64,
    /// The first of them.
    files: Vec<PlaceAndCause>,
}

#[derive(Serialize, JsonSchema)]
struct PlaceAndCause {
    path: String,
    cause: String,
}

impl NoticesData {
    /// Nothing where there is nothing to tell.
    pub(super) fn of(notices: &Notices, paths: &Paths) -> Option<Self> {
        let named = |path: &Path, cause: &str| PlaceAndCause {
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
    /// Set when not all of them were looked at.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) incomplete: bool,
}

impl WouldMatchData {
    /// Nothing where nothing was left out.
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

/// What a search for names found.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(in crate::tools) struct NamesData {
    /// The directory that paths are relative to.
    pub(super) root: String,
    /// The files, newest first.
    pub(super) files: Vec<String>,
    /// How many there are.
    pub(super) total: u64,
    /// Whether these are all, and everything could be read.
    pub(super) complete: bool,
    /// What could not be looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) skipped: Option<NoticesData>,
    /// What an empty answer left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) would_match: Option<HiddenNames>,
}

/// Files that an empty answer left out although their names fit.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct HiddenNames {
    /// Files that are ignored or hidden.
    pub(super) ignored_or_hidden: Vec<String>,
}
