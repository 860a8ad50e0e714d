//! A set of the entries of a tree.

use super::EntryNumber;

/// A bit for each entry.
#[derive(Debug, Default)]
pub(super) struct FileSet(Vec<u64>);

impl FileSet {
    /// Adds an entry. Returns false if it was there.
    pub(super) fn insert(&mut self, number: EntryNumber) -> bool {
        let (word, bit) = place(number);
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        let Some(word) = self.0.get_mut(word) else { return false };
        let was_there = *word & bit != 0;
        *word |= bit;
        !was_there
    }

    pub(super) fn remove(&mut self, number: EntryNumber) {
        let (word, bit) = place(number);
        if let Some(word) = self.0.get_mut(word) {
            *word &= !bit;
        }
    }

    pub(super) fn contains(&self, number: EntryNumber) -> bool {
        let (word, bit) = place(number);
        self.0.get(word).is_some_and(|it| it & bit != 0)
    }
}

fn place(number: EntryNumber) -> (usize, u64) {
    (number.0 as usize / 64, 1 << (number.0 % 64))
}
