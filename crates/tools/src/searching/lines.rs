//! Builds the answer of a search in the content of files, as text and as structured data.

use toolwright_core::{Content, ToolOutput};
use toolwright_search::{FileRows, Found, Row, RowKind, RowText, SearchAnswer, Shape, WouldMatch};

use super::{
    MAX_BYTES, MAX_OFFSET, PlannedSearch,
    data::{
        CountData, FileLinesData, FoundData, LineData, SearchData, SkippedData, WouldMatchData,
        not_indexed_reason,
    },
    shown::{Paths, amount, notices_in_words, partly_note},
};

/// How a tool formats rows, and what its notes advise.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LineStyle {
    /// The quotation mark around a pattern in the description of a call.
    pub(crate) quote: char,
    /// Whether rows have line numbers.
    pub(crate) numbers: bool,
    /// The text between the line number and a matching line.
    pub(crate) before_text: &'static str,
    /// Where the path of a file is shown.
    pub(crate) headings: Headings,
    /// The parameter that shows the rest.
    pub(crate) next: ContinuationParameter,
    /// How to search files that were left out.
    pub(crate) widen: &'static str,
    /// How to see a line that is too long to be shown. Empty if there is no way.
    pub(crate) shorten: &'static str,
    /// What to do instead of matching across lines.
    pub(crate) over_lines: &'static str,
}

/// Where the path of a file with matching lines is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Headings {
    /// On each line, so that a line makes sense without the others.
    Never,
    /// Above the lines of the file if the answer has more than [`FLAT_ROWS`] rows and gets shorter that way;
    /// otherwise on each line.
    WhenShorter,
    /// Above the lines of the file.
    Always,
}

/// An answer with at most this many rows always has the path on each row.
const FLAT_ROWS: usize = 20;

/// The parameter with which a call shows what an answer left out.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ContinuationParameter {
    /// The name of a parameter that skips the rows that were shown.
    Offset(&'static str),
    /// The name of a parameter that raises the number of rows.
    Limit(&'static str),
}

impl ContinuationParameter {
    fn advice(self, last: usize) -> String {
        match (self, self.offset(last)) {
            (Self::Offset(name), Some(offset)) => format!("continue with {name} {offset}"),
            (Self::Offset(_), None) => "narrow the search to see more".to_owned(),
            (Self::Limit(name), _) => format!("raise {name} or narrow the search"),
        }
    }

    /// The offset that continues after a row, unless it is larger than a call may give.
    fn offset(self, last: usize) -> Option<usize> {
        let may_be = last as u64 <= MAX_OFFSET;
        matches!(self, Self::Offset(_)).then_some(last).filter(|_| may_be)
    }
}

/// The answer for a pattern that cannot match, which is not searched for.
pub(super) fn present_nothing(plan: &PlannedSearch, why: &str) -> ToolOutput<SearchData> {
    let data = SearchData {
        found: match plan.shape {
            Shape::Files => FoundData::Files { files: Vec::new() },
            Shape::Counts => FoundData::Counts { counts: Vec::new() },
            Shape::Lines { .. } => FoundData::Lines { files: Vec::new() },
        },
        root: None,
        total_files: Some(0),
        total_matches: (plan.shape != Shape::Files).then_some(0),
        next_offset: None,
        complete: true,
        skipped: None,
        would_match: None,
        note: Some(why.to_owned()),
        not_indexed: None,
    };
    let text = format!("[no matches: {why}]");
    ToolOutput::text(text).with_data(data).with_display("Found no matches")
}

/// The answer for a search that was made.
pub(super) fn present_answer(
    answer: &SearchAnswer,
    plan: &PlannedSearch,
    paths: &Paths,
) -> ToolOutput<SearchData> {
    let mut view = View { rows: Vec::new(), bytes: 0, cut: false };
    let mut grouped = None;
    let found = match &answer.found {
        Found::Files(files) => {
            let shown: Vec<String> = files.iter().map(|it| paths.shown(it)).collect();
            FoundData::Files { files: view.take(shown, String::clone) }
        }
        Found::Counts(counts) => {
            let shown: Vec<CountData> = counts
                .iter()
                .map(|(path, count)| CountData { file: paths.shown(path), count: *count })
                .collect();
            let row = |it: &CountData| format!("{}:{}", it.file, it.count);
            FoundData::Counts { counts: view.take(shown, row) }
        }
        Found::Lines(files) => {
            let names_files = !plan.start.absolute().is_file();
            let mut shown = Vec::with_capacity(files.len());
            for file in files {
                let prefix = if names_files { paths.shown(&file.path) } else { String::new() };
                view.rows.extend(file.rows.iter().map(|row| plan.style.row(&prefix, row)));
                let path = paths.in_data(&file.path);
                shown.push(FileLinesData { file: path, lines: LineData::all(file) });
            }
            if names_files {
                grouped = plan.style.grouped(files, &view.rows, paths);
            }
            FoundData::Lines { files: shown }
        }
    };
    let more = answer.more || view.cut;
    let skipped = &answer.skipped;
    let mut notes = Vec::new();
    let mut next_offset = None;
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
        let next = plan.style.next.advice(last);
        notes.push(format!("{what}s {first}-{last}{total} are shown; {next}"));
        next_offset = plan.style.next.offset(last);
    }
    if let (Shape::Counts, Some(totals)) = (plan.shape, answer.totals)
        && totals.files > 0
    {
        let (matches, files) = (amount(totals.matches, "match"), amount(totals.files, "file"));
        notes.push(format!("{matches} in {files}"));
    }
    notes.extend(partly_note(skipped, paths));
    notes.extend(notices_in_words(&skipped.notices, paths));
    notes.extend(paths.root_note());
    // The number of matches in a file that was searched in part is unknown.
    let counts_matches = plan.shape != Shape::Files && skipped.partly == 0;
    let data = SearchData {
        found,
        root: Some(paths.root_in_data()),
        total_files: answer.totals.map(|it| it.files),
        total_matches: answer.totals.filter(|_| counts_matches).map(|it| it.matches),
        next_offset,
        complete: !more && skipped.notices.unreadable == 0 && skipped.partly == 0,
        skipped: SkippedData::of(skipped, paths),
        would_match: WouldMatchData::of(&answer.would_match, paths),
        note: (shown == 0).then(|| notes.join("; ")),
        not_indexed: not_indexed_reason(answer.why_cold.as_ref()),
    };

    let display = display(answer, shown, more);
    let mut content = Vec::new();
    if shown > 0 {
        content.push(Content::text(grouped.unwrap_or_else(|| view.rows.join("\n"))));
    }
    if !notes.is_empty() {
        content.push(Content::text(format!("[{}]", notes.join("; "))));
    }
    ToolOutput { content, structured: Some(data), ..ToolOutput::default() }.with_display(display)
}

