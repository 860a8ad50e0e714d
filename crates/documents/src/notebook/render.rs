//! Renders cells as text with the images in between, within a size limit.

use std::fmt::Write as _;

use toolwright_base::shortened;

use super::{
    Cell, CellKind, CellOutput, MAX_IMAGES, MAX_OUTPUT_CHARS, MAX_RENDERED_BYTES, Notebook,
    SHOWN_ID,
};

/// Bytes reserved for closing tags and the note on what was left out.
const TAIL_BYTES: usize = 512;

/// A part of a rendered notebook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotebookPiece {
    /// Text up to the next image.
    Text(String),
    /// An image, between the text before and after it.
    Image {
        /// The media type, such as `image/png`.
        mime: &'static str,
        /// The image in base64.
        base64: String,
    },
}

/// Renders the cells as text with the images in between, within `MAX_RENDERED_BYTES`.
///
/// Each cell is `<cell id="…" type="…">source</cell>`, followed by `<output>`, `<error>` or
/// `<image>` for each output. A tag gets a number if the content contains its closing tag.
#[must_use]
pub fn render_cells(notebook: &Notebook) -> Vec<NotebookPiece> {
    let mut pieces = Vec::new();
    let mut budget = MAX_RENDERED_BYTES - TAIL_BYTES;
    let mut images = 0;
    if notebook.total_cells == 0 {
        return vec![NotebookPiece::Text("[the notebook has no cells]\n".to_owned())];
    }
    for (index, cell) in notebook.cells.iter().enumerate() {
        let rendered = render_cell(cell, &notebook.language, &mut images);
        let size: usize = rendered.iter().map(text_size).sum();
        if size > budget {
            let reason = format!(
                "the notebook is longer than {MAX_RENDERED_BYTES} bytes; get the rest with `jq '.cells[{index}:]'`"
            );
            let id = shortened(&cell.id, SHOWN_ID);
            let total = notebook.total_cells;
            let left = total - index;
            let note = match rendered.first() {
                // If the first cell is too long, its beginning is shown.
                Some(NotebookPiece::Text(text)) if index == 0 => {
                    let shown = prefix(text, budget);
                    format!(
                        "{shown}\n[cell `{id}` is cut here, {} of {total} cells follow: {reason}]\n",
                        left - 1
                    )
                }
                _ => format!("[{left} of {total} cells left out, from cell `{id}` on: {reason}]\n"),
            };
            push(&mut pieces, NotebookPiece::Text(note));
            break;
        }
        budget -= size;
        for piece in rendered {
            push(&mut pieces, piece);
        }
    }
    pieces
}

fn render_cell(cell: &Cell, language: &str, images: &mut usize) -> Vec<NotebookPiece> {
    let tag = unused_tag("cell", &cell.source);
    let mut head = format!("<{tag} id=\"{}\" type=\"{}\"", attribute(&cell.id), cell.kind.name());
    if cell.kind == CellKind::Code {
        let _ = write!(head, " language=\"{}\"", attribute(language));
    }
    if let Some(count) = cell.execution_count {
        let _ = write!(head, " execution_count=\"{count}\"");
    }
    let mut pieces = vec![NotebookPiece::Text(format!("{head}>{}</{tag}>\n", cell.source))];
    for output in &cell.outputs {
        let text = match output {
            CellOutput::Text(text) => element("output", &bounded(text)),
            CellOutput::Error { name, value, traceback } => {
                let traceback = bounded(traceback);
                let separator = if traceback.is_empty() { "" } else { "\n" };
                element(
                    "error",
                    &format!(
                        "{}: {}{separator}{traceback}",
                        shortened(name, SHOWN_ID),
                        bounded(value)
                    ),
                )
            }
            CellOutput::Image { .. } if *images >= MAX_IMAGES => {
                format!("[image left out: only the first {MAX_IMAGES} images are shown]\n")
            }
            CellOutput::Image { mime, base64 } => {
                *images += 1;
                push(&mut pieces, NotebookPiece::Text(format!("<image type=\"{mime}\"/>\n")));
                push(&mut pieces, NotebookPiece::Image { mime, base64: base64.clone() });
                continue;
            }
        };
        push(&mut pieces, NotebookPiece::Text(text));
    }
    if cell.skipped_outputs > 0 {
        let note = format!("[{} outputs of a type that cannot be shown]\n", cell.skipped_outputs);
        push(&mut pieces, NotebookPiece::Text(note));
    }
    pieces
}

fn element(name: &str, content: &str) -> String {
    let tag = unused_tag(name, content);
    format!("<{tag}>{content}</{tag}>\n")
}

/// `cell`, or `cell-1` and so on if the content contains the closing tag. So the content stays as it
/// is in the file but cannot end its element.
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

fn push(pieces: &mut Vec<NotebookPiece>, piece: NotebookPiece) {
    match (pieces.last_mut(), piece) {
        (Some(NotebookPiece::Text(before)), NotebookPiece::Text(text)) => before.push_str(&text),
        (_, piece) => pieces.push(piece),
    }
}

fn text_size(piece: &NotebookPiece) -> usize {
    match piece {
        NotebookPiece::Text(text) => text.len(),
        NotebookPiece::Image { .. } => 0,
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

/// Escapes an id for use as an attribute: a quote in it must not start another attribute.
fn attribute(text: &str) -> String {
    shortened(text, SHOWN_ID)
        .replace('&', "&amp;")
        .replace('"', "&quot;")
        .replace('<', "&lt;")
        .replace(['\n', '\r'], " ")
}

#[cfg(test)]
mod tests {
    #![expect(clippy::panic, reason = "tests")]

    use pretty_assertions::assert_eq;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;
    use crate::notebook::test_cells::{PIXEL, code, notebook};

    fn text_of(pieces: &[NotebookPiece]) -> &str {
        match pieces {
            [NotebookPiece::Text(text)] => text,
            other => panic!("expected one text, got {other:?}"),
        }
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
            NotebookPiece::Text(before.to_owned()),
            NotebookPiece::Image { mime: "image/png", base64: PIXEL.to_owned() },
            NotebookPiece::Text(after.to_owned()),
        ];
        assert_eq!(pieces, expected);
    }

    #[test]
    fn says_that_there_are_no_cells() {
        assert_eq!(text_of(&render_cells(&notebook(&json!([])))), "[the notebook has no cells]\n");
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
    fn cuts_a_long_output_on_a_character_and_says_how_much() {
        let read = notebook(&json!([code(
            "",
            &json!([{ "output_type": "stream", "text": "ä".repeat(10_003) }])
        )]));
        let pieces = render_cells(&read);
        assert!(text_of(&pieces).ends_with("ää\n[3 of 10003 characters left out]</output>\n"));
    }

    #[test]
    fn limits_the_whole_text_and_names_the_first_omitted_cell() {
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
        let images =
            pieces.iter().filter(|piece| matches!(piece, NotebookPiece::Image { .. })).count();
        assert_eq!(images, MAX_IMAGES);
    }

    proptest! {
        #[test]
        fn renders_any_text_within_the_limit(source: String, output: String, id: String) {
            let cells = json!([{ "cell_type": "code", "id": id, "source": source,
                "outputs": [{ "output_type": "stream", "text": output }] }]);
            let pieces = render_cells(&notebook(&cells));
            prop_assert!(pieces.iter().map(text_size).sum::<usize>() <= MAX_RENDERED_BYTES);
        }
    }
}
