//! The filters of all texts, in blocks of filters of the same width.
//!
//! The column of a removed text is reused for the next text of about the same size. If too many
//! columns are empty, texts are moved together, a few at a time, and blocks without texts are
//! dropped.

use std::collections::BTreeMap;

use super::{
    gram_formula::GramFormula,
    gram_numbers::GramNumber,
    grams::{Filter, ones},
    slice_block::{MOST_COLUMNS, SliceBlock, TextOwner},
};

/// Texts of one width are moved together if more than one in this many columns is empty.
const DEAD_SHARE: usize = 4;

/// The position of a text's filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FilterPosition {
    block: u32,
    column: u16,
}

/// The filters of texts.
#[derive(Default)]
pub(super) struct BitSlices {
    blocks: Vec<Option<Box<SliceBlock>>>,
    /// Numbers of blocks that were dropped.
    unused: Vec<u32>,
    classes: BTreeMap<usize, WidthClass>,
    memory: usize,
}

/// The blocks of one width.
#[derive(Default)]
struct WidthClass {
    blocks: Vec<u32>,
    /// The blocks with room for a text.
    roomy: Vec<u32>,
    texts: usize,
    /// How many columns had a text that was removed.
    dead: usize,
}

impl BitSlices {
    /// An estimate of the memory that all filters take, in bytes.
    pub(super) fn memory(&self) -> usize {
        self.memory
    }

    /// How many texts there are.
    #[cfg(test)]
    pub(super) fn texts(&self) -> usize {
        self.classes.values().map(|it| it.texts).sum()
    }

    /// An estimate of the memory to add a text with this filter, in bytes.
    pub(super) fn cost(&self, filter: &Filter) -> usize {
        let has_place = self.classes.get(&filter.width()).is_some_and(|it| it.dead > 0);
        if has_place { 0 } else { size_of_val(filter.words()) + size_of::<TextOwner>() }
    }

    /// Whether there are empty columns, so that a text can be added without more memory.
    pub(super) fn has_places(&self) -> bool {
        self.classes.values().any(|it| it.dead > 0)
    }

    fn block(&self, number: u32) -> Option<&SliceBlock> {
        self.blocks.get(number as usize)?.as_deref()
    }

    /// Adds a text. `None` if there are too many blocks to number.
    pub(super) fn add(&mut self, owner: TextOwner, filter: &Filter) -> Option<FilterPosition> {
        let width = filter.width();
        let number = match self.classes.entry(width).or_default().roomy.last() {
            Some(number) => *number,
            None => self.new_block(width)?,
        };
        let block = self.blocks.get_mut(number as usize)?.as_deref_mut()?;
        let (before, was_dead) = (block.memory(), block.dead() > 0);
        let column = block.add(owner, filter)?;
        // The memory can also shrink, when a block becomes full.
        self.memory = (self.memory + block.memory()).saturating_sub(before);
        let is_full = !block.has_room();
        let class = self.classes.entry(width).or_default();
        class.texts += 1;
        class.dead -= usize::from(was_dead);
        if is_full {
            class.roomy.pop();
        }
        Some(FilterPosition { block: number, column })
    }

    fn new_block(&mut self, width: usize) -> Option<u32> {
        let block = Box::new(SliceBlock::new(width));
        self.memory += block.memory();
        let number = if let Some(number) = self.unused.pop() {
            *self.blocks.get_mut(number as usize)? = Some(block);
            number
        } else {
            self.blocks.push(Some(block));
            u32::try_from(self.blocks.len() - 1).ok()?
        };
        let class = self.classes.entry(width).or_default();
        class.blocks.push(number);
        class.roomy.push(number);
        Some(number)
    }

    /// Removes a text.
    pub(super) fn remove(&mut self, place: FilterPosition) {
        let Some(Some(block)) = self.blocks.get_mut(place.block as usize) else { return };
        let before = block.memory();
        let had_room = block.has_room();
        if !block.remove(place.column) {
            return;
        }
        self.memory += block.memory() - before;
        let class = self.classes.entry(block.width()).or_default();
        class.texts -= 1;
        class.dead += 1;
        if !had_room {
            class.roomy.push(place.block);
        }
    }

    /// Calls `each` with the texts that may match.
    pub(super) fn each_match(
        &self,
        formula: &GramFormula<GramNumber>,
        each: &mut dyn FnMut(TextOwner),
    ) {
        for (width, class) in &self.classes {
            let formula = formula.map(&|number| number.row_in(*width));
            for block in class.blocks.iter().filter_map(|it| self.block(*it)) {
                let found = block.matching(&formula);
                for column in ones(&found) {
                    if let Some(owner) = block.owners().get(column) {
                        each(*owner);
                    }
                }
            }
        }
    }

    /// Whether a text may match.
    pub(super) fn may_match(
        &self,
        place: FilterPosition,
        formula: &GramFormula<GramNumber>,
    ) -> bool {
        self.block(place.block).is_none_or(|it| it.may_match(place.column, formula))
    }

