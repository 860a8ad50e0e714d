//! Which files a search has to read, and which parts of them.

use super::{file_number::EntryNumber, file_set::FileSet};
use crate::FileTexts;

/// The part of a file that a search reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SearchedPart<'c> {
    /// Nothing: it has no match.
    Nothing,
    /// Nothing: it is binary, and a search finds no match in a binary file.
    Binary,
    /// All of it.
    Whole,
    /// These texts, if the file is still the one they were found in. Otherwise all of it.
    Texts(&'c FileTexts),
}

/// The part to read of a file that may match or has to be reported.
#[derive(Debug)]
pub(super) enum ReadVerdict {
    Binary,
    Whole,
    Texts(FileTexts),
}

/// The part to read of each file.
#[derive(Debug)]
pub(crate) struct Candidates {
    /// Sorted by file.
    verdicts: Vec<(EntryNumber, ReadVerdict)>,
    /// All files that were judged. Those without a verdict have no match.
    judged: FileSet,
}

impl Candidates {
    /// `verdicts` may be in any order. If a file has several, the first counts.
    pub(super) fn new(mut verdicts: Vec<(EntryNumber, ReadVerdict)>, judged: FileSet) -> Self {
        verdicts.sort_by_key(|it| it.0);
        verdicts.dedup_by_key(|it| it.0);
        Self { verdicts, judged }
    }

    /// The part of a file to read.
    pub(crate) fn part_of(&self, file: EntryNumber) -> SearchedPart<'_> {
        let at = self.verdicts.binary_search_by_key(&file, |it| it.0).ok();
        match at.and_then(|it| self.verdicts.get(it)) {
            Some((_, verdict)) => verdict.part(),
            None if self.judged.contains(file) => SearchedPart::Nothing,
            // An unknown file is read.
            None => SearchedPart::Whole,
        }
    }

    /// The known files that have to be read or reported, in the order of their numbers.
    pub(crate) fn files(&self) -> impl Iterator<Item = (EntryNumber, SearchedPart<'_>)> {
        self.verdicts.iter().map(|(file, verdict)| (*file, verdict.part()))
    }
}

impl ReadVerdict {
    fn part(&self) -> SearchedPart<'_> {
        match self {
            Self::Binary => SearchedPart::Binary,
            Self::Whole => SearchedPart::Whole,
            Self::Texts(texts) => SearchedPart::Texts(texts),
        }
    }
}
