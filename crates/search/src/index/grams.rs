//! Trigrams: what the index stores about a text.
//!
//! A gram is a hash of three successive bytes with ASCII letters in lower case. Equal bytes have
//! equal grams, so a text that contains a word has all grams of the word. The reverse does not
//! hold, so a text with all the grams still has to be searched.

use super::gram_numbers::{GRAM_NUMBERS, GramNumber, GramNumbers, own_rows};

/// How many bits a gram has.
const GRAM_BITS: u32 = 18;
/// How many grams there are.
pub(super) const GRAMS: usize = 1 << GRAM_BITS;
/// Spreads neighbouring keys far apart: a prime near 2^32 divided by the golden ratio.
const SPREAD: u32 = 0x9E37_79B1;
/// The number of filter bits for every four grams.
const BITS_FOR_FOUR_GRAMS: usize = 7;
/// The narrowest filter. All widths are multiples of it: a word.
const NARROWEST: usize = 64;
/// The widest filter. A text with too many grams for it is a candidate more often.
const WIDEST: usize = GRAM_NUMBERS;
/// Marks are counted in chunks of this size, so that a byte can hold the count.
const COUNTED_AT_ONCE: usize = 128;

/// Three bytes, folded and hashed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Gram(u32);

impl Gram {
    /// The gram of three folded bytes.
    pub(super) fn of([first, second, third]: [u8; 3]) -> Self {
        Self::of_key(u32::from_le_bytes([first, second, third, 0]))
    }

    /// The gram of the lowest three bytes of a key.
    #[inline]
    fn of_key(key: u32) -> Self {
        Self((key & 0x00ff_ffff).wrapping_mul(SPREAD) >> (32 - GRAM_BITS))
    }

    #[inline]
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

/// The grams of a folded text, in their order.
pub(super) fn grams_in(text: &[u8]) -> impl Iterator<Item = Gram> {
    text.windows(3).filter_map(|it| it.try_into().ok()).map(Gram::of)
}

/// A byte with ASCII letters in lower case.
pub(super) fn folded(byte: u8) -> u8 {
    byte.to_ascii_lowercase()
}

/// The width of the filter for this many grams. Widths grow in steps of a quarter, so that texts of
/// about the same size have filters of the same width. At most a fifth of a filter is unneeded.
fn width_for(grams: usize) -> usize {
    let wanted = grams.saturating_mul(BITS_FOR_FOUR_GRAMS) / 4;
    let mut width = NARROWEST;
    while width < wanted && width < WIDEST {
        width += (width / 4 / NARROWEST).max(1) * NARROWEST;
    }
    width.min(WIDEST)
}

/// What the index stores about a text: a Bloom filter of its grams with one hash function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Filter {
    width: usize,
    bits: Box<[u64]>,
}

impl Filter {
    /// The filter with these bits.
    pub(super) fn from_bits(width: usize, bits: impl Iterator<Item = bool>) -> Self {
        let mut words = vec![0_u64; width.div_ceil(64)];
        for (at, is_set) in bits.enumerate() {
            if let Some(word) = words.get_mut(at / 64) {
                *word |= u64::from(is_set) << (at % 64);
            }
        }
        Self { width, bits: words.into() }
    }

    /// How many bits it has.
    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// Its bits, 64 in each word. The last word may have unused bits.
    pub(super) fn words(&self) -> &[u64] {
        &self.bits
    }

    /// The bits that are set, in ascending order.
    pub(super) fn set_bits(&self) -> impl Iterator<Item = usize> {
        ones(&self.bits)
    }
}

/// The positions of the bits that are set in a slice of words.
pub(super) fn ones(words: &[u64]) -> impl Iterator<Item = usize> {
    words.iter().enumerate().flat_map(|(at, &word)| {
        let mut rest = word;
        std::iter::from_fn(move || {
            let bit = rest.trailing_zeros() as usize;
            // Clears the lowest bit.
            let found = (rest != 0).then_some(at * 64 + bit);
            rest &= rest.wrapping_sub(1);
            found
        })
    })
}

