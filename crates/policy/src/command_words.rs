//! Compares the words of a command with the words of a pattern.

use toolwright_shell::{Segment, Word};

use super::command_pattern::PatternPiece;

/// The words of a command. The name of the program may be replaced, such as `rm` for `/bin/rm`.
#[derive(Clone, Copy)]
pub(super) struct CommandWords<'a> {
    pub(super) program: Option<&'a str>,
    pub(super) words: &'a [Word],
}

impl<'a> CommandWords<'a> {
    pub(super) fn of(segment: &'a Segment) -> Self {
        Self { program: segment.words.first().and_then(Word::literal), words: &segment.words }
    }

    pub(super) const fn len(self) -> usize {
        self.words.len()
    }

    /// The value of the word at an index, if it is known.
    pub(super) fn get(self, at: usize) -> Option<&'a str> {
        if at == 0 { self.program } else { self.words.get(at).and_then(Word::literal) }
    }

    pub(super) fn begin_with(self, named: &[String]) -> bool {
        named.len() <= self.len()
            && named.iter().enumerate().all(|(at, name)| self.get(at) == Some(name))
    }

    /// True when the command may still be the named one: at the first difference there is an unknown word, or an
    /// option, which may take the next word as its value.
    pub(super) fn may_begin_with(self, named: &[String]) -> bool {
        let count = named.len().min(self.len());
        let differs = (0..count).find(|at| self.get(*at) != named.get(*at).map(String::as_str));
        let is_open = differs.is_some_and(|at| self.get(at).is_none_or(|it| it.starts_with('-')));
        let mut literals = (0..self.len()).filter_map(|at| self.get(at));
        is_open
            && (self.words.iter().any(|it| it.literal().is_none())
                || named.iter().all(|name| literals.any(|it| it == name)))
    }

    /// True when the pieces match these words. After a mismatch, the last wildcard takes one more word.
    /// Backtracking further never helps, because the pieces between two wildcards match one word each.
    pub(super) fn fit(self, pieces: &[PatternPiece]) -> bool {
        let (mut at, mut piece) = (0, 0);
        let mut wildcard: Option<(usize, usize)> = None;
        loop {
            let word = self.get(at);
            let fits = match (pieces.get(piece), word) {
                (Some(PatternPiece::Rest), _) => return true,
                (None, _) if at == self.len() => return true,
                (Some(PatternPiece::Words), Some(_)) => {
                    wildcard = Some((piece + 1, at + 1));
                    true
                }
                (Some(PatternPiece::Word(name)), Some(text)) => text == name,
                (Some(PatternPiece::Glob(glob)), Some(text)) => fits_glob(glob, text),
                _ => false,
            };
            if fits {
                (at, piece) = (at + 1, piece + 1);
                continue;
            }
            let Some((after, next)) = wildcard.filter(|it| self.get(it.1).is_some()) else {
                return false;
            };
            wildcard = Some((after, next + 1));
            (at, piece) = (next + 1, after);
        }
    }
}

/// `*` stands for any text within the word.
pub(super) fn fits_glob(glob: &str, text: &str) -> bool {
    let mut parts = glob.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    for part in middle {
        let Some(at) = rest.find(part) else { return false };
        rest = rest.get(at + part.len()..).unwrap_or_default();
    }
    rest.ends_with(last)
}
