//! The text of a page's annotations: filled-in form fields, stamps and comments.
//!
//! They are not part of the page's content, but a person sees them on the page.

use super::PdfError;
use super::lexer::MAX_DEPTH;
use super::matrix::{IDENTITY, matrix_of, moved_area, onto};
use super::object::{Dictionary, Object, PdfStream};
use super::page_text::{PageText, Resources};
use super::text_string::text_of_string;

/// Further annotations of a page are ignored.
const MAX_ANNOTATIONS: usize = 10_000;
/// The flags of annotations that are not displayed.
const HIDDEN: i64 = 1 << 1;
const NO_VIEW: i64 = 1 << 5;

impl PageText<'_, '_> {
    /// Adds the text of every annotation of the page, in the order in which they are listed.
    pub(super) fn annotations(&mut self, page: &Dictionary) -> Result<(), PdfError> {
        let Some(Object::Array(annotations)) = self.reader.get(page, b"Annots")? else {
            return Ok(());
        };
        for annotation in annotations.iter().take(MAX_ANNOTATIONS) {
            if self.drawing.layout.is_cut() {
                break;
            }
            if let Some(Object::Dictionary(annotation)) = self.reader.resolve(annotation)? {
                self.annotation(&annotation)?;
            }
        }
        Ok(())
    }

    fn annotation(&mut self, annotation: &Dictionary) -> Result<(), PdfError> {
        let subtype = annotation.name(b"Subtype").unwrap_or_default();
        let is_hidden = annotation.integer(b"F").is_some_and(|it| it & (HIDDEN | NO_VIEW) != 0);
        if is_hidden || matches!(subtype, b"Link" | b"Popup") {
            return Ok(());
        }
        // The appearance of a comment is only an icon or a mark; its text is in `/Contents`.
        let is_drawn = matches!(subtype, b"Widget" | b"FreeText" | b"Stamp" | b"Watermark");
        if is_drawn && self.draw_appearance(annotation)? {
            return Ok(());
        }
        let text = match subtype {
            b"Widget" => self.field_value(annotation)?,
            _ => self.string(annotation, b"Contents")?.into_iter().collect(),
        };
        let text = text.join("\n");
        if !text.trim().is_empty() {
            let line = if is_drawn { text } else { format!("[comment: {}]", text.trim()) };
            self.drawing.layout.add_lines(&line);
        }
        Ok(())
    }

    /// Draws the appearance of an annotation and returns whether it has one.
    fn draw_appearance(&mut self, annotation: &Dictionary) -> Result<bool, PdfError> {
        let Some(form) = self.appearance(annotation)? else { return Ok(false) };
        let area = match self.reader.get(annotation, b"Rect")? {
            Some(Object::Array(corners)) => self.area(&corners)?,
            _ => None,
        };
        let box_of_form = match self.reader.get(&form.dictionary, b"BBox")? {
            Some(Object::Array(corners)) => self.area(&corners)?,
            _ => None,
        };
        let matrix = match self.reader.get(&form.dictionary, b"Matrix")? {
            Some(Object::Array(matrix)) => matrix_of(&matrix),
            _ => IDENTITY,
        };
        let place = match (box_of_form, area) {
            (Some(own), Some(area)) => onto(moved_area(own, matrix), area),
            _ => IDENTITY,
        };
        self.drawing.layout.end_line();
        self.draw(form, place, &Resources::default(), 0)?;
        self.drawing.layout.end_line();
        Ok(true)
    }

    /// The normal appearance. If there is one for each state, the one for the current state.
    fn appearance(&mut self, annotation: &Dictionary) -> Result<Option<PdfStream>, PdfError> {
        let Some(appearances) = self.reader.get_dictionary(annotation, b"AP")? else {
            return Ok(None);
        };
        Ok(match self.reader.get(&appearances, b"N")? {
            Some(Object::Stream(form)) => Some(form),
            Some(Object::Dictionary(states)) => {
                let state = annotation.name(b"AS").unwrap_or(b"Off");
                match self.reader.get(&states, state)? {
                    Some(Object::Stream(form)) => Some(form),
                    _ => None,
                }
            }
            _ => None,
        })
    }

