//! Tests that the changes of another process are in the tree as soon as they are complete.

use std::fs;

use super::{
    super::sweep::SweepCause,
    ChangingRoot,
    mutations::{CHANGES, Chance, RULE_CHANGES},
    other_process::OtherProcess,
};

#[test]
fn each_kind_of_change_is_known_as_soon_as_it_is_complete() {
    let bed = ChangingRoot::new();
    let mut other = OtherProcess::start(&bed.root, &bed.outside, 1);
    let mut follower = bed.open();
    follower.check(&bed, "the beginning");
    for round in 0..2 {
        for kind in 0..CHANGES.len() {
            let change = other.change(kind);
            follower.check(&bed, &format!("{change}, round {round}"));
        }
    }
}

#[test]
fn several_changes_between_two_requests_are_found() {
    let mut chance = Chance(7);
    // Without changes of rules, files get names in other directories.
    for (seed, kinds) in [(0, CHANGES.len()), (1, CHANGES.len() - RULE_CHANGES)] {
        let bed = ChangingRoot::new();
        let mut other = OtherProcess::start(&bed.root, &bed.outside, seed);
        let mut follower = bed.open();
        for _ in 0..60 {
            let changes: Vec<String> =
                (0..=chance.below(5)).map(|_| other.change(chance.below(kinds))).collect();
            follower.check(&bed, &format!("{changes:?}, seed {seed}"));
        }
    }
}

#[test]
fn requests_and_learning_during_changes_leave_nothing_stale() {
    for seed in 0..2 {
        let bed = ChangingRoot::new();
        let mut other = OtherProcess::start(&bed.root, &bed.outside, 100 + seed);
        let mut follower = bed.open();
        for round in 0..4 {
            other.begin_changes(100);
            for _ in 0..60 {
                follower.refresh().unwrap();
                for gone in follower.tree.take_changes().removed {
                    follower.known.remove(&gone);
                }
                follower.learn();
            }
            other.changes_made();
            follower.refresh().unwrap();
            assert_eq!(follower.found(), bed.walked(), "seed {seed}, round {round}");
            follower.tree.take_changes();
            for number in follower.files() {
                let version = follower.tree.version(number).unwrap();
                if let Some((_, known)) = follower.known.get(&number).filter(|it| it.0 == version) {
                    let path = follower.tree.path(number);
                    assert!(*known == fs::read(&path).unwrap(), "{} is stale", path.display());
                }
            }
        }
    }
}

#[test]
fn a_file_with_a_name_outside_is_watched_by_itself() {
    let bed = ChangingRoot::with_files(&[("sub/file", "before")]);
    let outside = bed.outside.join("name");
    fs::hard_link(bed.at("sub/file"), &outside).unwrap();
    let mut follower = bed.open();
    follower.check(&bed, "the beginning");
    fs::write(&outside, "written outside").unwrap();
    follower.check(&bed, "a write outside");
    fs::rename(bed.at("sub/file"), bed.at("renamed")).unwrap();
    follower.check(&bed, "a renaming");
    fs::write(&outside, "written outside again").unwrap();
    follower.check(&bed, "a write outside after that");
    let watches = follower.tree.watches();
    fs::remove_file(&outside).unwrap();
    fs::write(bed.at("renamed"), "the only name").unwrap();
    follower.check(&bed, "only one name is left");
    assert_eq!(follower.tree.watches(), watches - 1, "it is not watched any more");
}

#[test]
fn a_sweep_finds_changes_without_events() {
    let bed = ChangingRoot::with_files(&[("sub/file", "before"), ("other", "")]);
    let mut follower = bed.open();
    follower.check(&bed, "the beginning");
    let outside = bed.outside.join("name");
    fs::hard_link(bed.at("sub/file"), &outside).unwrap();
    fs::write(&outside, "written outside").unwrap();
    follower.tree.sweep(2).unwrap();
    follower.check(&bed, "a sweep");
    fs::write(&outside, "from now on it is watched").unwrap();
    follower.check(&bed, "another write");
}

#[test]
fn the_engines_own_writes_need_no_sweep() {
    let bed = ChangingRoot::with_files(&[("file", "before")]);
    let mut follower = bed.open();
    follower.check(&bed, "the beginning");
    for text in ["one", "two"] {
        let temporary = bed.at(".toolwright-c41f9b2e-1.tmp");
        fs::write(&temporary, text).unwrap();
        fs::rename(temporary, bed.at("file")).unwrap();
    }
    bed.write("new", "");
    follower.tree.refresh().unwrap();
    assert_eq!(follower.tree.needs_sweep(), None);
    follower.check(&bed, "two writes");
    bed.write("short", "");
    fs::remove_file(bed.at("short")).unwrap();
    follower.tree.refresh().unwrap();
    assert_eq!(follower.tree.needs_sweep(), Some(SweepCause::NameGone));
}

#[test]
fn the_number_of_a_removed_file_is_not_reused_before_its_removal_is_reported() {
    let bed = ChangingRoot::with_files(&[("file", "")]);
    let mut follower = bed.open();
    let root = follower.tree.root_number();
    let number = follower.tree.entry_named(root, "file".as_ref()).unwrap().number;
    let version = follower.tree.version(number).unwrap();
    follower.tree.take_changes();
    fs::remove_file(bed.at("file")).unwrap();
    follower.tree.refresh().unwrap();
    assert_eq!(follower.tree.version(number), None);
    bed.write("second", "");
    follower.tree.refresh().unwrap();
    assert!(follower.tree.entry(number).is_none());
    let changes = follower.tree.take_changes();
    assert_eq!((changes.removed, changes.added.len()), (vec![number], 1));
    bed.write("third", "");
    follower.tree.refresh().unwrap();
    assert_eq!(follower.tree.entry(number).unwrap().name, "third");
    assert_ne!(follower.tree.version(number), Some(version));
}
