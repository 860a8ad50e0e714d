//! The value of one word, if it is known before the shell runs.
//!
//! A word is literal only if the shell cannot expand it to anything else. Words with variables, globs,
//! braces or substitutions are unknown, and an unknown word may become any number of arguments.

use std::{iter::Peekable, str::Chars};

/// A word in a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Word {
    /// The word is exactly this text.
    Literal(String),
    /// The value is only known while the command runs.
    Unknown {
        /// The word as it is written.
        text: String,
        /// What makes it unknown.
        why: &'static str,
        /// The word with `*` in place of variables that are known to hold plain names.
        spelling: Option<String>,
    },
}

impl Word {
    /// The value, if it is known.
    pub fn literal(&self) -> Option<&str> {
        match self {
            Self::Literal(text) => Some(text),
            Self::Unknown { .. } => None,
        }
    }

    /// The value, or the word as it is written if the value is not known.
    pub fn text(&self) -> &str {
        match self {
            Self::Literal(text) | Self::Unknown { text, .. } => text,
        }
    }

    /// True for a word that becomes exactly one argument, whatever its value is.
    pub(crate) fn is_one_argument(&self) -> bool {
        let Self::Unknown { text, .. } = self else { return true };
        let inside = text.strip_prefix('"').and_then(|it| it.strip_suffix('"'));
        // `"$@"` becomes any number of arguments, and text after an inner quote is not quoted.
        matches!(text.as_str(), "$?" | "$#" | "$$")
            || inside.is_some_and(|it| !it.contains(['"', '@', '\\']))
    }

    /// A word whose value is not known.
    pub fn unknown(text: &str, why: &'static str) -> Self {
        Self::Unknown { text: text.to_owned(), why, spelling: None }
    }

    /// The same word, with a spelling that shows which variables hold plain names.
    #[must_use]
    pub fn spelled(self, known: Option<String>) -> Self {
        match self {
            Self::Unknown { text, why, .. } => Self::Unknown { text, why, spelling: known },
            literal @ Self::Literal(_) => literal,
        }
    }

    /// The text that shows which names the word may expand to.
    pub fn spelling(&self) -> &str {
        match self {
            Self::Unknown { spelling: Some(spelling), .. } => spelling,
            other => other.text(),
        }
    }

    /// Reads a word as the shell does: removes quotes and expands `~`.
    pub fn read(written: &str, home: Option<&str>) -> Self {
        match WordReader::new(written, home).value() {
            Ok(text) => Self::Literal(text),
            Err(why) => Self::unknown(written, why),
        }
    }
}

struct WordReader<'a> {
    written: &'a str,
    rest: Peekable<Chars<'a>>,
    home: Option<&'a str>,
    value: String,
    /// The number of bytes of the value that are known to contain no `=`.
    without_equals: usize,
}

impl<'a> WordReader<'a> {
    fn new(written: &'a str, home: Option<&'a str>) -> Self {
        Self {
            written,
            rest: written.chars().peekable(),
            home,
            value: String::new(),
            without_equals: 0,
        }
    }

    fn value(mut self) -> Result<String, &'static str> {
        self.leading_tilde()?;
        while let Some(next) = self.rest.next() {
            match next {
                '\'' => self.single_quoted()?,
                '"' => self.double_quoted()?,
                '\\' => match self.rest.next() {
                    Some('\n') => {}
                    Some(escaped) => self.value.push(escaped),
                    None => return Err("ends in a backslash"),
                },
                '$' => self.dollar()?,
                '`' => return Err("holds a command substitution"),
                '[' if matches!(self.written, "[" | "[[") => self.value.push('['),
                '*' | '?' | '[' => return Err("is a file name pattern"),
                // `find` and `xargs` use `{}` and `-I{}`. The shell does not expand `{}` at the end of a
                // word.
                '{' if self.rest.clone().eq(['}']) => self.value.push('{'),
                '{' => return Err("may be a brace expansion"),
                '<' | '>' | '(' | ')' => return Err("holds a process substitution"),
                // The shell expands `~` after `=` and `:` in words that look like assignments.
                '~' if self.has_equals() => return Err("holds a `~`"),
                other => self.value.push(other),
            }
        }
        Ok(self.value)
    }

    /// True when the value contains `=`. No part of the value is searched twice.
    fn has_equals(&mut self) -> bool {
        let rest = self.value.get(self.without_equals..).unwrap_or_default();
        let found = rest.contains('=');
        if !found {
            self.without_equals = self.value.len();
        }
        found
    }

    fn leading_tilde(&mut self) -> Result<(), &'static str> {
        if self.rest.peek() != Some(&'~') {
            return Ok(());
        }
        self.rest.next();
        match (self.rest.peek(), self.home) {
            (None | Some('/'), Some(home)) => {
                self.value.push_str(home);
                Ok(())
            }
            _ => Err("starts with `~`"),
        }
    }

    fn single_quoted(&mut self) -> Result<(), &'static str> {
        for next in self.rest.by_ref() {
            if next == '\'' {
                return Ok(());
            }
            self.value.push(next);
        }
        Err("has an open quote")
    }

    fn double_quoted(&mut self) -> Result<(), &'static str> {
        while let Some(next) = self.rest.next() {
            match next {
                '"' => return Ok(()),
                '`' => return Err("holds a command substitution"),
                '$' => self.dollar()?,
                '\\' => match self.rest.next() {
                    Some('\n') => {}
                    Some(escaped @ ('$' | '`' | '"' | '\\')) => self.value.push(escaped),
                    Some(other) => self.value.extend(['\\', other]),
                    None => return Err("has an open quote"),
                },
                other => self.value.push(other),
            }
        }
        Err("has an open quote")
    }

    /// Reads an expansion after `$`. A `$` that starts no expansion is literal.
    fn dollar(&mut self) -> Result<(), &'static str> {
        match self.rest.peek() {
            Some('(') => Err("holds a command substitution"),
            Some('\'' | '"') => Err("holds a `$` quote"),
            Some(next) if next.is_alphanumeric() || "_{[@*#?-$!".contains(*next) => {
                Err("holds a variable")
            }
            _ => {
                self.value.push('$');
                Ok(())
            }
        }
    }
}
