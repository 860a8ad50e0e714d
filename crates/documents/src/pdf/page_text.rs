//! Reads the text of one page: finds its content and its resources, and runs its drawing operators.

use std::collections::HashMap;
use std::rc::Rc;

use super::font::Font;
use super::layout::{Area, PageLayout};
use super::lexer::{MAX_DEPTH, PdfLexer, PdfToken, find, is_space};
use super::matrix::{IDENTITY, Matrix, area_of, matrix_of, multiply};
use super::object::{Dictionary, Object, ObjectId, PdfStream};
use super::object_reader::ObjectReader;
use super::text_drawing::TextDrawing;
use super::unpack::MAX_UNPACKED;
use super::{MAX_PAGE_TEXT, PdfError, PdfPage};

const MAX_FORM_DEPTH: usize = 4;
const MAX_OPERANDS: usize = 512;
/// How many bytes of content are parsed before they are charged to the budget.
const CHARGE_EVERY: usize = 256 * 1024;

/// The fonts and forms that a content refers to by name. Shared by a page and the forms it draws:
/// copying these for every form would cost more than drawing it.
#[derive(Default)]
pub(super) struct Resources {
    fonts: Dictionary,
    forms: Dictionary,
}

pub(super) struct PageText<'r, 'a> {
    pub(super) reader: &'r mut ObjectReader<'a>,
    pub(super) drawing: TextDrawing,
    damaged: bool,
}

impl<'r, 'a> PageText<'r, 'a> {
    pub(super) fn of(
        reader: &'r mut ObjectReader<'a>,
        number: u32,
        id: ObjectId,
    ) -> Result<PdfPage, PdfError> {
        let mut page = Self { reader, drawing: TextDrawing::default(), damaged: false };
        match page.reader.load(id)? {
            Some(Object::Dictionary(dictionary)) => {
                page.drawing.layout = PageLayout::of_page(page.visible_area(&dictionary)?);
                let resources = page.inherited_resources(&dictionary)?;
                let content = page.content(&dictionary)?;
                page.run(&content, &resources, 0)?;
                page.annotations(&dictionary)?;
            }
            _ => page.damaged = true,
        }
        Ok(page.finish(number))
    }

    fn finish(self, number: u32) -> PdfPage {
        let mut notes = Vec::new();
        if self.drawing.layout.is_cut() {
            notes.push(format!(
                "only the first {MAX_PAGE_TEXT} bytes of this page's text are shown"
            ));
        }
        match self.drawing.undecoded {
            0 => {}
            1 => notes.push("1 character is in a font without a readable encoding".to_owned()),
            count => {
                notes.push(format!("{count} characters are in a font without a readable encoding"));
            }
        }
        if self.damaged {
            notes.push("part of this page is damaged and was skipped".to_owned());
        }
        let text = self.drawing.layout.into_text();
        PdfPage { number, text, note: (!notes.is_empty()).then(|| notes.join("; ")) }
    }

    /// An entry of a page, or of the nearest node above it in the page tree that has the entry.
    fn inherited(&mut self, page: &Dictionary, key: &[u8]) -> Result<Option<Object>, PdfError> {
        let mut node = page.clone();
        for _ in 0..MAX_DEPTH {
            if let Some(found) = self.reader.get(&node, key)? {
                return Ok(Some(found));
            }
            match self.reader.get_dictionary(&node, b"Parent")? {
                Some(parent) => node = parent,
                None => break,
            }
        }
        Ok(None)
    }

    /// The visible part of the page. `None` if the page does not define it or the definition is invalid.
    fn visible_area(&mut self, page: &Dictionary) -> Result<Option<Area>, PdfError> {
        let media = self.rectangle(page, b"MediaBox")?;
        let crop = self.rectangle(page, b"CropBox")?;
        Ok(match (media, crop) {
            (Some(media), Some(crop)) => media.overlap(crop).or(Some(media)),
            (media, crop) => media.or(crop),
        })
    }

    fn rectangle(&mut self, page: &Dictionary, key: &[u8]) -> Result<Option<Area>, PdfError> {
        let Some(Object::Array(corners)) = self.inherited(page, key)? else { return Ok(None) };
        self.area(&corners)
    }

    /// The rectangle of four numbers, each of which may be a reference.
    pub(super) fn area(&mut self, corners: &[Object]) -> Result<Option<Area>, PdfError> {
        let mut values = Vec::new();
        for corner in corners.iter().take(4) {
            values.push(self.reader.resolve(corner)?.unwrap_or(Object::Null));
        }
        Ok(area_of(&values))
    }

    fn inherited_resources(&mut self, page: &Dictionary) -> Result<Resources, PdfError> {
        match self.inherited(page, b"Resources")? {
            Some(Object::Dictionary(resources)) => self.resources(&resources),
            _ => Ok(Resources::default()),
        }
    }

