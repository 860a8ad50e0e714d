//! Expansions, which begin with `$`: variables, `${…}`, `$((…))` and `$(…)`.
//!
//! An expansion is understood if it can only produce text. The lexer gives up on those that evaluate the
//! value of a variable, because they can run code: `${x@P}`, `${!x}`, an array's index, and arithmetic on
//! variables.

use super::{End, Evaluation, GaveUp, ShellLexer, TextSpan, check_depth};

const UNUSUAL: GaveUp = "uses an expansion that is not analysed";

impl ShellLexer<'_> {
    /// Skips the expansion that begins with this `$`. In double quotes, `$'` and `$"` have no special
    /// meaning.
    pub(super) fn dollar(&mut self, is_quoted: bool, depth: usize) -> Result<(), GaveUp> {
        let start = self.at;
        self.at += 1;
        self.tokens += 1;
        match self.peek(0) {
            Some(b'(') if self.peek(1) == Some(b'(') => {
                self.at += 2;
                self.arithmetic()?;
                self.evaluates(start, Evaluation::Arithmetic);
                Ok(())
            }
            Some(b'(') => {
                self.at += 1;
                self.list(End::Parenthesis, depth + 1).map(|_| ())
            }
            Some(b'{') => {
                self.at += 1;
                self.expansion(is_quoted, depth + 1)?;
                self.evaluates(start, Evaluation::Expansion);
                Ok(())
            }
            Some(b'[') => Err("evaluates arithmetic in `$[…]`; write `$((…))`"),
            Some(b'"') if !is_quoted => Err("uses a `$\"…\"` quote, which is translated"),
            Some(b'\'') if !is_quoted => {
                self.only_in_bash()?;
                self.at += 1;
                self.ansi_quoted()?;
                self.evaluates(start, Evaluation::Quote);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn evaluates(&mut self, start: usize, what: Evaluation) {
        self.reading.evaluations.push((TextSpan { start, end: self.at }, what));
    }

    /// The rest of `$'…'`, in which a backslash also escapes a quote.
    fn ansi_quoted(&mut self) -> Result<(), GaveUp> {
        while let Some(next) = self.peek(0) {
            match next {
                b'\'' => {
                    self.at += 1;
                    return Ok(());
                }
                b'\\' => self.at += 2,
                _ => self.at += 1,
            }
        }
        Err("has an open quote")
    }

    /// The rest of `$((…))`, which may contain only numbers and operators.
    fn arithmetic(&mut self) -> Result<(), GaveUp> {
        let mut open = 0_usize;
        while let Some(next) = self.peek(0) {
            match next {
                b'(' => open += 1,
                b')' if open > 0 => open -= 1,
                b')' if self.peek(1) == Some(b')') => {
                    self.at += 2;
                    return Ok(());
                }
                b'0'..=b'9' | b' ' => {}
                it if b"+-*/%<>=!&|^~?:,".contains(&it) => {}
                _ => return Err("evaluates arithmetic with more than numbers, which may run code"),
            }
            self.at += 1;
        }
        Err("has open arithmetic")
    }

    /// The rest of `${…}`.
    fn expansion(&mut self, is_quoted: bool, depth: usize) -> Result<(), GaveUp> {
        check_depth(depth)?;
        let is_length = self.peek(0) == Some(b'#') && self.peek(1) != Some(b'}');
        if self.peek(0) == Some(b'!') {
            return Err("uses `${!…}`, which uses the value of a variable as a name");
        }
        self.at += usize::from(is_length);
        let start = self.at;
        while self.peek(0).is_some_and(|it| it.is_ascii_alphanumeric() || it == b'_') {
            self.at += 1;
        }
        if self.at == start {
            return Err(UNUSUAL);
        }
        if self.peek(0) == Some(b'}') {
            self.at += 1;
            return Ok(());
        }
        if is_length {
            return Err(UNUSUAL);
        }
        self.expansion_operator()?;
        self.operand(is_quoted, depth)
    }

    /// Skips an operator that only produces text.
    fn expansion_operator(&mut self) -> Result<(), GaveUp> {
        match (self.peek(0), self.peek(1)) {
            (Some(b':'), Some(b'-' | b'+' | b'?')) => self.at += 2,
            (Some(b':'), Some(b'=')) | (Some(b'='), _) => {
                return Err("uses `${…=…}`, which sets a variable");
            }
            (Some(b':'), _) => {
                self.only_in_bash()?;
                self.substring()?;
            }
            (Some(b'-' | b'+' | b'?'), _) => self.at += 1,
            (Some(first @ (b'%' | b'#')), second) => {
                self.at += if second == Some(first) { 2 } else { 1 };
            }
            (Some(first @ (b'/' | b'^' | b',')), second) => {
                self.only_in_bash()?;
                self.at += if second == Some(first) { 2 } else { 1 };
            }
            (Some(b'@'), _) => {
                return Err("uses `${…@…}`, which can run code that a variable holds");
            }
            (Some(b'['), _) => return Err("uses an array, whose index can run code"),
            _ => return Err(UNUSUAL),
        }
        Ok(())
    }

    /// The rest of `:0:7`. The shell evaluates both parts, so only digits are accepted.
    fn substring(&mut self) -> Result<(), GaveUp> {
        while let Some(next) = self.peek(0) {
            match next {
                b'0'..=b'9' | b':' | b' ' | b'-' => self.at += 1,
                b'}' => return Ok(()),
                _ => break,
            }
        }
        Err("cuts a variable at a place that is evaluated, which may run code")
    }

    /// The text after the operator, up to `}`.
    fn operand(&mut self, is_quoted: bool, depth: usize) -> Result<(), GaveUp> {
        while let Some(next) = self.peek(0) {
            match next {
                b'}' => {
                    self.at += 1;
                    return Ok(());
                }
                b'$' => self.dollar(is_quoted, depth)?,
                b'"' if !is_quoted => self.double_quoted(depth)?,
                b'\'' if !is_quoted => self.single_quoted()?,
                it if it.is_ascii_alphanumeric() || b"_./-:,=+@%^*?~ #".contains(&it) => {
                    self.at += 1;
                }
                _ => return Err(UNUSUAL),
            }
        }
        Err("has an open `${`")
    }
}
