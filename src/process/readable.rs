//! Output of programs as text: what a person would see on a terminal, in characters that are safe to
//! show. Every byte makes at most one character, so that a bound on bytes bounds the text.

/// Whole output as text: escape sequences taken out, lines that were written over as they ended up.
pub fn readable(bytes: &[u8]) -> String {
    let mut cleaner = Cleaner::default();
    let mut screen = Screen::default();
    cleaner.take(bytes, &mut |it| screen.apply(it));
    cleaner.finish(&mut |it| screen.apply(it));
    screen.finish()
}

/// How many bytes at the end are an escape sequence whose rest is missing.
pub fn unfinished_sequence(bytes: &[u8]) -> usize {
    let Some(from) = memchr::memrchr(0x1b, bytes).and_then(|at| bytes.get(at..)) else { return 0 };
    let mut cleaner = Cleaner::default();
    cleaner.take(from, &mut |_| {});
    if cleaner.state == State::Text { 0 } else { from.len() }
}

/// Output as text while it comes. What was shown cannot be taken back, so a line that is written over
/// becomes two lines.
#[derive(Debug, Default)]
pub struct Stream {
    cleaner: Cleaner,
    returned: bool,
}

impl Stream {
    /// The text of the next bytes; a character that is not complete yet comes with the rest of it.
    pub fn take(&mut self, bytes: &[u8]) -> String {
        let mut text = String::with_capacity(bytes.len());
        let Self { cleaner, returned } = self;
        cleaner.take(bytes, &mut |it| stream_piece(returned, &mut text, it));
        text
    }

    /// What is left when there is no more output.
    pub fn finish(&mut self) -> String {
        let mut text = String::new();
        let Self { cleaner, returned } = self;
        cleaner.finish(&mut |it| stream_piece(returned, &mut text, it));
        text
    }
}

fn stream_piece(returned: &mut bool, text: &mut String, piece: Piece) {
    match piece {
        Piece::Return => *returned = true,
        Piece::Newline => {
            *returned = false;
            text.push('\n');
        }
        Piece::Character(character) => {
            if std::mem::take(returned) {
                text.push('\n');
            }
            text.push(character);
        }
        Piece::Back | Piece::Erase => {}
    }
}

/// What output is made of.
#[derive(Clone, Copy)]
enum Piece {
    Character(char),
    Newline,
    Return,
    Back,
    Erase,
}

/// Where in an escape sequence we are.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    #[default]
    Text,
    Escape,
    /// `ESC [`: parameters until a final byte.
    Control,
    /// `ESC ]` and its kin: a text until BEL or `ESC \`.
    Text7,
    Text7Escape,
}

/// Turns bytes into pieces; keeps what is not complete.
#[derive(Debug, Default)]
struct Cleaner {
    partial: Vec<u8>,
    state: State,
    length: usize,
}

/// A sequence longer than this is none: a stray byte must not swallow the rest of the output.
const MAX_SEQUENCE: usize = 2_048;

impl Cleaner {
    fn take(&mut self, bytes: &[u8], emit: &mut impl FnMut(Piece)) {
        let joined;
        let bytes = if self.partial.is_empty() {
            bytes
        } else {
            self.partial.extend_from_slice(bytes);
            joined = std::mem::take(&mut self.partial);
            &joined
        };
        let mut rest = bytes;
        loop {
            match std::str::from_utf8(rest) {
                Ok(text) => return text.chars().for_each(|it| self.character(it, emit)),
                Err(error) => {
                    let (valid, after) =
                        rest.split_at_checked(error.valid_up_to()).unwrap_or_default();
                    std::str::from_utf8(valid)
                        .unwrap_or_default()
                        .chars()
                        .for_each(|it| self.character(it, emit));
                    match error.error_len() {
                        None => {
                            self.partial = after.to_vec();
                            return;
                        }
                        Some(length) => {
                            self.character(char::REPLACEMENT_CHARACTER, emit);
                            rest = after.get(length..).unwrap_or_default();
                        }
                    }
                }
            }
        }
    }

    fn finish(&mut self, emit: &mut impl FnMut(Piece)) {
        if !std::mem::take(&mut self.partial).is_empty() {
            self.character(char::REPLACEMENT_CHARACTER, emit);
        }
    }

    fn character(&mut self, it: char, emit: &mut impl FnMut(Piece)) {
        self.length += 1;
        self.state = match (self.state, it) {
            (State::Text, '\u{1b}') => {
                self.length = 0;
                State::Escape
            }
            (State::Escape, '[') => State::Control,
            (State::Escape, ']' | 'P' | 'X' | '^' | '_') => State::Text7,
            // Bytes between ESC and the end of a short sequence, such as the choice of a character set.
            (State::Escape, ' '..='/') => State::Escape,
            (State::Control, '\u{20}'..='\u{3f}') if self.length < MAX_SEQUENCE => State::Control,
            (State::Control, 'K') => {
                emit(Piece::Erase);
                State::Text
            }
            (State::Text7, '\u{7}') | (State::Text7Escape, '\\') => State::Text,
            (State::Text7, '\u{1b}') => State::Text7Escape,
            (State::Text7, it) if it != '\n' && self.length < MAX_SEQUENCE => State::Text7,
            // Text, or a sequence that was broken off by a line's end or another control character.
            (State::Text | State::Text7 | State::Text7Escape, _)
            | (State::Escape | State::Control, '\0'..='\u{1f}') => {
                emit(piece(it));
                State::Text
            }
            (State::Escape | State::Control, _) => State::Text,
        };
    }
}

fn piece(it: char) -> Piece {
    match it {
        '\n' => Piece::Newline,
        '\r' => Piece::Return,
        '\u{8}' => Piece::Back,
        // Each has a picture of its own, which acts on no terminal.
        '\0'..='\u{1f}' if it != '\t' => {
            Piece::Character(char::from_u32(0x2400 + u32::from(it)).unwrap_or('\u{fffd}'))
        }
        '\u{7f}' => Piece::Character('\u{2421}'),
        '\u{80}'..='\u{9f}' => Piece::Character(char::REPLACEMENT_CHARACTER),
        it => Piece::Character(it),
    }
}

/// The lines as a terminal would show them in the end.
#[derive(Default)]
struct Screen {
    done: String,
    line: Vec<char>,
    column: usize,
}

impl Screen {
    fn apply(&mut self, piece: Piece) {
        match piece {
            Piece::Character(it) => {
                match self.line.get_mut(self.column) {
                    Some(place) => *place = it,
                    None => self.line.push(it),
                }
                self.column += 1;
            }
            Piece::Newline => {
                self.done.extend(self.line.drain(..));
                self.done.push('\n');
                self.column = 0;
            }
            Piece::Return => self.column = 0,
            Piece::Back => self.column = self.column.saturating_sub(1),
            Piece::Erase => self.line.truncate(self.column),
        }
    }

    fn finish(mut self) -> String {
        self.done.extend(self.line);
        self.done
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
        let mut stream = Stream::default();
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
            let mut stream = Stream::default();
            let (one, two) = bytes.split_at(cut.min(bytes.len()));
            let parts = stream.take(one) + &stream.take(two) + &stream.finish();
            let mut whole = Stream::default();
            prop_assert_eq!(parts, whole.take(&bytes) + &whole.finish());
        }
    }
}
