//! Shows the answer of a search, as text and as data.

use serde_json::{Map, Value, json};

use super::{
    MAX_BYTES, MAX_OFFSET, PlannedSearch,
    shown::{Paths, amount, notices_data, notices_in_words, partly_data, partly_note},
};
use crate::{
    tool::{Content, ToolOutput},
    workspace::search::{FileRows, Found, Row, RowKind, RowText, SearchAnswer, Shape, WouldMatch},
};

/// How a tool writes rows, and names the parameters that continue or widen a search.
#[derive(Clone, Copy, Debug)]
pub(in crate::tools) struct LineStyle {
    /// Whether rows bear their line number.
    pub(in crate::tools) numbers: bool,
    /// What stands between the number and a matching line.
    pub(in crate::tools) before_text: &'static str,
    /// Where a file's path stands.
    pub(in crate::tools) headings: Headings,
    /// How the rest is asked for.
    pub(in crate::tools) next: Next,
    /// What to do about files that are left out.
    pub(in crate::tools) widen: &'static str,
    /// What to do about a line that is too long to be shown; empty when nothing helps.
    pub(in crate::tools) shorten: &'static str,
    /// What to do about a pattern with a line end in it.
    pub(in crate::tools) over_lines: &'static str,
}

/// Where the path of a file stands that has lines in an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::tools) enum Headings {
    /// On each line: the line is found again wherever it ends up.
    Never,
    /// Above the file's lines, where the answer has more than [`FLAT_ROWS`] and is shorter for it.
    WhenShorter,
    /// Above the file's lines.
    Always,
}

/// How many rows bear their path whatever that costs.
const FLAT_ROWS: usize = 20;

