//! Runs the drawing operators that matter for text, placing line breaks and spaces by position.

use std::collections::HashMap;
use std::rc::Rc;

use super::font::Font;
use super::lexer::{Lexer, MAX_DEPTH, Token, find, is_space};
use super::matrix::{IDENTITY, Matrix, matrix_of, multiply, shift};
use super::object::{Dictionary, Object, ObjectId};
use super::reader::Reader;
use super::unpack::MAX_UNPACKED;
use super::{MAX_PAGE_TEXT, PdfError, PdfPage};

const MAX_FORM_DEPTH: usize = 4;
const MAX_GRAPHICS_STATES: usize = 256;
const MAX_OPERANDS: usize = 512;
/// How much of a content is parsed before it is charged for.
const CHARGE_EVERY: usize = 256 * 1024;

/// Read once for each content: copying these for every form drawn would cost more than the forms.
#[derive(Default)]
struct Resources {
    fonts: Dictionary,
    forms: Dictionary,
}

#[derive(Clone)]
struct GraphicsState {
    page: Matrix,
    font: Option<Rc<Font>>,
    size: f64,
    leading: f64,
}

pub(super) struct PageText<'r, 'a> {
    reader: &'r mut Reader<'a>,
    text: String,
    cut: bool,
    damaged: bool,
    undecoded: usize,
    state: GraphicsState,
    saved: Vec<GraphicsState>,
    line: Matrix,
    pen: Matrix,
    /// Whether the pen was set anew since the last text, not only advanced.
    moved: bool,
    /// Where the last text ended, and whether the font's widths made that more than a guess.
    last: Option<(f64, f64, bool)>,
}

impl<'r, 'a> PageText<'r, 'a> {
    pub(super) fn of(
        reader: &'r mut Reader<'a>,
        number: u32,
        id: ObjectId,
    ) -> Result<PdfPage, PdfError> {
        let state = GraphicsState { page: IDENTITY, font: None, size: 1.0, leading: 0.0 };
        let mut page = Self {
            reader,
            text: String::new(),
            cut: false,
            damaged: false,
            undecoded: 0,
            state,
            saved: Vec::new(),
            line: IDENTITY,
            pen: IDENTITY,
            moved: false,
            last: None,
        };
        match page.reader.load(id)? {
            Some(Object::Dictionary(dictionary)) => {
                let resources = page.inherited_resources(&dictionary)?;
                let content = page.content(&dictionary)?;
                page.run(&content, &resources, 0)?;
            }
            _ => page.damaged = true,
        }
        Ok(page.finish(number))
    }

    fn finish(self, number: u32) -> PdfPage {
        let mut notes = Vec::new();
        if self.cut {
            notes.push(format!(
                "only the first {MAX_PAGE_TEXT} bytes of this page's text are shown"
            ));
        }
        if self.undecoded > 0 {
            notes.push(format!(
                "{} characters are in a font without a readable encoding",
                self.undecoded
            ));
        }
        if self.damaged {
            notes.push("part of this page is damaged and was skipped".to_owned());
        }
        let text = self.text.trim_end().to_owned();
        PdfPage { number, text, note: (!notes.is_empty()).then(|| notes.join("; ")) }
    }

