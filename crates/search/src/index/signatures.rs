//! What the index knows about the content of files.
//!
//! It knows files only by their numbers. The tree decides which files exist and when one may have
//! changed. Until a changed file is learned again, it is a candidate for every search.

use super::{
    candidates::{Candidates, ReadVerdict},
    file_number::EntryNumber,
    file_set::FileSet,
    gram_formula::GramFormula,
    gram_numbers::{GramNumber, GramNumbers},
    need::Need,
    slice_block::TextOwner,
    slices::{BitSlices, FilterPosition},
    texts::{LearnedContent, LearnedFile},
};
use crate::{ContentStamp, FileTexts, SMALL_FILE_BYTES, TextRange};

/// How many texts are moved at a time to free blocks.
const MOVED_AT_ONCE: usize = 8;

/// What is known about all files.
pub(crate) struct Signatures {
    files: Vec<KnownFile>,
    slices: BitSlices,
    /// The numbers of grams that all filters are made with.
    numbers: GramNumbers,
    max_memory: usize,
    /// The memory that files with several texts take, in bytes.
    texts_memory: usize,
    counts: SignatureCounts,
    sets: FileSets,
}

/// Sets of files that every search needs, so that it does not have to go through all files.
#[derive(Default)]
struct FileSets {
    /// All files.
    all: FileSet,
    /// Files whose content is unknown, so that every search reads them.
    unclear: FileSet,
    /// Files that a search streams.
    large: FileSet,
    /// Files with binary data.
    binary: FileSet,
}

/// How many files there are, and how many of them are known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SignatureCounts {
    /// All files.
    pub(crate) files: usize,
    /// Those that have been learned, and have not changed since.
    pub(crate) learned: usize,
}

/// Whether a learned file was kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kept {
    Yes,
    /// There is no memory left for it.
    NoRoom,
}

/// What is known about a file.
enum KnownFile {
    /// There is no such file.
    Absent,
    /// It is not learned yet, or has changed since.
    Unlearned,
    /// It was read, but its content cannot be described by filters, so every search reads it.
    Unclear,
    /// It has at most one text.
    Text {
        place: Option<FilterPosition>,
        traits: FileTraits,
    },
    Texts(Box<KnownTexts>),
}

/// Properties of a file besides its text.
#[derive(Clone, Copy)]
struct FileTraits {
    /// Whether a search streams it. If a match may span lines, such a file is always searched
    /// whole.
    is_large: bool,
    /// Whether it has binary data, after the text if there is one.
    has_binary: bool,
}

/// A file with several texts.
struct KnownTexts {
    stamp: ContentStamp,
    has_binary: bool,
    /// Whether its texts can be searched one by one.
    is_divisible: bool,
    texts: Box<[KnownText]>,
}

struct KnownText {
    start: u32,
    lines_before: u32,
    place: FilterPosition,
}

impl Signatures {
    /// `max_memory` is the limit in bytes. It may be exceeded by up to one block of texts.
    pub(crate) fn new(max_memory: usize) -> Self {
        Self {
            files: Vec::new(),
            slices: BitSlices::default(),
            numbers: GramNumbers::default(),
            max_memory,
            texts_memory: 0,
            counts: SignatureCounts::default(),
            sets: FileSets::default(),
        }
    }

    /// An estimate of the memory that it takes, in bytes.
    pub(crate) fn memory(&self) -> usize {
        let FileSets { all, unclear, large, binary } = &self.sets;
        let sets: usize = [all, unclear, large, binary].into_iter().map(FileSet::memory).sum();
        let files = self.files.capacity() * size_of::<KnownFile>();
        self.slices.memory() + files + self.texts_memory + sets + self.numbers.memory()
    }

    /// How many files there are, and how many of them are known.
    pub(crate) fn counts(&self) -> SignatureCounts {
        self.counts
    }

    /// The numbers of grams that new filters must use.
    pub(super) fn gram_numbers(&self) -> &GramNumbers {
        &self.numbers
    }

    /// Changes the numbers of grams. All files have to be learned again. Returns those that were
    /// learned.
    pub(super) fn number_by(&mut self, numbers: GramNumbers) -> Vec<EntryNumber> {
        let known: Vec<EntryNumber> =
            self.sets.all.iter().filter(|it| self.is_learned(*it)).collect();
        for file in &known {
            self.forget(*file);
        }
        self.slices = BitSlices::default();
        self.numbers = numbers;
        known
    }

    /// All files.
    pub(super) fn all_files(&self) -> impl Iterator<Item = EntryNumber> {
        self.sets.all.iter()
    }

    /// Changes the memory limit. A lower limit only affects later files.
    pub(crate) fn allow_memory(&mut self, max_memory: usize) {
        self.max_memory = max_memory;
    }

    /// Frees spare capacity.
    pub(super) fn shrink(&mut self) {
        self.files.shrink_to_fit();
    }

    /// Whether a file is learned.
    pub(crate) fn is_learned(&self, file: EntryNumber) -> bool {
        self.files.get(file.0 as usize).is_some_and(KnownFile::is_learned)
    }

