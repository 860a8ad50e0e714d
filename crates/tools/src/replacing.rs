//! Replaces text in a file for the tools `Edit` and `edit_file`.
//!
//! If the text to replace is missing or ambiguous, the error shows what the file has instead, so that a model
//! can correct its call without reading the file again.

use schemars::JsonSchema;
use serde::Serialize;
use toolwright_base::{ErrorKind, ToolError, shown_path};
use toolwright_core::{EngineError as _, ForModel as _};
use toolwright_files::{
    DiffLimits, GivenUp, MAX_HITS, MAX_TEXT_BYTES, MatchStrategy, Matches, NEAREST_TEXT_BYTES,
    Overlaps, Replacement, TargetMatch, TextFile, TextFileError, WorkspacePath, find_target,
    nearest_region, unified_diff, unique_by_line_hint,
};

use crate::editing::{Current, Seen, WITHOUT_READING};

/// The number of lines that the error about an ambiguous target names.
const SHOWN_LINES: usize = 200;

/// A requested replacement.
#[derive(Clone, Debug)]
pub(super) struct WantedReplacement<'a> {
    pub(super) target: &'a str,
    pub(super) replacement: &'a str,
    pub(super) occurrences: Occurrences,
}

/// Which occurrences are replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Occurrences {
    /// The only occurrence. Several are an error.
    One,
    /// The occurrence nearest to a line.
    Nearest(u64),
    /// Every occurrence.
    All,
}

/// A replacement that was made.
pub(super) struct Replaced {
    /// The new content of the file.
    pub(super) bytes: Vec<u8>,
    pub(super) strategy: &'static str,
    pub(super) lines: Vec<(usize, usize)>,
    /// By how many lines each occurrence grew.
    growth: isize,
}

/// The facts about a replacement.
#[derive(Serialize, JsonSchema)]
pub(super) struct Replacements {
    /// How the text was matched: `exact`, or the name of a more tolerant way.
    strategy: String,
    /// The number of occurrences that were replaced.
    occurrences: usize,
    /// The lines of the first 100 occurrences.
    lines: Vec<ReplacedLines>,
}

/// Line numbers in the file before the change, counted from 1.
#[derive(Serialize, JsonSchema)]
struct ReplacedLines {
    first: usize,
    last: usize,
}

impl Replaced {
    pub(super) fn is_lenient(&self) -> bool {
        self.strategy != MatchStrategy::Exact.name()
    }

    pub(super) fn moves(&self) -> LineMoves {
        LineMoves { lines: self.lines.clone(), growth: self.growth }
    }

    /// The facts about the replacement for the structured answer.
    pub(super) fn facts(&self) -> Replacements {
        let lines = self.lines.iter().take(100);
        Replacements {
            strategy: self.strategy.to_owned(),
            occurrences: self.lines.len(),
            lines: lines.map(|&(first, last)| ReplacedLines { first, last }).collect(),
        }
    }

    pub(super) fn summary(&self) -> String {
        format!("replaced {}", self.places())
    }

    /// The replaced lines, and how they were matched unless exactly.
    pub(super) fn places(&self) -> String {
        let places = match self.lines.as_slice() {
            [(first, last)] if first == last => format!("line {first}"),
            [(first, last)] => format!("lines {first}-{last}"),
            many => format!("{} occurrences", many.len()),
        };
        if !self.is_lenient() {
            return places;
        }
        format!("{places} (matched by `{}`, not exactly)", self.strategy)
    }
}

/// Maps line numbers from before a replacement to after it.
pub(super) struct LineMoves {
    lines: Vec<(usize, usize)>,
    growth: isize,
}

impl LineMoves {
    /// The new number of a line. A line that was replaced keeps its number.
    pub(super) fn line_now(&self, line: u64) -> u64 {
        let before = |(_, last): &&(usize, usize)| u64::try_from(*last).is_ok_and(|it| it < line);
        let places = self.lines.iter().filter(before).count().cast_signed();
        let moved = self.growth.saturating_mul(places);
        line.saturating_add_signed(i64::try_from(moved).unwrap_or(0)).max(1)
    }
}

