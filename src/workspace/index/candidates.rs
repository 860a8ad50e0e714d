//! Which files a search has to read, and which parts of them.

use super::file_number::EntryNumber;
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

/// What is to be read of a file, in a byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum ReadVerdict {
    /// Nobody told of the file.
    #[default]
    Unknown,
    Nothing,
    Binary,
    Whole,
    Texts,
}

/// What is to be read of each file.
#[derive(Debug)]
pub(crate) struct Candidates {
    verdicts: Vec<ReadVerdict>,
    /// The texts of files of which only some are read, by file.
    texts: Vec<(EntryNumber, FileTexts)>,
}

impl Candidates {
    /// `verdicts` are in the order of the files, `texts` too, and of each file of which texts are read.
    pub(super) fn new(verdicts: Vec<ReadVerdict>, texts: Vec<(EntryNumber, FileTexts)>) -> Self {
        Self { verdicts, texts }
    }

    /// What is to be read of a file.
    pub(crate) fn part_of(&self, file: EntryNumber) -> SearchedPart<'_> {
        match self.verdicts.get(file.0 as usize) {
            Some(ReadVerdict::Nothing) => SearchedPart::Nothing,
            Some(ReadVerdict::Binary) => SearchedPart::Binary,
            Some(ReadVerdict::Texts) => self.texts_of(file),
            // What is not known is read.
            Some(ReadVerdict::Whole | ReadVerdict::Unknown) | None => SearchedPart::Whole,
        }
    }

    fn texts_of(&self, file: EntryNumber) -> SearchedPart<'_> {
        let at = self.texts.binary_search_by_key(&file, |it| it.0).ok();
        let texts = at.and_then(|it| self.texts.get(it));
        texts.map_or(SearchedPart::Whole, |it| SearchedPart::Texts(&it.1))
    }

    /// The known files of which something is to be read or told, by their numbers.
    pub(crate) fn files(&self) -> impl Iterator<Item = (EntryNumber, SearchedPart<'_>)> {
        let numbered = (0..).map(EntryNumber).zip(&self.verdicts);
        numbered
            .filter(|(_, verdict)| !matches!(verdict, ReadVerdict::Nothing | ReadVerdict::Unknown))
            .map(|(file, _)| (file, self.part_of(file)))
    }
}
