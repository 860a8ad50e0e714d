//! Splits terminal output into characters, control characters and the few sequences that change a line.
//! All other escape sequences (colours, titles, cursor movements) are dropped.
//!
//! `vte` parses the sequences. This module adds bounds: if a program was stopped in the middle of a
//! sequence, or binary output contains a stray escape byte, the text that follows must not be lost. So
//! a sequence ends at the latest with its line, and after [`MAX_SEQUENCE_BYTES`].

use vte::{Params, Parser, Perform};

/// The longest sequence that is recognised, in bytes.
const MAX_SEQUENCE_BYTES: usize = 2_048;

const ESCAPE: u8 = 0x1b;
/// Makes every terminal, and so `vte`, leave the current sequence.
const CANCEL: u8 = 0x18;

/// One effect of output on a terminal's line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TerminalAction {
    /// Shows a character. Bytes that are not UTF-8 show U+FFFD.
    Print(char),
    /// Acts as a control character, such as a line feed or a backspace.
    Control(char),
    /// Erases from the cursor to the end of the line.
    EraseToLineEnd,
}

/// Parses output that may arrive in pieces. A character or a sequence that is split between two pieces
/// is joined again.
#[derive(Default)]
pub struct TerminalParser {
    parser: Parser,
    /// How many bytes of a sequence have been read. None outside of sequences.
    sequence_bytes: Option<usize>,
}

impl TerminalParser {
    /// Parses the next bytes and passes each action to `act`, in order.
    pub fn parse(&mut self, bytes: &[u8], act: &mut impl FnMut(TerminalAction)) {
        // `vte` 0.15 may lose a byte after a character that it joins from two pieces, unless it gets
        // the bytes one at a time. After the first ASCII byte no character is left to be joined.
        let first_ascii = bytes.iter().position(u8::is_ascii).unwrap_or(bytes.len());
        let mut rest = bytes;
        while let Some((byte, behind)) = rest.split_first() {
            match self.sequence_bytes {
                None if *byte == ESCAPE => {
                    self.advance(&[ESCAPE], act);
                    self.sequence_bytes = Some(0);
                    rest = behind;
                }
                None if bytes.len() - rest.len() <= first_ascii => {
                    self.advance(&[*byte], act);
                    rest = behind;
                }
                None => {
                    let text_bytes = memchr::memchr(ESCAPE, rest).unwrap_or(rest.len());
                    let (text, from_escape) = rest.split_at_checked(text_bytes).unwrap_or_default();
                    self.advance(text, act);
                    rest = from_escape;
                }
                Some(count) if *byte == b'\n' || count >= MAX_SEQUENCE_BYTES => self.cancel(act),
                Some(count) => {
                    self.sequence_bytes = Some(if *byte == ESCAPE { 0 } else { count + 1 });
                    self.advance(&[*byte], act);
                    rest = behind;
                }
            }
        }
    }

    /// Ends the output. An incomplete character is shown as U+FFFD.
    pub fn finish(&mut self, act: &mut impl FnMut(TerminalAction)) {
        self.cancel(act);
    }

    /// True when the bytes end inside a sequence. Consumes the parser: the only way to find out is to
    /// check whether `vte` shows one more character.
    pub fn ends_within_sequence(mut self) -> bool {
        let mut is_shown = false;
        self.advance(b"x", &mut |action| is_shown |= action == TerminalAction::Print('x'));
        !is_shown
    }

    fn advance(&mut self, bytes: &[u8], act: &mut impl FnMut(TerminalAction)) {
        let mut performer = Performer { act, ends_sequence: false };
        self.parser.advance(&mut performer, bytes);
        if performer.ends_sequence {
            self.sequence_bytes = None;
        }
    }

    fn cancel(&mut self, act: &mut impl FnMut(TerminalAction)) {
        self.advance(&[CANCEL], &mut |action| {
            // This control character comes from us, not from the output.
            if action != TerminalAction::Control(char::from(CANCEL)) {
                act(action);
            }
        });
        self.sequence_bytes = None;
    }
}

impl std::fmt::Debug for TerminalParser {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TerminalParser")
            .field("sequence_bytes", &self.sequence_bytes)
            .finish_non_exhaustive()
    }
}

/// Receives the events of `vte`.
struct Performer<'a, Act> {
    act: &'a mut Act,
    /// True once `vte` is known to be outside any sequence.
    ends_sequence: bool,
}

