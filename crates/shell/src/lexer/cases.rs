//! `case WORD in PATTERN) …;; esac`.

use super::{CommandPosition, End, EndedBy, Evaluation, GaveUp, ShellLexer, TextSpan};

impl ShellLexer<'_> {
    /// Reads the rest of a `case`, up to its `esac`.
    pub(super) fn case(
        &mut self,
        keyword: TextSpan,
        depth: usize,
    ) -> Result<CommandPosition, GaveUp> {
        self.blanks();
        self.word(depth)?;
        self.blanks_and_lines()?;
        if self.word(depth)?.of(self.line) != "in" {
            return Err("has a `case` without `in`");
        }
        loop {
            self.blanks_and_lines()?;
            let has_parenthesis = self.peek(0) == Some(b'(');
            if has_parenthesis {
                self.at += 1;
                self.blanks();
            }
            let pattern = self.word(depth)?;
            if !has_parenthesis && pattern.of(self.line) == "esac" {
                break;
            }
            self.further_patterns(depth)?;
            if self.list(End::Case, depth + 1)? == EndedBy::Esac {
                break;
            }
        }
        let span = TextSpan { start: keyword.start, end: self.at };
        self.reading.evaluations.push((span, Evaluation::Case));
        Ok(CommandPosition::Closed)
    }

    /// `| PATTERN` any number of times, and `)`.
    fn further_patterns(&mut self, depth: usize) -> Result<(), GaveUp> {
        loop {
            self.blanks();
            match self.peek(0) {
                Some(b')') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(b'|') => {
                    self.tokens += 1;
                    self.at += 1;
                    self.blanks();
                    self.word(depth)?;
                }
                _ => return Err("has a `case` that is not analysed"),
            }
        }
    }

    /// Skips `;;`, `;&` or `;;&`, if one is here.
    pub(super) fn case_operator(&mut self) -> Result<bool, GaveUp> {
        let Some(operator) = [";;&", ";&", ";;"].into_iter().find(|it| self.starts_with(it)) else {
            return Ok(false);
        };
        if operator.ends_with('&') {
            self.only_in_bash()?;
        }
        if !self.documents.is_empty() {
            return Err("opens a here-document inside another construct");
        }
        self.at += operator.len();
        Ok(true)
    }
}
