//! Tests that changes of ignore rules are applied, wherever the rules are.

use std::{fs, path::Path};

use super::{super::entry_table::WhyClosed, ChangingRoot, TreeFollower};
use crate::index::tree::TreeEntry;

fn files(follower: &TreeFollower) -> Vec<String> {
    let root = follower.tree.root().to_path_buf();
    let names = follower
        .found()
        .into_iter()
        .map(|(path, _)| Path::new(&path).strip_prefix(&root).unwrap().display().to_string());
    names.filter(|it| !it.contains("ignore")).collect()
}

#[test]
fn rules_of_every_source_are_followed() {
    let bed = ChangingRoot::with_files(&[
        ("a.log", ""),
        ("b.txt", ""),
        ("sub/c.log", ""),
        ("sub/deep/d.txt", ""),
        (".git/info/other", ""),
    ]);
    let mut follower = bed.open();
    let all = ["a.log", "b.txt", "sub/c.log", "sub/deep/d.txt"];
    assert_eq!(files(&follower), all);
    let above = bed.root.parent().unwrap().to_path_buf();
    let global = bed.settings.global_excludes.clone().unwrap().0;
    let sources = [
        bed.at(".gitignore"),
        bed.at(".ignore"),
        bed.at(".rgignore"),
        bed.at(".git/info/exclude"),
        above.join(".rgignore"),
        above.join(".ignore"),
        global,
    ];
    for source in &sources {
        fs::write(source, "*.log\n").unwrap();
        follower.check(&bed, &source.display().to_string());
        assert_eq!(files(&follower), ["b.txt", "sub/deep/d.txt"], "{}", source.display());
        fs::write(source, "deep\n").unwrap();
        follower.check(&bed, &source.display().to_string());
        assert_eq!(files(&follower), ["a.log", "b.txt", "sub/c.log"], "{}", source.display());
        fs::remove_file(source).unwrap();
        follower.check(&bed, &source.display().to_string());
        assert_eq!(files(&follower), all, "{}", source.display());
    }
    fs::write(bed.at("sub/.gitignore"), "!c.log\n").unwrap();
    fs::write(bed.at(".gitignore"), "*.log\n").unwrap();
    follower.check(&bed, "a nested file");
    assert_eq!(files(&follower), ["b.txt", "sub/c.log", "sub/deep/d.txt"]);
    fs::create_dir(bed.at("sub/.git")).unwrap();
    fs::remove_file(bed.at("sub/.gitignore")).unwrap();
    follower.check(&bed, "an inner repository");
    assert_eq!(files(&follower), ["b.txt", "sub/c.log", "sub/deep/d.txt"]);
    fs::remove_dir(bed.at("sub/.git")).unwrap();
    follower.check(&bed, "none any more");
    assert_eq!(files(&follower), ["b.txt", "sub/deep/d.txt"]);
}

#[test]
fn rules_that_are_written_by_another_name_of_their_file_are_followed() {
    let bed = ChangingRoot::with_files(&[(".gitignore", "*.log\n"), ("a.log", ""), ("sub/b", "")]);
    let mut follower = bed.open();
    fs::hard_link(bed.at(".gitignore"), bed.at("sub/rules")).unwrap();
    fs::write(bed.at("sub/rules"), "sub\n").unwrap();
    follower.check(&bed, "a second name");
    assert_eq!(files(&follower), ["a.log"]);
    fs::write(bed.at("sub/rules"), "none\n").unwrap();
    follower.check(&bed, "a write by a name in a directory that was ignored");
    assert_eq!(files(&follower), ["a.log", "sub/b", "sub/rules"]);
}

#[test]
fn the_excludes_of_a_linked_worktree_are_followed() {
    let bed = ChangingRoot::with_files(&[("a.log", ""), ("b.txt", "")]);
    let git = bed.outside.join("main/.git");
    fs::create_dir_all(git.join("worktrees/one")).unwrap();
    fs::create_dir_all(git.join("info")).unwrap();
    fs::write(git.join("worktrees/one/commondir"), "../..\n").unwrap();
    let mut follower = bed.open();
    let pointer = format!("gitdir: {}\n", git.join("worktrees/one").display());
    fs::write(bed.at(".git"), pointer).unwrap();
    follower.check(&bed, "a worktree");
    assert_eq!(files(&follower), ["a.log", "b.txt"]);
    fs::write(git.join("info/exclude"), "*.log\n").unwrap();
    follower.check(&bed, "excludes");
    assert_eq!(files(&follower), ["b.txt"]);
}

#[test]
fn ignored_directories_are_closed_until_rules_open_them() {
    let bed = ChangingRoot::with_files(&[
        (".gitignore", "target\n"),
        ("target/deep/file", ""),
        ("src/file", ""),
        (".git/HEAD", ""),
    ]);
    let mut follower = bed.open();
    let watches = follower.tree.watches();
    assert_eq!(watches, 2, "only the root and `src` are watched");
    let target = follower.tree.place(Path::new("target/deep"));
    assert!(matches!(target, TreeEntry::Closed(_, WhyClosed::Ignored)), "{target:?}");
    let git = follower.tree.place(Path::new(".git"));
    assert!(matches!(git, TreeEntry::Closed(_, WhyClosed::Repository)), "{git:?}");
    assert!(matches!(follower.tree.place(Path::new("src")), TreeEntry::Open(_)));
    assert!(matches!(follower.tree.place(Path::new("src/file")), TreeEntry::NoFolder(_)));
    assert_eq!(follower.tree.place(Path::new("src/file/none")), TreeEntry::Absent);
    bed.write("target/deep/other", "");
    follower.check(&bed, "a change in a closed directory");
    fs::write(bed.at(".gitignore"), "src\n").unwrap();
    follower.check(&bed, "other rules");
    assert_eq!(files(&follower), ["target/deep/file", "target/deep/other"]);
    assert_eq!(follower.tree.watches(), 3);
}

#[test]
fn a_directory_that_shows_more_when_named_is_detected() {
    let bed = ChangingRoot::with_files(&[
        (".gitignore", "dist/*\n"),
        ("dist/file", ""),
        ("src/file", ""),
        ("env/.gitignore", "*\n"),
    ]);
    let follower = bed.open();
    let matters = |name: &str| match follower.tree.place(Path::new(name)) {
        TreeEntry::Open(number) => follower.tree.naming_matters(number),
        other => panic!("{name} is {other:?}"),
    };
    assert!(matters("dist"));
    assert!(matters("env"));
    assert!(!matters("src"));
    assert!(!matters(""));
}

#[test]
fn a_rule_file_that_is_too_large_is_reported_as_in_a_walk() {
    let bed = ChangingRoot::with_files(&[("a", ""), ("sub/b", "")]);
    let mut follower = bed.open();
    bed.write("sub/.gitignore", &"x".repeat(2_000_000));
    follower.check(&bed, "a file that is too large");
    assert_eq!(follower.found().iter().filter(|it| it.1.is_none()).count(), 1);
    fs::remove_file(bed.at("sub/.gitignore")).unwrap();
    follower.check(&bed, "it is removed");
    assert_eq!(follower.found().iter().filter(|it| it.1.is_none()).count(), 0);
}
