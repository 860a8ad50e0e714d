//! Reads Jupyter notebooks into cells and renders them as text and images for a model.
//!
//! It must never know about tools, policy, paths or edits: it takes the text of a `.ipynb` file
//! and gives back what a person would see, bounded and free of terminal escapes.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

/// The most characters of one output's text that are shown.
pub const MAX_OUTPUT_CHARS: usize = 10_000;
/// The most bytes of text that all cells together are shown with.
pub const MAX_RENDERED_BYTES: usize = 256 * 1024;
/// The most base64 characters an image may have: 5 MiB, what model providers accept.
pub const MAX_IMAGE_BASE64: usize = 5 * 1024 * 1024;
/// The most images one rendering holds.
pub const MAX_IMAGES: usize = 20;

/// Preferred first: a lossless picture shows a plot's small text best.
const IMAGE_TYPES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];
/// Kept free for closing tags and the note on what was left out.
const TAIL_BYTES: usize = 512;

/// A notebook as far as reading it goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Notebook {
    /// The language of the code cells, such as `python`.
    pub language: String,
    /// The cells in order.
    pub cells: Vec<Cell>,
}

/// One cell.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cell {
    /// The cell's own id, or `cell-N` by position from 0 where the file gives none.
    pub id: String,
    /// What the cell holds.
    pub kind: CellKind,
    /// The number Jupyter shows in `In [N]`, if the cell was run.
    pub execution_count: Option<i64>,
    /// The cell's text.
    pub source: String,
    /// What running the cell gave, for code cells.
    pub outputs: Vec<Output>,
    /// How many outputs are of a type that cannot be shown.
    pub skipped_outputs: usize,
}

/// What a cell holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CellKind {
    /// Code in the notebook's language.
    Code,
    /// Markdown text.
    Markdown,
    /// Text that Jupyter passes through unchanged.
    Raw,
}

impl CellKind {
    fn name(self) -> &'static str {
        match self {
            Self::Code => "code",
            Self::Markdown => "markdown",
            Self::Raw => "raw",
        }
    }
}

/// One thing that running a cell gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Output {
    /// Printed text or the text form of a value.
    Text(String),
    /// An exception.
    Error {
        /// The exception's class.
        name: String,
        /// The exception's message.
        value: String,
        /// The stack trace, without terminal escapes.
        traceback: String,
    },
    /// A picture.
    Image {
        /// The media type.
        mime: &'static str,
        /// The picture in base64, without line breaks.
        base64: String,
    },
}

/// A part of a rendered notebook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece {
    /// Text up to the next image.
    Text(String),
    /// A picture at its place between the texts.
    Image {
        /// The media type.
        mime: &'static str,
        /// The picture in base64.
        base64: String,
    },
}

/// Why a text is not a notebook that can be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotebookError {
    /// The text is not JSON.
    #[error("the notebook is not valid JSON: {0}; read the file as plain text to repair it")]
    Json(String),
    /// The JSON is something else than a notebook.
    #[error("the file is not a notebook: {0}; read it as plain text")]
    NotANotebook(String),
    /// The notebook is of a format version before 4.
    #[error(
        "the notebook is in nbformat `{0}`, which is not supported; convert it with `jupyter nbconvert --to notebook`"
    )]
    OldVersion(i64),
}

/// Parses the text of an `.ipynb` file.
///
/// # Errors
/// Says where the JSON is wrong, or which part of a notebook is missing.
pub fn read_notebook(text: &str) -> Result<Notebook, NotebookError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let root: Value =
        serde_json::from_str(text).map_err(|error| NotebookError::Json(error.to_string()))?;
    let version = root.get("nbformat").and_then(Value::as_i64);
    if let Some(version) = version.filter(|version| *version < 4) {
        return Err(NotebookError::OldVersion(version));
    }
    if root.get("worksheets").is_some() {
        return Err(NotebookError::OldVersion(3));
    }
    let Some(cells) = root.get("cells") else {
        return Err(NotebookError::NotANotebook("it has no `cells`".to_owned()));
    };
    let Some(cells) = cells.as_array() else {
        return Err(NotebookError::NotANotebook("its `cells` is not an array".to_owned()));
    };
    let cells = cells
        .iter()
        .enumerate()
        .map(|(index, cell)| read_cell(index, cell))
        .collect::<Result<_, _>>()?;
    let language = ["/metadata/language_info/name", "/metadata/kernelspec/language"]
        .into_iter()
        .find_map(|pointer| root.pointer(pointer)?.as_str())
        .unwrap_or("python")
        .to_owned();
    Ok(Notebook { language, cells })
}