    /// Whether more can be learned.
    pub(crate) fn has_room(&self) -> bool {
        self.memory() < self.max_memory || self.slices.has_places()
    }

    /// Whether gram numbers from a sample would take only a small part of the memory.
    pub(super) fn has_room_for_numbers(&self) -> bool {
        GramNumbers::MEMORY <= self.max_memory / 16
    }

    /// Adds a file, or discards what is known about one that may have changed.
    pub(crate) fn forget(&mut self, file: EntryNumber) {
        self.replace(file, KnownFile::Unlearned);
    }

    /// Removes a file.
    pub(crate) fn remove(&mut self, file: EntryNumber) {
        if (file.0 as usize) < self.files.len() {
            self.replace(file, KnownFile::Absent);
        }
    }

    /// Keeps what was learned about a file. The caller has made sure that the file has not changed
    /// since, and that `learned` uses these gram numbers.
    pub(crate) fn put(&mut self, file: EntryNumber, learned: LearnedFile) -> Kept {
        self.forget(file);
        let stamp = learned.stamp;
        let is_large = stamp.bytes() >= SMALL_FILE_BYTES as u64;
        if !self.has_room_for(&learned) {
            return Kept::NoRoom;
        }
        let known = match learned.content {
            LearnedContent::Unclear => KnownFile::Unclear,
            LearnedContent::Binary => {
                KnownFile::Text { place: None, traits: FileTraits { is_large, has_binary: true } }
            }
            LearnedContent::Texts { texts, then_binary: has_binary, has_mark } => {
                let mut known = Vec::with_capacity(texts.len());
                for (number, text) in (0_u32..).zip(&texts) {
                    let owner = TextOwner { file, text: number };
                    let start = u32::try_from(text.start);
                    let lines_before = u32::try_from(text.lines_before);
                    let place = self.slices.add(owner, &text.filter);
                    let (Some(place), Ok(start), Ok(lines_before)) = (place, start, lines_before)
                    else {
                        break;
                    };
                    known.push(KnownText { start, lines_before, place });
                }
                if known.len() < texts.len() {
                    for text in &known {
                        self.slices.remove(text.place);
                    }
                    KnownFile::Unclear
                } else if let [] | [_] = known.as_slice() {
                    let place = known.first().map(|it| it.place);
                    KnownFile::Text { place, traits: FileTraits { is_large, has_binary } }
                } else {
                    let is_divisible = !has_mark && !has_binary;
                    let texts = known.into();
                    KnownFile::Texts(Box::new(KnownTexts {
                        stamp,
                        has_binary,
                        is_divisible,
                        texts,
                    }))
                }
            }
        };
        self.replace(file, known);
        self.tidy();
        Kept::Yes
    }

    fn has_room_for(&self, learned: &LearnedFile) -> bool {
        let LearnedContent::Texts { texts, .. } = &learned.content else { return true };
        let cost: usize = texts.iter().map(|it| self.slices.cost(&it.filter)).sum();
        // A file that takes no more memory is kept even if the limit is reached.
        cost == 0 || self.memory().saturating_add(cost) <= self.max_memory
    }

    /// Moves some texts together if many were removed. Returns whether there is more to do.
    pub(crate) fn tidy(&mut self) -> bool {
        let Self { slices, files, .. } = self;
        slices.tidy(MOVED_AT_ONCE, &mut |owner, new_place| match files
            .get_mut(owner.file.0 as usize)
        {
            Some(KnownFile::Text { place, .. }) => *place = Some(new_place),
            Some(KnownFile::Texts(known)) => {
                if let Some(text) = known.texts.get_mut(owner.text as usize) {
                    text.place = new_place;
                }
            }
            Some(KnownFile::Absent | KnownFile::Unlearned | KnownFile::Unclear) | None => {}
        })
    }

    fn replace(&mut self, file: EntryNumber, new: KnownFile) {
        let index = file.0 as usize;
        if self.files.len() <= index {
            self.files.resize_with(index + 1, || KnownFile::Absent);
        }
        let Some(known) = self.files.get_mut(index) else { return };
        self.counts.files += usize::from(new.is_there());
        self.counts.learned += usize::from(new.is_learned());
        self.texts_memory += new.memory();
        self.sets.all.set(file, new.is_there());
        self.sets.unclear.set(file, new.is_unclear());
        self.sets.large.set(file, new.is_large());
        self.sets.binary.set(file, new.has_binary());
        let old = std::mem::replace(known, new);
        self.counts.files -= usize::from(old.is_there());
        self.counts.learned -= usize::from(old.is_learned());
        self.texts_memory -= old.memory();
        match old {
            KnownFile::Absent | KnownFile::Unlearned | KnownFile::Unclear => {}
            KnownFile::Text { place, .. } => {
                if let Some(place) = place {
                    self.slices.remove(place);
                }
            }
            KnownFile::Texts(known) => {
                for text in &known.texts {
                    self.slices.remove(text.place);
                }
            }
        }
    }

