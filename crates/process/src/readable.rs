//! Converts the output of programs to text: what a person would see on a terminal, in characters
//! that are safe to show. Every byte makes at most one character, so a limit on bytes also limits
//! the text.

use toolwright_base::{TerminalAction, TerminalParser};

/// Converts a whole output: removes escape sequences, and shows each line as it was after the
/// program had overwritten it.
pub fn readable(bytes: &[u8]) -> String {
    let mut parser = TerminalParser::default();
    let mut screen = Screen::default();
    parser.parse(bytes, &mut |it| screen.apply(it));
    parser.finish(&mut |it| screen.apply(it));
    screen.finish()
}

/// How many bytes at the end are the beginning of an incomplete escape sequence.
pub(crate) fn unfinished_sequence(bytes: &[u8]) -> usize {
    let Some(from) = memchr::memrchr(0x1b, bytes).and_then(|at| bytes.get(at..)) else { return 0 };
    let mut parser = TerminalParser::default();
    parser.parse(from, &mut |_| {});
    if parser.ends_within_sequence() { from.len() } else { 0 }
}

/// Converts output as it arrives. Text that was returned cannot be changed any more, so a line that
/// the program overwrites becomes two lines.
#[derive(Debug, Default)]
pub(crate) struct ReadableStream {
    parser: TerminalParser,
    /// True if the last character was a carriage return: the next text overwrites the line.
    is_at_line_start: bool,
}

impl ReadableStream {
    /// The text of the next bytes. A character that is cut off at their end is returned once it is
    /// complete.
    pub(crate) fn take(&mut self, bytes: &[u8]) -> String {
        let mut text = String::with_capacity(bytes.len());
        let Self { parser, is_at_line_start } = self;
        parser.parse(bytes, &mut |it| append_action(is_at_line_start, &mut text, it));
        text
    }

    /// The remaining text when no more output arrives.
    pub(crate) fn finish(&mut self) -> String {
        let mut text = String::new();
        let Self { parser, is_at_line_start } = self;
        parser.finish(&mut |it| append_action(is_at_line_start, &mut text, it));
        text
    }
}

fn append_action(is_at_line_start: &mut bool, text: &mut String, action: TerminalAction) {
    match action {
        TerminalAction::Control('\r') => *is_at_line_start = true,
        TerminalAction::Control('\n') => {
            *is_at_line_start = false;
            text.push('\n');
        }
        TerminalAction::Control(BACKSPACE) | TerminalAction::EraseToLineEnd => {}
        TerminalAction::Control(it) | TerminalAction::Print(it) => {
            if std::mem::take(is_at_line_start) {
                text.push('\n');
            }
            text.push(shown(it));
        }
    }
}

const BACKSPACE: char = '\u{8}';

/// The character to show for a printed character, or for a control character that does not move the
/// cursor.
fn shown(it: char) -> char {
    match it {
        '\t' => it,
        // Unicode has a visible symbol for each, which has no effect on a terminal.
        '\0'..='\u{1f}' => char::from_u32(0x2400 + u32::from(it)).unwrap_or('\u{fffd}'),
        '\u{7f}' => '\u{2421}',
        '\u{80}'..='\u{9f}' => char::REPLACEMENT_CHARACTER,
        it => it,
    }
}

/// The lines as a terminal would finally show them.
#[derive(Default)]
struct Screen {
    /// Everything above the last line.
    finished: String,
    line: Vec<char>,
    column: usize,
}

impl Screen {
    fn apply(&mut self, action: TerminalAction) {
        match action {
            TerminalAction::Control('\n') => {
                self.finished.extend(self.line.drain(..));
                self.finished.push('\n');
                self.column = 0;
            }
            TerminalAction::Control('\r') => self.column = 0,
            TerminalAction::Control(BACKSPACE) => self.column = self.column.saturating_sub(1),
            TerminalAction::EraseToLineEnd => self.line.truncate(self.column),
            TerminalAction::Control(it) | TerminalAction::Print(it) => {
                match self.line.get_mut(self.column) {
                    Some(cell) => *cell = shown(it),
                    None => self.line.push(shown(it)),
                }
                self.column += 1;
            }
        }
    }

    fn finish(mut self) -> String {
        self.finished.extend(self.line);
        self.finished
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn text_is_what_a_terminal_would_show() {
        for (raw, shown) in [
            ("plain\ttext\n", "plain\ttext\n"),
            ("\u{1b}[1;31mred\u{1b}[0m", "red"),
            ("10%\r50%\r100%\nnext", "100%\nnext"),
            ("abcdef\rxy\n", "xycdef\n"),
            ("abcdef\r\u{1b}[Kxy\n", "xy\n"),
            ("line\r\nline\r\n", "line\nline\n"),
            ("a\u{8}b", "b"),
            ("\u{1b}]0;title\u{7}x", "x"),
            ("\u{1b}]8;;http://x\u{1b}\\link\u{1b}]8;;\u{1b}\\", "link"),
            ("\u{1b}]never ended\nrest", "\nrest"),
            ("\u{1b}(Bx\u{1b}=y", "xy"),
            ("nul\0bell\u{7}", "nul\u{2400}bell\u{2407}"),
            ("cut \u{1b}[3", "cut "),
            ("\u{9b}31m", "\u{fffd}31m"),
        ] {
            assert_eq!(readable(raw.as_bytes()), shown, "{raw:?}");
        }
        assert_eq!(readable(b"\xff\xfe \xe2\x82 \xe2\x82"), "\u{fffd}\u{fffd} \u{fffd} \u{fffd}");
    }

    #[test]
    fn incomplete_sequences_are_found() {
        for (bytes, length) in [
            (&b"text"[..], 0),
            (b"red \x1b[3", 3),
            (b"red \x1b[31m", 0),
            (b"\x1b[1mbold\x1b", 1),
            (b"\x1b]0;title", 9),
            (b"\x1b]0;title\x07", 0),
            (b"\x1b]0;never\nended", 0),
            (b"\x1b(", 2),
        ] {
            assert_eq!(unfinished_sequence(bytes), length, "{bytes:?}");
        }
        assert_eq!(unfinished_sequence(&[&b"\x1b]"[..], &[b'x'; 5_000]].concat()), 0);
    }

    #[test]
    fn a_stream_shows_each_state_of_a_line_and_whole_characters() {
        let mut stream = ReadableStream::default();
        let pieces = [&b"10%\r2"[..], b"0%\r", b"\n\xe2\x82", b"\xac\x1b[3", b"1mred\xe2"];
        let mut text: Vec<String> = pieces.iter().map(|it| stream.take(it)).collect();
        text.push(stream.finish());
        assert_eq!(text, ["10%\n2", "0%", "\n", "€", "red", "\u{fffd}"]);
    }

    proptest! {
        #[test]
        fn text_has_no_terminal_effects_and_is_not_longer_than_the_output(
            bytes in proptest::collection::vec(any::<u8>(), 0..400),
            cut in 0_usize..400,
        ) {
            let text = readable(&bytes);
            prop_assert!(text.chars().count() <= bytes.len());
            prop_assert!(text.chars().all(|it| !it.is_control() || it == '\n' || it == '\t'));
            let mut stream = ReadableStream::default();
            let (one, two) = bytes.split_at(cut.min(bytes.len()));
            let parts = stream.take(one) + &stream.take(two) + &stream.finish();
            let mut whole = ReadableStream::default();
            prop_assert_eq!(parts, whole.take(&bytes) + &whole.finish());
        }
    }
}
