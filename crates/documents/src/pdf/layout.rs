//! Turns characters at positions into lines of text.
//!
//! A PDF does not store lines or words, so both are found by position: a shift off the line starts a
//! new line, a gap along it a new word. Text outside the visible part of the page is left out.

use unicode_normalization::UnicodeNormalization as _;

use super::MAX_PAGE_TEXT;
use super::right_to_left::{PlacedText, has_right_to_left, in_reading_order};

/// A line with more characters than this is kept in the order in which it was drawn.
const MAX_REORDERED: usize = 8192;
/// The gap that separates words, in units of the font size.
const WORD_GAP: f64 = 0.15;
/// The shift off the line that starts a new line, in units of the font size.
const LINE_SHIFT: f64 = 0.5;
/// The cosine of the largest angle between two texts on one line.
const SAME_DIRECTION: f64 = 0.9;

/// A position on the page: x, then y.
pub(super) type Point = [f64; 2];

/// The position, direction and size of one drawn character.
#[derive(Clone, Copy)]
pub(super) struct Placement {
    pub(super) start: Point,
    pub(super) end: Point,
    /// The direction of writing, as a vector of length one.
    pub(super) direction: Point,
    /// The font size, as scaled on the page.
    pub(super) em: f64,
    /// Whether the pen was set to a new position before this text, not only advanced by the last one.
    pub(super) was_moved: bool,
    /// Whether `end` is based on the font's widths. Otherwise it is a guess.
    pub(super) is_measured: bool,
}

/// A rectangle on the page, by its lower left and upper right corner.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Area {
    pub(super) low: Point,
    pub(super) high: Point,
}

impl Area {
    /// The intersection of two rectangles.
    pub(super) fn overlap(self, other: Self) -> Option<Self> {
        let low = [self.low[0].max(other.low[0]), self.low[1].max(other.low[1])];
        let high = [self.high[0].min(other.high[0]), self.high[1].min(other.high[1])];
        (high[0] > low[0] && high[1] > low[1]).then_some(Self { low, high })
    }

    fn holds(&self, [x, y]: Point, margin: f64) -> bool {
        let ([low_x, low_y], [high_x, high_y]) = (self.low, self.high);
        x >= low_x - margin && x <= high_x + margin && y >= low_y - margin && y <= high_y + margin
    }
}

#[derive(Default)]
pub(super) struct PageLayout {
    text: String,
    /// The visible part of the page. Everything is visible if the page does not define it.
    visible: Option<Area>,
    last: Option<Placement>,
    line_start: usize,
    /// The characters of the current line, in case it has to be reordered.
    line: Vec<PlacedText>,
    is_cut: bool,
}

impl PageLayout {
    pub(super) fn of_page(visible: Option<Area>) -> Self {
        Self { visible, ..Self::default() }
    }

    /// Whether text was dropped because the page has too much.
    pub(super) const fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// Adds a character, or the characters of a ligature.
    pub(super) fn place(&mut self, characters: &str, placement: Placement) {
        if self.is_cut || !self.is_visible(&placement) {
            return;
        }
        self.separate(&placement);
        let start = self.text.len();
        for character in characters.chars() {
            if is_presentation_form(character) {
                self.text.extend(std::iter::once(character).nfkc());
            } else {
                self.text.push(character);
            }
        }
        if self.line.len() <= MAX_REORDERED {
            let along = |point: Point| dot(point, placement.direction);
            self.line.push(PlacedText {
                bytes: start..self.text.len(),
                from: along(placement.start),
                to: along(placement.end),
                em: placement.em,
            });
        }
        self.last = Some(placement);
        self.cut();
    }

    /// Adds text without a position, on separate lines.
    pub(super) fn add_lines(&mut self, text: &str) {
        if self.is_cut {
            return;
        }
        if !self.text.is_empty() {
            self.end_line();
        }
        self.text.push_str(text.trim_end());
        self.last = None;
        self.line.clear();
        self.line_start = self.text.len();
        self.cut();
    }