/// Makes a replacement. `name` is what errors call the text to replace.
pub(super) fn replace(
    file: &TextFile,
    wanted: &WantedReplacement<'_>,
    name: &str,
    cancelled: &dyn Fn() -> bool,
) -> Result<Replaced, ToolError> {
    let text = file.text();
    let overlaps = match wanted.occurrences {
        Occurrences::All => Overlaps::LeftOut,
        Occurrences::One | Occurrences::Nearest(_) => Overlaps::Given,
    };
    let matches = match find_target(text, wanted.target, overlaps, cancelled) {
        Ok(Some(matches)) => matches,
        Ok(None) => return Err(not_found(text, wanted.target, name)),
        Err(GivenUp::Cancelled) => return Err(ToolError::cancelled()),
        Err(GivenUp::TooMany) => return Err(too_many(name, wanted.occurrences)),
    };
    let chosen = choose(&matches, wanted.occurrences, name)?;
    let replacement = Replacement::new(text, wanted.target, matches.strategy, wanted.replacement);
    let size = chosen.iter().fold(0, |sum: usize, it| sum.saturating_add(replacement.size_at(it)));
    // This is an upper bound; the exact size is checked when the file is written.
    if size > MAX_TEXT_BYTES * 2 {
        return Err(TextFileError::TooLarge.into_tool_error());
    }
    let edits: Vec<_> = chosen.iter().flat_map(|hit| replacement.at(hit)).collect();
    if edits.iter().all(|(range, new_text)| text.get(range.clone()) == Some(new_text.as_ref())) {
        return Err(ToolError::new(
            ErrorKind::FileEdit,
            format!(
                "the replacement of {name}, adapted to the file's line endings and indentation, equals the text in the file; nothing was changed"
            ),
        ));
    }
    let bytes = file.splice(&edits).for_model()?;
    let lines_of = |it: &str| memchr::memchr_iter(b'\n', it.as_bytes()).count();
    Ok(Replaced {
        growth: lines_of(wanted.replacement).cast_signed() - lines_of(wanted.target).cast_signed(),
        bytes,
        strategy: matches.strategy.name(),
        lines: chosen.iter().map(|hit| (hit.first_line, hit.last_line)).collect(),
    })
}

fn choose<'a>(
    matches: &'a Matches,
    occurrences: Occurrences,
    name: &str,
) -> Result<Vec<&'a TargetMatch>, ToolError> {
    match occurrences {
        Occurrences::All => Ok(matches.hits.iter().collect()),
        Occurrences::One if matches.hits.len() == 1 => Ok(matches.hits.iter().collect()),
        Occurrences::One => Err(ambiguous(matches, name, None)),
        Occurrences::Nearest(line) => {
            let line = usize::try_from(line).unwrap_or(usize::MAX);
            let index = unique_by_line_hint(&matches.hits, line);
            let hit = index.and_then(|index| matches.hits.get(index));
            hit.map(|hit| vec![hit]).ok_or_else(|| ambiguous(matches, name, Some(line)))
        }
    }
}

fn ambiguous(matches: &Matches, name: &str, hint: Option<usize>) -> ToolError {
    let mut lines: Vec<usize> = matches.hits.iter().map(|hit| hit.first_line).collect();
    lines.dedup();
    let shown: Vec<String> = lines.iter().take(SHOWN_LINES).map(ToString::to_string).collect();
    let more = match lines.len().saturating_sub(SHOWN_LINES) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let word = if lines.len() == 1 { "line" } else { "lines" };
    let way_out = match hint {
        _ if name == "old_string" => "set replace_all".to_owned(),
        None => "give lineHint".to_owned(),
        Some(line) => {
            format!("give another lineHint: two occurrences are equally close to line {line}")
        }
    };
    ToolError::new(
        ErrorKind::EditTargetAmbiguous,
        format!(
            "{name} occurs {} times ({word} {}{more}); add context or {way_out}",
            matches.hits.len(),
            shown.join(", ")
        ),
    )
}

fn too_many(name: &str, occurrences: Occurrences) -> ToolError {
    let (kind, way_out) = match occurrences {
        Occurrences::All => (ErrorKind::FileEdit, "replace them with a command"),
        _ => (ErrorKind::EditTargetAmbiguous, "add context"),
    };
    ToolError::new(kind, format!("{name} occurs more than {MAX_HITS} times; {way_out}"))
}

