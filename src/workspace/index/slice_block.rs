//! A block of filters that lie side by side: row by row, each row with one bit of every filter.
//!
//! A question about a gram reads one row, a line of the processor's cache, and has its answer for all texts
//! of the block.

use super::{
    file_number::EntryNumber,
    gram_formula::GramFormula,
    grams::{Filter, Gram},
};

/// The most words of a row.
const MOST_WORDS: usize = 8;
/// The most texts of a block.
pub(super) const MOST_COLUMNS: usize = MOST_WORDS * 64;

/// One bit for each text of a block.
pub(super) type Columns = [u64; MOST_WORDS];

/// Whose text it is: the file, and which of its texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TextOwner {
    pub(super) file: EntryNumber,
    pub(super) text: u32,
}

/// The filters of texts that are about equally long.
pub(super) struct SliceBlock {
    width: u32,
    /// How many words a row has. It grows with the texts, so that a block with few texts is small.
    words: usize,
    rows: Vec<u64>,
    owners: Vec<TextOwner>,
    /// Which columns have a text.
    live: Columns,
    /// Columns whose texts are gone, and whose bits are still there.
    dead: Vec<u16>,
}

impl SliceBlock {
    pub(super) fn new(width: u32) -> Self {
        Self {
            width,
            words: 1,
            rows: vec![0; width as usize],
            owners: Vec::new(),
            live: [0; MOST_WORDS],
            dead: Vec::new(),
        }
    }

    pub(super) fn width(&self) -> u32 {
        self.width
    }

    pub(super) fn has_room(&self) -> bool {
        !self.dead.is_empty() || self.owners.len() < MOST_COLUMNS
    }

    /// How many columns were used so far.
    pub(super) fn used(&self) -> usize {
        self.owners.len()
    }

    /// How many columns are empty again.
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

    /// About how much memory it takes.
    pub(super) fn memory(&self) -> usize {
        size_of::<Self>()
            + self.rows.capacity() * size_of::<u64>()
            + self.owners.capacity() * size_of::<TextOwner>()
            + self.dead.capacity() * size_of::<u16>()
    }

    /// Adds a text with a filter of this block's width. The column it is in; `None` if there is no room.
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
        let column = u16::try_from(self.owners.len()).ok()?;
        if self.owners.len() == MOST_COLUMNS {
            return None;
        }
        if self.owners.len() == self.words * 64 {
            self.widen();
        }
        let (word, bit) = place_in_row(column);
        for row in filter.set_bits() {
            if let Some(it) = self.rows.get_mut(row * self.words + word) {
                *it |= bit;
            }
        }
        self.owners.push(owner);
        self.mark(column, true);
        Some(column)
    }

    /// Writes all bits of a column that has those of another text.
    fn overwrite(&mut self, column: u16, filter: &Filter) {
        let (word, bit) = place_in_row(column);
        let words = filter.words();
        for (row, line) in self.rows.chunks_exact_mut(self.words).enumerate() {
            let is_set = words.get(row / 64).is_some_and(|it| it >> (row % 64) & 1 == 1);
            if let Some(it) = line.get_mut(word) {
                *it = if is_set { *it | bit } else { *it & !bit };
            }
        }
    }

    /// Makes rows twice as long.
    fn widen(&mut self) {
        let words = self.words * 2;
        let mut rows = vec![0; self.width as usize * words];
        for (new, old) in rows.chunks_exact_mut(words).zip(self.rows.chunks_exact(self.words)) {
            for (new, old) in new.iter_mut().zip(old) {
                *new = *old;
            }
        }
        self.rows = rows;
        self.words = words;
    }

    /// Removes the text of a column. False if there is none.
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
        let (word, bit) = place_in_row(column);
        let lines = self.rows.chunks_exact(self.words);
        let is_set = lines.map(|line| line.get(word).is_some_and(|it| it & bit != 0));
        Filter::from_bits(self.width, is_set)
    }

    /// Whether a text may match.
    pub(super) fn may_match(&self, column: u16, formula: &GramFormula) -> bool {
        let (word, bit) = place_in_row(column);
        formula.holds(&|gram| self.row(gram).get(word).is_some_and(|it| it & bit != 0))
    }

    /// Which texts may match.
    pub(super) fn matching(&self, formula: &GramFormula) -> Columns {
        let mut columns = self.live;
        self.narrow(&mut columns, formula);
        columns
    }

    /// Leaves only columns for which the formula holds.
    fn narrow(&self, columns: &mut Columns, formula: &GramFormula) {
        match formula {
            GramFormula::Anything => {}
            GramFormula::Impossible => *columns = [0; MOST_WORDS],
            GramFormula::Has(gram) => {
                for (column, row) in columns.iter_mut().zip(self.row(*gram)) {
                    *column &= row;
                }
            }
            GramFormula::All(parts) => {
                for part in parts {
                    self.narrow(columns, part);
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
    fn row(&self, gram: Gram) -> &[u64] {
        let start = gram.bit_in(self.width) as usize * self.words;
        self.rows.get(start..start + self.words).unwrap_or_default()
    }
}

/// The word of a row in which a column is, and its bit there.
fn place_in_row(column: u16) -> (usize, u64) {
    (usize::from(column / 64), 1 << (column % 64))
}