/// Collects the grams of a text that comes in pieces.
pub(super) struct GramSet {
    numbers: GramNumbers,
    /// A mark for each gram number: one if it was found. Bytes instead of bits, because setting a
    /// bit takes longer, and learning spends most of its time here.
    met: Box<[u8; GRAM_NUMBERS]>,
    /// The rows of the filter being made. Kept to reuse its memory.
    rows: Vec<u8>,
    /// The last two bytes, as the lower bytes of the next key.
    key: u32,
    /// How many bytes the key has, at most two.
    in_key: u8,
}

impl GramSet {
    #[expect(clippy::large_stack_arrays, reason = "allocated once for each learning thread")]
    pub(super) fn new(numbers: GramNumbers) -> Self {
        Self { numbers, met: Box::new([0; GRAM_NUMBERS]), rows: Vec::new(), key: 0, in_key: 0 }
    }

    pub(super) fn numbers(&self) -> &GramNumbers {
        &self.numbers
    }

    /// Sets the numbers to use for the next text.
    pub(super) fn number_by(&mut self, numbers: &GramNumbers) {
        self.clear();
        self.numbers = numbers.clone();
    }

    /// Adds the next piece of the text. Its letters must be in lower case.
    pub(super) fn feed(&mut self, piece: &[u8]) {
        for byte in piece.iter().take(2) {
            self.feed_byte(*byte);
        }
        // Checked once here and not for each gram.
        match self.numbers.table() {
            Some(table) => {
                mark_all(&mut self.met, piece, |gram| GramNumbers::listed(table, gram));
            }
            None => mark_all(&mut self.met, piece, GramNumbers::unlisted),
        }
        if let Some([.., before_last, last]) = piece.get(2..).and(Some(piece)) {
            self.key = u32::from_le_bytes([*before_last, *last, 0, 0]);
        }
    }

    fn feed_byte(&mut self, byte: u8) {
        if self.in_key < 2 {
            self.key |= u32::from(byte) << (8 * self.in_key);
            self.in_key += 1;
            return;
        }
        let key = self.key | u32::from(byte) << 16;
        mark(&mut self.met, self.numbers.of(Gram::of_key(key)));
        self.key = key >> 8;
    }

    /// The filter of the text that was added. The next piece begins another text.
    pub(super) fn take_filter(&mut self) -> Filter {
        let counted = self.met.chunks(COUNTED_AT_ONCE);
        let counted = counted.map(|it| it.iter().fold(0_u8, |sum, met| sum.wrapping_add(*met)));
        let width = width_for(counted.map(usize::from).sum());
        // The same as `GramNumber::row_in` for each number, many at a time.
        let (own, shared) = self.met.split_at(own_rows(width));
        self.rows.clear();
        self.rows.extend_from_slice(own);
        self.rows.resize(width, 0);
        let rows = self.rows.get_mut(own.len()..).unwrap_or_default();
        for piece in shared.chunks(rows.len().max(1)) {
            for (row, met) in rows.iter_mut().zip(piece) {
                *row |= met;
            }
        }
        let filter = Filter { width, bits: self.rows.chunks(64).map(packed).collect() };
        self.clear();
        filter
    }

    /// Discards what was added since the last filter.
    pub(super) fn clear(&mut self) {
        if self.in_key > 0 {
            self.met.fill(0);
            self.key = 0;
            self.in_key = 0;
        }
    }
}