fn not_found(text: &str, target: &str, name: &str) -> ToolError {
    let Some(region) = nearest_region(text, target) else {
        let where_ = if text.len() > NEAREST_TEXT_BYTES { "its first 8 MiB" } else { "it" };
        return ToolError::new(
            ErrorKind::EditTargetNotFound,
            format!(
                "{name} is not in the file, and nothing in {where_} is similar; read the file again"
            ),
        );
    };
    let nearest: String = text
        .split_inclusive('\n')
        .skip(region.first_line.saturating_sub(1))
        .take(region.last_line + 1 - region.first_line)
        .collect();
    let limits = DiffLimits { max_lines: 60, max_bytes: 4_000, ..DiffLimits::default() };
    // A missing line end after the last line is not the difference to show.
    let ended = nearest.ends_with('\n') && !target.ends_with('\n');
    let target = format!("{target}{}", if ended { "\n" } else { "" });
    let diff = unified_diff(&target, &nearest, name, &limits).text;
    // The two header lines of a diff name files, and there are none here.
    let hunks = diff.splitn(3, '\n').nth(2).unwrap_or_default();
    ToolError::new(
        ErrorKind::EditTargetNotFound,
        format!(
            "{name} is not in the file; the most similar lines are {}-{} (- {name}, + file):\n{}",
            region.first_line, region.last_line, hunks
        ),
    )
}

/// What a model should know after an edit: that the file had changed since it was read, and that the guess of
/// its encoding may now be a different one.
pub(super) fn remark(current: &Current, before: &TextFile, bytes: &[u8]) -> Option<String> {
    let mut remarks: Vec<String> = other_encoding(before, bytes).into_iter().collect();
    if current.seen == Seen::Otherwise {
        let drift = current.drift(before.text());
        remarks.push(format!("the file had changed since it was read{drift}"));
    }
    (!remarks.is_empty()).then(|| remarks.join("; "))
}

/// A note for a file without a byte order mark whose new bytes look like another encoding.
pub(super) fn other_encoding(before: &TextFile, bytes: &[u8]) -> Option<String> {
    (!before.keeps_its_encoding(bytes)).then(|| {
        format!(
            "the file was written as {}, but it has no byte order mark and its bytes now look like another encoding, so it may be read as that",
            before.encoding().label()
        )
    })
}

/// Adds to an error that the file has changed since it was read, which may be the reason for it.
pub(super) fn explain_drift(error: ToolError, current: &Current, now: &TextFile) -> ToolError {
    if current.seen != Seen::Otherwise {
        return error;
    }
    let drift = current.drift(now.text());
    let message =
        format!("{}\n`{}` had changed since it was read{drift}", error.message, current.path);
    error.reworded(message)
}

/// Refuses to edit a notebook as text, which easily makes it invalid JSON. `instead` says what to do.
pub(super) fn refuse_notebook(place: &WorkspacePath, instead: &str) -> Result<(), ToolError> {
    if !place.absolute().extension().is_some_and(|it| it.eq_ignore_ascii_case("ipynb")) {
        return Ok(());
    }
    let path = shown_path(place.absolute());
    let message = format!("`{path}` is a notebook; {instead}");
    let how = "NotebookEdit is in the toolset `claude` (`toolsets`)";
    Err(ToolError::new(ErrorKind::FileEdit, message).allowed_by(how))
}

/// The text of a file that a model wants to change. Fails if the file has not been read.
pub(super) fn text_to_edit(current: &Current) -> Result<TextFile<'_>, ToolError> {
    let path = &current.path;
    let Some(bytes) = &current.bytes else {
        return Err(ToolError::new(ErrorKind::FileNotFound, format!("`{path}` does not exist")));
    };
    if current.seen == Seen::Never {
        return Err(ToolError::new(
            ErrorKind::NotRead,
            format!("`{path}` has not been read in this session; read it first"),
        )
        .allowed_by(WITHOUT_READING));
    }
    TextFile::from_bytes(bytes.as_slice()).for_model()
}
