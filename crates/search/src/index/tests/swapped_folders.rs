//! Tests directories that are swapped and swapped back between two refreshes: for a while, a path
//! leads to another file.

use std::{fs, time::Duration};

use super::{
    super::{
        learner::{Committed, FileToLearn},
        ready_index::ReadyIndex,
        reconcile::Suspects,
        sweep::StampedFolder,
        texts::LearnedFile,
    },
    ChangingRoot, SweepCause,
};

/// Swaps two directories.
fn swap(bed: &ChangingRoot, one: &str, other: &str) {
    fs::rename(bed.at(one), bed.at("between")).unwrap();
    fs::rename(bed.at(other), bed.at(one)).unwrap();
    fs::rename(bed.at("between"), bed.at(other)).unwrap();
}

#[test]
fn a_change_that_was_looked_at_in_the_wrong_directory_is_found() {
    let bed = ChangingRoot::with_files(&[("a/file", "one"), ("a/sub/x", ""), ("b/other", "two")]);
    let mut follower = bed.open();
    follower.check(&bed, "the beginning");
    bed.write("a/file", "three");
    let events = follower.tree.queue.drain().unwrap();
    assert!(!events.is_empty());
    swap(&bed, "a", "b");
    let mut suspects = Suspects::default();
    for event in events {
        follower.tree.suspect(event, &mut suspects).unwrap();
    }
    // The path leads to another directory now, which has no such file.
    follower.tree.look_into(suspects).unwrap();
    swap(&bed, "a", "b");
    follower.check(&bed, "coming back");
}

#[test]
fn content_learned_from_a_file_in_the_wrong_directory_is_not_kept() {
    let bed = ChangingRoot::with_files(&[("a/file", "one"), ("b/file", "two")]);
    let mut index = ReadyIndex::new(bed.open().tree, 1 << 24).unwrap();
    let mut files: Vec<FileToLearn> = Vec::new();
    index.next_files(&mut files);
    assert_eq!(files.len(), 2);
    let learned_now = |index: &ReadyIndex, file: FileToLearn| {
        LearnedFile::of(&mut index.place_of(file).unwrap().open().unwrap())
    };
    swap(&bed, "a", "b");
    let learned: Vec<LearnedFile> = files.iter().map(|it| learned_now(&index, *it)).collect();
    swap(&bed, "a", "b");
    for (file, learned) in files.iter().zip(learned) {
        assert_eq!(index.commit(*file, learned), Committed::Outdated);
        let learned = learned_now(&index, *file);
        assert_eq!(index.commit(*file, learned), Committed::Kept);
    }
}

#[test]
fn a_background_sweep_finds_changes_without_events() {
    let bed = ChangingRoot::with_files(&[("a/file", "one"), ("b", "same")]);
    let mut follower = bed.open();
    follower.check(&bed, "the beginning");
    assert_eq!(follower.tree.begin_sweep(), None);
    follower.tree.last_sweep -= Duration::from_mins(1);
    // Written through a name outside of the tree. The file had only one name when it was listed.
    fs::hard_link(bed.at("a/file"), bed.outside.join("link")).unwrap();
    fs::write(bed.outside.join("link"), "two, by another name").unwrap();
    assert_eq!(follower.tree.needs_sweep(), Some(SweepCause::LongAgo));
    let mut folders = follower.tree.begin_sweep().unwrap();
    assert_eq!(follower.tree.begin_sweep(), None, "one at a time");
    let mut changed = Vec::new();
    while !folders.is_empty() {
        let stamps = follower.tree.next_stamps(&mut folders);
        // Changes during the sweep are kept.
        fs::write(bed.at("new"), "").unwrap();
        follower.refresh().unwrap();
        changed.extend(stamps.into_iter().flat_map(StampedFolder::differing));
    }
    follower.tree.end_sweep(changed).unwrap();
    follower.check(&bed, "the sweep");
}

#[test]
fn a_file_that_changes_again_and_again_is_queued_once() {
    let bed = ChangingRoot::with_files(&[("file", "0")]);
    let mut index = ReadyIndex::new(bed.open().tree, 1 << 24).unwrap();
    let before = index.memory();
    for number in 0..100 {
        bed.write("file", &number.to_string());
        index.refresh().unwrap();
    }
    assert_eq!(index.memory(), before);
    let mut files: Vec<FileToLearn> = Vec::new();
    index.next_files(&mut files);
    assert_eq!(files.len(), 1);
}

#[test]
fn files_that_had_no_room_are_learned_when_there_is_more() {
    let bed = ChangingRoot::new();
    for number in 0..20 {
        bed.write(&format!("{number}"), &format!("text {number} {}", "abc".repeat(number)));
    }
    let tree = bed.open().tree;
    let least = tree.memory();
    let mut index = ReadyIndex::new(tree, least + 1).unwrap();
    let learn = |index: &mut ReadyIndex| {
        let mut files: Vec<FileToLearn> = Vec::new();
        index.next_files(&mut files);
        for file in files {
            let learned = LearnedFile::of(&mut index.place_of(file).unwrap().open().unwrap());
            if index.commit(file, learned) == Committed::NoRoom {
                return;
            }
        }
    };
    learn(&mut index);
    assert_eq!((index.signatures.counts().learned, index.has_work()), (0, false));
    index.allow_memory(1 << 24);
    assert!(index.has_work());
    learn(&mut index);
    assert_eq!(index.signatures.counts().learned, 20);
}
