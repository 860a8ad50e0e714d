//! Extracts a window of lines from a text that is read as a stream.
//!
//! Only the lines that are shown are kept in memory; the others are counted.

use memchr::memchr;

/// The characters of a cut line are counted up to this number, to say how many are missing.
const MAX_COUNTED_CHARS: u64 = 16 * 1024 * 1024;

/// The format of the lines of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowStyle {
    /// `N<TAB>line`, without the line endings of the file and with long lines cut.
    Numbered,
    /// The text as it is, including line endings.
    Raw,
}

/// Which lines to show, and limits on their size.
#[derive(Clone, Copy, Debug)]
pub struct LineWindow {
    /// The first line to show, counted from 1.
    pub first: u64,
    /// The last line to show; without it, as many as the limits allow.
    pub last: Option<u64>,
    /// The most lines to show if `last` is not given.
    pub max_lines: u64,
    /// The most bytes to show in any case.
    pub max_bytes: usize,
    /// The most characters of one line to show, in the numbered style.
    pub max_line_chars: usize,
    /// The format of the lines.
    pub style: WindowStyle,
}

/// The lines of a window, and what was left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WindowText {
    /// The lines, formatted in the window's style.
    pub text: String,
    /// The number of the first line shown, or 0 if there is none.
    pub first: u64,
    /// The number of the last line shown, or 0 if there is none.
    pub last: u64,
    /// The number of lines in the text, or in the part that was read.
    pub total_lines: u64,
    /// Whether there is more text after the part that was read.
    pub has_more: bool,
    /// The number of lines that were cut because of their length.
    pub long_lines: u64,
    /// Whether the window was ended by a limit, not by the request.
    pub capped: bool,
    /// Whether the first line did not fit, so that only a part of it is shown.
    pub partial_line: bool,
}

/// Builds a window from a text that is pushed in pieces.
pub struct WindowBuilder {
    window: LineWindow,
    shown: WindowText,
    /// The number of the current line. A line counts once it has a character or a line ending.
    line: u64,
    line_start: usize,
    line_chars: usize,
    hidden_chars: u64,
    in_line: bool,
    pending_return: bool,
    full: bool,
}

impl WindowBuilder {
    /// A builder of a text that shows these lines.
    pub fn new(window: LineWindow) -> Self {
        Self {
            window,
            shown: WindowText::default(),
            line: 1,
            line_start: 0,
            line_chars: 0,
            hidden_chars: 0,
            in_line: false,
            pending_return: false,
            full: false,
        }
    }

    /// Adds the next piece of the text, which may end anywhere.
    pub fn push(&mut self, mut piece: &str) {
        while !piece.is_empty() {
            let Some(end) = memchr(b'\n', piece.as_bytes()) else {
                self.extend_line(piece);
                return;
            };
            let (head, tail) = piece.split_at(end);
            if !head.is_empty() {
                self.extend_line(head);
            }
            self.end_line(WindowLineEnding::Newline);
            piece = tail.get(1..).unwrap_or_default();
        }
    }

    /// Whether none of the remaining text would be shown.
    pub fn is_satisfied(&self) -> bool {
        self.full
            || self.hidden_chars > MAX_COUNTED_CHARS
            || self.window.last.is_some_and(|last| self.line > last)
    }

    /// The window of a text that was not read to its end.
    pub fn finish_early(mut self) -> WindowText {
        self.shown.has_more = true;
        self.shown.capped |= self.full;
        // The current line is incomplete, so it is not shown, or only a part of it.
        if std::mem::take(&mut self.in_line) {
            if self.hidden_chars > 0 && self.wanted() {
                self.shown.long_lines += 1;
                self.shown.capped = true;
                self.shown.text.push_str("… [too many more characters to count]");
            }
            self.line += 1;
        }
        self.finish()
    }

    /// The text, after all of it was added.
    pub fn finish(mut self) -> WindowText {
        if self.in_line {
            self.end_line(WindowLineEnding::EndOfText);
        }
        self.shown.total_lines = self.line - 1;
        // The last newline does not belong to a raw window, except at the end of the text.
        if self.window.style == WindowStyle::Raw
            && self.shown.text.ends_with('\n')
            && self.window.last.is_some_and(|last| last <= self.shown.total_lines)
        {
            self.shown.text.pop();
        }
        self.shown
    }

