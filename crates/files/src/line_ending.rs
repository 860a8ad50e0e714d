//! The line endings of a text, and how often each occurs.

use memchr::{memchr_iter, memmem};

/// The characters that end a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LineEnding {
    /// `\n`
    Newline,
    /// `\r\n`
    ReturnNewline,
}

impl LineEnding {
    /// The line ending as text.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Newline => "\n",
            Self::ReturnNewline => "\r\n",
        }
    }
}

/// The number of line endings of each kind in a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LineEndings {
    /// The number of `\n` without a `\r` before it.
    pub(crate) newline: usize,
    /// The number of `\r\n`.
    pub(crate) return_newline: usize,
    /// The number of `\r` without a `\n` after it. It does not end a line, but is worth mentioning.
    pub(crate) lone_return: usize,
}

impl LineEndings {
    /// Counts the line endings of a text.
    pub(crate) fn count(text: &str) -> Self {
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

    /// The most frequent line ending, `\n` if both are equally frequent. `None` if there is none.
    pub(crate) fn dominant(self) -> Option<LineEnding> {
        if self.newline == 0 && self.return_newline == 0 {
            return None;
        }
        Some(if self.return_newline > self.newline {
            LineEnding::ReturnNewline
        } else {
            LineEnding::Newline
        })
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
        assert_eq!(LineEndings::count("a\rb").dominant(), None);
        assert_eq!(LineEndings::count("a\nb\r\n").dominant(), Some(LineEnding::Newline));
    }
}
