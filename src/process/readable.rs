//! Output of programs as text: what a person would see on a terminal, in characters that are safe to
//! show. Every byte makes at most one character, so that a bound on bytes bounds the text.

use crate::terminal_parser::{TerminalAction, TerminalParser};

/// Whole output as text: without escape sequences, and with each line as it was in the end after the
/// program had written over it.
pub(crate) fn readable(bytes: &[u8]) -> String {
    let mut parser = TerminalParser::default();
    let mut screen = Screen::default();
    parser.parse(bytes, &mut |it| screen.apply(it));
    parser.finish(&mut |it| screen.apply(it));
    screen.finish()
}

/// How many bytes at the end are the beginning of an escape sequence that goes on behind them.
pub(crate) fn unfinished_sequence(bytes: &[u8]) -> usize {
    let Some(from) = memchr::memrchr(0x1b, bytes).and_then(|at| bytes.get(at..)) else { return 0 };
    let mut parser = TerminalParser::default();
    parser.parse(from, &mut |_| {});
    if parser.ends_within_sequence() { from.len() } else { 0 }
}

/// Makes text of output while it comes. Text that was handed out cannot be changed any more, so a line
/// that the program writes over becomes two lines.
#[derive(Debug, Default)]
pub(crate) struct ReadableStream {
    parser: TerminalParser,
    /// True when a carriage return was the last to come: whatever is printed next writes over the line.
    is_at_line_start: bool,
}

impl ReadableStream {
    /// The text of the next bytes. A character that is cut at their end comes with the bytes that complete
    /// it.
    pub(crate) fn take(&mut self, bytes: &[u8]) -> String {
        let mut text = String::with_capacity(bytes.len());
        let Self { parser, is_at_line_start } = self;
        parser.parse(bytes, &mut |it| append_action(is_at_line_start, &mut text, it));
        text
    }

    /// The text that is left when no more output comes.
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

/// The character to show for one that was printed, or for a control character that moves nothing.
fn shown(it: char) -> char {
    match it {
        '\t' => it,
        // Unicode has a picture for each, which acts on no terminal.
        '\0'..='\u{1f}' => char::from_u32(0x2400 + u32::from(it)).unwrap_or('\u{fffd}'),
        '\u{7f}' => '\u{2421}',
        '\u{80}'..='\u{9f}' => char::REPLACEMENT_CHARACTER,
        it => it,
    }
}

/// The lines as a terminal would show them in the end.
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
                    Some(place) => *place = shown(it),
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
    fn a_terminal_would_show_the_same() {
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
    fn sequences_that_are_not_at_their_end_are_found() {
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
        fn no_output_makes_text_that_acts_on_a_terminal_or_is_longer_than_itself(
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
