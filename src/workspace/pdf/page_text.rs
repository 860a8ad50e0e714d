//! Runs the drawing operators of a page that matter for its text.

use std::collections::HashMap;
use std::rc::Rc;

use super::font::Font;
use super::layout::{Area, Layout, Placement};
use super::lexer::{Lexer, MAX_DEPTH, Token, find, is_space};
use super::matrix::{IDENTITY, Matrix, area_of, matrix_of, multiply, shift};
use super::object::{Dictionary, Object, ObjectId, Stream};
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
pub(super) struct Resources {
    fonts: Dictionary,
    forms: Dictionary,
}

#[derive(Clone)]
struct GraphicsState {
    page: Matrix,
    font: Option<Rc<Font>>,
    size: f64,
    leading: f64,
    /// Added to the width of every character, and of every space.
    character_spacing: f64,
    word_spacing: f64,
    /// By which factor text is stretched along its line.
    stretch: f64,
}

pub(super) struct PageText<'r, 'a> {
    pub(super) reader: &'r mut Reader<'a>,
    pub(super) layout: Layout,
    damaged: bool,
    undecoded: usize,
    state: GraphicsState,
    saved: Vec<GraphicsState>,
    line: Matrix,
    pen: Matrix,
    /// Whether the pen was set anew since the last text, not only advanced.
    moved: bool,
    /// The text of the code that is being shown; kept, so that no code allocates.
    shown: String,
}

impl<'r, 'a> PageText<'r, 'a> {
    pub(super) fn of(
        reader: &'r mut Reader<'a>,
        number: u32,
        id: ObjectId,
    ) -> Result<PdfPage, PdfError> {
        let state = GraphicsState {
            page: IDENTITY,
            font: None,
            size: 1.0,
            leading: 0.0,
            character_spacing: 0.0,
            word_spacing: 0.0,
            stretch: 1.0,
        };
        let mut page = Self {
            reader,
            layout: Layout::default(),
            damaged: false,
            undecoded: 0,
            state,
            saved: Vec::new(),
            line: IDENTITY,
            pen: IDENTITY,
            moved: false,
            shown: String::new(),
        };
        match page.reader.load(id)? {
            Some(Object::Dictionary(dictionary)) => {
                page.layout = Layout::of_page(page.visible_area(&dictionary)?);
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
        if self.layout.is_cut() {
            notes.push(format!(
                "only the first {MAX_PAGE_TEXT} bytes of this page's text are shown"
            ));
        }
        match self.undecoded {
            0 => {}
            1 => notes.push("1 character is in a font without a readable encoding".to_owned()),
            count => {
                notes.push(format!("{count} characters are in a font without a readable encoding"));
            }
        }
        if self.damaged {
            notes.push("part of this page is damaged and was skipped".to_owned());
        }
        let text = self.layout.into_text();
        PdfPage { number, text, note: (!notes.is_empty()).then(|| notes.join("; ")) }
    }

    /// An entry that a page has from the nearest node above it that has one.
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

    /// The part of the page that is shown; nothing where the page does not say or makes no sense.
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

    /// The rectangle between two corners.
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
            if self.layout.is_cut() {
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

    /// Draws a form, placed on the page by a matrix.
    pub(super) fn draw(
        &mut self,
        form: Stream,
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
        let state = self.state.clone();
        let saved = std::mem::take(&mut self.saved);
        self.state.page = multiply(multiply(matrix, place), self.state.page);
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
            b"Tc" => self.state.character_spacing = operand(0),
            b"Tw" => self.state.word_spacing = operand(0),
            b"Tz" => self.state.stretch = operand(0) / 100.0,
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
                self.state.word_spacing = operand(0);
                self.state.character_spacing = operand(1);
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

    /// Moves the pen along the line, which goes down the page in vertical writing.
    fn move_pen(&mut self, distance: f64, is_vertical: bool) {
        let step = if is_vertical { shift(0.0, -distance) } else { shift(distance, 0.0) };
        self.pen = multiply(step, self.pen);
    }

    fn show_all(&mut self, items: &[Object]) {
        for item in items {
            match item {
                Object::String(bytes) => self.show(bytes),
                Object::Integer(_) | Object::Real(_) => {
                    let distance = -item.as_number() / 1000.0 * self.state.size;
                    let is_vertical = self.state.font.as_ref().is_some_and(|it| it.is_vertical);
                    let stretch = if is_vertical { -1.0 } else { self.state.stretch };
                    self.move_pen(distance * stretch, is_vertical);
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
        let [[across_x, across_y], [up_x, up_y], _] = multiply(self.pen, self.state.page);
        let (line_x, line_y) = if font.is_vertical { (-up_x, -up_y) } else { (across_x, across_y) };
        let length = line_x.hypot(line_y);
        // Text that is squeezed to nothing has no direction.
        let direction = if length > 0.0 { [line_x / length, line_y / length] } else { [1.0, 0.0] };
        let stretch = if font.is_vertical { 1.0 } else { self.state.stretch };
        // A font size or a stretch below zero turns the writing around.
        let turn = (self.state.size * stretch).signum();
        let mut placement = Placement {
            start: self.pen_on_page(),
            end: [0.0, 0.0],
            direction: direction.map(|part| part * turn),
            em: (self.state.size * length * stretch).abs(),
            was_moved: std::mem::take(&mut self.moved),
            is_measured: font.is_measured(),
        };
        let mut rest = bytes;
        let mut shown = std::mem::take(&mut self.shown);
        while !self.layout.is_cut() {
            shown.clear();
            let Some(code) = font.take_code(&mut rest, &mut shown) else { break };
            let width = if font.is_vertical { 1.0 } else { code.width };
            let mut advance = width * self.state.size + self.state.character_spacing;
            if code.is_word_space {
                advance += self.state.word_spacing;
            }
            self.move_pen(advance * stretch, font.is_vertical);
            placement.end = self.pen_on_page();
            self.undecoded = self.undecoded.saturating_add(usize::from(code.is_undecoded));
            self.layout.place(&shown, placement);
            placement.start = placement.end;
            placement.was_moved = false;
        }
        self.shown = shown;
    }

    fn pen_on_page(&self) -> [f64; 2] {
        let [_, _, origin] = multiply(self.pen, self.state.page);
        origin
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
