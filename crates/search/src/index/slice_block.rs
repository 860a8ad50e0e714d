//! A block of filters, stored row by row. Each row has one bit of every filter.
//!
//! A query for a gram reads one row, which fits in a cache line, and gets the answer for all texts
//! of the block. New filters go into an open group of 64 whose rows are one word each, because such
//! a group fits in little memory. A full group is copied next to the other full groups.

use super::{
    file_number::EntryNumber, gram_formula::GramFormula, gram_numbers::GramNumber, grams::Filter,
};

/// The most words in a row, and the most groups of texts.
const MOST_WORDS: usize = 8;
/// The bytes of a cache line.
const CACHE_LINE_BYTES: usize = MOST_WORDS * size_of::<u64>();
/// The texts of a group: as many as a word has bits.
const GROUP: usize = 64;
/// How many rows are read before checking whether any text is left. The reads do not depend on each
/// other, so the processor can overlap them.
const ROWS_AT_ONCE: usize = 8;
/// The most texts of a block.
pub(super) const MOST_COLUMNS: usize = MOST_WORDS * GROUP;

/// One bit for each text of a block.
pub(super) type Columns = [u64; MOST_WORDS];

/// The owner of a text: the file, and the number of the text in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TextOwner {
    pub(super) file: EntryNumber,
    pub(super) text: u32,
}

/// The filters of texts of about the same length.
pub(super) struct SliceBlock {
    width: usize,
    /// How many groups are full.
    full: usize,
    /// How many words a row of the full groups has. It grows with the number of groups, so that a
    /// block with few texts is small.
    words: usize,
    /// The rows of the full groups, from `first` on.
    rows: Vec<u64>,
    /// The start of a cache line, so that a row of eight words does not cross two lines.
    first: usize,
    /// The rows of the group that is being filled. Empty if there is none.
    open: Vec<u64>,
    owners: Vec<TextOwner>,
    /// Which columns have a text.
    live: Columns,
    /// Columns whose texts were removed, but whose bits are still set.
    dead: Vec<u16>,
}

impl SliceBlock {
    pub(super) fn new(width: usize) -> Self {
        Self {
            width,
            full: 0,
            words: 0,
            rows: Vec::new(),
            first: 0,
            open: Vec::new(),
            owners: Vec::new(),
            live: [0; MOST_WORDS],
            dead: Vec::new(),
        }
    }

    pub(super) fn width(&self) -> usize {
        self.width
    }

    pub(super) fn has_room(&self) -> bool {
        !self.dead.is_empty() || self.owners.len() < MOST_COLUMNS
    }

    /// How many columns have, or had, a text.
    pub(super) fn used(&self) -> usize {
        self.owners.len()
    }

    /// How many columns had a text that was removed.
    pub(super) fn dead(&self) -> usize {
        self.dead.len()
    }

    /// How many columns have a text.
    pub(super) fn texts(&self) -> usize {
        self.owners.len() - self.dead.len()
    }

    pub(super) fn owners(&self) -> &[TextOwner] {
        &self.owners
    }

    /// Which columns have a text.
    pub(super) fn live(&self) -> Columns {
        self.live
    }

    /// An estimate of the memory that it takes, in bytes.
    pub(super) fn memory(&self) -> usize {
        size_of::<Self>()
            + (self.rows.capacity() + self.open.capacity()) * size_of::<u64>()
            + self.owners.capacity() * size_of::<TextOwner>()
            + self.dead.capacity() * size_of::<u16>()
    }

    /// Adds a text with a filter of this block's width. Returns its column. `None` if there is no
    /// room.
    pub(super) fn add(&mut self, owner: TextOwner, filter: &Filter) -> Option<u16> {
        if filter.width() != self.width {
            return None;
        }
        if let Some(column) = self.dead.pop() {
            self.overwrite(column, filter);
            *self.owners.get_mut(usize::from(column))? = owner;
            self.mark(column, true);
            return Some(column);
        }
        if self.owners.len() == MOST_COLUMNS {
            return None;
        }
        let column = u16::try_from(self.owners.len()).ok()?;
        if self.owners.len().is_multiple_of(GROUP) {
            self.begin_group();
        }
        let (_, bit) = place_in_row(column);
        for row in filter.set_bits() {
            if let Some(it) = self.open.get_mut(row) {
                *it |= bit;
            }
        }
        self.owners.push(owner);
        self.mark(column, true);
        if self.owners.len().is_multiple_of(GROUP) {
            self.end_group();
        }
        Some(column)
    }

    fn begin_group(&mut self) {
        self.open.clear();
        self.open.resize(self.width, 0);
    }

    /// Copies the open group, which is full now, next to the other full groups.
    fn end_group(&mut self) {
        if self.full == self.words {
            self.widen();
        }
        let full = self.full;
        let open = std::mem::take(&mut self.open);
        for (line, word) in self.lines_mut().zip(&open) {
            if let Some(it) = line.get_mut(full) {
                *it = *word;
            }
        }
        self.open = open;
        self.full += 1;
        self.open.clear();
        if self.full == MOST_WORDS {
            self.open.shrink_to_fit();
        }
    }