    fn wanted(&self) -> bool {
        !self.full
            && self.line >= self.window.first
            && self.window.last.is_none_or(|last| self.line <= last)
    }

    fn extend_line(&mut self, piece: &str) {
        self.in_line = true;
        if !self.wanted() {
            return;
        }
        self.begin_line();
        match self.window.style {
            WindowStyle::Raw => {
                let room = self.window.max_bytes.saturating_sub(self.shown.text.len());
                if piece.len() > room {
                    let cut = piece.floor_char_boundary(room);
                    self.shown.text.push_str(piece.get(..cut).unwrap_or_default());
                    self.overflow();
                } else {
                    self.shown.text.push_str(piece);
                }
            }
            WindowStyle::Numbered => self.extend_numbered(piece),
        }
    }

    fn extend_numbered(&mut self, piece: &str) {
        if std::mem::take(&mut self.pending_return) {
            self.push_char('\r');
        }
        // A `\r` before a `\n` belongs to the line ending. It is held back until the next piece.
        let (piece, held) = match piece.strip_suffix('\r') {
            Some(piece) => (piece, true),
            None => (piece, false),
        };
        self.pending_return = held;
        let room = self.window.max_line_chars.saturating_sub(self.line_chars);
        if piece.len() <= room {
            // A character has at least one byte, so this piece cannot have too many characters.
            self.shown.text.push_str(piece);
            self.line_chars += piece.chars().count();
        } else {
            let cut = piece.char_indices().nth(room).map_or(piece.len(), |(at, _)| at);
            let (seen, hidden) = piece.split_at(cut);
            self.shown.text.push_str(seen);
            self.line_chars += seen.chars().count();
            self.hidden_chars += hidden.chars().count() as u64;
        }
        if self.shown.text.len() > self.window.max_bytes {
            self.overflow();
        }
    }

    fn push_char(&mut self, character: char) {
        if self.line_chars < self.window.max_line_chars {
            self.shown.text.push(character);
            self.line_chars += 1;
        } else {
            self.hidden_chars += 1;
        }
    }

    fn begin_line(&mut self) {
        if self.shown.last == self.line {
            return;
        }
        self.line_start = self.shown.text.len();
        if self.window.style == WindowStyle::Numbered {
            if self.shown.first != 0 {
                self.shown.text.push('\n');
            }
            self.shown.text.push_str(&self.line.to_string());
            self.shown.text.push('\t');
        }
        if self.shown.first == 0 {
            self.shown.first = self.line;
        }
        self.shown.last = self.line;
    }

    fn end_line(&mut self, ending: WindowLineEnding) {
        if self.wanted() {
            self.begin_line();
            if self.window.style == WindowStyle::Raw && ending == WindowLineEnding::Newline {
                self.shown.text.push('\n');
            }
            if self.pending_return && ending == WindowLineEnding::EndOfText {
                self.push_char('\r');
            }
            if self.hidden_chars > 0 {
                self.shown.long_lines += 1;
                self.shown.text.push_str(&format!("… [{} more characters]", self.hidden_chars));
            }
            let lines = self.line + 1 - self.shown.first;
            if self.shown.text.len() > self.window.max_bytes {
                self.overflow();
            } else if self.window.last.is_none() && lines >= self.window.max_lines {
                self.full = true;
            }
        } else if self.line >= self.window.first
            && self.window.last.is_none_or(|last| self.line <= last)
        {
            self.shown.capped = true;
        }
        self.line += 1;
        self.line_chars = 0;
        self.hidden_chars = 0;
        self.in_line = false;
        self.pending_return = false;
    }