    /// Moves up to `most` texts so that blocks can be dropped, and calls `moved` with their new
    /// positions. Returns whether there is more to move.
    pub(super) fn tidy(
        &mut self,
        most: usize,
        moved: &mut dyn FnMut(TextOwner, FilterPosition),
    ) -> bool {
        let Some((width, sparsest)) = self.sparsest_block() else { return false };
        // A text must not be moved within its block.
        let has_room = |it: u32| it != sparsest && self.block(it).is_some_and(SliceBlock::has_room);
        let blocks = self.classes.get(&width).map(|it| it.blocks.as_slice()).unwrap_or_default();
        let roomy = blocks.iter().copied().filter(|it| has_room(*it)).collect();
        if let Some(class) = self.classes.get_mut(&width) {
            class.roomy = roomy;
        }
        for _ in 0..most {
            let Some(block) = self.block(sparsest) else { return true };
            let Some(column) = ones(&block.live()).next() else {
                self.drop_block(width, sparsest);
                return true;
            };
            let owner = block.owners().get(column).copied();
            let (Some(owner), Ok(column)) = (owner, u16::try_from(column)) else { return false };
            let filter = block.filter(column);
            let Some(place) = self.add(owner, &filter) else { return false };
            moved(owner, place);
            let Some(Some(block)) = self.blocks.get_mut(sparsest as usize) else { return false };
            let before = block.memory();
            block.remove(column);
            self.memory += block.memory() - before;
            if let Some(class) = self.classes.get_mut(&width) {
                class.texts -= 1;
                class.dead += 1;
            }
        }
        true
    }

    /// The block with the fewest texts, in a width with many dead columns whose other blocks have room
    /// for these texts.
    fn sparsest_block(&self) -> Option<(usize, u32)> {
        self.classes.iter().filter(|(_, class)| class.dead > 0).find_map(|(width, class)| {
            let blocks = || class.blocks.iter().filter_map(|it| Some((*it, self.block(*it)?)));
            let used: usize = blocks().map(|(_, it)| it.used()).sum();
            let (sparsest, block) = blocks().min_by_key(|(_, it)| it.texts())?;
            let room_elsewhere =
                (class.blocks.len() - 1) * MOST_COLUMNS - (class.texts - block.texts());
            let is_worth_it = (used - class.texts) * DEAD_SHARE > used;
            (is_worth_it && room_elsewhere >= block.texts()).then_some((*width, sparsest))
        })
    }

    fn drop_block(&mut self, width: usize, number: u32) {
        let block = self.blocks.get_mut(number as usize).and_then(Option::take);
        if let Some(block) = &block {
            self.memory -= block.memory();
            self.unused.push(number);
        }
        if let Some(class) = self.classes.get_mut(&width) {
            class.dead -= block.map_or(0, |it| it.dead());
            class.blocks.retain(|it| *it != number);
            class.roomy.retain(|it| *it != number);
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]
mod tests {
    use std::collections::BTreeMap;

    use pretty_assertions::assert_eq;

    use super::{
        super::{file_number::EntryNumber, gram_numbers::GramNumbers, grams::GramSet},
        *,
    };

    fn filter_of(text: &str) -> Filter {
        let mut set = GramSet::new(GramNumbers::default());
        set.feed(text.as_bytes());
        set.take_filter()
    }

    fn formula_of(text: &str) -> GramFormula<GramNumber> {
        let formula = GramFormula::one_of_texts(std::iter::once(text.as_bytes()));
        formula.numbered(&GramNumbers::default())
    }

    fn owner(file: u32) -> TextOwner {
        TextOwner { file: EntryNumber(file), text: 0 }
    }

    fn matching(slices: &BitSlices, word: &str) -> Vec<u32> {
        let mut found = Vec::new();
        slices.each_match(&formula_of(word), &mut |it| found.push(it.file.0));
        found.sort_unstable();
        found
    }

    /// A text of some words. One of them is in no other text.
    fn text(file: u32) -> String {
        format!("common words and the {} own{file}word", "x".repeat(file as usize % 7))
    }

    #[test]
    fn every_text_is_found_by_its_words_and_few_others_are() {
        let mut slices = BitSlices::default();
        let places: Vec<FilterPosition> =
            (0..2_000).map(|it| slices.add(owner(it), &filter_of(&text(it))).unwrap()).collect();
        assert_eq!(slices.texts(), 2_000);
        assert_eq!(matching(&slices, "common words").len(), 2_000);
        assert_eq!(matching(&slices, "zzqqzzyyxxww"), Vec::<u32>::new());
        for file in (0..2_000).step_by(37) {
            let word = format!("own{file}word");
            assert!(matching(&slices, &word).contains(&file));
            assert!(slices.may_match(places[file as usize], &formula_of(&word)));
        }
    }

    #[test]
    fn a_text_that_took_the_place_of_another_is_only_itself() {
        let mut slices = BitSlices::default();
        let place = slices.add(owner(1), &filter_of("first words here")).unwrap();
        slices.remove(place);
        slices.remove(place);
        assert_eq!((matching(&slices, "first"), slices.texts()), (vec![], 0));
        let again = slices.add(owner(2), &filter_of("other texts then")).unwrap();
        assert_eq!(again, place);
        assert_eq!((matching(&slices, "first"), matching(&slices, "other")), (vec![], vec![2]));
    }

    #[test]
    fn memory_falls_after_most_texts_are_gone_and_the_others_are_still_found() {
        let mut slices = BitSlices::default();
        let mut places = BTreeMap::new();
        for file in 0..5_000 {
            places.insert(file, slices.add(owner(file), &filter_of(&text(file))).unwrap());
        }
        let full = slices.memory();
        for file in (0..5_000).filter(|it| it % 10 != 3) {
            slices.remove(places.remove(&file).unwrap());
        }
        let mut steps = 0;
        while slices.tidy(16, &mut |owner, place| {
            places.insert(owner.file.0, place);
        }) {
            steps += 1;
            assert!(steps < 10_000);
        }
        assert!(slices.memory() < full / 2, "{} of {full}", slices.memory());
        assert_eq!(slices.texts(), 500);
        for (file, place) in &places {
            let formula = formula_of(&format!("own{file}word"));
            assert!(slices.may_match(*place, &formula), "{file}");
            assert!(matching(&slices, &format!("own{file}word")).contains(file));
        }
        for place in places.values() {
            slices.remove(*place);
        }
        assert_eq!(matching(&slices, "common words"), Vec::<u32>::new());
    }
}