    /// The value of a form field that has no appearance. It may be stored in the field that this
    /// annotation is a part of.
    fn field_value(&mut self, annotation: &Dictionary) -> Result<Vec<String>, PdfError> {
        let mut node = annotation.clone();
        for _ in 0..MAX_DEPTH {
            match self.reader.get(&node, b"V")? {
                Some(Object::String(text)) => return Ok(vec![text_of_string(&text)]),
                Some(Object::Array(chosen)) => {
                    let mut texts = Vec::new();
                    for choice in &chosen {
                        if let Some(Object::String(text)) = self.reader.resolve(choice)? {
                            texts.push(text_of_string(&text));
                        }
                    }
                    return Ok(texts);
                }
                // The value of a button is the name of its state, not text.
                Some(_) => return Ok(Vec::new()),
                None => {}
            }
            match self.reader.get_dictionary(&node, b"Parent")? {
                Some(parent) => node = parent,
                None => break,
            }
        }
        Ok(Vec::new())
    }

    fn string(&mut self, dictionary: &Dictionary, key: &[u8]) -> Result<Option<String>, PdfError> {
        Ok(match self.reader.get(dictionary, key)? {
            Some(Object::String(text)) => Some(text_of_string(&text)),
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use crate::pdf::test_pdf::{FONT, file, stream, text_of};

    /// The text of a page whose content is `page` and that has these annotations; object 6 is a form.
    fn with_annotations(annotations: &str, form: &[u8]) -> String {
        let page = format!(
            "<< /Type /Page /Contents 5 0 R /MediaBox [0 0 200 200] /Annots [{annotations}] \
             /Resources << /Font << /F1 3 0 R >> >> >>"
        );
        text_of(&file(&[
            b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
            b"<< /Type /Pages /Kids [4 0 R] /Count 1 >>".to_vec(),
            FONT.as_bytes().to_vec(),
            page.into_bytes(),
            stream("", b"BT /F1 10 Tf 20 20 Td (page) Tj ET"),
            stream("/Subtype /Form /BBox [0 0 50 10] /Resources << /Font << /F1 3 0 R >> >>", form),
            b"<< /FT /Tx /V (of the parent) >>".to_vec(),
        ]))
    }

    #[test]
    fn reads_what_was_typed_into_forms() {
        let drawn = b"BT /F1 8 Tf 2 2 Td (typed) Tj ET";
        for (annotations, expected) in [
            (
                "<< /Subtype /Widget /Rect [10 90 60 100] /V (typed) /AP << /N 6 0 R >> >>",
                "page\ntyped",
            ),
            (
                "<< /Subtype /Widget /AS /On /AP << /N << /On 6 0 R /Off 5 0 R >> >> >>",
                "page\ntyped",
            ),
            ("<< /Subtype /Widget /V (a value) >>", "page\na value"),
            ("<< /Subtype /Widget /V [(one) (two)] >>", "page\none\ntwo"),
            ("<< /Subtype /Widget /Parent 7 0 R >>", "page\nof the parent"),
            ("<< /Subtype /Widget /V /Yes >>", "page"),
            ("<< /Subtype /Widget /V (hidden) /F 2 >>", "page"),
        ] {
            assert_eq!(with_annotations(annotations, drawn), expected, "{annotations}");
        }
    }

    #[test]
    fn reads_stamps_and_comments_and_leaves_links_out() {
        let annotations = "<< /Subtype /FreeText /Rect [0 0 50 10] /Contents (x) /AP << /N 6 0 R >> >> \
            << /Subtype /Text /Contents <feff004100e9> >> << /Subtype /Highlight /Contents (why?) >> \
            << /Subtype /Link /Contents (link) >> << /Subtype /Popup /Contents (popup) >> 99 0 R (no)";
        assert_eq!(
            with_annotations(annotations, b"BT /F1 8 Tf 2 2 Td (stamped) Tj ET"),
            "page\nstamped\n[comment: A\u{e9}]\n[comment: why?]"
        );
    }
}