    fn resources(&mut self, dictionary: &Dictionary) -> Result<Resources, PdfError> {
        let fonts = self.reader.get_dictionary(dictionary, b"Font")?.unwrap_or_default();
        let forms = self.reader.get_dictionary(dictionary, b"XObject")?.unwrap_or_default();
        Ok(Resources { fonts, forms })
    }

    fn content(&mut self, page: &Dictionary) -> Result<Vec<u8>, PdfError> {
        let parts = match self.reader.get(page, b"Contents")? {
            Some(Object::Array(parts)) => parts,
            Some(single) => vec![single],
            None => Vec::new(),
        };
        let mut content = Vec::new();
        for part in parts {
            let Some(Object::Stream(stream)) = self.reader.resolve(&part)? else {
                self.damaged = true;
                continue;
            };
            let packed = !stream.content.is_empty();
            let data = self.reader.unpack(stream)?;
            self.damaged |= packed && data.is_empty();
            if content.len().saturating_add(data.len()) > MAX_UNPACKED {
                return Err(PdfError::TooComplex("a page unpacks to more than 12 MiB"));
            }
            content.extend_from_slice(&data);
            content.push(b'\n');
        }
        Ok(content)
    }

    fn run(&mut self, content: &[u8], resources: &Resources, depth: usize) -> Result<(), PdfError> {
        let mut chosen: HashMap<Vec<u8>, Rc<Font>> = HashMap::new();
        let mut lexer = PdfLexer::new(content, 0);
        let mut operands: Vec<Object> = Vec::new();
        let mut charged = 0;
        while let Some(token) = lexer.token(0) {
            if lexer.at - charged > CHARGE_EVERY {
                self.reader.budget.charge_parsing(lexer.at - charged)?;
                charged = lexer.at;
            }
            let operator = match token {
                PdfToken::Value(value) => {
                    if operands.len() < MAX_OPERANDS {
                        operands.push(value);
                    }
                    continue;
                }
                PdfToken::Keyword(operator) => operator,
            };
            lexer.forget_values();
            match operator {
                b"Tf" => {
                    let size = operands.get(1).map_or(1.0, Object::as_number);
                    let font = match operands.first() {
                        Some(Object::Name(name)) => {
                            if !chosen.contains_key(name)
                                && let Some(font) = self.font(&resources.fonts, name)?
                            {
                                chosen.insert(name.clone(), font);
                            }
                            chosen.get(name).cloned()
                        }
                        _ => None,
                    };
                    self.drawing.set_font(font, size);
                }
                b"Do" if depth < MAX_FORM_DEPTH => {
                    self.form(resources, operands.first(), depth)?;
                }
                b"BI" => skip_inline_image(&mut lexer),
                _ => self.drawing.operate(operator, &operands),
            }
            operands.clear();
            if self.drawing.layout.is_cut() {
                break;
            }
        }
        self.damaged |= lexer.overflowed;
        self.reader.budget.charge_parsing(lexer.at.saturating_sub(charged))
    }

    fn font(&mut self, fonts: &Dictionary, name: &[u8]) -> Result<Option<Rc<Font>>, PdfError> {
        let id = fonts.get(name).and_then(Object::as_reference);
        if let Some(known) = id.and_then(|id| self.reader.fonts.get(&id)) {
            return Ok(Some(Rc::clone(known)));
        }
        let Some(dictionary) = self.reader.get_dictionary(fonts, name)? else {
            return Ok(None);
        };
        self.reader.budget.charge_font()?;
        let font = Rc::new(Font::load(self.reader, &dictionary)?);
        if let Some(id) = id {
            self.reader.fonts.insert(id, Rc::clone(&font));
        }
        Ok(Some(font))
    }

    fn form(
        &mut self,
        resources: &Resources,
        name: Option<&Object>,
        depth: usize,
    ) -> Result<(), PdfError> {
        let Some(Object::Name(name)) = name else {
            return Ok(());
        };
        let Some(Object::Stream(stream)) = self.reader.get(&resources.forms, name)? else {
            return Ok(());
        };
        if stream.dictionary.name(b"Subtype") != Some(b"Form") {
            return Ok(());
        }
        self.draw(stream, IDENTITY, resources, depth)
    }

    /// Draws a form, positioned by a matrix.
    pub(super) fn draw(
        &mut self,
        form: PdfStream,
        place: Matrix,
        resources: &Resources,
        depth: usize,
    ) -> Result<(), PdfError> {
        let own = match self.reader.get_dictionary(&form.dictionary, b"Resources")? {
            Some(own) => Some(self.resources(&own)?),
            None => None,
        };
        let matrix = match self.reader.get(&form.dictionary, b"Matrix")? {
            Some(Object::Array(matrix)) => matrix_of(&matrix),
            _ => IDENTITY,
        };
        let data = self.reader.unpack(form)?;
        let outside = self.drawing.enter_form(multiply(matrix, place));
        self.run(&data, own.as_ref().unwrap_or(resources), depth + 1)?;
        self.drawing.leave_form(outside);
        Ok(())
    }
}

