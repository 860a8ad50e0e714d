//! A set of the entries of a tree.

use super::{EntryNumber, grams::ones};

/// A bit for each entry.
#[derive(Clone, Debug, Default)]
pub(super) struct FileSet(Vec<u64>);

impl FileSet {
    /// Adds an entry. Returns false if it was in the set already.
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

    /// Adds an entry or removes it.
    pub(super) fn set(&mut self, number: EntryNumber, is_in: bool) {
        if is_in {
            self.insert(number);
        } else {
            self.remove(number);
        }
    }

    /// The entries, in the order of their numbers.
    pub(super) fn iter(&self) -> impl Iterator<Item = EntryNumber> {
        ones(&self.0).filter_map(|it| u32::try_from(it).ok()).map(EntryNumber)
    }

    /// How many bytes of memory it takes.
    pub(super) fn memory(&self) -> usize {
        self.0.capacity() * size_of::<u64>()
    }

    pub(super) fn contains(&self, number: EntryNumber) -> bool {
        let (word, bit) = place(number);
        self.0.get(word).is_some_and(|it| it & bit != 0)
    }
}

fn place(number: EntryNumber) -> (usize, u64) {
    (number.0 as usize / 64, 1 << (number.0 % 64))
}
