//! Carries out the text operators of a page: which characters they show, in which font, and where.
//!
//! Operators that draw lines, images and colours are ignored: they do not change where text is.

use std::rc::Rc;

use super::font::Font;
use super::layout::{PageLayout, Placement};
use super::matrix::{IDENTITY, Matrix, matrix_of, multiply, shift};
use super::object::Object;

/// How many `q` operators may be open at once; further ones do not save anything.
const MAX_SAVED_STATES: usize = 256;

/// What `q` saves and `Q` restores.
#[derive(Clone)]
struct GraphicsState {
    page: Matrix,
    font: Option<Rc<Font>>,
    size: f64,
    leading: f64,
    /// Added to the width of every character.
    character_spacing: f64,
    /// Added to the width of every space as well.
    word_spacing: f64,
    /// The factor by which text is stretched along its line.
    stretch: f64,
}

/// The state of the page or form around a form, restored once the form has been drawn.
pub(super) struct OutsideOfForm {
    state: GraphicsState,
    saved: Vec<GraphicsState>,
}

/// The text drawn so far, and the pen that draws it.
pub(super) struct TextDrawing {
    pub(super) layout: PageLayout,
    /// How many characters were drawn whose text is unknown.
    pub(super) undecoded: usize,
    state: GraphicsState,
    saved: Vec<GraphicsState>,
    line: Matrix,
    pen: Matrix,
    /// Whether the pen was set to a new position since the last text, not only advanced by it.
    moved: bool,
    /// The text of the code being shown. Reused, so that no code needs an allocation.
    shown: String,
}

impl Default for TextDrawing {
    fn default() -> Self {
        let state = GraphicsState {
            page: IDENTITY,
            font: None,
            size: 1.0,
            leading: 0.0,
            character_spacing: 0.0,
            word_spacing: 0.0,
            stretch: 1.0,
        };
        Self {
            layout: PageLayout::default(),
            undecoded: 0,
            state,
            saved: Vec::new(),
            line: IDENTITY,
            pen: IDENTITY,
            moved: false,
            shown: String::new(),
        }
    }
}

impl TextDrawing {
    pub(super) fn set_font(&mut self, font: Option<Rc<Font>>, size: f64) {
        self.state.font = font;
        self.state.size = size;
    }

    /// Starts to draw a form that `matrix` places on what is drawn now.
    pub(super) fn enter_form(&mut self, matrix: Matrix) -> OutsideOfForm {
        let state = self.state.clone();
        self.state.page = multiply(matrix, self.state.page);
        OutsideOfForm { state, saved: std::mem::take(&mut self.saved) }
    }

    pub(super) fn leave_form(&mut self, OutsideOfForm { state, saved }: OutsideOfForm) {
        self.state = state;
        self.saved = saved;
    }

    /// Carries out one operator, if it matters for text.
    pub(super) fn operate(&mut self, operator: &[u8], operands: &[Object]) {
        let operand = |index: usize| operands.get(index).map_or(0.0, Object::as_number);
        match operator {
            b"q" if self.saved.len() < MAX_SAVED_STATES => self.saved.push(self.state.clone()),
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
        // Text scaled to nothing has no direction; any will do.
        let direction = if length > 0.0 { [line_x / length, line_y / length] } else { [1.0, 0.0] };
        let stretch = if font.is_vertical { 1.0 } else { self.state.stretch };
        // A negative font size or stretch reverses the direction.
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