fn read_cell(index: usize, cell: &Value) -> Result<Cell, NotebookError> {
    let wrong = |what: &str| NotebookError::NotANotebook(format!("cell `{index}` {what}"));
    let cell = cell.as_object().ok_or_else(|| wrong("is not an object"))?;
    let kind = match cell.get("cell_type").and_then(Value::as_str) {
        Some("code") => CellKind::Code,
        Some("markdown") => CellKind::Markdown,
        Some("raw") => CellKind::Raw,
        Some(other) => {
            return Err(wrong(&format!("has the unknown type `{}`", shortened(other))));
        }
        None => return Err(wrong("has no `cell_type`")),
    };
    let source = match cell.get("source") {
        None => String::new(),
        Some(source) => joined(source).ok_or_else(|| wrong("has a `source` that is not text"))?,
    };
    let id = cell.get("id").and_then(Value::as_str).filter(|id| !id.is_empty());
    let mut outputs = Vec::new();
    let mut skipped_outputs = 0;
    for output in cell.get("outputs").and_then(Value::as_array).into_iter().flatten() {
        let read = output.as_object().map(read_output).unwrap_or_default();
        skipped_outputs += usize::from(read.is_empty());
        outputs.extend(read);
    }
    Ok(Cell {
        id: id.map_or_else(|| format!("cell-{index}"), str::to_owned),
        kind,
        execution_count: cell.get("execution_count").and_then(Value::as_i64),
        source,
        outputs,
        skipped_outputs,
    })
}

/// What one output shows; nothing if its type is unknown or it has no form that can be shown.
fn read_output(output: &Map<String, Value>) -> Vec<Output> {
    let text = |key: &str| output.get(key).and_then(joined).unwrap_or_default();
    match output.get("output_type").and_then(Value::as_str) {
        Some("stream") => vec![Output::Text(without_escapes(&text("text")))],
        Some("error") => {
            let lines = output.get("traceback").and_then(Value::as_array).into_iter().flatten();
            let lines: Vec<&str> = lines.filter_map(Value::as_str).collect();
            vec![Output::Error {
                name: without_escapes(&text("ename")),
                value: without_escapes(&text("evalue")),
                traceback: without_escapes(&lines.join("\n")),
            }]
        }
        Some("display_data" | "execute_result" | "update_display_data") => {
            let data = output.get("data").and_then(Value::as_object);
            data.map(read_data).unwrap_or_default()
        }
        _ => Vec::new(),
    }
}

fn read_data(data: &Map<String, Value>) -> Vec<Output> {
    let image = IMAGE_TYPES.into_iter().find_map(|mime| Some((mime, joined(data.get(mime)?)?)));
    let mut outputs = Vec::new();
    match image.map(|(mime, encoded)| (mime, checked_base64(&encoded))) {
        Some((mime, Ok(base64))) => outputs.push(Output::Image { mime, base64 }),
        Some((mime, Err(problem))) => {
            outputs.push(Output::Text(format!("[{mime} left out: {problem}]")));
        }
        None => {}
    }
    if let Some(text) = data.get("text/plain").and_then(joined) {
        outputs.push(Output::Text(without_escapes(&text)));
    }
    outputs
}