    /// Ends the current line: the next text starts a new one.
    pub(super) fn end_line(&mut self) {
        self.reorder_line();
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            self.text.push('\n');
        }
        self.line_start = self.text.len();
        self.line.clear();
        self.last = None;
    }

    pub(super) fn into_text(mut self) -> String {
        self.reorder_line();
        self.text.truncate(self.text.trim_end().len());
        self.text
    }

    /// Whether the middle of the character is visible. Its start or end may be just off the edge.
    fn is_visible(&self, placement: &Placement) -> bool {
        let ([start_x, start_y], [end_x, end_y]) = (placement.start, placement.end);
        let middle = [start_x.midpoint(end_x), start_y.midpoint(end_y)];
        self.visible.is_none_or(|area| area.holds(middle, placement.em))
    }

    fn separate(&mut self, next: &Placement) {
        let Some(last) = &self.last else { return };
        let [x, y] = [next.start[0] - last.end[0], next.start[1] - last.end[1]];
        let [along_x, along_y] = next.direction;
        let gap = dot([x, y], next.direction);
        let shift = (x * along_y - y * along_x).abs();
        let turns = dot(last.direction, next.direction) < SAME_DIRECTION;
        if turns || shift > next.em * LINE_SHIFT {
            self.end_line();
        } else if (gap > next.em * WORD_GAP
            || gap < -next.em
            || (!last.is_measured && next.was_moved && gap.abs() > next.em * 0.01))
            && !self.text.ends_with([' ', '\n'])
        {
            self.text.push(' ');
        }
    }

    fn reorder_line(&mut self) {
        let line = self.text.get(self.line_start..).unwrap_or_default();
        if self.line.len() <= MAX_REORDERED && has_right_to_left(line) {
            let reordered = in_reading_order(&self.text, &self.line, WORD_GAP);
            self.text.truncate(self.line_start);
            self.text.push_str(&reordered);
        }
    }

    fn cut(&mut self) {
        if self.text.len() > MAX_PAGE_TEXT {
            self.is_cut = true;
            let end = (0..=MAX_PAGE_TEXT).rev().find(|&end| self.text.is_char_boundary(end));
            self.text.truncate(end.unwrap_or(0));
            // Characters recorded for the line may have been cut off.
            self.line.clear();
            self.line_start = self.text.len();
        }
    }
}

fn dot([x, y]: Point, [other_x, other_y]: Point) -> f64 {
    x * other_x + y * other_y
}