/// Marks the grams of a piece of text.
#[inline]
fn mark_all(met: &mut [u8; GRAM_NUMBERS], piece: &[u8], number_of: impl Fn(Gram) -> GramNumber) {
    // Six grams at a time, because learning spends most of its time here.
    let mut rest = piece;
    while let Some(bytes) = rest.first_chunk::<8>() {
        let bytes = u64::from_le_bytes(*bytes);
        for shift in [0, 8, 16, 24, 32, 40] {
            #[expect(clippy::cast_possible_truncation, reason = "a key is the lower half")]
            let gram = Gram::of_key((bytes >> shift) as u32);
            mark(met, number_of(gram));
        }
        rest = rest.get(6..).unwrap_or_default();
    }
    for gram in grams_in(rest) {
        mark(met, number_of(gram));
    }
}

/// Does not check whether the gram is new: the branch cannot be predicted and costs more than the
/// store.
#[inline]
fn mark(met: &mut [u8; GRAM_NUMBERS], number: GramNumber) {
    if let Some(met) = met.get_mut(number.index()) {
        *met = 1;
    }
}

/// A word with a bit for each of up to 64 marks.
fn packed(marks: &[u8]) -> u64 {
    let bits = |eight: &[u8]| {
        let eight: [u8; 8] = eight.try_into().unwrap_or_default();
        // Each mark is a byte of zero or one. In the highest byte of the product, the first mark is
        // the lowest bit, the second mark is the next bit, and so on.
        u64::from_le_bytes(eight).wrapping_mul(0x0102_0408_1020_4080) >> 56
    };
    let bytes = marks.chunks_exact(8).map(bits).enumerate();
    bytes.fold(0, |word, (at, bits)| word | bits << (8 * at))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use pretty_assertions::assert_eq;

    use super::{super::gram_numbers::GramSample, *};

    fn filter_of(pieces: &[&[u8]]) -> Filter {
        filter_by(&GramNumbers::default(), pieces)
    }

    fn filter_by(numbers: &GramNumbers, pieces: &[&[u8]]) -> Filter {
        let mut set = GramSet::new(numbers.clone());
        for piece in pieces {
            set.feed(&piece.to_ascii_lowercase());
        }
        set.take_filter()
    }

    #[test]
    fn a_text_in_pieces_has_the_grams_of_the_whole() {
        let whole = filter_of(&[b"The quick brown Fox"]);
        assert_eq!(filter_of(&[b"T", b"he q", b"", b"uick brown ", b"F", b"o", b"x"]), whole);
        assert_ne!(filter_of(&[b"The quick brown Fog"]), whole);
    }

    #[test]
    fn a_set_is_empty_after_its_filter_was_taken() {
        let mut set = GramSet::new(GramNumbers::default());
        set.feed(b"some text");
        set.take_filter();
        set.feed(b"xy");
        assert_eq!(set.take_filter().set_bits().count(), 0);
        set.feed(b"some text");
        set.clear();
        assert_eq!(set.take_filter().set_bits().count(), 0);
    }

    #[test]
    fn every_gram_of_a_text_is_in_its_filter() {
        let text: Vec<u8> =
            (0..10_000_u32).flat_map(|it| it.wrapping_mul(2_654_435_761).to_be_bytes()).collect();
        let mut sample = GramSample::new();
        sample.add(text.get(..2_000).unwrap_or_default());
        for numbers in [GramNumbers::default(), sample.numbers()] {
            for length in [3, 4, 100, 3_000, 40_000] {
                let text = text.get(..length).unwrap_or_default().to_ascii_lowercase();
                let filter = filter_by(&numbers, &[&text]);
                let set: Vec<usize> = filter.set_bits().collect();
                let rows = grams_in(&text).map(|it| numbers.of(it).row_in(filter.width()));
                let rows: BTreeSet<usize> = rows.collect();
                assert_eq!(set, rows.into_iter().collect::<Vec<_>>(), "{length}");
            }
        }
    }

    #[test]
    fn filters_are_as_wide_as_their_texts_need() {
        assert_eq!(width_for(0), NARROWEST);
        assert!((2_000..2_500).contains(&width_for(1_000)));
        assert_eq!(width_for(usize::MAX), WIDEST);
    }
}