fn skip_inline_image(lexer: &mut PdfLexer<'_>) {
    let mut at = lexer.at;
    while let Some(found) = find(lexer.data, b"EI", at) {
        at = found + 2;
        let before = found.checked_sub(1).and_then(|index| lexer.data.get(index));
        let after = lexer.data.get(at);
        if before.is_some_and(|&byte| is_space(byte)) && after.is_none_or(|&byte| is_space(byte)) {
            lexer.at = at;
            return;
        }
    }
    lexer.at = lexer.data.len();
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use pretty_assertions::assert_eq;

    use crate::pdf::{
        MAX_PAGE_TEXT,
        test_pdf::{FONT, document, document_with_font, file, read_all, stream, text_of},
    };

    fn drawn(operators: &str) -> String {
        text_of(&document(&[stream("", operators.as_bytes())]))
    }

    #[test]
    fn breaks_lines_and_words_by_position() {
        assert_eq!(drawn("BT /F1 10 Tf 0 90 Td (one) Tj 0 -12 Td (two) Tj ET"), "one\ntwo");
        assert_eq!(
            drawn("BT /F1 10 Tf 12 TL (one) Tj T* (two) Tj (three) ' 0 0 (four) \" ET"),
            "one\ntwo\nthree\nfour"
        );
        assert_eq!(drawn("BT /F1 10 Tf [(wo) 20 (rd) -333 (next)] TJ ET"), "word next");
        assert_eq!(
            drawn("BT /F1 10 Tf 1 0 0 1 5 5 Tm (a) Tj ET BT 1 0 0 1 50 5 Tm (b) Tj ET"),
            "a b"
        );
        assert_eq!(
            drawn("q 1 0 0 1 0 50 cm BT /F1 9 Tf (a) Tj ET Q BT /F1 9 Tf (b) Tj ET"),
            "a\nb"
        );
        assert_eq!(drawn("BT /F1 9 Tf (a\\(b\\)\\101\\\n(c)) Tj <64 6> Tj ET"), "a(b)A(c)d`");
        assert_eq!(drawn("BI /W 1 ID \u{1}(x) Tj EI BT /F1 9 Tf (y) Tj ET"), "y");
    }

    #[test]
    fn reads_text_inside_forms_but_not_forever() {
        let form = stream(
            "/Type /XObject /Subtype /Form /Resources << /Font << /F1 3 0 R >> /XObject << /X 6 0 R >> >>",
            b"BT /F1 9 Tf (form) Tj ET /X Do /X Do",
        );
        let page = b"<< /Type /Page /Parent 2 0 R /Contents 5 0 R /Resources << /XObject << /X 6 0 R >> >> >>";
        let bytes = file(&[
            b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
            b"<< /Type /Pages /Kids [4 0 R] /Count 1 >>".to_vec(),
            FONT.as_bytes().to_vec(),
            page.to_vec(),
            stream("", b"/X Do"),
            form,
        ]);
        assert_eq!(text_of(&bytes).matches("form").count(), 15);
    }

    #[test]
    fn cuts_the_text_of_a_page_and_says_so() {
        let map = b"1 beginbfchar <41> <00e400e400e400e400e400e400e400e4> endbfchar";
        let font = "<< /Type /Font /Subtype /Type1 /ToUnicode 6 0 R >>";
        let content = format!("BT /F1 9 Tf ({}) Tj ET", "A".repeat(5_000_000));
        let bytes = document_with_font(font, &[stream("", content.as_bytes())], &[stream("", map)]);
        let page = read_all(&bytes).unwrap().pages.remove(0);
        assert_eq!(page.text.len(), MAX_PAGE_TEXT);
        assert_eq!(
            page.note.unwrap(),
            "only the first 1048576 bytes of this page's text are shown"
        );
    }

    #[test]
    fn draws_many_forms_without_copying_the_resources_each_time() {
        let names: String =
            (0..50_000).map(|name| ["/N", &name.to_string(), " 0 "].concat()).collect();
        let page = format!(
            "<< /Type /Page /Contents 5 0 R /Resources << /XObject << /X 6 0 R {names} >> >> >>"
        );
        let mut objects = vec![b"<< /Type /Catalog /Pages 2 0 R >>".to_vec()];
        objects.extend([b"<< /Kids [4 0 R] >>".to_vec(), b"null".to_vec(), page.into_bytes()]);
        objects.push(stream("", "/X Do ".repeat(20_000).as_bytes()));
        objects.push(stream("/Subtype /Form", b" "));
        assert_eq!(text_of(&file(&objects)), "");
    }
}