/// Whether this character stands for letters in a certain shape: a ligature, or the form that a
/// Hebrew or Arabic letter has next to others. Such text is normalised, because people search for
/// the letters.
fn is_presentation_form(character: char) -> bool {
    matches!(character, '\u{fb00}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}')
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use crate::pdf::test_pdf::{FONT, document, document_with_font, file, stream, text_of};

    fn drawn(operators: &str) -> String {
        text_of(&document(&[stream("", operators.as_bytes())]))
    }

    #[test]
    fn follows_spacing_and_stretching_of_characters() {
        // In each, the last text starts where the first ends, so both are one word.
        for operators in [
            // "ab" is 11.12 wide in Helvetica at 10, and each character may be wider by 3.
            "BT /F1 10 Tf 3 Tc (ab) Tj ET BT 17.12 0 Td (c) Tj ET",
            "BT /F1 10 Tf 50 Tz (ab) Tj ET BT 5.56 0 Td (c) Tj ET",
            "BT /F1 10 Tf 200 Tz 1 Tc (ab) Tj ET BT 26.24 0 Td (c) Tj ET",
        ] {
            assert_eq!(drawn(operators), "abc", "{operators}");
        }
        assert_eq!(drawn("BT /F1 10 Tf 20 Tw (a b) Tj ET BT 33.9 0 Td (c) Tj ET"), "a bc");
        assert_eq!(drawn("BT /F1 10 Tf 0 3 (ab) \" ET BT 17.12 0 Td (c) Tj ET"), "abc");
        // With the spacing before, this would be one word.
        assert_eq!(drawn("BT /F1 10 Tf -3 Tc (ab) Tj ET BT 11.12 0 Td (c) Tj ET"), "ab c");
    }

    #[test]
    fn reads_text_along_the_line_it_is_written_on() {
        let up = "BT /F1 10 Tf 0 1 -1 0 50 10 Tm (up) Tj 0 1 -1 0 50 60 Tm (wards) Tj ";
        assert_eq!(drawn(&format!("{up} 0 1 -1 0 62 10 Tm (next) Tj ET")), "up wards\nnext");
        assert_eq!(
            drawn("BT /F1 10 Tf -1 0 0 -1 90 10 Tm (up) Tj -1 0 0 -1 40 10 Tm (side) Tj ET"),
            "up side"
        );
        assert_eq!(
            drawn("BT /F1 10 Tf (level) Tj 0 1 -1 0 22 0 Tm (turned) Tj ET"),
            "level\nturned"
        );
        let slanted = "0.7071 0.7071 -0.7071 0.7071";
        assert_eq!(
            drawn(&format!(
                "BT /F1 10 Tf {slanted} 0 0 Tm (a) Tj {slanted} 3.932 3.932 Tm (b) Tj ET"
            )),
            "ab"
        );
        let vertical = "<< /Type /Font /Subtype /Type0 /Encoding /UniJIS-UTF16-V >>";
        let content = stream("", b"BT /F1 10 Tf 50 90 Td <65e5672c> Tj ET BT 50 70 Td <8a9e> Tj ET BT 30 90 Td <6587> Tj ET");
        assert_eq!(text_of(&document_with_font(vertical, &[content], &[])), "日本語\n文");
    }

    #[test]
    fn leaves_out_what_is_off_the_page() {
        let content = "BT /F1 10 Tf 20 50 Td (in) Tj ET BT 20 -400 Td (below) Tj ET \
            BT 900 50 Td (right) Tj ET q 1 0 0 1 0 500 cm BT 20 0 Td (above) Tj ET Q BT 20 30 Td (too) Tj ET";
        let text = |boxes: &str| {
            text_of(&file(&[
                b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
                format!("<< /Type /Pages /Kids [4 0 R] {boxes} >>").into_bytes(),
                FONT.as_bytes().to_vec(),
                b"<< /Parent 2 0 R /Contents 5 0 R /Resources << /Font << /F1 3 0 R >> >> >>"
                    .to_vec(),
                stream("", content.as_bytes()),
            ]))
        };
        assert_eq!(text("/MediaBox [0 0 200 200]"), "in\ntoo");
        assert_eq!(text("/MediaBox [200 200 0 0] /CropBox [0 0 200 1000]"), "in\ntoo");
        assert_eq!(text("/MediaBox [0 0 2000 2000] /CropBox [0 40 100 100]"), "in\ntoo");
        assert_eq!(text("/MediaBox [0 0 0 0]"), "in\nbelow\nright\nabove\ntoo");
    }

    #[test]
    fn reads_hebrew_and_arabic_in_the_order_of_reading_however_it_was_drawn() {
        let map = b"1 beginbfrange <0001> <001b> <05d0> endbfrange 1 beginbfrange <0041> <007a> <0041> endbfrange \
            3 beginbfchar <0030> <0020> <0031> <fe8d> <0032> <fefb> endbfchar";
        let font = "<< /Type /Font /Subtype /Type0 /Encoding /Identity-H /ToUnicode 6 0 R \
            /DescendantFonts [<< /DW 500 >>] >>";
        let text = |operators: &str| {
            let content = stream("", format!("BT /F1 10 Tf {operators} ET").as_bytes());
            text_of(&document_with_font(font, &[content], &[stream("", map)]))
        };
        // Drawn from left to right, as most writers do.
        assert_eq!(text("<0003 0002 0001> Tj"), "\u{5d0}\u{5d1}\u{5d2}");
        // Drawn from the right, character by character.
        assert_eq!(
            text("100 0 Td <0001> Tj -5 0 Td <0002> Tj -5 0 Td <0003> Tj -12 0 Td <0004> Tj"),
            "\u{5d0}\u{5d1}\u{5d2} \u{5d3}"
        );
        // Presentation forms become letters, and a Latin word keeps its order.
        assert_eq!(text("<0041 0042 0030 0032 0031> Tj"), "\u{627}\u{644}\u{627} AB");
        assert_eq!(text("<0002 0001> Tj 0 -20 Td <0041> Tj"), "\u{5d0}\u{5d1}\nA");
    }
}
