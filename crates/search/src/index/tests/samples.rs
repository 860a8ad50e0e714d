//! Tests that the frequency of grams is sampled from some files, and again when there are many
//! more.

use super::{
    super::{
        gram_numbers::GramSample,
        learner::{Committed, FileToLearn},
        need::Need,
        ready_index::ReadyIndex,
        texts::LearnedFile,
    },
    ChangingRoot,
};
use crate::{CaseSensitivity, MatchSpan, Query};

fn handed_out(index: &mut ReadyIndex) -> Vec<FileToLearn> {
    let mut files = Vec::new();
    index.next_files(&mut files);
    files
}

/// Learns a file with the numbers that the index has.
fn learn(index: &mut ReadyIndex, file: FileToLearn) -> Committed {
    let mut opened = index.place_of(file).unwrap().open().unwrap();
    let numbers = index.signatures.gram_numbers().clone();
    index.commit(file, LearnedFile::numbered(&mut opened, numbers))
}

/// How many files a search for a word reads.
fn read_for(index: &ReadyIndex, word: &str) -> usize {
    let query = Query::new(word, CaseSensitivity::Sensitive, MatchSpan::Line).unwrap();
    index.signatures.candidates(&Need::of(&query).unwrap()).files().count()
}

#[test]
fn with_other_numbers_every_file_is_learned_again() {
    let bed = ChangingRoot::new();
    for file in 0..20 {
        bed.write(&format!("f{file}"), &format!("common words and own{file}word"));
    }
    let mut index = ReadyIndex::new(bed.open().tree, 1 << 24).unwrap();
    assert_eq!(index.next_sample().len(), 20);
    assert_eq!(index.next_sample(), [], "one sample is enough");
    for file in handed_out(&mut index) {
        assert_eq!(learn(&mut index, file), Committed::Kept);
    }
    assert_eq!((read_for(&index, "own7word"), read_for(&index, "common")), (1, 20));

    let mut sample = GramSample::new();
    sample.add(b"common words");
    index.number_by(sample.numbers());
    assert_eq!(index.signatures.counts().learned, 0);
    // Until they are learned, all files are read.
    assert_eq!(read_for(&index, "own7word"), 20);
    let files = handed_out(&mut index);
    assert_eq!(files.len(), 20);
    for file in files {
        let mut opened = index.place_of(file).unwrap().open().unwrap();
        let with_old_numbers = LearnedFile::of(&mut opened);
        assert_eq!(index.commit(file, with_old_numbers), Committed::Outdated);
        assert_eq!(learn(&mut index, file), Committed::Kept);
    }
    assert_eq!((read_for(&index, "own7word"), read_for(&index, "common")), (1, 20));
}

#[test]
fn a_tree_that_has_grown_is_sampled_again() {
    let bed = ChangingRoot::with_files(&[("a", "some text")]);
    let mut index = ReadyIndex::new(bed.open().tree, 1 << 24).unwrap();
    assert_eq!(index.next_sample(), [], "the tree is too small");
    let grow = |index: &mut ReadyIndex, files: u32| {
        (0..files).for_each(|file| bed.write(&format!("f{file}"), "words"));
        index.refresh().unwrap();
        index.next_sample().len()
    };
    assert_eq!(grow(&mut index, 20), 21);
    assert_eq!(grow(&mut index, 100), 0);
    assert_eq!(grow(&mut index, 168), 169);
    let little = ReadyIndex::new(bed.open().tree, 1 << 20).unwrap().next_sample();
    assert_eq!(little, [], "the numbers would take much of the memory");
}
