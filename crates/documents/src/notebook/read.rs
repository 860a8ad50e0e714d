//! Parses the text of an `.ipynb` file into cells and their outputs.

use std::{borrow::Cow, iter::Peekable, ops::ControlFlow, str::Chars};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use toolwright_base::shortened;

use super::{
    Cell, CellKind, CellOutput, MAX_IMAGE_BASE64, MAX_IMAGES, MAX_OUTPUT_CHARS, MAX_RENDERED_BYTES,
    Notebook, NotebookError, SHOWN_ID,
    json_scan::{checked, decoded, each_item, field, string_beginning},
};

/// How many bytes of one text are decoded. Far fewer bytes are shown.
const MAX_TEXT: usize = 1024 * 1024;
/// Characters reserved for the note that a text was cut.
const NOTE_CHARS: usize = 100;
/// The fewest bytes that a part of a cell takes when it is rendered.
const SMALLEST_PART: usize = 16;

/// In order of preference: small text in a plot is most legible in a lossless image.
const IMAGE_TYPES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// Parses the text of an `.ipynb` file. Cells beyond the size limit of a rendering are only
/// counted.
///
/// # Errors
/// Says where the JSON is wrong, or which part of a notebook is missing.
pub(crate) fn read_notebook(text: &str) -> Result<Notebook, NotebookError> {
    let root = NotebookRoot::of(text)?;
    let mut reader = CellReader { room: 2 * MAX_RENDERED_BYTES, images: 0 };
    let mut cells = Vec::new();
    let mut total_cells = 0;
    let mut wrong = None;
    each_item(root.cells, &mut |cell| {
        match reader.cell(total_cells, cell) {
            Ok(cell) if reader.has_room() || total_cells == 0 => cells.push(cell),
            // This cell is beyond the size limit of a rendering.
            Ok(_) => {}
            Err(error) => {
                wrong = Some(error);
                return ControlFlow::Break(());
            }
        }
        total_cells += 1;
        ControlFlow::Continue(())
    });
    match wrong {
        Some(error) => Err(error),
        None => Ok(Notebook { language: root.language, cells, total_cells }),
    }
}

/// The top level of a notebook.
pub(super) struct NotebookRoot<'a> {
    /// The whole notebook.
    pub(super) object: &'a str,
    /// The array of cells.
    pub(super) cells: &'a str,
    pub(super) language: String,
}

impl<'a> NotebookRoot<'a> {
    pub(super) fn of(text: &'a str) -> Result<Self, NotebookError> {
        let object = checked(text.strip_prefix('\u{feff}').unwrap_or(text))?;
        let wrong = |what: &str| NotebookError::NotANotebook(what.to_owned());
        let version = field(object, "nbformat").and_then(|it| it.parse::<i64>().ok());
        if let Some(version) = version.filter(|version| *version < 4) {
            return Err(NotebookError::OldVersion(version));
        }
        if field(object, "worksheets").is_some() {
            return Err(NotebookError::OldVersion(3));
        }
        let cells = field(object, "cells").ok_or_else(|| wrong("it has no `cells`"))?;
        if !cells.starts_with('[') {
            return Err(wrong("its `cells` is not an array"));
        }
        let metadata = field(object, "metadata").unwrap_or_default();
        let language = [("language_info", "name"), ("kernelspec", "language")]
            .into_iter()
            .find_map(|(part, name)| {
                string_beginning(field(field(metadata, part)?, name)?, MAX_TEXT)
            })
            .map_or_else(|| "python".to_owned(), Cow::into_owned);
        Ok(Self { object, cells, language })
    }
}

/// The id of a cell, or `cell-N` with its position if it has none.
pub(super) fn id_of(index: usize, cell: &str) -> Cow<'_, str> {
    let own = field(cell, "id").and_then(decoded).filter(|it| !it.is_empty());
    own.unwrap_or_else(|| Cow::Owned(format!("cell-{index}")))
}

/// The kind of a cell, decoded: `"c\u006fde"` is code, too.
pub(super) fn kind_of(cell: &str) -> Option<Cow<'_, str>> {
    field(cell, "cell_type").and_then(|it| string_beginning(it, MAX_TEXT))
}

/// Parses cells until the size limit of a rendering is reached.
struct CellReader {
    /// How many more bytes of text could be rendered.
    room: usize,
    images: usize,
}

impl CellReader {
    fn has_room(&self) -> bool {
        self.room > 0
    }

