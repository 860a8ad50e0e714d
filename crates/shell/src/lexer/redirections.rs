//! Redirections: the opened file, and whether it is read or written.

use super::{
    super::line_reading::{Direction, TextSpan, names_descriptor},
    GaveUp, ShellLexer,
};

/// A redirection after a here-document on the same line. The grammar cannot parse a `|` after that, so the
/// redirection is hidden from it.
#[derive(Clone, Copy)]
pub(crate) struct BehindDocument {
    pub(crate) span: TextSpan,
    /// The file that it opens.
    pub(crate) opened: Option<(TextSpan, Direction)>,
}

/// The operators, longer ones first. If none matches, it is `<`.
const REDIRECTIONS: [&str; 11] =
    ["&>>", "<<<", "<<-", "&>", ">>", ">|", ">&", "<>", "<&", "<<", ">"];

impl ShellLexer<'_> {
    /// Reads a redirection, if one is here.
    pub(super) fn redirection(&mut self, depth: usize) -> Result<bool, GaveUp> {
        let digits = self.bytes.iter().skip(self.at).take_while(|it| it.is_ascii_digit()).count();
        match self.peek(digits) {
            Some(b'<' | b'>') if !matches!(self.peek(digits + 1), Some(b'(')) => {}
            Some(b'&') if digits == 0 && self.starts_with("&>") => {}
            _ => return Ok(false),
        }
        let start = self.at;
        self.at += digits;
        self.tokens += 1;
        let operator = REDIRECTIONS.into_iter().find(|it| self.starts_with(it)).unwrap_or("<");
        self.at += operator.len();
        // In other shells, `12` in `12>f` is a word.
        if digits > 1 || operator.starts_with("&>") || operator == "<<<" {
            self.only_in_bash()?;
        }
        self.blanks();
        match operator {
            "<<" | "<<-" => self.document_start(operator == "<<-")?,
            "<<<" => {
                self.word(depth)?;
            }
            _ => {
                let follows_document = !self.documents.is_empty();
                let target = self.word(depth)?;
                let duplicates = matches!(operator, ">&" | "<&");
                let text = target.of(self.line);
                if duplicates && text.len() > 1 {
                    self.only_in_bash()?;
                }
                let mut opened = None;
                if !(duplicates && names_descriptor(text)) {
                    let reads = matches!(operator, "<" | "<&");
                    let direction = if reads { Direction::Reads } else { Direction::Writes };
                    opened = Some((target, direction));
                }
                self.reading.redirections.extend(opened);
                if follows_document {
                    let span = TextSpan { start, end: self.at };
                    self.behind_documents.push(BehindDocument { span, opened });
                }
            }
        }
        Ok(true)
    }
}