/// The way to what an answer does not show.
#[derive(Clone, Copy, Debug)]
pub(in crate::tools) enum Next {
    /// A parameter that passes over what was shown.
    Offset(&'static str),
    /// A parameter that lets an answer show more.
    Limit(&'static str),
}

impl Next {
    fn words(self, last: usize) -> String {
        match (self, self.offset(last)) {
            (Self::Offset(name), Some(offset)) => format!("continue with {name} {offset}"),
            (Self::Offset(_), None) => "narrow the search to see others".to_owned(),
            (Self::Limit(name), _) => format!("raise {name} or narrow the search"),
        }
    }

    /// The offset that continues behind a row, where one may be given.
    fn offset(self, last: usize) -> Option<usize> {
        let may_be = last as u64 <= MAX_OFFSET;
        matches!(self, Self::Offset(_)).then_some(last).filter(|_| may_be)
    }
}

/// An answer without a search.
pub(super) fn present_nothing(plan: &PlannedSearch, why: &str) -> ToolOutput {
    let rows = if plan.shape == Shape::Counts { "counts" } else { "files" };
    let mut data = json!({ "mode": mode(plan.shape), rows: [], "totalFiles": 0 });
    if let Some(data) = data.as_object_mut() {
        if plan.shape != Shape::Files {
            data.insert("totalMatches".to_owned(), json!(0));
        }
        data.insert("complete".to_owned(), json!(true));
        data.insert("note".to_owned(), json!(why));
    }
    let mut output = ToolOutput::text(format!("[no matches: {why}]"));
    output.structured = Some(data);
    output.with_display("Found no matches")
}

/// Shows an answer.
pub(super) fn present_answer(
    answer: &SearchAnswer,
    plan: &PlannedSearch,
    paths: &Paths,
) -> ToolOutput {
    let mut view = View { rows: Vec::new(), bytes: 0, cut: false };
    let mut grouped = None;
    let mut data = Map::new();
    data.insert("mode".to_owned(), json!(mode(plan.shape)));
    data.insert("root".to_owned(), paths.root_in_data());
    match &answer.found {
        Found::Files(files) => {
            let shown: Vec<String> = files.iter().map(|it| paths.shown(it)).collect();
            let shown = view.take(shown, String::clone);
            data.insert("files".to_owned(), json!(shown));
        }
        Found::Counts(counts) => {
            let shown: Vec<(String, u64)> =
                counts.iter().map(|(path, count)| (paths.shown(path), *count)).collect();
            let shown = view.take(shown, |(path, count)| format!("{path}:{count}"));
            let shown: Vec<Value> = shown
                .into_iter()
                .map(|(file, count)| json!({ "file": file, "count": count }))
                .collect();
            data.insert("counts".to_owned(), Value::Array(shown));
        }
        Found::Lines(files) => {
            let names_files = !plan.start.absolute().is_file();
            let mut shown = Vec::with_capacity(files.len());
            for file in files {
                let prefix = if names_files { paths.shown(&file.path) } else { String::new() };
                view.rows.extend(file.rows.iter().map(|row| plan.style.row(&prefix, row)));
                let path = paths.in_data(&file.path);
                shown.push(json!({ "file": path, "lines": lines_data(file) }));
            }
            data.insert("files".to_owned(), Value::Array(shown));
            if names_files {
                grouped = plan.style.grouped(files, &view.rows, paths);
            }
        }
    }
    let more = answer.more || view.cut;
    let skipped = &answer.skipped;
    if let Some(totals) = answer.totals {
        data.insert("totalFiles".to_owned(), json!(totals.files));
        // Of a file that was searched in part, nobody knows the rest of its matches.
        if plan.shape != Shape::Files && skipped.partly == 0 {
            data.insert("totalMatches".to_owned(), json!(totals.matches));
        }
    }
    let mut notes = Vec::new();
    let shown = view.rows.len();
    if shown == 0 {
        notes.push(nothing_shown(answer, plan, paths));
    } else if more {
        let what = match plan.shape {
            Shape::Files | Shape::Counts => "file",
            Shape::Lines { .. } => "line",
        };
        let total = match (plan.shape, answer.totals) {
            (Shape::Files | Shape::Counts, Some(totals)) => format!(" of {}", totals.files),
            _ => String::new(),
        };
        let (first, last) = (plan.offset + 1, plan.offset + shown);
        let next = plan.style.next.words(last);
        notes.push(format!("{what}s {first}-{last}{total} are shown; {next}"));
        if let Some(offset) = plan.style.next.offset(last) {
            data.insert("nextOffset".to_owned(), json!(offset));
        }
    }
    if let (Shape::Counts, Some(totals)) = (plan.shape, answer.totals)
        && totals.files > 0
    {
        let (matches, files) = (amount(totals.matches, "match"), amount(totals.files, "file"));
        notes.push(format!("{matches} in {files}"));
    }
    let complete = !more && skipped.notices.unreadable == 0 && skipped.partly == 0;
    data.insert("complete".to_owned(), json!(complete));
    notes.extend(partly_note(skipped, paths));
    notes.extend(notices_in_words(&skipped.notices, paths));
    notes.extend(paths.root_note());
    let mut skipped_data = notices_data(&skipped.notices, paths);
    if skipped.binary > 0 {
        skipped_data.insert("binary".to_owned(), json!(skipped.binary));
    }
    if skipped.partly > 0 {
        skipped_data.insert("partly".to_owned(), partly_data(skipped, paths));
    }
    if !skipped_data.is_empty() {
        data.insert("skipped".to_owned(), Value::Object(skipped_data));
    }
    would_match_data(&answer.would_match, paths, &mut data);
    if shown == 0 {
        data.insert("note".to_owned(), json!(notes.join("; ")));
    }

    let display = display(answer, shown, more);
    let mut content = Vec::new();
    if shown > 0 {
        content.push(Content::text(grouped.unwrap_or_else(|| view.rows.join("\n"))));
    }
    if !notes.is_empty() {
        content.push(Content::text(format!("[{}]", notes.join("; "))));
    }
    let output =
        ToolOutput { content, structured: Some(Value::Object(data)), ..ToolOutput::default() };
    output.with_display(display)
}

/// Rows within the bytes that an answer may have.
struct View {
    rows: Vec<String>,
    bytes: usize,
    cut: bool,
}

impl View {
    fn take<T>(&mut self, items: Vec<T>, row: impl Fn(&T) -> String) -> Vec<T> {
        let mut taken = Vec::with_capacity(items.len());
        for item in items {
            let row = row(&item);
            if self.bytes + row.len() >= MAX_BYTES {
                self.cut = true;
                break;
            }
            self.bytes += row.len() + 1;
            self.rows.push(row);
            taken.push(item);
        }
        taken
    }
}

impl LineStyle {
    /// The lines of each file below its path, where they are to stand there.
    fn grouped(self, files: &[FileRows], flat: &[String], paths: &Paths) -> Option<String> {
        let is_wanted = match self.headings {
            Headings::Never => false,
            // Without numbers a line could be taken for a path.
            Headings::WhenShorter => flat.len() > FLAT_ROWS && self.numbers,
            Headings::Always => true,
        };
        if !is_wanted {
            return None;
        }
        let groups: Vec<String> = files
            .iter()
            .map(|file| {
                // What parts one file from the next is the empty line.
                let rows = file.rows.iter().skip_while(|it| it.kind == RowKind::Gap);
                let rows = rows.map(|row| self.row("", row));
                let lines: Vec<String> =
                    std::iter::once(paths.shown(&file.path)).chain(rows).collect();
                lines.join("\n")
            })
            .collect();
        let grouped = groups.join("\n\n");
        let flat_bytes: usize = flat.iter().map(|it| it.len() + 1).sum();
        let is_shorter = grouped.len() < flat_bytes.saturating_sub(1);
        (self.headings == Headings::Always || is_shorter).then_some(grouped)
    }

    fn row(self, path: &str, row: &Row) -> String {
        let mark = match row.kind {
            RowKind::Gap => return "--".to_owned(),
            RowKind::Match => ':',
            RowKind::Context => '-',
        };
        let mut text = String::with_capacity(path.len() + 80);
        if !path.is_empty() {
            text.push_str(path);
            text.push(mark);
        }
        if let (true, Some(line)) = (self.numbers, row.line) {
            text.push_str(&format!("{line}{mark}{}", self.before_text));
        }
        match &row.text {
            RowText::Whole(whole) => text.push_str(whole),
            RowText::Long { chars } => {
                let next = if self.shorten.is_empty() { "" } else { "; " };
                let shorten = self.shorten;
                text.push_str(&format!("[{chars} characters, too long to show{next}{shorten}]"));
            }
        }
        text
    }
}

fn lines_data(file: &FileRows) -> Vec<Value> {
    file.rows
        .iter()
        .filter(|row| row.kind != RowKind::Gap)
        .map(|row| {
            let mut line = Map::new();
            line.insert("line".to_owned(), json!(row.line));
            match &row.text {
                RowText::Whole(text) => line.insert("text".to_owned(), json!(text)),
                RowText::Long { chars } => line.insert("characters".to_owned(), json!(chars)),
            };
            if row.kind == RowKind::Context {
                line.insert("context".to_owned(), json!(true));
            }
            Value::Object(line)
        })
        .collect()
}

fn mode(shape: Shape) -> &'static str {
    match shape {
        Shape::Files => "files_with_matches",
        Shape::Counts => "count",
        Shape::Lines { .. } => "content",
    }
}

/// Why there is nothing to see.
fn nothing_shown(answer: &SearchAnswer, plan: &PlannedSearch, paths: &Paths) -> String {
    if plan.offset > 0 && answer.totals.is_some_and(|it| it.files > 0) {
        return format!("nothing is left beyond offset {}", plan.offset);
    }
    let mut text = "no matches".to_owned();
    if plan.start.absolute().is_file() && !plan.selection.takes_file(&plan.start) {
        text += &format!(
            "; `{}` does not fit the pattern of files",
            paths.shown(plan.start.absolute())
        );
    }
    let WouldMatch { left_out, binary, gave_up } = &answer.would_match;
    if !left_out.is_empty() {
        let names = paths.named(left_out);
        text += &format!("; ignored or hidden files match: {names}; {}", plan.style.widen);
    }
    if !binary.is_empty() {
        let names = paths.named(binary);
        text += &format!("; binary files match: {names}; name one as path to search it as text");
    } else if answer.skipped.binary > 0 {
        text += &format!("; {} skipped", amount(answer.skipped.binary, "binary file"));
    }
    if *gave_up {
        text +=
            "; not all ignored, hidden or binary files were looked at; name a place to search it";
    }
    text
}

fn would_match_data(would_match: &WouldMatch, paths: &Paths, data: &mut Map<String, Value>) {
    let mut named = Map::new();
    for (key, files) in
        [("ignoredOrHidden", &would_match.left_out), ("binary", &would_match.binary)]
    {
        if !files.is_empty() {
            let files: Vec<String> = files.iter().map(|it| paths.in_data(it)).collect();
            named.insert(key.to_owned(), json!(files));
        }
    }
    if would_match.gave_up {
        named.insert("incomplete".to_owned(), json!(true));
    }
    if !named.is_empty() {
        data.insert("wouldMatch".to_owned(), Value::Object(named));
    }
}

fn display(answer: &SearchAnswer, shown: usize, more: bool) -> String {
    let count = shown as u64;
    let found = match &answer.found {
        Found::Files(_) | Found::Counts(_) => amount(count, "file"),
        Found::Lines(files) => {
            let matches = files.iter().flat_map(|it| &it.rows);
            amount(matches.filter(|it| it.kind == RowKind::Match).count() as u64, "match")
        }
    };
    format!("Found {found}{}", if more { ", and there are more" } else { "" })
}
