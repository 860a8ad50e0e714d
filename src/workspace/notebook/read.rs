//! Takes the text of an `.ipynb` file apart into cells and what running them gave.

use std::iter::Peekable;
use std::str::Chars;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

use super::{Cell, CellKind, MAX_IMAGE_BASE64, Notebook, NotebookError, Output, shortened};

/// Preferred first: a lossless picture shows a plot's small text best.
const IMAGE_TYPES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

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

fn skip_escape(characters: &mut Peekable<Chars<'_>>) {
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
    use crate::workspace::notebook::test_cells::{PIXEL, code, notebook};

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
}
