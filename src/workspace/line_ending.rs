//! How the lines of a text end, counted.

use memchr::{memchr_iter, memmem};

/// The end of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineEnding {
    /// `\n`
    Newline,
    /// `\r\n`
    ReturnNewline,
}

impl LineEnding {
    /// The characters.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Newline => "\n",
            Self::ReturnNewline => "\r\n",
        }
    }
}

/// How often each kind of line ending occurs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LineEndings {
    /// `\n` without a return before it.
    pub newline: usize,
    /// `\r\n`.
    pub return_newline: usize,
    /// `\r` without a newline after it. It ends no line; it is counted so that it can be told.
    pub lone_return: usize,
}

impl LineEndings {
    /// Counts the endings of a text.
    pub fn count(text: &str) -> Self {
        let newlines = memchr_iter(b'\n', text.as_bytes()).count();
        let returns = memchr_iter(b'\r', text.as_bytes()).count();
        let return_newline =
            if returns == 0 { 0 } else { memmem::find_iter(text.as_bytes(), "\r\n").count() };
        Self {
            newline: newlines - return_newline,
            return_newline,
            lone_return: returns - return_newline,
        }
    }

    /// The ending most lines have, `\n` if both are as frequent; none when no line ends.
    pub fn dominant(self) -> Option<LineEnding> {
        if self.newline == 0 && self.return_newline == 0 {
            return None;
        }
        Some(if self.return_newline > self.newline {
            LineEnding::ReturnNewline
        } else {
            LineEnding::Newline
        })
    }

    /// True when lines end in more than one way.
    pub fn is_mixed(self) -> bool {
        [self.newline, self.return_newline, self.lone_return].iter().filter(|it| **it > 0).count()
            > 1
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn each_ending_is_counted_once() {
        let endings = LineEndings::count("a\r\nb\nc\rd\r\r\n");
        assert_eq!(endings, LineEndings { newline: 1, return_newline: 2, lone_return: 2 });
        assert_eq!(endings.dominant(), Some(LineEnding::ReturnNewline));
        assert!(endings.is_mixed());
        assert_eq!(LineEndings::count("a\rb").dominant(), None);
        assert_eq!(LineEndings::count("a\nb\r\n").dominant(), Some(LineEnding::Newline));
    }
}
