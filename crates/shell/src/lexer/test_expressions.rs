//! `[[ … ]]`. It runs only substitutions, unless it compares numbers or tests a variable by its name. Both
//! evaluate text, in which an array's index may run code.

use super::{CommandPosition, GaveUp, ShellLexer, SimpleCommand, TextSpan, is_variable_name};

impl ShellLexer<'_> {
    /// Reads the rest of `[[ … ]]`. The result is a command whose words are the operands, without `&&`,
    /// `||`, `<`, `>` and parentheses.
    pub(super) fn test(&mut self, open: TextSpan, depth: usize) -> Result<CommandPosition, GaveUp> {
        self.only_in_bash()?;
        let mut words = vec![open];
        loop {
            self.blanks_and_lines()?;
            self.tokens += 1;
            match self.peek(0) {
                None => return Err("has an open `[[`"),
                Some(b'&' | b'|') if self.starts_with("&&") || self.starts_with("||") => {
                    self.at += 2;
                }
                Some(b'(' | b')') => self.at += 1,
                Some(b'<' | b'>') if self.peek(1) != Some(b'(') => self.at += 1,
                Some(b';' | b'&' | b'|') => return Err("has an unexpected operator in `[[`"),
                Some(_) => {
                    let is_regex = words.last().is_some_and(|it| it.of(self.line) == "=~");
                    let word = if is_regex { self.regex(depth)? } else { self.word(depth)? };
                    words.push(word);
                    if word.of(self.line) == "]]" {
                        break;
                    }
                }
            }
        }
        self.check_test(&words)?;
        self.reading.commands.push(SimpleCommand { words, environment: Vec::new() });
        Ok(CommandPosition::Closed)
    }

    /// A regular expression, in which `(`, `|` and `)` are ordinary characters.
    fn regex(&mut self, depth: usize) -> Result<TextSpan, GaveUp> {
        let start = self.at;
        let mut open = 0_usize;
        while let Some(next) = self.peek(0) {
            match next {
                b' ' | b'\t' | b'\n' if open == 0 => break,
                b'(' => {
                    open += 1;
                    self.at += 1;
                }
                b')' => {
                    open = open.checked_sub(1).ok_or("has an unexpected `)`")?;
                    self.at += 1;
                }
                b'\\' if self.peek(1).is_some_and(|it| it.is_ascii_graphic()) => self.at += 2,
                b'$' => self.dollar(false, depth)?,
                b'"' if open == 0 => self.double_quoted(depth)?,
                b'\'' if open == 0 => self.single_quoted()?,
                it if it.is_ascii_alphanumeric() || b"^.*+?[]{}|-_/:,=@%~".contains(&it) => {
                    self.at += 1;
                }
                _ => return Err("uses an unusual regular expression"),
            }
        }
        if self.at == start || open > 0 {
            return Err("uses an unusual regular expression");
        }
        Ok(TextSpan { start, end: self.at })
    }

    fn check_test(&self, words: &[TextSpan]) -> Result<(), GaveUp> {
        let text = |at: Option<usize>| at.and_then(|it| words.get(it)).map(|it| it.of(self.line));
        for (at, word) in words.iter().enumerate() {
            match word.of(self.line) {
                "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge" => {
                    let operands = [text(at.checked_sub(1)), text(at.checked_add(1))];
                    if !operands.into_iter().all(|it| it.is_some_and(is_number)) {
                        return Err(
                            "compares numbers in `[[`, which evaluates values that are not plain numbers",
                        );
                    }
                }
                "-v" | "-R" if !text(at.checked_add(1)).is_some_and(is_variable_name) => {
                    return Err("tests a variable by a name that may hold code");
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// True for text that is certainly a whole number: digits, `$?`, `$#` and `${#name}`.
fn is_number(text: &str) -> bool {
    let text = text.strip_prefix('"').and_then(|it| it.strip_suffix('"')).unwrap_or(text);
    let length = text.strip_prefix("${#").and_then(|it| it.strip_suffix('}'));
    let digits = text.strip_prefix('-').unwrap_or(text);
    matches!(text, "$?" | "$#")
        || length.is_some_and(is_variable_name)
        || (!digits.is_empty() && digits.bytes().all(|it| it.is_ascii_digit()))
}