    fn spend(&mut self, text: &str) {
        // Every part is rendered between tags.
        self.room = self.room.saturating_sub(text.len() + SMALLEST_PART);
    }

    fn cell(&mut self, index: usize, cell: &str) -> Result<Cell, NotebookError> {
        let wrong = |what: &str| NotebookError::NotANotebook(format!("cell `{index}` {what}"));
        if !cell.starts_with('{') {
            return Err(wrong("is not an object"));
        }
        let kind = match kind_of(cell).as_deref() {
            Some("code") => CellKind::Code,
            Some("markdown") => CellKind::Markdown,
            Some("raw") => CellKind::Raw,
            Some(other) => {
                return Err(wrong(&format!(
                    "has the unknown type `{}`",
                    shortened(other, SHOWN_ID)
                )));
            }
            None => return Err(wrong("has no `cell_type`")),
        };
        let source =
            field(cell, "source").map_or(Some(Joined::default()), |it| joined(it, MAX_TEXT));
        let source = source.ok_or_else(|| wrong("has a `source` that is not text"))?.text;
        self.spend(&source);
        let mut outputs = Vec::new();
        let mut skipped_outputs = 0;
        each_item(field(cell, "outputs").unwrap_or_default(), &mut |output| {
            let read = self.output(output);
            skipped_outputs += usize::from(read.is_empty());
            if self.has_room() {
                outputs.extend(read);
            }
            ControlFlow::Continue(())
        });
        let execution_count = field(cell, "execution_count").and_then(|it| it.parse().ok());
        let id = field(cell, "id").and_then(|it| string_beginning(it, MAX_TEXT));
        let id = id.filter(|id| !id.is_empty());
        let id = id.map_or_else(|| format!("cell-{index}"), Cow::into_owned);
        Ok(Cell { id, kind, execution_count, source, outputs, skipped_outputs })
    }

    /// The texts and images of one output. Empty if its type is unknown or it cannot be shown.
    fn output(&mut self, output: &str) -> Vec<CellOutput> {
        let kind = field(output, "output_type").and_then(|it| string_beginning(it, MAX_TEXT));
        let text = |name: &str| {
            let found = field(output, name).and_then(|it| joined(it, MAX_TEXT));
            found.unwrap_or_default().without_escapes()
        };
        match kind.as_deref() {
            Some("stream") => vec![self.text(text("text"))],
            Some("error") => {
                let (name, value) = (text("ename"), text("evalue"));
                let lines = field(output, "traceback").unwrap_or_default();
                let traceback = joined_lines(lines, MAX_TEXT).without_escapes();
                self.spend(&traceback);
                vec![CellOutput::Error { name, value, traceback }]
            }
            Some("display_data" | "execute_result" | "update_display_data") => {
                field(output, "data").map(|it| self.data(it)).unwrap_or_default()
            }
            _ => Vec::new(),
        }
    }

    fn text(&mut self, text: String) -> CellOutput {
        self.spend(&text);
        CellOutput::Text(text)
    }

    fn data(&mut self, data: &str) -> Vec<CellOutput> {
        if !data.starts_with('{') {
            return Vec::new();
        }
        let image = IMAGE_TYPES
            .into_iter()
            .find_map(|mime| Some((mime, joined(field(data, mime)?, 2 * MAX_IMAGE_BASE64)?)));
        let mut outputs = Vec::new();
        match image.map(|(mime, encoded)| (mime, checked_base64(&encoded))) {
            // Further images are counted, not shown.
            Some((mime, Ok(_))) if self.images >= MAX_IMAGES => {
                outputs.push(CellOutput::Image { mime, base64: String::new() });
            }
            Some((mime, Ok(base64))) => {
                self.images += 1;
                outputs.push(CellOutput::Image { mime, base64 });
            }
            Some((mime, Err(problem))) => {
                outputs.push(self.text(format!("[{mime} left out: {problem}]")));
            }
            None => {}
        }
        if let Some(text) = field(data, "text/plain").and_then(|it| joined(it, MAX_TEXT)) {
            outputs.push(self.text(text.without_escapes()));
        }
        outputs
    }
}

/// The base64 text without line breaks, or what is wrong with it.
fn checked_base64(encoded: &Joined) -> Result<String, String> {
    if encoded.is_cut {
        return Err(format!("more than {MAX_IMAGE_BASE64} base64 characters"));
    }
    let compact: String = encoded.text.split_ascii_whitespace().collect();
    if compact.len() > MAX_IMAGE_BASE64 {
        return Err(format!("{} base64 characters, more than {MAX_IMAGE_BASE64}", compact.len()));
    }
    match STANDARD.decode(&compact) {
        Ok(bytes) if !bytes.is_empty() => Ok(compact),
        Ok(_) => Err("it is empty".to_owned()),
        Err(_) => Err("it is not valid base64".to_owned()),
    }
}