/// Collects rows until the answer has as many bytes as it may have.
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
    /// The rows of each file below its path, if the style asks for that.
    fn grouped(self, files: &[FileRows], flat: &[String], paths: &Paths) -> Option<String> {
        let is_wanted = match self.headings {
            Headings::Never => false,
            // Without line numbers, a line could be mistaken for a path.
            Headings::WhenShorter => flat.len() > FLAT_ROWS && self.numbers,
            Headings::Always => true,
        };
        if !is_wanted {
            return None;
        }
        let groups: Vec<String> = files
            .iter()
            .map(|file| {
                // An empty line separates files, so the `--` before a file is not needed.
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

/// Says why there are no rows.
fn nothing_shown(answer: &SearchAnswer, plan: &PlannedSearch, paths: &Paths) -> String {
    if plan.offset > 0 && answer.totals.is_some_and(|it| it.files > 0) {
        return format!("no more results after offset {}", plan.offset);
    }
    let mut text = "no matches".to_owned();
    if plan.start.absolute().is_file() && !plan.selection.takes_file(&plan.start) {
        text +=
            &format!("; `{}` does not match the file pattern", paths.shown(plan.start.absolute()));
    }
    let WouldMatch { left_out, binary, gave_up } = &answer.would_match;
    if !left_out.is_empty() {
        let names = paths.named(left_out);
        text += &format!("; ignored or hidden files match: {names}; {}", plan.style.widen);
    }
    if !binary.is_empty() {
        let names = paths.named(binary);
        text += &format!("; binary files match: {names}; pass one as path to search it as text");
    } else if answer.skipped.binary > 0 {
        text += &format!("; {} skipped", amount(answer.skipped.binary, "binary file"));
    }
    if *gave_up {
        text +=
            "; not all ignored, hidden and binary files were checked; pass a path to search there";
    }
    text
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
