//! Words: quotes, escapes, variables and substitutions.

use super::{End, GaveUp, ShellLexer, TextSpan};

impl ShellLexer<'_> {
    /// Reads one word, with its quotes and substitutions, up to a separator.
    pub(super) fn word(&mut self, depth: usize) -> Result<TextSpan, GaveUp> {
        let start = self.at;
        while let Some(next) = self.peek(0) {
            match next {
                b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b')' => break,
                // `{PATH}>file` sets the variable.
                b'<' | b'>'
                    if self.bytes.get(start..self.at).is_some_and(|it| it.ends_with(b"}")) =>
                {
                    return Err("names a descriptor by a variable");
                }
                b'<' | b'>' if self.peek(1) != Some(b'(') => break,
                b'<' | b'>' => {
                    self.only_in_bash()?;
                    self.at += 2;
                    self.list(End::Parenthesis, depth + 1)?;
                }
                b'(' if self.peek(1) == Some(b')') => return Err("defines a function"),
                b'(' => return Err("uses `(` inside a word"),
                b'\'' => self.single_quoted()?,
                b'"' => self.double_quoted(depth)?,
                b'`' => return Err("uses a backtick substitution; write `$(…)`"),
                b'\\' => match self.peek(1) {
                    Some(b'\n') => return Err("continues a word on the next line"),
                    Some(_) => self.at += 1 + self.character_width(1),
                    None => return Err("ends in a backslash"),
                },
                b'$' => self.dollar(false, depth)?,
                _ => self.at += 1,
            }
        }
        if self.at == start { Err("lacks a word") } else { Ok(TextSpan { start, end: self.at }) }
    }

    fn character_width(&self, ahead: usize) -> usize {
        let rest = self.line.get(self.at + ahead..).unwrap_or_default();
        rest.chars().next().map_or(1, char::len_utf8)
    }

    pub(super) fn single_quoted(&mut self) -> Result<(), GaveUp> {
        self.at += 1;
        while let Some(next) = self.peek(0) {
            self.at += 1;
            if next == b'\'' {
                return Ok(());
            }
        }
        Err("has an open quote")
    }

    pub(super) fn double_quoted(&mut self, depth: usize) -> Result<(), GaveUp> {
        self.at += 1;
        while let Some(next) = self.peek(0) {
            match next {
                b'"' => {
                    self.at += 1;
                    return Ok(());
                }
                b'\\' => self.at += 2,
                b'`' => return Err("uses a backtick substitution; write `$(…)`"),
                b'$' => self.dollar(true, depth)?,
                _ => self.at += 1,
            }
        }
        Err("has an open quote")
    }
}
