//! Here-documents: where they begin, and where their bodies end.

use super::{GaveUp, ShellLexer, TextSpan};

/// A here-document whose body begins on the next line.
pub(super) struct HereDocument {
    delimiter: String,
    strip_tabs: bool,
    quoted: bool,
}

impl ShellLexer<'_> {
    pub(super) fn document_start(&mut self, strip_tabs: bool) -> Result<(), GaveUp> {
        let start = self.at;
        let quote = self.peek(0).filter(|it| matches!(it, b'\'' | b'"'));
        self.at += usize::from(quote.is_some());
        let name_start = self.at;
        while self.peek(0).is_some_and(|it| it.is_ascii_alphanumeric() || it == b'_') {
            self.at += 1;
        }
        let delimiter = TextSpan { start: name_start, end: self.at }.of(self.line).to_owned();
        if let Some(quote) = quote {
            if self.peek(0) != Some(quote) {
                return Err("has an unusual here-document delimiter");
            }
            self.at += 1;
        }
        let ended = self.peek(0).is_none_or(|it| b" \t\n;&|<>)".contains(&it));
        if delimiter.is_empty() || !ended || self.at == start {
            return Err("has an unusual here-document delimiter");
        }
        self.documents.push(HereDocument { delimiter, strip_tabs, quoted: quote.is_some() });
        Ok(())
    }

    /// Skips the bodies that begin on this line.
    pub(super) fn document_bodies(&mut self, depth: usize) -> Result<(), GaveUp> {
        for document in std::mem::take(&mut self.documents) {
            loop {
                let rest = self.line.get(self.at..).unwrap_or_default();
                if rest.is_empty() {
                    return Err("has a here-document without an end");
                }
                let line = rest.split('\n').next().unwrap_or_default();
                let end = self.at + line.len();
                let compared =
                    if document.strip_tabs { line.trim_start_matches('\t') } else { line };
                if compared == document.delimiter {
                    self.at = end;
                    break;
                }
                // Some versions of bash end the document there and others do not.
                if compared.starts_with(&document.delimiter) {
                    return Err("has a here-document whose end is uncertain");
                }
                if !document.quoted {
                    self.document_line(end, depth)?;
                }
                self.at = end + 1;
            }
            if self.peek(0) == Some(b'\n') {
                self.at += 1;
            }
        }
        Ok(())
    }
    /// Reads a line of a body in which variables are expanded.
    fn document_line(&mut self, end: usize, depth: usize) -> Result<(), GaveUp> {
        while self.at < end {
            match self.peek(0) {
                Some(b'`') => return Err("uses a backtick substitution; write `$(…)`"),
                Some(b'\\') if self.at + 1 == end => {
                    return Err("has a here-document that continues a line");
                }
                Some(b'\\') => self.at += 2,
                Some(b'$') if self.peek(1) == Some(b'(') && self.peek(2) != Some(b'(') => {
                    return Err("has a here-document with a command substitution");
                }
                Some(b'$') => self.dollar(true, depth)?,
                _ => self.at += 1,
            }
        }
        // An expansion may continue on the next line.
        if self.at == end { Ok(()) } else { Err("has a here-document with an open expansion") }
    }
}
