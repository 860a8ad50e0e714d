//! Trigrams: what the index notes of a text.
//!
//! A gram is a hash of three successive bytes with ASCII letters in lower case. Equal bytes have equal
//! grams, so a text that contains a word has all grams of the word, whatever the hash does. The reverse
//! does not hold, so what has the grams still has to be searched.

/// How many bits a gram has.
const GRAM_BITS: u32 = 18;
/// How many words the set of all grams has.
const SET_WORDS: usize = 1 << (GRAM_BITS - 6);
/// Makes neighbouring keys land far apart: a prime near the golden ratio of 2^32.
const SPREAD: u32 = 0x9E37_79B1;
/// How many bits of a filter there are for four grams.
const BITS_FOR_FOUR_GRAMS: u32 = 7;
/// The narrowest filter. All widths are multiples of it: a word.
const NARROWEST: u32 = 64;
/// The widest filter. A text with more grams than it is made for is a candidate more often.
const WIDEST: u32 = 1 << 16;
/// Grams are counted in one of so many words of a set. They are spread evenly, so that is close enough.
const COUNTED_PART: u32 = 4;

/// Three bytes, folded and hashed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Gram(u32);

impl Gram {
    /// The gram of three bytes that are folded already.
    pub(super) fn of([first, second, third]: [u8; 3]) -> Self {
        Self::of_key(u32::from_le_bytes([first, second, third, 0]))
    }

    /// The gram of the lowest three bytes of a key.
    #[inline]
    fn of_key(key: u32) -> Self {
        Self((key & 0x00ff_ffff).wrapping_mul(SPREAD) >> (32 - GRAM_BITS))
    }

    /// The bit of this gram in a filter.
    #[inline]
    pub(super) fn bit_in(self, width: u32) -> u32 {
        self.0.checked_rem(width).unwrap_or(0)
    }
}

/// A byte as grams see it.
pub(super) fn folded(byte: u8) -> u8 {
    byte.to_ascii_lowercase()
}

/// The width of the filter for this many grams. Widths grow by a quarter, so that texts of about the same
/// size have filters of one width, and at most a fifth of a filter is more than was asked for.
fn width_for(grams: u32) -> u32 {
    let wanted = grams.saturating_mul(BITS_FOR_FOUR_GRAMS) / 4;
    let mut width = NARROWEST;
    while width < wanted && width < WIDEST {
        width += (width / 4 / NARROWEST).max(1) * NARROWEST;
    }
    width
}

/// What the index knows of a text: a Bloom filter of its grams with one hash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Filter {
    width: u32,
    bits: Box<[u64]>,
}

impl Filter {
    /// The filter with these bits.
    pub(super) fn from_bits(width: u32, bits: impl Iterator<Item = bool>) -> Self {
        let mut words = vec![0_u64; width.div_ceil(64) as usize];
        for (at, is_set) in bits.enumerate() {
            if let Some(word) = words.get_mut(at / 64) {
                *word |= u64::from(is_set) << (at % 64);
            }
        }
        Self { width, bits: words.into() }
    }

    /// How many bits it has.
    pub(super) fn width(&self) -> u32 {
        self.width
    }

    /// Its bits, 64 in each word, and then some that are not used.
    pub(super) fn words(&self) -> &[u64] {
        &self.bits
    }

    /// The bits that are set, in rising order.
    pub(super) fn set_bits(&self) -> impl Iterator<Item = usize> {
        ones(&self.bits)
    }
}

/// The positions of the ones in a row of words.
pub(super) fn ones(words: &[u64]) -> impl Iterator<Item = usize> {
    words.iter().enumerate().flat_map(|(at, &word)| {
        let mut rest = word;
        std::iter::from_fn(move || {
            let bit = rest.trailing_zeros() as usize;
            // Without the lowest one.
            let found = (rest != 0).then_some(at * 64 + bit);
            rest &= rest.wrapping_sub(1);
            found
        })
    })
}

/// Collects the grams of a text that comes in pieces.
pub(super) struct GramSet {
    seen: Box<[u64; SET_WORDS]>,
    /// The last two bytes, as the lower bytes of the next key.
    key: u32,
    /// How many bytes the key has, at most two.
    in_key: u8,
}

impl GramSet {
    #[expect(clippy::large_stack_arrays, reason = "once for each thread that learns")]
    pub(super) fn new() -> Self {
        Self { seen: Box::new([0; SET_WORDS]), key: 0, in_key: 0 }
    }

    /// Adds the next piece of the text, whose letters are in lower case already.
    pub(super) fn feed(&mut self, piece: &[u8]) {
        for byte in piece.iter().take(2) {
            self.feed_byte(*byte);
        }
        // Six grams at a time, because this is most of what learning costs.
        let mut rest = piece;
        while let Some(bytes) = rest.first_chunk::<8>() {
            let bytes = u64::from_le_bytes(*bytes);
            #[expect(clippy::cast_possible_truncation, reason = "a key is the lower part")]
            let grams = [0, 8, 16, 24, 32, 40].map(|it| Gram::of_key((bytes >> it) as u32));
            for gram in grams {
                self.add(gram);
            }
            rest = rest.get(6..).unwrap_or_default();
        }
        for bytes in rest.windows(3) {
            if let Ok(bytes) = <[u8; 3]>::try_from(bytes) {
                self.add(Gram::of(bytes));
            }
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
        self.add(Gram::of_key(key));
        self.key = key >> 8;
    }

    /// It is not asked whether a gram is new: that cannot be predicted, and costs more than noting it.
    #[inline]
    fn add(&mut self, gram: Gram) {
        if let Some(word) = self.seen.get_mut(gram.0 as usize >> 6) {
            *word |= 1 << (gram.0 & 63);
        }
    }

    /// The filter of all that was added. What comes next is another text.
    pub(super) fn take_filter(&mut self) -> Filter {
        let counted = self.seen.iter().take(SET_WORDS / COUNTED_PART as usize);
        let grams: u32 = counted.map(|it| it.count_ones()).sum();
        let width = width_for(grams * COUNTED_PART);
        // A gram's bit is its remainder, so the set is laid over itself in pieces of that length.
        let mut bits = vec![0_u64; width as usize / 64];
        for piece in self.seen.chunks(bits.len()) {
            for (bit, seen) in bits.iter_mut().zip(piece) {
                *bit |= seen;
            }
        }
        self.clear();
        Filter { width, bits: bits.into() }
    }

    /// Forgets what was added since the last filter.
    pub(super) fn clear(&mut self) {
        if self.in_key > 0 {
            self.seen.fill(0);
            self.key = 0;
            self.in_key = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn filter_of(pieces: &[&[u8]]) -> Filter {
        let mut set = GramSet::new();
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
        let mut set = GramSet::new();
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
        for length in [3, 4, 100, 3_000, 40_000] {
            let text = text.get(..length).unwrap_or_default();
            let filter = filter_of(&[text]);
            let set: Vec<usize> = filter.set_bits().collect();
            for gram in text.windows(3) {
                let gram: [u8; 3] = gram.try_into().unwrap_or_default();
                let bit = Gram::of(gram.map(folded)).bit_in(filter.width()) as usize;
                assert!(set.binary_search(&bit).is_ok(), "{length}");
            }
        }
    }

    #[test]
    fn filters_are_as_wide_as_their_texts_need() {
        assert_eq!(width_for(0), NARROWEST);
        assert!((2_000..2_500).contains(&width_for(1_000)));
        assert!((WIDEST..WIDEST * 5 / 4).contains(&width_for(u32::MAX)));
    }
}