/// A text of a notebook, or the beginning of a long text.
#[derive(Default)]
struct Joined {
    text: String,
    is_cut: bool,
}

impl Joined {
    fn push(&mut self, literal: &str, limit: usize) -> Option<()> {
        let room = limit.saturating_sub(self.text.len());
        if room == 0 {
            self.is_cut = true;
            return literal.starts_with('"').then_some(());
        }
        self.text.push_str(&string_beginning(literal, room)?);
        self.is_cut |= literal.len() > room;
        Some(())
    }

    /// The text as a terminal would show it. A long text is cut, with a note.
    fn without_escapes(&self) -> String {
        let plain = without_escapes(&self.text);
        if !self.is_cut {
            return plain;
        }
        let shown: String = plain.chars().take(MAX_OUTPUT_CHARS - NOTE_CHARS).collect();
        format!("{shown}\n[cut: the text has more than {MAX_TEXT} bytes]")
    }
}

/// A text of a notebook is written as a string, or as an array of strings to be joined.
fn joined(value: &str, limit: usize) -> Option<Joined> {
    let mut joined = Joined::default();
    if !value.starts_with('[') {
        return joined.push(value, limit).map(|()| joined);
    }
    let mut is_text = true;
    each_item(value, &mut |part| {
        is_text = joined.push(part, limit).is_some();
        if is_text { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    is_text.then_some(joined)
}

/// The strings of an array, one per line. Other items are left out.
fn joined_lines(array: &str, limit: usize) -> Joined {
    let mut joined = Joined::default();
    let mut is_first = true;
    each_item(array, &mut |line| {
        if line.starts_with('"') {
            if !std::mem::take(&mut is_first) && joined.text.len() < limit {
                joined.text.push('\n');
            }
            let _is_text = joined.push(line, limit);
        }
        ControlFlow::Continue(())
    });
    joined
}

/// Removes terminal escapes and text that a carriage return overwrote, so that a progress bar is
/// shown once.
fn without_escapes(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    let mut line_start = 0;
    while let Some(character) = characters.next() {
        match character {
            '\x1b' => skip_escape(&mut characters),
            '\u{9b}' => skip_control_sequence(&mut characters),
            '\r' if characters.peek().is_some_and(|next| !matches!(next, '\r' | '\n')) => {
                plain.truncate(line_start);
            }
            '\r' => {}
            '\n' => {
                plain.push('\n');
                line_start = plain.len();
            }
            '\x08' if plain.len() > line_start => {
                plain.pop();
            }
            '\t' => plain.push('\t'),
            other if other.is_control() => {}
            other => plain.push(other),
        }
    }
    plain
}

fn skip_escape(characters: &mut Peekable<Chars<'_>>) {
    match characters.next() {
        Some('[') => skip_control_sequence(characters),
        // Titles, links and other strings end with a bell or with an escape and a backslash.
        Some(']' | 'P' | 'X' | '^' | '_') => {
            while let Some(character) = characters.next() {
                if character == '\x07'
                    || (character == '\x1b' && characters.next_if_eq(&'\\').is_some())
                {
                    break;
                }
            }
        }
        Some(' '..='/') => {
            characters.next();
        }
        _ => {}
    }
}

fn skip_control_sequence(characters: &mut Peekable<Chars<'_>>) {
    while characters.next_if(|character| matches!(character, ' '..='?')).is_some() {}
    characters.next_if(|character| matches!(character, '@'..='~'));
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;
    use crate::notebook::test_cells::{PIXEL, code, notebook};

    #[test]
    fn reads_every_kind_of_cell_and_output() {
        let read = notebook(&json!([
            { "cell_type": "markdown", "source": ["# Title\n", "text"] },
            code("plot()", &json!([
                { "output_type": "stream", "name": "stdout", "text": ["one\n", "two\n"] },
                { "output_type": "display_data", "data": {
                    "image/jpeg": "AAAA", "image/png": [&PIXEL[..20], "\n", &PIXEL[20..]], "text/plain": ["<Figure>"] } },
                { "output_type": "execute_result", "execution_count": 7, "data": { "text/plain": "42" } },
                { "output_type": "error", "ename": "ValueError", "evalue": "bad",
                  "traceback": ["\u{1b}[0;31mValueError\u{1b}[0m", "bad"] },
                { "output_type": "hologram" },
                { "output_type": "display_data", "data": { "application/x-widget": {} } },
            ])),
            { "cell_type": "raw", "source": "raw" },
        ]));
        let empty = |id: &str, kind, source: &str| Cell {
            id: id.to_owned(),
            kind,
            execution_count: None,
            source: source.to_owned(),
            outputs: vec![],
            skipped_outputs: 0,
        };
        let expected = Notebook {
            language: "julia".to_owned(),
            total_cells: 3,
            cells: vec![
                empty("cell-0", CellKind::Markdown, "# Title\ntext"),
                Cell {
                    id: "a1".to_owned(),
                    kind: CellKind::Code,
                    execution_count: Some(7),
                    source: "plot()".to_owned(),
                    outputs: vec![
                        CellOutput::Text("one\ntwo\n".to_owned()),
                        CellOutput::Image { mime: "image/png", base64: PIXEL.to_owned() },
                        CellOutput::Text("<Figure>".to_owned()),
                        CellOutput::Text("42".to_owned()),
                        CellOutput::Error {
                            name: "ValueError".to_owned(),
                            value: "bad".to_owned(),
                            traceback: "ValueError\nbad".to_owned(),
                        },
                    ],
                    skipped_outputs: 2,
                },
                empty("cell-2", CellKind::Raw, "raw"),
            ],
        };
        assert_eq!(read, expected);
    }

    #[test]
    fn leaves_out_images_that_are_not_base64_or_too_large() {
        let large = "A".repeat(MAX_IMAGE_BASE64 + 4);
        for (image, note) in [
            ("not base64!", "[image/png left out: it is not valid base64]"),
            ("", "[image/png left out: it is empty]"),
            (&large, "[image/png left out: 5242884 base64 characters, more than 5242880]"),
        ] {
            let read = notebook(&json!([code(
                "",
                &json!([
                    { "output_type": "display_data", "data": { "image/png": image } }
                ])
            )]));
            assert_eq!(read.cells[0].outputs, vec![CellOutput::Text(note.to_owned())]);
        }
    }

    #[test]
    fn removes_terminal_escapes_and_overwritten_progress() {
        for (raw, plain) in [
            ("\u{1b}[1;31mred\u{1b}[0m", "red"),
            ("\u{1b}]8;;http://x\u{7}link\u{1b}]8;;\u{1b}\\!", "link!"),
            ("10%\r50%\r100%\r\ndone\r", "100%\ndone"),
            ("ab\u{8}c\u{0}\u{1b}(Bd\te", "acd\te"),
            ("cut \u{1b}[", "cut "),
            ("cut \u{1b}", "cut "),
        ] {
            assert_eq!(without_escapes(raw), plain);
        }
    }

    #[test]
    fn says_why_a_text_is_not_a_notebook() {
        for (text, message) in [
            (
                "{\n  \"cells\": [,",
                "the notebook is not valid JSON: expected value at line 2 column 13; read the file as plain text to repair it",
            ),
            ("[]", "the file is not a notebook: it has no `cells`; read it as plain text"),
            (
                r#"{"cells": {}}"#,
                "the file is not a notebook: its `cells` is not an array; read it as plain text",
            ),
            (
                r#"{"cells": [{"cell_type": "video"}]}"#,
                "the file is not a notebook: cell `0` has the unknown type `video`; read it as plain text",
            ),
            (
                r#"{"cells": [{"cell_type": "code", "source": 5}]}"#,
                "the file is not a notebook: cell `0` has a `source` that is not text; read it as plain text",
            ),
            (
                r#"{"nbformat": 3, "worksheets": []}"#,
                "the notebook is in nbformat `3`, which is not supported; convert it with `jupyter nbconvert --to notebook`",
            ),
            (
                r#"{"nbformat": 2, "cells": []}"#,
                "the notebook is in nbformat `2`, which is not supported; convert it with `jupyter nbconvert --to notebook`",
            ),
        ] {
            assert_eq!(read_notebook(text).unwrap_err().to_string(), message);
        }
    }

    #[test]
    fn refuses_nesting_that_would_exhaust_the_stack() {
        let text = format!("{{\"cells\": {}", "[".repeat(200_000));
        let error = read_notebook(&text).unwrap_err().to_string();
        assert!(error.contains("recursion limit exceeded at line 1"), "{error}");
    }
}
