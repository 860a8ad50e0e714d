//! One replacement in a text, with the reasons why there is none.

use serde_json::{Map, Value, json};

use crate::{
    error::{ErrorKind, ToolError},
    tool::shown_path,
    tools::editing::{Current, Seen},
    workspace::{
        DiffLimits, Hit, Matches, Replacement, TextFile, WorkspacePath, find_target,
        nearest_region, unified_diff, unique_by_line_hint,
    },
};

/// What is replaced by what.
#[derive(Clone, Debug)]
pub(super) struct Wanted<'a> {
    pub(super) target: &'a str,
    pub(super) replacement: &'a str,
    pub(super) occurrences: Occurrences,
}

/// Which occurrences are replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Occurrences {
    /// The only one.
    One,
    /// The one nearest to a line.
    Nearest(u64),
    /// Every one.
    All,
}

/// A replacement that was made.
pub(super) struct Replaced {
    /// The file as it is to be.
    pub(super) file: TextFile,
    pub(super) bytes: Vec<u8>,
    pub(super) strategy: &'static str,
    pub(super) lines: Vec<(usize, usize)>,
}

impl Replaced {
    /// The certificate: how the text was found, where, how often.
    pub(super) fn facts(&self) -> Map<String, Value> {
        let lines: Vec<Value> = self
            .lines
            .iter()
            .take(100)
            .map(|(first, last)| json!({ "first": first, "last": last }))
            .collect();
        let mut facts = Map::new();
        facts.insert("strategy".to_owned(), json!(self.strategy));
        facts.insert("occurrences".to_owned(), json!(self.lines.len()));
        facts.insert("lines".to_owned(), Value::Array(lines));
        facts
    }

    pub(super) fn summary(&self) -> String {
        let places = match self.lines.as_slice() {
            [(first, last)] if first == last => format!("replaced line {first}"),
            [(first, last)] => format!("replaced lines {first}-{last}"),
            many => format!("replaced {} occurrences", many.len()),
        };
        match self.strategy {
            "exact" => places,
            strategy => format!("{places} (found by `{strategy}`, not as given)"),
        }
    }
}

/// Makes one replacement, or says why it cannot be made.
pub(super) fn replace(
    file: &TextFile,
    wanted: &Wanted<'_>,
    name: &str,
) -> Result<Replaced, ToolError> {
    let text = file.text();
    let Some(matches) = find_target(text, wanted.target) else {
        return Err(not_found(text, wanted.target, name));
    };
    let chosen = choose(&matches, wanted.occurrences, name)?;
    let replacement = Replacement::new(text, matches.strategy, wanted.replacement);
    let edits: Vec<_> =
        chosen.iter().map(|hit| (hit.range.clone(), replacement.for_hit(hit))).collect();
    if edits.iter().all(|(range, new_text)| text.get(range.clone()) == Some(new_text.as_ref())) {
        return Err(ToolError::new(
            ErrorKind::FileEdit,
            format!(
                "the replacement of {name} is what the file has already, once it takes the file's line endings and indentation; nothing was changed"
            ),
        ));
    }
    let bytes = file.splice(&edits)?;
    Ok(Replaced {
        file: file.changed_to(bytes.clone()),
        bytes,
        strategy: matches.strategy.name(),
        lines: chosen.iter().map(|hit| (hit.first_line, hit.last_line)).collect(),
    })
}

fn choose<'a>(
    matches: &'a Matches,
    occurrences: Occurrences,
    name: &str,
) -> Result<Vec<&'a Hit>, ToolError> {
    let several = matches.hits.len() > 1 || matches.overlapping_line.is_some();
    match occurrences {
        Occurrences::All => Ok(matches.hits.iter().collect()),
        Occurrences::One if !several => Ok(matches.hits.iter().collect()),
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
    lines.extend(matches.overlapping_line);
    lines.sort_unstable();
    let shown: Vec<String> = lines.iter().take(20).map(ToString::to_string).collect();
    let more = if lines.len() > 20 { ", …" } else { "" };
    let way_out = match hint {
        _ if name == "old_string" => "set replace_all".to_owned(),
        None => "give lineHint".to_owned(),
        Some(line) => format!("give another lineHint: two of them are equally near to line {line}"),
    };
    ToolError::new(
        ErrorKind::EditTargetAmbiguous,
        format!(
            "{name} occurs {} times (lines {}{more}); add context or {way_out}",
            lines.len(),
            shown.join(", ")
        ),
    )
}

fn not_found(text: &str, target: &str, name: &str) -> ToolError {
    let Some(region) = nearest_region(text, target) else {
        return ToolError::new(
            ErrorKind::EditTargetNotFound,
            format!("{name} is not in the file, and nothing in it is close; read the file again"),
        );
    };
    let nearest: String = text
        .split_inclusive('\n')
        .skip(region.first_line.saturating_sub(1))
        .take(region.last_line + 1 - region.first_line)
        .collect();
    let limits = DiffLimits { max_lines: 60, max_bytes: 4_000, ..DiffLimits::default() };
    let diff = unified_diff(target, &nearest, name, &limits);
    ToolError::new(
        ErrorKind::EditTargetNotFound,
        format!(
            "{name} is not in the file; nearest are lines {}-{}, which differ so (- {name}, + file):\n{}",
            region.first_line, region.last_line, diff.text
        ),
    )
}

/// What a model should know after an edit: that the file was not what it had read, and that the file's
/// encoding, which was a guess, may be guessed differently from now on.
pub(super) fn remark(current: &Current, before: &TextFile, bytes: &[u8]) -> Option<String> {
    let mut remarks = Vec::new();
    if !before.keeps_its_encoding(bytes) {
        remarks.push(format!(
            "the file was written as {}, but without a byte order mark its bytes now look like another encoding and may be shown as that",
            before.encoding().label()
        ));
    }
    if current.seen == Seen::Otherwise {
        let drift = current.drift(before.text());
        remarks.push(format!("the file had changed since it was read{drift}"));
    }
    (!remarks.is_empty()).then(|| remarks.join("; "))
}

/// Adds to a refusal that the file is not what the model had read, which may be why.
pub(super) fn explain_drift(error: ToolError, current: &Current, now: &TextFile) -> ToolError {
    if current.seen != Seen::Otherwise {
        return error;
    }
    let drift = current.drift(now.text());
    ToolError::new(
        error.kind,
        format!("{}\n`{}` had changed since it was read{drift}", error.message, current.path),
    )
}

/// A notebook edited as text soon is none.
pub(super) fn refuse_notebook(place: &WorkspacePath) -> Result<(), ToolError> {
    if !place.absolute().extension().is_some_and(|it| it.eq_ignore_ascii_case("ipynb")) {
        return Ok(());
    }
    let path = shown_path(place.absolute());
    let message = format!("`{path}` is a notebook; change its cells with NotebookEdit");
    Err(ToolError::new(ErrorKind::FileEdit, message))
}

/// The text of a file that a model wants to change: it has to have been read.
pub(super) fn text_to_edit(current: &Current) -> Result<TextFile, ToolError> {
    let path = &current.path;
    let Some(bytes) = &current.bytes else {
        return Err(ToolError::new(ErrorKind::FileNotFound, format!("no file at `{path}`")));
    };
    if current.seen == Seen::Never {
        return Err(ToolError::new(
            ErrorKind::NotRead,
            format!("`{path}` has not been read in this session; read it first"),
        ));
    }
    Ok(TextFile::from_bytes(bytes.clone())?)
}