    /// The part of every file that a search with this need has to read.
    pub(crate) fn candidates(&self, need: &Need) -> Candidates {
        let mut found = Vec::new();
        self.slices
            .each_match(&self.numbered(need), &mut |owner| found.push((owner.file, owner.text)));
        found.sort_unstable();
        let of_files = found.chunk_by(|one, other| one.0 == other.0);
        let found = of_files.filter_map(|it| self.found_in(it, need));
        let unclear = self.sets.unclear.iter().map(|it| (it, ReadVerdict::Whole));
        let spanned = self.sets.large.iter().filter(|_| need.spans_lines);
        let spanned = spanned.map(|it| (it, ReadVerdict::Whole));
        let binary = self.sets.binary.iter().map(|it| (it, ReadVerdict::Binary));
        let verdicts = unclear.chain(spanned).chain(found).chain(binary);
        Candidates::new(verdicts.collect(), self.sets.all.clone())
    }

    /// The same for these files only, which is faster if there are few. All other files count as
    /// unknown.
    pub(crate) fn candidates_among(
        &self,
        files: impl Iterator<Item = EntryNumber>,
        need: &Need,
    ) -> Candidates {
        let formula = self.numbered(need);
        let may_match = |place: FilterPosition| self.slices.may_match(place, &formula);
        let (mut verdicts, mut judged) = (Vec::new(), FileSet::default());
        for file in files {
            let Some(known) = self.files.get(file.0 as usize) else { continue };
            if !known.is_there() {
                continue;
            }
            judged.insert(file);
            let texts = (0_u32..).zip(known.places());
            let found: Vec<(EntryNumber, u32)> =
                texts.filter(|it| may_match(it.1)).map(|it| (file, it.0)).collect();
            if known.is_read_by_all(need) {
                verdicts.push((file, ReadVerdict::Whole));
            } else if let Some(verdict) = self.found_in(&found, need) {
                verdicts.push(verdict);
            } else if known.has_binary() {
                verdicts.push((file, ReadVerdict::Binary));
            }
        }
        Candidates::new(verdicts, judged)
    }

    fn numbered(&self, need: &Need) -> GramFormula<GramNumber> {
        need.formula.numbered(&self.numbers)
    }

    /// The part to read of the file with these texts. They may match and are in order. `None`
    /// without texts.
    fn found_in(
        &self,
        texts: &[(EntryNumber, u32)],
        need: &Need,
    ) -> Option<(EntryNumber, ReadVerdict)> {
        let (file, _) = *texts.first()?;
        let known = self.files.get(file.0 as usize)?;
        let verdict = match known {
            KnownFile::Texts(known) if known.is_divisible && !need.spans_lines => {
                let ranges = texts.iter().filter_map(|(_, number)| known.range(*number as usize));
                ReadVerdict::Texts(FileTexts { stamp: known.stamp, ranges: ranges.collect() })
            }
            _ => ReadVerdict::Whole,
        };
        Some((file, verdict))
    }
}

impl KnownFile {
    fn is_there(&self) -> bool {
        !matches!(self, Self::Absent)
    }

    fn is_learned(&self) -> bool {
        !matches!(self, Self::Absent | Self::Unlearned)
    }

    fn memory(&self) -> usize {
        match self {
            Self::Absent | Self::Unlearned | Self::Unclear | Self::Text { .. } => 0,
            Self::Texts(known) => {
                size_of::<KnownTexts>() + known.texts.len() * size_of::<KnownText>()
            }
        }
    }

    /// Whether every search with such a need reads the file.
    fn is_read_by_all(&self, need: &Need) -> bool {
        self.is_unclear() || need.spans_lines && self.is_large()
    }

    /// Whether its content is unknown.
    fn is_unclear(&self) -> bool {
        matches!(self, Self::Unlearned | Self::Unclear)
    }

    /// Whether a search streams it.
    fn is_large(&self) -> bool {
        match self {
            Self::Text { traits, .. } => traits.is_large,
            Self::Texts(_) => true,
            Self::Absent | Self::Unlearned | Self::Unclear => false,
        }
    }

    fn has_binary(&self) -> bool {
        match self {
            Self::Text { traits, .. } => traits.has_binary,
            Self::Texts(known) => known.has_binary,
            Self::Absent | Self::Unlearned | Self::Unclear => false,
        }
    }

    /// The positions of its texts.
    fn places(&self) -> impl Iterator<Item = FilterPosition> {
        let (single, several) = match self {
            Self::Text { place, .. } => (*place, [].as_slice()),
            Self::Texts(known) => (None, &*known.texts),
            Self::Absent | Self::Unlearned | Self::Unclear => (None, [].as_slice()),
        };
        single.into_iter().chain(several.iter().map(|it| it.place))
    }
}

impl KnownTexts {
    fn range(&self, number: usize) -> Option<TextRange> {
        let text = self.texts.get(number)?;
        let start = u64::from(text.start);
        let end = self.texts.get(number + 1).map_or(self.stamp.bytes(), |it| u64::from(it.start));
        let lines_before = u64::from(text.lines_before);
        Some(TextRange { start, bytes: end.saturating_sub(start), lines_before })
    }
}

impl std::fmt::Debug for Signatures {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { counts, .. } = self;
        write!(out, "Signatures({counts:?}, {} bytes)", self.memory())
    }
}

#[cfg(test)]
mod tests;
