//! Parses tokens and objects of the PDF syntax, with limits on nesting and size.

use super::filters::hex_bytes;
use super::object::{Dictionary, Object};

/// The most values in one object. Each takes about a hundred bytes of memory.
const MAX_VALUES: usize = 200_000;
pub(super) const MAX_DEPTH: usize = 64;

pub(super) fn find(haystack: &[u8], needle: &[u8], from: usize) -> Option<usize> {
    let first = *needle.first()?;
    let mut at = from;
    loop {
        let rest = haystack.get(at..)?;
        at += rest.iter().position(|&byte| byte == first)?;
        if haystack.get(at..)?.starts_with(needle) {
            return Some(at);
        }
        at += 1;
    }
}

pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b'\0' | b'\x0c')
}

fn is_regular(byte: u8) -> bool {
    !is_space(byte) && !b"()<>[]{}/%".contains(&byte)
}

pub(super) enum PdfToken<'a> {
    Value(Object),
    Keyword(&'a [u8]),
}

/// Reads PDF tokens. Once a limit on nesting or size is exceeded, it sets `overflowed` and reads no
/// further.
pub(super) struct PdfLexer<'a> {
    pub(super) data: &'a [u8],
    pub(super) at: usize,
    values_left: usize,
    pub(super) overflowed: bool,
}

impl<'a> PdfLexer<'a> {
    pub(super) fn new(data: &'a [u8], at: usize) -> Self {
        Self { data, at, values_left: MAX_VALUES, overflowed: false }
    }

    /// Resets the count of values: in page content, the limit is per operator.
    pub(super) fn forget_values(&mut self) {
        self.values_left = MAX_VALUES;
    }

    fn peek(&self) -> Option<u8> {
        self.data.get(self.at).copied()
    }

