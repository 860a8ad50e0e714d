//! Tests how signatures are kept, discarded and limited in memory.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::{
    collections::BTreeMap,
    fs::{self, File},
};

use pretty_assertions::assert_eq;
use tempfile::TempDir;

use super::{super::candidates::SearchedPart, *};
use crate::{CaseSensitivity, MatchSpan, Query};

struct TestFiles {
    dir: TempDir,
    signatures: Signatures,
}

impl TestFiles {
    fn new(max_memory: usize) -> Self {
        Self { dir: TempDir::new().unwrap(), signatures: Signatures::new(max_memory) }
    }

    fn learn(&mut self, file: u32, content: &str) -> Kept {
        let path = self.dir.path().join("file");
        fs::write(&path, content).unwrap();
        let learned = LearnedFile::of(&mut File::open(&path).unwrap());
        self.signatures.put(EntryNumber(file), learned)
    }

    /// The files that a search for a word has to read.
    fn candidates(&self, word: &str) -> Vec<u32> {
        let candidates = self.signatures.candidates(&need(word));
        candidates.files().map(|(file, _)| file.0).collect()
    }
}

fn need(pattern: &str) -> Need {
    Need::of(&Query::new(pattern, CaseSensitivity::Sensitive, MatchSpan::Line).unwrap()).unwrap()
}

const ENOUGH: usize = 64 * 1024 * 1024;

#[test]
fn a_file_is_read_unless_it_is_known_to_lack_what_is_needed() {
    let mut files = TestFiles::new(ENOUGH);
    files.signatures.forget(EntryNumber(3));
    files.learn(1, "some words and a needle");
    files.learn(2, "some words and a thread");
    assert_eq!(files.candidates("needle"), [1, 3]);
    assert_eq!(files.signatures.counts(), SignatureCounts { files: 3, learned: 2 });
    files.signatures.forget(EntryNumber(2));
    assert_eq!(files.candidates("needle"), [1, 2, 3]);
    files.learn(2, "another needle");
    files.signatures.remove(EntryNumber(1));
    files.signatures.remove(EntryNumber(3));
    assert_eq!(files.candidates("needle"), [2]);
    assert_eq!(files.signatures.counts(), SignatureCounts { files: 1, learned: 1 });
    // Files that were removed or never added are unknown.
    let candidates = files.signatures.candidates(&need("needle"));
    assert_eq!(candidates.part_of(EntryNumber(1)), SearchedPart::Whole);
    assert_eq!(candidates.part_of(EntryNumber(77)), SearchedPart::Whole);
}

#[test]
fn memory_is_limited_and_files_that_take_none_are_still_learned() {
    let text = |file: u32| format!("{} own{file}word", "words ".repeat(file as usize % 50));
    let mut files = TestFiles::new(50_000);
    let mut kept = 0;
    for file in 0..2_000 {
        kept += u32::from(files.learn(file, &text(file)) == Kept::Yes);
    }
    assert!((100..2_000).contains(&kept), "{kept}");
    assert!(files.signatures.memory() < 100_000, "{}", files.signatures.memory());
    // Files without a signature are read.
    let candidates = files.candidates("absent_word");
    assert!(candidates.len() >= 2_000 - kept as usize, "{}", candidates.len());
    let known = (0..2_000).find(|it| !candidates.contains(it)).unwrap();
    files.signatures.forget(EntryNumber(known));
    assert!(files.signatures.has_room());
    assert_eq!(files.learn(known, &text(known)), Kept::Yes);
    assert!(!files.candidates("absent_word").contains(&known));
}

#[test]
fn files_come_and_go_and_those_that_are_left_are_found() {
    let mut files = TestFiles::new(ENOUGH);
    let mut words = BTreeMap::new();
    let mut number = 7_u32;
    for round in 0..4_000_u32 {
        number = number.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let file = (number >> 16) % 700;
        match (number >> 8) % 4 {
            0 => {
                files.signatures.remove(EntryNumber(file));
                words.remove(&file);
            }
            1 => {
                files.signatures.forget(EntryNumber(file));
                words.insert(file, String::new());
            }
            _ => {
                let word = format!("round{round}word");
                let lines = if round % 97 == 0 { 9_000 } else { round as usize % 40 };
                files.learn(file, &format!("{}{word}\n", "some more words\n".repeat(lines)));
                words.insert(file, word);
            }
        }
        if round % 500 == 499 {
            while files.signatures.tidy() {}
            for (file, word) in &words {
                let word = if word.is_empty() { "anything" } else { word };
                assert!(files.candidates(word).contains(file), "{file} {word}");
            }
            let read = files.candidates("a_word_in_no_file").len();
            let unlearned = words.values().filter(|it| it.is_empty()).count();
            assert!(read < unlearned + 20, "{read} {unlearned}");
        }
    }
    for file in 0..700 {
        files.signatures.remove(EntryNumber(file));
    }
    while files.signatures.tidy() {}
    assert_eq!(files.candidates("words"), Vec::<u32>::new());
    assert_eq!(files.signatures.counts(), SignatureCounts::default());
}
