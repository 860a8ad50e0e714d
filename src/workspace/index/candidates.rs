//! Which files a search has to read, and which parts of them.

use super::{file_number::EntryNumber, file_set::FileSet};
use crate::workspace::search::FileTexts;

/// What is to be read of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SearchedPart<'c> {
    /// Nothing: it has no match.
    Nothing,
    /// Nothing: it is binary, and a search would have found no match in it.
    Binary,
    /// All of it.
    Whole,
    /// These texts, as long as it is the file in which they are; all of it otherwise.
    Texts(&'c FileTexts),
}

/// What is to be read of a file that may match, or has to be told of.
#[derive(Debug)]
pub(super) enum ReadVerdict {
    Binary,
    Whole,
    Texts(FileTexts),
}

/// What is to be read of each file.
#[derive(Debug)]
pub(crate) struct Candidates {
    /// Sorted by file.
    verdicts: Vec<(EntryNumber, ReadVerdict)>,
    /// All files that were judged. Those without a verdict have no match.
    judged: FileSet,
}

impl Candidates {
    /// The verdicts may come in any order. If there are several on one file, the first counts.
    pub(super) fn new(mut verdicts: Vec<(EntryNumber, ReadVerdict)>, judged: FileSet) -> Self {
        verdicts.sort_by_key(|it| it.0);
        verdicts.dedup_by_key(|it| it.0);
        Self { verdicts, judged }
    }

    /// What is to be read of a file.
    pub(crate) fn part_of(&self, file: EntryNumber) -> SearchedPart<'_> {
        let at = self.verdicts.binary_search_by_key(&file, |it| it.0).ok();
        match at.and_then(|it| self.verdicts.get(it)) {
            Some((_, verdict)) => verdict.part(),
            None if self.judged.contains(file) => SearchedPart::Nothing,
            // What is not known is read.
            None => SearchedPart::Whole,
        }
    }

    /// The known files of which something is to be read or told, by their numbers.
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