impl<Act: FnMut(TerminalAction)> Perform for Performer<'_, Act> {
    fn print(&mut self, character: char) {
        self.ends_sequence = true;
        // `vte` also prints C1 control characters if a piece of output ends inside one.
        (self.act)(if character.is_control() {
            TerminalAction::Control(character)
        } else {
            TerminalAction::Print(character)
        });
    }

    fn execute(&mut self, byte: u8) {
        // Other control characters act inside a sequence, which then continues.
        self.ends_sequence |= matches!(byte, 0x18 | 0x1a);
        (self.act)(TerminalAction::Control(char::from(byte)));
    }

    fn csi_dispatch(&mut self, _: &Params, _: &[u8], _: bool, final_character: char) {
        self.ends_sequence = true;
        if final_character == 'K' {
            (self.act)(TerminalAction::EraseToLineEnd);
        }
    }

    fn esc_dispatch(&mut self, _: &[u8], _: bool, _: u8) {
        self.ends_sequence = true;
    }

    fn osc_dispatch(&mut self, _: &[&[u8]], ended_by_bell: bool) {
        // Otherwise an escape byte ended it, which begins the next sequence.
        self.ends_sequence |= ended_by_bell;
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn shown(pieces: &[&[u8]]) -> String {
        let mut parser = TerminalParser::default();
        let mut text = String::new();
        let mut act = |action| match action {
            TerminalAction::Print(it) | TerminalAction::Control(it) => text.push(it),
            TerminalAction::EraseToLineEnd => text.push_str("<erase>"),
        };
        for piece in pieces {
            parser.parse(piece, &mut act);
        }
        parser.finish(&mut act);
        text
    }

    #[test]
    fn sequences_of_every_kind_are_dropped() {
        for (bytes, text) in [
            (&b"a\x1b[1;38:5:9mb"[..], "ab"),
            (b"a\x1b[?25lb", "ab"),
            (b"a\x1b[ 3;4mb", "ab"),
            (b"a\x1b]0;title\x07b", "ab"),
            (b"a\x1b]8;;http://x\x1b\\b", "ab"),
            (b"a\x1bPq#0;2;0;0;0\x1b\\b", "ab"),
            (b"a\x1b_Gi=1;data\x1b\\b\x1bXsos\x1b\\c\x1b^pm\x1b\\d", "abcd"),
            (b"a\x1b(Bb\x1b=c\x1b7d", "abcd"),
            (b"a\x1b[Kb\x1b[2Kc", "a<erase>b<erase>c"),
            (b"a\x1b[3\x1b[1mb", "ab"),
            // A control character acts inside a sequence, and the sequence continues.
            (b"a\x1b[3\r1mb", "a\rb"),
            (b"a\x1b[3\x18b", "a\x18b"),
        ] {
            assert_eq!(shown(&[bytes]), text, "{bytes:?}");
            let one_by_one: Vec<&[u8]> = bytes.chunks(1).collect();
            assert_eq!(shown(&one_by_one), text, "{bytes:?}");
        }
    }

    #[test]
    fn a_sequence_ends_with_its_line_and_at_its_maximum_length() {
        for start in
            ["\x1b", "\x1b[3", "\x1b[3 4", "\x1b]0;title", "\x1bP", "\x1bPq", "\x1b_", "\x1b("]
        {
            assert_eq!(shown(&[start.as_bytes(), b"\nrest"]), "\nrest", "{start:?}");
        }
        for start in ["\x1b[", "\x1b]", "\x1bPq", "\x1b_"] {
            let long = [start.as_bytes(), &[b'1'; MAX_SEQUENCE_BYTES], b"rest"].concat();
            let shown = shown(&[&long]);
            assert!(shown.ends_with("rest") && shown.len() < 10, "{start:?}: {shown:?}");
        }
    }

    #[test]
    fn a_split_character_is_joined_or_shown_as_missing() {
        assert_eq!(shown(&["€".as_bytes()]), "€");
        assert_eq!(shown(&[b"\xe2", b"\x82", b"\xac\xe2"]), "€\u{fffd}");
        assert_eq!(shown(&[b"\xe2\x82", b"\x1b[1mx"]), "\u{fffd}x");
        assert_eq!(shown(&[b"\xc2", b"\x9b"]), shown(&[b"\xc2\x9b"]));
        assert_eq!(shown(&[b"\xd4", b"\xaaA\xff"]), "ԪA\u{fffd}");
        assert_eq!(shown(&[b"x\xd4", b"\xaa\xd4\xaaA\xff"]), "xԪԪA\u{fffd}");
    }
}