/// The base64 text without its line breaks, or what is wrong with it.
fn checked_base64(encoded: &str) -> Result<String, String> {
    let compact: String = encoded.split_ascii_whitespace().collect();
    if compact.len() > MAX_IMAGE_BASE64 {
        return Err(format!("{} base64 characters, more than {MAX_IMAGE_BASE64}", compact.len()));
    }
    match STANDARD.decode(&compact) {
        Ok(bytes) if !bytes.is_empty() => Ok(compact),
        Ok(_) => Err("it is empty".to_owned()),
        Err(_) => Err("it is not valid base64".to_owned()),
    }
}

/// Notebook text is a string or an array of strings that belong together.
fn joined(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Array(parts) => parts.iter().map(Value::as_str).collect(),
        _ => None,
    }
}

/// Removes terminal escapes and what a carriage return overwrote, so a progress bar shows once.
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

fn skip_escape(characters: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    match characters.next() {
        Some('[') => skip_control_sequence(characters),
        // Titles, links and other strings run to a bell or an escape with a backslash.
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

fn skip_control_sequence(characters: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    while characters.next_if(|character| matches!(character, ' '..='?')).is_some() {}
    characters.next_if(|character| matches!(character, '@'..='~'));
}

/// Renders the cells as text with the images between, within [`MAX_RENDERED_BYTES`].
///
/// Each cell is `<cell id="…" type="…">source</cell>`, followed by `<output>`, `<error>` or
/// `<image>` for each output; a tag is numbered where the content holds its closing form.
#[must_use]
pub fn render_cells(notebook: &Notebook) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut budget = MAX_RENDERED_BYTES - TAIL_BYTES;
    let mut images = 0;
    for (index, cell) in notebook.cells.iter().enumerate() {
        let rendered = render_cell(cell, &notebook.language, &mut images);
        let size: usize = rendered.iter().map(text_size).sum();
        if size > budget {
            let reason = format!(
                "the notebook is longer than {MAX_RENDERED_BYTES} bytes; get the rest with `jq '.cells[{index}:]'`"
            );
            let id = shortened(&cell.id);
            let total = notebook.cells.len();
            let left = total - index;
            let note = match rendered.first() {
                // A first cell that is too long by itself is still shown as far as it goes.
                Some(Piece::Text(text)) if index == 0 => {
                    let shown = prefix(text, budget);
                    format!(
                        "{shown}\n[cell `{id}` is cut here, {} of {total} cells follow: {reason}]\n",
                        left - 1
                    )
                }
                _ => format!("[{left} of {total} cells left out, from cell `{id}` on: {reason}]\n"),
            };
            push(&mut pieces, Piece::Text(note));
            break;
        }
        budget -= size;
        for piece in rendered {
            push(&mut pieces, piece);
        }
    }
    pieces
}

fn render_cell(cell: &Cell, language: &str, images: &mut usize) -> Vec<Piece> {
    let tag = unused_tag("cell", &cell.source);
    let mut head = format!("<{tag} id=\"{}\" type=\"{}\"", attribute(&cell.id), cell.kind.name());
    if cell.kind == CellKind::Code {
        let _ = write!(head, " language=\"{}\"", attribute(language));
    }
    if let Some(count) = cell.execution_count {
        let _ = write!(head, " execution_count=\"{count}\"");
    }
    let mut pieces = vec![Piece::Text(format!("{head}>{}</{tag}>\n", cell.source))];
    for output in &cell.outputs {
        let text = match output {
            Output::Text(text) => element("output", &bounded(text)),
            Output::Error { name, value, traceback } => {
                let traceback = bounded(traceback);
                let separator = if traceback.is_empty() { "" } else { "\n" };
                element(
                    "error",
                    &format!("{}: {}{separator}{traceback}", shortened(name), bounded(value)),
                )
            }
            Output::Image { .. } if *images >= MAX_IMAGES => {
                format!("[image left out: only the first {MAX_IMAGES} images are shown]\n")
            }
            Output::Image { mime, base64 } => {
                *images += 1;
                push(&mut pieces, Piece::Text(format!("<image type=\"{mime}\"/>\n")));
                push(&mut pieces, Piece::Image { mime, base64: base64.clone() });
                continue;
            }
        };
        push(&mut pieces, Piece::Text(text));
    }
    if cell.skipped_outputs > 0 {
        let note = format!("[{} outputs of a type that cannot be shown]\n", cell.skipped_outputs);
        push(&mut pieces, Piece::Text(note));
    }
    pieces
}

fn element(name: &str, content: &str) -> String {
    let tag = unused_tag(name, content);
    format!("<{tag}>{content}</{tag}>\n")
}

/// `cell`, or `cell-1` and so on where the content itself holds the closing tag: the content stays
/// as it is in the file and still cannot pass for the end of its element.
fn unused_tag(name: &str, content: &str) -> String {
    let mut number = 0;
    for after in content.split(&format!("</{name}")).skip(1) {
        let Some((suffix, _)) = after.split_once('>') else {
            break;
        };
        let taken = match suffix.strip_prefix('-') {
            Some(digits) => digits.parse::<u32>().ok(),
            None => suffix.is_empty().then_some(0),
        };
        number = number.max(taken.map_or(0, |taken| u64::from(taken) + 1));
    }
    if number == 0 { name.to_owned() } else { format!("{name}-{number}") }
}

fn push(pieces: &mut Vec<Piece>, piece: Piece) {
    match (pieces.last_mut(), piece) {
        (Some(Piece::Text(before)), Piece::Text(text)) => before.push_str(&text),
        (_, piece) => pieces.push(piece),
    }
}

fn text_size(piece: &Piece) -> usize {
    match piece {
        Piece::Text(text) => text.len(),
        Piece::Image { .. } => 0,
    }
}

/// The first characters of an output, with a note of how many were left out.
fn bounded(text: &str) -> String {
    match text.char_indices().nth(MAX_OUTPUT_CHARS) {
        None => text.to_owned(),
        Some((end, _)) => {
            let total = text.chars().count();
            let shown = text.get(..end).unwrap_or_default();
            format!("{shown}\n[{} of {total} characters left out]", total - MAX_OUTPUT_CHARS)
        }
    }
}

fn prefix(text: &str, limit: usize) -> &str {
    let end = (0..=limit.min(text.len())).rev().find(|&end| text.is_char_boundary(end));
    text.get(..end.unwrap_or(0)).unwrap_or_default()
}

fn shortened(text: &str) -> String {
    text.chars().take(64).collect()
}

/// Ids come from the file: one with a quote in it must not look like further attributes.
fn attribute(text: &str) -> String {
    shortened(text)
        .replace('&', "&amp;")
        .replace('"', "&quot;")
        .replace('<', "&lt;")
        .replace(['\n', '\r'], " ")
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "tests")]

    use pretty_assertions::assert_eq;
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    const PIXEL: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

    fn notebook(cells: &Value) -> Notebook {
        let root = json!({
            "nbformat": 4, "nbformat_minor": 5, "cells": cells,
            "metadata": { "kernelspec": { "language": "julia" } },
        });
        read_notebook(&root.to_string()).unwrap()
    }

    fn code(source: &str, outputs: &Value) -> Value {
        json!({ "cell_type": "code", "id": "a1", "execution_count": 7, "source": source, "outputs": outputs })
    }

    fn text_of(pieces: &[Piece]) -> &str {
        match pieces {
            [Piece::Text(text)] => text,
            other => panic!("expected one text, got {other:?}"),
        }
    }

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
            cells: vec![
                empty("cell-0", CellKind::Markdown, "# Title\ntext"),
                Cell {
                    id: "a1".to_owned(),
                    kind: CellKind::Code,
                    execution_count: Some(7),
                    source: "plot()".to_owned(),
                    outputs: vec![
                        Output::Text("one\ntwo\n".to_owned()),
                        Output::Image { mime: "image/png", base64: PIXEL.to_owned() },
                        Output::Text("<Figure>".to_owned()),
                        Output::Text("42".to_owned()),
                        Output::Error {
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
    fn renders_cells_with_images_between_merged_texts() {
        let pieces = render_cells(&notebook(&json!([
            { "cell_type": "markdown", "source": "hello" },
            code("plot()", &json!([
                { "output_type": "stream", "text": "one" },
                { "output_type": "display_data", "data": { "image/png": PIXEL, "text/plain": "<Figure>" } },
                { "output_type": "error", "ename": "E", "evalue": "bad", "traceback": [] },
                { "output_type": "hologram" },
            ])),
        ])));
        let before = "<cell id=\"cell-0\" type=\"markdown\">hello</cell>\n\
            <cell id=\"a1\" type=\"code\" language=\"julia\" execution_count=\"7\">plot()</cell>\n\
            <output>one</output>\n<image type=\"image/png\"/>\n";
        let after = "<output><Figure></output>\n<error>E: bad</error>\n[1 outputs of a type that cannot be shown]\n";
        let expected = vec![
            Piece::Text(before.to_owned()),
            Piece::Image { mime: "image/png", base64: PIXEL.to_owned() },
            Piece::Text(after.to_owned()),
        ];
        assert_eq!(pieces, expected);
    }

    #[test]
    fn keeps_content_that_holds_a_closing_tag_inside_its_element() {
        let cells = json!([{ "cell_type": "raw", "id": "x\"y", "source": "</cell> </cell-1> <cell id=\"z\">" }]);
        let pieces = render_cells(&notebook(&cells));
        let expected =
            "<cell-2 id=\"x&quot;y\" type=\"raw\"></cell> </cell-1> <cell id=\"z\"></cell-2>\n";
        assert_eq!(text_of(&pieces), expected);
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
            assert_eq!(read.cells[0].outputs, vec![Output::Text(note.to_owned())]);
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
    fn cuts_a_long_output_on_a_character_and_says_how_much() {
        let read = notebook(&json!([code(
            "",
            &json!([{ "output_type": "stream", "text": "ä".repeat(10_003) }])
        )]));
        let pieces = render_cells(&read);
        assert!(text_of(&pieces).ends_with("ää\n[3 of 10003 characters left out]</output>\n"));
    }

    #[test]
    fn bounds_the_whole_and_names_the_first_cell_left_out() {
        let cell = json!({ "cell_type": "raw", "source": "é".repeat(50_000) });
        let pieces = render_cells(&notebook(&json!([cell, cell, cell, cell])));
        let text = text_of(&pieces);
        assert!(text.len() <= MAX_RENDERED_BYTES);
        let note = "[2 of 4 cells left out, from cell `cell-2` on: the notebook is longer than 262144 bytes; \
            get the rest with `jq '.cells[2:]'`]\n";
        assert!(text.ends_with(note), "{}", &text[text.len() - 200..]);
    }

    #[test]
    fn shows_the_start_of_a_first_cell_that_is_too_long_alone() {
        let cell = json!({ "cell_type": "raw", "source": "é".repeat(200_000) });
        let pieces = render_cells(&notebook(&json!([cell, cell])));
        let text = text_of(&pieces);
        assert!(text.len() <= MAX_RENDERED_BYTES);
        assert!(text.starts_with("<cell id=\"cell-0\" type=\"raw\">éé"));
        assert!(text.contains("é\n[cell `cell-0` is cut here, 1 of 2 cells follow: "));
    }

    #[test]
    fn shows_only_the_first_images() {
        let output = json!({ "output_type": "display_data", "data": { "image/png": PIXEL } });
        let read = notebook(&json!([code("", &Value::from(vec![output; MAX_IMAGES + 2]))]));
        let pieces = render_cells(&read);
        let images = pieces.iter().filter(|piece| matches!(piece, Piece::Image { .. })).count();
        assert_eq!(images, MAX_IMAGES);
    }

    #[test]
    fn says_why_a_text_is_no_notebook() {
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

    proptest! {
        #[test]
        fn renders_any_text_within_the_bound(source: String, output: String, id: String) {
            let cells = json!([{ "cell_type": "code", "id": id, "source": source,
                "outputs": [{ "output_type": "stream", "text": output }] }]);
            let pieces = render_cells(&notebook(&cells));
            prop_assert!(pieces.iter().map(text_size).sum::<usize>() <= MAX_RENDERED_BYTES);
        }
    }
}
