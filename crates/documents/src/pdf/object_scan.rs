//! Finds where the objects of a file are, in one pass over its bytes and without its cross-reference
//! table, which may be missing, wrong or hostile.

use std::collections::VecDeque;

use super::PdfError;
use super::lexer::{MAX_DEPTH, PdfLexer, PdfToken, find, is_space};
use super::object::{Dictionary, Object, ObjectId};
use super::object_reader::ObjectReader;

const TRAILER_CANDIDATES: usize = 16;

/// Where an object is: directly in the file, or packed into an object stream.
#[derive(Clone, Copy)]
pub(super) enum ObjectLocation {
    File { body: usize, generation: u16 },
    Packed { container: ObjectId, position: usize, offset: usize },
}

impl ObjectLocation {
    pub(super) fn position(self) -> usize {
        match self {
            Self::File { body, .. } => body,
            Self::Packed { position, .. } => position,
        }
    }
}

impl<'a> ObjectReader<'a> {
    /// Goes over the file once and records object headers, object streams and trailers.
    pub(super) fn scan(&mut self) -> Result<(), PdfError> {
        let bytes = self.bytes;
        let mut trailers = VecDeque::new();
        let mut open: Option<(ObjectId, usize)> = None;
        let mut terminated = true;
        let mut at = 0;
        while let Some(rest) = bytes.get(at..) {
            let Some(step) = rest.iter().position(|byte| matches!(byte, b'o' | b's' | b't')) else {
                break;
            };
            self.budget.charge(step)?;
            at += step;
            let rest = bytes.get(at..).unwrap_or_default();
            let before = bytes.get(..at).unwrap_or_default();
            if rest.starts_with(b"obj") {
                if let Some((number, generation)) = header(before) {
                    self.add(number, ObjectLocation::File { body: at + 3, generation })?;
                    open = Some(((number, generation), at + 3));
                }
                at += 3;
            } else if rest.starts_with(b"stream")
                && matches!(rest.get(6), Some(b'\r' | b'\n'))
                && before.trim_ascii_end().ends_with(b">>")
                && let Some((id, body)) = open.take()
            {
                let (object, _) = self.parse(before, body)?;
                let dictionary = match object {
                    Some(Object::Dictionary(dictionary)) => dictionary,
                    _ => Dictionary::default(),
                };
                let payload = stream_data_start(bytes, at);
                let end = self.stream_data_end(&dictionary, payload, terminated);
                terminated &= end.is_some();
                at = end.unwrap_or(payload);
                if dictionary.name(b"Type") == Some(b"ObjStm") {
                    self.containers.push((id, body));
                } else if dictionary.has(b"Root") {
                    trailers.push_back((body, Some(dictionary)));
                }
            } else if rest.starts_with(b"trailer") {
                trailers.push_back((at + 7, None));
                at += 7;
            } else {
                at += 1;
            }
            if trailers.len() > TRAILER_CANDIDATES {
                trailers.pop_front();
            }
        }
        for (position, dictionary) in trailers {
            let parsed = match dictionary {
                Some(dictionary) => Some(Object::Dictionary(dictionary)),
                None => self.parse(bytes, position)?.0,
            };
            if let Some(Object::Dictionary(dictionary)) = parsed
                && dictionary.has(b"Root")
            {
                self.trailers.push_back(dictionary);
            }
        }
        Ok(())
    }

    /// The end of a stream's data: by `/Length` if `endstream` follows there, otherwise at the next
    /// `endstream`.
    pub(super) fn stream_data_end(
        &self,
        dictionary: &Dictionary,
        start: usize,
        search: bool,
    ) -> Option<usize> {
        let length = match dictionary.get(b"Length") {
            Some(Object::Integer(length)) => usize::try_from(*length).ok(),
            Some(Object::Reference((number, _))) => match self.locations.get(number) {
                // A length in an object stream might be needed to read that same stream.
                Some(ObjectLocation::File { body, .. }) => {
                    match PdfLexer::new(self.window(*body), 0).token(MAX_DEPTH) {
                        Some(PdfToken::Value(Object::Integer(length))) => {
                            usize::try_from(length).ok()
                        }
                        _ => None,
                    }
                }
                _ => None,
            },
            _ => None,
        };
        let stated = length.and_then(|length| start.checked_add(length)).filter(|&end| {
            let mut lexer = PdfLexer::new(self.window(end), 0);
            lexer.take_while(is_space);
            lexer.eat(b"endstream")
        });
        if stated.is_some() || !search {
            return stated;
        }
        find(self.bytes, b"endstream", start)
    }

    /// A bounded window of bytes: many streams may point at the same long run of white space.
    fn window(&self, at: usize) -> &'a [u8] {
        let rest = self.bytes.get(at..).unwrap_or_default();
        rest.get(..64).unwrap_or(rest)
    }
}

/// Parses the `12 0 ` that precedes `obj`.
fn header(before: &[u8]) -> Option<ObjectId> {
    let window = before.get(before.len().saturating_sub(32)..)?;
    let digits = |text: &[u8]| -> (usize, usize) {
        let end = text.trim_ascii_end().len();
        let head = text.get(..end).unwrap_or_default();
        let count = head.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
        (end - count, end)
    };
    let (start, end) = digits(window);
    let generation = std::str::from_utf8(window.get(start..end)?).ok()?.parse().ok()?;
    let head = window.get(..start)?;
    if head.len() == head.trim_ascii_end().len() {
        return None;
    }
    let (start, end) = digits(head);
    let number = std::str::from_utf8(head.get(start..end)?).ok()?.parse().ok()?;
    Some((number, generation))
}

pub(super) fn stream_data_start(bytes: &[u8], keyword: usize) -> usize {
    let mut lexer = PdfLexer::new(bytes, keyword + b"stream".len());
    if !lexer.eat(b"\r\n") && !lexer.eat(b"\n") {
        lexer.eat(b"\r");
    }
    lexer.at
}