    /// Removes the line that does not fit, so that the cut is between lines, unless it is the only one.
    fn overflow(&mut self) {
        self.full = true;
        self.shown.capped = true;
        if self.shown.last > self.shown.first {
            self.shown.text.truncate(self.line_start);
            self.shown.last = self.line - 1;
        } else {
            self.shown.partial_line = true;
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum WindowLineEnding {
    Newline,
    EndOfText,
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use proptest::prelude::*;

    use super::*;

    fn window(style: WindowStyle) -> LineWindow {
        LineWindow {
            first: 1,
            last: None,
            max_lines: 2_000,
            max_bytes: 262_144,
            max_line_chars: 2_000,
            style,
        }
    }

    fn show(text: &str, window: LineWindow) -> WindowText {
        let mut builder = WindowBuilder::new(window);
        builder.push(text);
        builder.finish()
    }

    #[test]
    fn lines_are_numbered_and_a_final_newline_adds_none() {
        let shown = show("one\r\n\ntwo\n", window(WindowStyle::Numbered));
        assert_eq!(shown.text, "1\tone\n2\t\n3\ttwo");
        assert_eq!((shown.first, shown.last, shown.total_lines), (1, 3, 3));
        assert_eq!(show("a\nb", window(WindowStyle::Numbered)).text, "1\ta\n2\tb");
        assert_eq!(show("", window(WindowStyle::Numbered)), WindowText::default());
        assert_eq!(show("\n", window(WindowStyle::Numbered)).text, "1\t");
    }

    #[test]
    fn a_return_that_ends_no_line_is_kept() {
        assert_eq!(show("a\rb\r", window(WindowStyle::Numbered)).text, "1\ta\rb\r");
    }

    #[test]
    fn limits_cut_between_lines_and_are_reported() {
        let text = "x\n".repeat(10);
        let by_lines = show(&text, LineWindow { max_lines: 4, ..window(WindowStyle::Numbered) });
        assert_eq!((by_lines.last, by_lines.total_lines, by_lines.capped), (4, 10, true));
        let by_bytes = show(&text, LineWindow { max_bytes: 9, ..window(WindowStyle::Numbered) });
        assert_eq!(by_bytes.text, "1\tx\n2\tx");
        assert_eq!((by_bytes.last, by_bytes.total_lines, by_bytes.capped), (2, 10, true));
        let exact = show(&text, LineWindow { max_lines: 10, ..window(WindowStyle::Numbered) });
        assert_eq!((exact.last, exact.capped), (10, false));
    }

    #[test]
    fn a_long_line_is_cut_on_a_character_and_says_how_much_is_missing() {
        let cut = LineWindow { max_line_chars: 3, ..window(WindowStyle::Numbered) };
        let shown = show("äöüß€\nab\n", cut);
        assert_eq!(shown.text, "1\täöü… [2 more characters]\n2\tab");
        assert_eq!(shown.long_lines, 1);
    }

    #[test]
    fn a_single_line_beyond_every_limit_is_shown_in_part() {
        let text = "é".repeat(1_000);
        let shown = show(&text, LineWindow { max_bytes: 101, ..window(WindowStyle::Raw) });
        assert_eq!(shown.text, "é".repeat(50));
        assert!(shown.capped && shown.partial_line);
    }

    proptest! {
        #[test]
        fn a_raw_window_equals_the_lines_of_a_split_at_newlines(
            text in "[a-c\r\né]{0,40}", start in 0_usize..7, length in 1_usize..8,
            cuts in prop::collection::vec(0_usize..40, 0..4),
        ) {
            let lines: Vec<&str> = text.split('\n').collect();
            let expected = lines.iter().skip(start).take(length).copied().collect::<Vec<_>>().join("\n");
            let first = start as u64 + 1;
            let last = (start + length) as u64;
            let mut builder = WindowBuilder::new(LineWindow { first, last: Some(last), ..window(WindowStyle::Raw) });
            let mut cuts: Vec<usize> = cuts.into_iter().map(|it| text.floor_char_boundary(it.min(text.len()))).collect();
            cuts.sort_unstable();
            let mut from = 0;
            for cut in cuts.into_iter().chain([text.len()]) {
                builder.push(text.get(from..cut).unwrap_or_default());
                from = cut;
            }
            prop_assert_eq!(builder.finish().text, expected);
        }
    }
}