    /// Doubles the length of the rows of full groups.
    fn widen(&mut self) {
        let words = (self.words * 2).max(1);
        let rows = vec![0_u64; self.width * words + MOST_WORDS];
        let first = rows.as_ptr().align_offset(CACHE_LINE_BYTES).min(MOST_WORDS);
        let (old, old_first) = (std::mem::replace(&mut self.rows, rows), self.first);
        let old_words = std::mem::replace(&mut self.words, words).max(1);
        self.first = first;
        let old = old.get(old_first..).unwrap_or_default().chunks_exact(old_words);
        for (new, old) in self.lines_mut().zip(old) {
            for (new, old) in new.iter_mut().zip(old) {
                *new = *old;
            }
        }
    }

    /// The rows of the full groups.
    fn lines_mut(&mut self) -> impl Iterator<Item = &mut [u64]> {
        let rows = self.rows.get_mut(self.first..).unwrap_or_default();
        rows.chunks_exact_mut(self.words.max(1)).take(self.width)
    }

    /// Replaces all bits of a column that had another text.
    fn overwrite(&mut self, column: u16, filter: &Filter) {
        let (word, bit) = place_in_row(column);
        let bits = filter.words();
        let set = |row: usize, it: &mut u64| {
            let is_set = bits.get(row / 64).is_some_and(|it| it >> (row % 64) & 1 == 1);
            *it = if is_set { *it | bit } else { *it & !bit };
        };
        if word == self.full {
            self.open.iter_mut().enumerate().for_each(|(row, it)| set(row, it));
            return;
        }
        for (row, line) in self.lines_mut().enumerate() {
            if let Some(it) = line.get_mut(word) {
                set(row, it);
            }
        }
    }

    /// Removes the text of a column. Returns false if there is none.
    pub(super) fn remove(&mut self, column: u16) -> bool {
        let (word, bit) = place_in_row(column);
        if self.live.get(word).is_none_or(|it| it & bit == 0) {
            return false;
        }
        self.mark(column, false);
        self.dead.push(column);
        true
    }

    fn mark(&mut self, column: u16, is_live: bool) {
        let (word, bit) = place_in_row(column);
        if let Some(it) = self.live.get_mut(word) {
            *it = if is_live { *it | bit } else { *it & !bit };
        }
    }

    /// The filter of a column.
    pub(super) fn filter(&self, column: u16) -> Filter {
        let is_set = (0..self.width).map(|row| self.has_bit(row, column));
        Filter::from_bits(self.width, is_set)
    }

    fn has_bit(&self, row: usize, column: u16) -> bool {
        let (word, bit) = place_in_row(column);
        let (full, open) = self.row(row);
        let it = if word == self.full { open } else { full.get(word).copied() };
        it.is_some_and(|it| it & bit != 0)
    }

    /// Whether a text may match.
    pub(super) fn may_match(&self, column: u16, formula: &GramFormula<GramNumber>) -> bool {
        formula.holds(&|gram| self.has_bit(gram.row_in(self.width), column))
    }

    /// The columns of the texts that may match a formula over rows.
    pub(super) fn matching(&self, formula: &GramFormula<usize>) -> Columns {
        let mut columns = self.live;
        self.narrow(&mut columns, formula);
        columns
    }

    /// Clears the columns for which the formula does not hold.
    fn narrow(&self, columns: &mut Columns, formula: &GramFormula<usize>) {
        match formula {
            GramFormula::Anything => {}
            GramFormula::Impossible => *columns = [0; MOST_WORDS],
            GramFormula::Has(row) => self.narrow_by_row(columns, *row),
            GramFormula::All(parts) => {
                for some in parts.chunks(ROWS_AT_ONCE) {
                    for part in some {
                        self.narrow(columns, part);
                    }
                    if columns.iter().all(|it| *it == 0) {
                        return;
                    }
                }
            }
            GramFormula::OneOf(parts) => {
                let mut found = [0; MOST_WORDS];
                for part in parts {
                    let mut here = *columns;
                    self.narrow(&mut here, part);
                    for (found, here) in found.iter_mut().zip(here) {
                        *found |= here;
                    }
                }
                *columns = found;
            }
        }
    }

    #[inline]
    fn narrow_by_row(&self, columns: &mut Columns, row: usize) {
        let (full, open) = self.row(row);
        if let Ok(full) = <&Columns>::try_from(full) {
            for (column, row) in columns.iter_mut().zip(full) {
                *column &= row;
            }
            return;
        }
        for (column, row) in columns.iter_mut().zip(full) {
            *column &= row;
        }
        if let (Some(column), Some(row)) = (columns.get_mut(self.full), open) {
            *column &= row;
        }
    }

    /// A row of the full groups, and the same row of the open group.
    #[inline]
    fn row(&self, row: usize) -> (&[u64], Option<u64>) {
        let start = self.first + row * self.words;
        let full = self.rows.get(start..start + self.full).unwrap_or_default();
        (full, self.open.get(row).copied())
    }
}

/// The index of the word that holds a column, and its bit in that word.
fn place_in_row(column: u16) -> (usize, u64) {
    (usize::from(column / 64), 1 << (column % 64))
}
