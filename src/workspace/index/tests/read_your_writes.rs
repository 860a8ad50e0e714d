//! Changes that another process has completed are in the tree when it is asked.

use super::{
    ChangingRoot,
    mutations::{CHANGES, Chance},
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
fn several_changes_between_two_questions_are_known() {
    let mut chance = Chance(7);
    for seed in 0..2 {
        let bed = ChangingRoot::new();
        let mut other = OtherProcess::start(&bed.root, &bed.outside, seed);
        let mut follower = bed.open();
        for _ in 0..60 {
            let changes: Vec<String> =
                (0..=chance.below(5)).map(|_| other.change(chance.below(CHANGES.len()))).collect();
            follower.check(&bed, &format!("{changes:?}, seed {seed}"));
        }
    }
}

#[test]
fn questions_and_learning_during_changes_leave_nothing_stale() {
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
                    assert!(*known == std::fs::read(&path).unwrap(), "{} is stale", path.display());
                }
            }
        }
    }
}