    pub(super) fn take_while(&mut self, accept: impl Fn(u8) -> bool) -> &'a [u8] {
        let rest = self.data.get(self.at..).unwrap_or_default();
        let length = rest.iter().position(|&byte| !accept(byte)).unwrap_or(rest.len());
        self.at += length;
        rest.get(..length).unwrap_or_default()
    }

    pub(super) fn skip_space(&mut self) {
        loop {
            self.take_while(is_space);
            if self.peek() != Some(b'%') {
                return;
            }
            self.take_while(|byte| byte != b'\n' && byte != b'\r');
        }
    }

    pub(super) fn eat(&mut self, text: &[u8]) -> bool {
        let found = self.data.get(self.at..).is_some_and(|rest| rest.starts_with(text));
        if found {
            self.at += text.len();
        }
        found
    }

    pub(super) fn object(&mut self) -> Option<Object> {
        match self.token(0)? {
            PdfToken::Value(value) => Some(value),
            PdfToken::Keyword(_) => None,
        }
    }

    pub(super) fn token(&mut self, depth: usize) -> Option<PdfToken<'a>> {
        self.skip_space();
        if self.overflowed || depth > MAX_DEPTH || self.values_left == 0 {
            self.overflowed = true;
            return None;
        }
        self.values_left -= 1;
        let value = match self.peek()? {
            b'/' => Object::Name(self.name()),
            b'(' => self.literal_string(),
            b'<' if self.eat(b"<<") => Object::Dictionary(self.dictionary(depth)?),
            b'<' => self.hex_string(),
            b'[' => Object::Array(self.array(depth)?),
            b'0'..=b'9' | b'+' | b'-' | b'.' => self.number(),
            _ => match self.take_while(is_regular) {
                b"true" => Object::Boolean(true),
                b"false" => Object::Boolean(false),
                b"null" => Object::Null,
                b"" => {
                    let stray = self.data.get(self.at..=self.at)?;
                    self.at += 1;
                    return Some(PdfToken::Keyword(stray));
                }
                keyword => return Some(PdfToken::Keyword(keyword)),
            },
        };
        Some(PdfToken::Value(value))
    }

    fn name(&mut self) -> Vec<u8> {
        self.at += 1;
        let raw = self.take_while(is_regular);
        let mut name = Vec::with_capacity(raw.len());
        let mut bytes = raw.iter();
        while let Some(&byte) = bytes.next() {
            let escape = match (byte, bytes.as_slice()) {
                (b'#', [high, low, ..]) => hex_digit(*high).zip(hex_digit(*low)),
                _ => None,
            };
            match escape {
                Some((high, low)) => {
                    name.push(high << 4 | low);
                    bytes.nth(1);
                }
                None => name.push(byte),
            }
        }
        name
    }

    fn literal_string(&mut self) -> Object {
        self.at += 1;
        let mut text = Vec::new();
        let mut open = 1_usize;
        while let Some(byte) = self.peek() {
            self.at += 1;
            match byte {
                b'(' => open += 1,
                b')' => {
                    open -= 1;
                    if open == 0 {
                        break;
                    }
                }
                b'\\' => {
                    text.extend(self.escape());
                    continue;
                }
                _ => {}
            }
            text.push(byte);
        }
        Object::String(text)
    }

    fn escape(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        Some(match byte {
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'b' => b'\x08',
            b'f' => b'\x0c',
            b'\n' => return None,
            b'\r' => {
                self.eat(b"\n");
                return None;
            }
            b'0'..=b'7' => {
                let mut code = byte - b'0';
                for _ in 0..2 {
                    match self.peek() {
                        Some(digit @ b'0'..=b'7') => {
                            code = code.wrapping_mul(8).wrapping_add(digit - b'0');
                        }
                        _ => break,
                    }
                    self.at += 1;
                }
                code
            }
            other => other,
        })
    }

    fn hex_string(&mut self) -> Object {
        self.at += 1;
        let raw = self.take_while(|byte| byte != b'>');
        self.at += 1;
        let digits: Vec<u8> = raw.iter().copied().filter_map(hex_digit).collect();
        Object::String(hex_bytes(&digits))
    }

    fn number(&mut self) -> Object {
        let raw = self.take_while(|byte| byte.is_ascii_digit() || b"+-.".contains(&byte));
        let text = std::str::from_utf8(raw).unwrap_or_default();
        let Ok(integer) = text.parse::<i64>() else {
            return Object::Real(text.parse().unwrap_or(0.0));
        };
        match u32::try_from(integer).ok().and_then(|number| Some((number, self.generation()?))) {
            Some(id) => Object::Reference(id),
            None => Object::Integer(integer),
        }
    }

    /// Reads the ` 0 R` that makes the integer before it a reference.
    fn generation(&mut self) -> Option<u16> {
        let window = self.data.get(self.at..)?;
        let window = window.get(..24).unwrap_or(window);
        let mut ahead = PdfLexer::new(window, 0);
        let spaced = !ahead.take_while(is_space).is_empty();
        let digits = ahead.take_while(|byte| byte.is_ascii_digit());
        let generation = std::str::from_utf8(digits).ok()?.parse().ok()?;
        let spaced = spaced && !ahead.take_while(is_space).is_empty();
        if !spaced || !ahead.eat(b"R") || ahead.peek().is_some_and(is_regular) {
            return None;
        }
        self.at += ahead.at;
        Some(generation)
    }

    fn array(&mut self, depth: usize) -> Option<Vec<Object>> {
        self.at += 1;
        let mut items = Vec::new();
        loop {
            self.skip_space();
            if self.peek().is_none() || self.eat(b"]") {
                return Some(items);
            }
            match self.token(depth + 1)? {
                PdfToken::Value(item) => items.push(item),
                PdfToken::Keyword(b"endobj" | b"endstream" | b"stream") => return Some(items),
                PdfToken::Keyword(_) => {}
            }
        }
    }

    fn dictionary(&mut self, depth: usize) -> Option<Dictionary> {
        let mut entries = Vec::new();
        loop {
            self.skip_space();
            if self.peek().is_none() || self.eat(b">>") {
                return Some(Dictionary::new(entries));
            }
            if self.peek() == Some(b'/') {
                let key = self.name();
                self.skip_space();
                if self.data.get(self.at..).is_some_and(|rest| rest.starts_with(b">>")) {
                    continue;
                }
                if let PdfToken::Value(value) = self.token(depth + 1)? {
                    entries.push((key, value));
                }
            } else if let PdfToken::Keyword(b"endobj" | b"endstream" | b"stream") =
                self.token(depth + 1)?
            {
                return Some(Dictionary::new(entries));
            }
        }
    }
}

pub(super) fn hex_digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use pretty_assertions::assert_eq;

    use crate::pdf::test_pdf::{document, read_all, refusal, stream, tree};

    #[test]
    fn refuses_nesting_that_would_exhaust_the_stack() {
        let deep = "an object is nested too deeply or too large";
        assert_eq!(refusal(&tree(&"[".repeat(200_000), &[])), deep);
        assert_eq!(refusal(&tree(&"<</A".repeat(200_000), &[])), deep);
        let page = read_all(&document(&[stream("", "[".repeat(200_000).as_bytes())]))
            .unwrap()
            .pages
            .remove(0);
        assert_eq!(page.note.unwrap(), "part of this page is damaged and was skipped");
    }
}