    fn inherited_resources(&mut self, page: &Dictionary) -> Result<Resources, PdfError> {
        let mut node = page.clone();
        for _ in 0..MAX_DEPTH {
            if let Some(resources) = self.reader.get_dictionary(&node, b"Resources")? {
                return self.resources(&resources);
            }
            match self.reader.get_dictionary(&node, b"Parent")? {
                Some(parent) => node = parent,
                None => break,
            }
        }
        Ok(Resources::default())
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
        let mut lexer = Lexer::new(content, 0);
        let mut operands: Vec<Object> = Vec::new();
        let mut charged = 0;
        while let Some(token) = lexer.token(0) {
            if lexer.at - charged > CHARGE_EVERY {
                self.reader.budget.charge_parsing(lexer.at - charged)?;
                charged = lexer.at;
            }
            let operator = match token {
                Token::Value(value) => {
                    if operands.len() < MAX_OPERANDS {
                        operands.push(value);
                    }
                    continue;
                }
                Token::Keyword(operator) => operator,
            };
            lexer.forget_values();
            match operator {
                b"Tf" => {
                    self.state.size = operands.get(1).map_or(1.0, Object::as_number);
                    self.state.font = match operands.first() {
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
                }
                b"Do" if depth < MAX_FORM_DEPTH => {
                    self.form(resources, operands.first(), depth)?;
                }
                b"BI" => skip_inline_image(&mut lexer),
                _ => self.operate(operator, &operands),
            }
            operands.clear();
            if self.cut {
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
        let own = match self.reader.get_dictionary(&stream.dictionary, b"Resources")? {
            Some(own) => Some(self.resources(&own)?),
            None => None,
        };
        let placed = match self.reader.get(&stream.dictionary, b"Matrix")? {
            Some(Object::Array(matrix)) => matrix_of(&matrix),
            _ => IDENTITY,
        };
        let data = self.reader.unpack(stream)?;
        let state = self.state.clone();
        let saved = std::mem::take(&mut self.saved);
        self.state.page = multiply(placed, self.state.page);
        self.run(&data, own.as_ref().unwrap_or(resources), depth + 1)?;
        self.state = state;
        self.saved = saved;
        Ok(())
    }

    fn operate(&mut self, operator: &[u8], operands: &[Object]) {
        let operand = |index: usize| operands.get(index).map_or(0.0, Object::as_number);
        match operator {
            b"q" if self.saved.len() < MAX_GRAPHICS_STATES => self.saved.push(self.state.clone()),
            b"Q" => self.state = self.saved.pop().unwrap_or_else(|| self.state.clone()),
            b"cm" => self.state.page = multiply(matrix_of(operands), self.state.page),
            b"BT" => self.start_line(IDENTITY),
            b"Tm" => self.start_line(matrix_of(operands)),
            b"TL" => self.state.leading = operand(0),
            b"Td" => self.move_line(operand(0), operand(1)),
            b"TD" => {
                self.state.leading = -operand(1);
                self.move_line(operand(0), operand(1));
            }
            b"T*" => self.move_line(0.0, -self.state.leading),
            b"Tj" => self.show_all(operands),
            b"TJ" => {
                if let Some(Object::Array(items)) = operands.first() {
                    self.show_all(items);
                }
            }
            b"'" => {
                self.move_line(0.0, -self.state.leading);
                self.show_all(operands);
            }
            b"\"" => {
                self.move_line(0.0, -self.state.leading);
                self.show_all(operands.get(2..).unwrap_or_default());
            }
            _ => {}
        }
    }

    fn start_line(&mut self, matrix: Matrix) {
        self.moved = true;
        self.line = matrix;
        self.pen = matrix;
    }

    fn move_line(&mut self, x: f64, y: f64) {
        self.start_line(multiply(shift(x, y), self.line));
    }

    fn move_pen(&mut self, x: f64) {
        self.pen = multiply(shift(x, 0.0), self.pen);
    }

    fn show_all(&mut self, items: &[Object]) {
        for item in items {
            match item {
                Object::String(bytes) => self.show(bytes),
                Object::Integer(_) | Object::Real(_) => {
                    self.move_pen(-item.as_number() / 1000.0 * self.state.size);
                }
                _ => {}
            }
        }
    }

    fn show(&mut self, bytes: &[u8]) {
        let Some(font) = self.state.font.clone() else {
            self.undecoded = self.undecoded.saturating_add(bytes.len());
            return;
        };
        if self.cut {
            return;
        }
        let [[across_x, across_y], _, [x, y]] = multiply(self.pen, self.state.page);
        let em = (self.state.size * across_x.hypot(across_y)).abs();
        if let Some((last_x, last_y, measured)) = self.last {
            let gap = x - last_x;
            if (y - last_y).abs() > em * 0.5 {
                self.text.push('\n');
            } else if (gap > em * 0.15
                || gap < -em
                || (!measured && self.moved && gap.abs() > em * 0.01))
                && !self.text.ends_with([' ', '\n'])
            {
                self.text.push(' ');
            }
        }
        self.undecoded = self.undecoded.saturating_add(font.decode(bytes, &mut self.text));
        if self.text.len() > MAX_PAGE_TEXT {
            self.cut = true;
            let end = (0..=MAX_PAGE_TEXT).rev().find(|&end| self.text.is_char_boundary(end));
            self.text.truncate(end.unwrap_or(0));
        }
        self.move_pen(font.width(bytes) * self.state.size);
        let [_, _, [x, y]] = multiply(self.pen, self.state.page);
        self.moved = false;
        self.last = Some((x, y, font.is_measured()));
    }
}

fn skip_inline_image(lexer: &mut Lexer<'_>) {
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

    use crate::workspace::pdf::MAX_PAGE_TEXT;
    use crate::workspace::pdf::test_pdf::{
        FONT, document, document_with_font, file, read_all, stream, text_of,
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
