//! Tests the search on a real disk.

use std::{fs, os::unix::fs::symlink};

use pretty_assertions::assert_eq;
use tempfile::TempDir;

use super::*;

fn is_secret(path: &Path) -> PlaceMark {
    let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
    PlaceMark { is_hidden: matches!(name, ".env" | "secrets"), is_locked: name == "locked" }
}

fn search<'a>(starts: &'a [PathBuf], cancel: &'a CancellationToken) -> PlaceSearch<'a> {
    PlaceSearch {
        starts,
        mark_of: &is_secret,
        policy: 1,
        enters: &|_| false,
        max_entries: 1_000,
        max_places: 1_000,
        cancel,
    }
}

fn shown(found: &FoundPlaces, root: &Path) -> Vec<String> {
    let mut shown: Vec<String> = found
        .places
        .iter()
        .map(|it| {
            let below = it.path.strip_prefix(root).unwrap().display().to_string();
            let hidden = if it.mark.is_hidden { "h" } else { "" };
            let locked = if it.mark.is_locked { "l" } else { "" };
            format!("{below} {:?} {hidden}{locked}", it.kind)
        })
        .collect();
    shown.sort();
    shown
}

fn tree() -> (TempDir, PathBuf) {
    let directory = TempDir::new().unwrap();
    let root = directory.path().canonicalize().unwrap();
    for path in ["a/b", "a/secrets/deep", "locked/inner/locked", ".git"] {
        fs::create_dir_all(root.join(path)).unwrap();
    }
    for path in [".env", "a/b/.env", "a/secrets/.env", "locked/inner/.env", "plain", ".git/.env"] {
        fs::write(root.join(path), "x").unwrap();
    }
    symlink("../plain", root.join("a/link")).unwrap();
    (directory, root)
}

#[test]
fn marked_paths_are_found_and_hidden_directories_are_not_entered() {
    let (_directory, root) = tree();
    let (starts, cancel) = ([root.clone()], CancellationToken::new());
    let finder = PlaceFinder::default();
    let wanted = [
        ".env File h",
        ".git/.env File h",
        "a/b/.env File h",
        "a/secrets Directory h",
        "locked Directory l",
        "locked/inner/.env File h",
    ];
    for _ in 0..2 {
        let found = finder.find(&search(&starts, &cancel));
        assert_eq!(shown(&found, &root), wanted);
        assert_eq!(found.not_all, None);
    }
}

#[test]
fn added_and_removed_files_are_seen_the_next_time() {
    let (_directory, root) = tree();
    let (starts, cancel) = ([root.clone()], CancellationToken::new());
    let finder = PlaceFinder::default();
    finder.find(&search(&starts, &cancel));
    for round in 0..50 {
        let (added, removed) = (root.join(format!("a/new{round}/.env")), root.join("a/b/.env"));
        fs::create_dir_all(added.parent().unwrap()).unwrap();
        fs::write(&added, "x").unwrap();
        let found = finder.find(&search(&starts, &cancel));
        assert!(found.places.iter().any(|it| it.path == added), "{round}");
        if removed.exists() {
            fs::remove_file(&removed).unwrap();
        } else {
            fs::write(&removed, "x").unwrap();
        }
        let found = finder.find(&search(&starts, &cancel));
        assert_eq!(found.places.iter().any(|it| it.path == removed), removed.exists(), "{round}");
    }
}

#[test]
fn another_policy_marks_again() {
    let (_directory, root) = tree();
    let (starts, cancel) = ([root.clone()], CancellationToken::new());
    let finder = PlaceFinder::default();
    finder.find(&search(&starts, &cancel));
    let nothing = |_: &Path| PlaceMark::default();
    let other = PlaceSearch { mark_of: &nothing, policy: 2, ..search(&starts, &cancel) };
    assert_eq!(finder.find(&other).places, []);
}

#[test]
fn a_hidden_directory_with_a_visible_entry_is_entered() {
    let (_directory, root) = tree();
    let (starts, cancel) = ([root.clone()], CancellationToken::new());
    let enters = |path: &Path| path.ends_with("secrets");
    let search = PlaceSearch { enters: &enters, ..search(&starts, &cancel) };
    let found = shown(&PlaceFinder::default().find(&search), &root);
    assert!(found.contains(&"a/secrets/.env File h".to_owned()), "{found:?}");
    assert!(!found.iter().any(|it| it.starts_with("a/secrets ")), "{found:?}");
}

#[test]
fn a_limit_that_is_reached_is_reported() {
    let (_directory, root) = tree();
    let (starts, cancel) = ([root.clone()], CancellationToken::new());
    let finder = PlaceFinder::default();
    let few = PlaceSearch { max_entries: 3, ..search(&starts, &cancel) };
    assert_eq!(finder.find(&few).not_all, Some(NotAllFound::TooManyEntries));
    let few = PlaceSearch { max_places: 2, ..search(&starts, &cancel) };
    let found = finder.find(&few);
    assert_eq!((found.not_all, found.places.len()), (Some(NotAllFound::TooManyPlaces), 2));
}

#[test]
fn other_names_of_a_file_are_found_or_reported_as_missing() {
    let (_directory, root) = tree();
    let outside = TempDir::new_in(root.parent().unwrap()).unwrap();
    fs::hard_link(root.join(".env"), root.join("a/copy")).unwrap();
    fs::hard_link(root.join("a/b/.env"), outside.path().join("copy")).unwrap();
    fs::hard_link(root.join("a/secrets/.env"), root.join("a/b/other")).unwrap();
    let (starts, cancel) = ([root.clone()], CancellationToken::new());
    let finder = PlaceFinder::default();
    assert_eq!(LinkedFile::at(&root.join("plain")), None);
    let (mut files, is_all) = finder.linked_below(&root.join("a/secrets"));
    assert_eq!((files.len(), is_all), (1, true));
    files.extend(["a/b/.env", ".env"].iter().filter_map(|it| LinkedFile::at(&root.join(it))));
    let (mut names, not_all) = finder.other_names(&files, &search(&starts, &cancel));
    names.found.sort();
    assert_eq!(names.found, [root.join("a/b/other"), root.join("a/copy")]);
    assert_eq!((names.incomplete, not_all), (vec![root.join("a/b/.env")], None));
}
