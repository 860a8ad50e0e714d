//! Numbers for grams, by their frequency in a tree.
//!
//! A filter has fewer rows than there are grams, so grams share rows. A row that is set for many
//! texts rules out few of them, so all rows should be set about equally often. For this the
//! frequency of the grams has to be known, and a sample of the files is enough for that. The most
//! common grams get a row each. The others share rows such that each row has common and rare grams.
//! Compared with rows chosen by a hash, a search reads half as many texts without a match.
//!
//! The sample only affects speed, not the answers. Any numbers work if the filters of all texts use
//! the same ones.

use std::{cmp::Reverse, sync::Arc};

use super::grams::{GRAMS, Gram, grams_in};

/// How many numbers there are.
pub(super) const GRAM_NUMBERS: usize = 1 << 15;
/// How many grams have an unshared number. The others are rare and share the rest.
const OWN_NUMBERS: usize = GRAM_NUMBERS / 2;
/// One in this many rows of a filter belongs to a single gram.
const OWN_ROWS_SHARE: usize = 4;
/// Row counts are multiples of this: the bits of a word.
const WORD: usize = 64;

/// The number of a gram. Common grams have low numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct GramNumber(u16);

impl GramNumber {
    pub(super) fn index(self) -> usize {
        usize::from(self.0) & (GRAM_NUMBERS - 1)
    }

    /// Its row in a filter with this many rows.
    #[inline]
    pub(super) fn row_in(self, rows: usize) -> usize {
        let own = own_rows(rows);
        match self.index().checked_sub(own) {
            None => self.index(),
            Some(rest) => own + rest.checked_rem(rows - own).unwrap_or(0),
        }
    }
}

/// How many rows of a filter belong to a single gram.
pub(super) fn own_rows(rows: usize) -> usize {
    rows / OWN_ROWS_SHARE / WORD * WORD
}

/// Which gram has which number.
#[derive(Clone, Debug, Default)]
pub(super) struct GramNumbers {
    /// The number of each gram. `None` if there was no sample.
    table: Option<Arc<[u16]>>,
}

impl GramNumbers {
    /// The bytes of memory that numbers from a sample take.
    pub(super) const MEMORY: usize = GRAMS * size_of::<u16>();

    #[inline]
    pub(super) fn of(&self, gram: Gram) -> GramNumber {
        match self.table() {
            Some(table) => Self::listed(table, gram),
            None => Self::unlisted(gram),
        }
    }

    /// The numbers from a sample, as an array, so that no bounds check is needed for each gram.
    #[inline]
    pub(super) fn table(&self) -> Option<&[u16; GRAMS]> {
        self.table.as_deref().and_then(|it| it.try_into().ok())
    }

    #[inline]
    pub(super) fn listed(table: &[u16; GRAMS], gram: Gram) -> GramNumber {
        GramNumber(table.get(gram.index()).copied().unwrap_or(0))
    }

    /// The number of a gram without a sample: grams that differ only in the lowest bits of their
    /// hash share one.
    #[inline]
    pub(super) fn unlisted(gram: Gram) -> GramNumber {
        GramNumber(u16::try_from(gram.index() / (GRAMS / GRAM_NUMBERS)).unwrap_or(0))
    }

    /// Whether filters made with `self` and with `other` can be compared.
    pub(super) fn are_same(&self, other: &Self) -> bool {
        match (&self.table, &other.table) {
            (None, None) => true,
            (Some(one), Some(other)) => Arc::ptr_eq(one, other),
            (None, Some(_)) | (Some(_), None) => false,
        }
    }

    /// The bytes of memory that these numbers take.
    pub(super) fn memory(&self) -> usize {
        self.table.as_deref().map_or(0, size_of_val)
    }
}

/// Counts grams in some texts of a tree.
pub(super) struct GramSample {
    /// The number of texts that contain each gram.
    texts: Vec<u16>,
    /// The grams of one text.
    seen: Vec<bool>,
}

impl GramSample {
    pub(super) fn new() -> Self {
        Self { texts: vec![0; GRAMS], seen: vec![false; GRAMS] }
    }

    /// Adds a text. Its letters must be in lower case.
    pub(super) fn add(&mut self, text: &[u8]) {
        self.seen.fill(false);
        for gram in grams_in(text) {
            if let (Some(seen), Some(texts)) =
                (self.seen.get_mut(gram.index()), self.texts.get_mut(gram.index()))
            {
                *texts = texts.saturating_add(u16::from(!*seen));
                *seen = true;
            }
        }
    }

    /// The numbers that follow from the texts.
    pub(super) fn numbers(&self) -> GramNumbers {
        let met = self.texts.iter().enumerate().filter(|(_, texts)| **texts > 0);
        let mut by_texts: Vec<(usize, u16)> = met.map(|(gram, texts)| (gram, *texts)).collect();
        by_texts.sort_by_key(|(_, texts)| Reverse(*texts));
        let shared = |gram: usize| OWN_NUMBERS + gram % (GRAM_NUMBERS - OWN_NUMBERS);
        let mut table: Vec<u16> =
            (0..GRAMS).map(|it| u16::try_from(shared(it)).unwrap_or(0)).collect();
        for (number, (gram, _)) in (0..).zip(by_texts.into_iter().take(OWN_NUMBERS)) {
            if let Some(it) = table.get_mut(gram) {
                *it = number;
            }
        }
        GramNumbers { table: Some(table.into()) }
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn gram(text: [u8; 3]) -> Gram {
        Gram::of(text)
    }

    fn sampled(texts: &[&str]) -> GramNumbers {
        let mut sample = GramSample::new();
        for text in texts {
            sample.add(text.as_bytes());
        }
        sample.numbers()
    }

    #[test]
    fn a_gram_in_more_texts_has_a_lower_number() {
        let numbers = sampled(&["abc abc abc xyz", "abc xyz", "abc", "", "a"]);
        assert_eq!(numbers.of(gram(*b"abc")), GramNumber(0));
        assert!(numbers.of(gram(*b"abc")) < numbers.of(gram(*b"xyz")));
        assert!(numbers.of(gram(*b"xyz")) < numbers.of(gram(*b"c a")));
        assert!(numbers.of(gram(*b"qqq")).index() >= OWN_NUMBERS);
    }

    #[test]
    fn every_gram_has_a_row_in_every_filter() {
        let some = sampled(&["some words", "words"]);
        for rows in (WORD..=GRAM_NUMBERS).step_by(WORD) {
            for numbers in [&some, &GramNumbers::default()] {
                for text in [b"som", b"ord", b"zzz", b"\xff\x00\xfe"] {
                    assert!(numbers.of(gram(*text)).row_in(rows) < rows);
                }
            }
            let own = own_rows(rows);
            assert_eq!(own % WORD, 0);
            // The lowest numbers do not share their rows.
            assert_eq!(GramNumber(0).row_in(rows), 0);
            let last = GramNumber(u16::try_from(GRAM_NUMBERS - 1).unwrap_or(0));
            assert!(last.row_in(rows) >= own);
        }
    }

    #[test]
    fn only_numbers_of_one_sample_are_the_same() {
        let (one, other) = (sampled(&["text"]), sampled(&["text"]));
        assert!(one.are_same(&one.clone()) && !one.are_same(&other));
        assert!(GramNumbers::default().are_same(&GramNumbers::default()));
        assert!(!one.are_same(&GramNumbers::default()));
        assert_eq!((one.memory(), GramNumbers::default().memory()), (GramNumbers::MEMORY, 0));
    }
}
