//! Tests the limits of the kernel, and directories that cannot be watched.

use std::{
    fs::{self, Permissions},
    os::unix::fs::PermissionsExt as _,
    path::Path,
    process::{Command, Stdio},
};

use super::{
    super::{
        entry_table::WhyClosed,
        tree::{TreeEntry, TreeSettings, WatchedTree},
        why_cold::WhyCold,
    },
    ChangingRoot,
};

/// Runs an ignored test of this file in new namespaces, after some shell commands. `None` if this
/// machine does not allow such namespaces.
fn in_namespaces(which: &str, commands: &str, test: &str) -> Option<String> {
    let allowed = Command::new("unshare").args([which, "true"]).stderr(Stdio::null()).status();
    if !allowed.is_ok_and(|it| it.success()) {
        return None;
    }
    let program = std::env::current_exe().unwrap();
    let (_crate, module) = module_path!().split_once("::").unwrap();
    let line = format!(
        "{commands} && exec {} --exact --ignored --nocapture {module}::{test}",
        program.display()
    );
    let output = Command::new("unshare").args([which, "sh", "-c", &line]).output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{printed}{}", String::from_utf8_lossy(&output.stderr));
    assert!(printed.contains("1 passed"), "{printed}");
    Some(printed)
}

#[test]
fn more_changes_than_the_queue_holds_are_found_by_reading_again() {
    let most: usize = fs::read_to_string("/proc/sys/fs/inotify/max_queued_events")
        .unwrap()
        .trim()
        .parse()
        .unwrap();
    let bed = ChangingRoot::with_files(&[("kept", "kept"), ("sub/changed", "before")]);
    let mut follower = bed.open();
    follower.check(&bed, "the beginning");
    let kept = follower.tree.entry_named(follower.tree.root_number(), "kept".as_ref());
    let kept = kept.unwrap().number;
    // Each of these changes gives a separate event.
    for count in 0..=most.div_ceil(3) {
        fs::write(bed.at(&format!("sub/new{}", count % 500)), count.to_string()).unwrap();
        fs::remove_file(bed.at(&format!("sub/new{}", count % 500))).unwrap();
    }
    bed.write("sub/changed", "after!");
    bed.write("sub/new", "");
    assert_eq!(follower.refresh(), Err(WhyCold::QueueOverflow));
    assert_eq!(follower.refresh(), Err(WhyCold::QueueOverflow), "until it is read again");
    follower.tree.read_again(&|| false).unwrap();
    assert_eq!(follower.found(), bed.walked());
    follower.check(&bed, "reading again");
    assert_eq!(follower.tree.entry(kept).unwrap().name, "kept", "numbers are kept");
    bed.write("sub/changed", "again");
    follower.check(&bed, "the next change");
}

#[test]
fn a_root_that_is_moved_removed_or_replaced_is_cold() {
    let changes: [fn(&ChangingRoot); 4] = [
        |bed| fs::rename(&bed.root, bed.outside.join("moved")).unwrap(),
        |bed| fs::remove_dir_all(&bed.root).unwrap(),
        |bed| {
            fs::remove_dir_all(&bed.root).unwrap();
            fs::create_dir_all(&bed.root).unwrap();
        },
        |bed| {
            let above = bed.root.parent().unwrap();
            fs::rename(above, bed.outside.join("above")).unwrap();
        },
    ];
    for change in changes {
        let bed = ChangingRoot::with_files(&[("a", "")]);
        let mut follower = bed.open();
        follower.check(&bed, "the beginning");
        change(&bed);
        assert_eq!(follower.refresh(), Err(WhyCold::RootMoved));
        assert_eq!(follower.refresh(), Err(WhyCold::RootMoved), "for ever");
    }
}

#[test]
fn a_root_on_a_file_system_of_the_kernel_is_cold() {
    let opened = WatchedTree::open(Path::new("/proc/self"), &TreeSettings::new(None), &|| false);
    assert!(matches!(opened, Err(WhyCold::Failed { .. })), "a link is no root");
    let place = Path::new("/proc/1");
    let opened = WatchedTree::open(place, &TreeSettings::new(None), &|| false);
    assert_eq!(opened.err(), Some(WhyCold::ForeignFileSystem { number: 0x9fa0 }));
}

#[test]
fn more_directories_than_may_be_watched_make_the_tree_cold() {
    let bed = ChangingRoot::new();
    for number in 0..9 {
        bed.write(&format!("folder{number}/file"), "");
    }
    let settings = TreeSettings { max_watches: 10, ..bed.settings.clone() };
    let mut tree = WatchedTree::open(&bed.root, &settings, &|| false).unwrap();
    bed.write("folder9/file", "");
    assert_eq!(tree.refresh(), Err(WhyCold::TooManyWatches { watched: 10 }));
    let opened = WatchedTree::open(&bed.root, &settings, &|| false);
    assert_eq!(opened.err(), Some(WhyCold::TooManyWatches { watched: 10 }));
    let settings = TreeSettings { max_entries: 15, ..bed.settings.clone() };
    let opened = WatchedTree::open(&bed.root, &settings, &|| false);
    assert_eq!(opened.err(), Some(WhyCold::TooManyEntries { most: 15 }));
}

#[test]
fn a_limit_of_the_kernel_on_watches_makes_the_tree_cold() {
    let limit = "echo 10 > /proc/sys/user/max_inotify_watches";
    in_namespaces("-Ur", limit, "with_ten_watches_a_larger_tree_is_cold");
    let limit = "echo 1 > /proc/sys/user/max_inotify_instances";
    in_namespaces("-Ur", limit, "with_one_instance_the_second_tree_is_cold");
}

#[test]
#[ignore = "only run in a namespace by another test"]
fn with_ten_watches_a_larger_tree_is_cold() {
    let bed = ChangingRoot::new();
    for number in 0..9 {
        bed.write(&format!("folder{number}/file"), "");
    }
    let mut follower = bed.open();
    follower.check(&bed, "ten directories");
    bed.write("folder9/file", "");
    assert_eq!(follower.refresh(), Err(WhyCold::TooManyWatches { watched: 10 }));
    drop(follower);
    let opened = WatchedTree::open(&bed.root, &bed.settings, &|| false);
    assert_eq!(opened.err(), Some(WhyCold::TooManyWatches { watched: 10 }));
    fs::remove_dir_all(bed.at("folder9")).unwrap();
    // The watches of the dropped tree were freed.
    bed.open().check(&bed, "ten directories again");
}

#[test]
#[ignore = "only run in a namespace by another test"]
fn with_one_instance_the_second_tree_is_cold() {
    let bed = ChangingRoot::new();
    let first = bed.open();
    let second = WatchedTree::open(&bed.root, &bed.settings, &|| false);
    assert!(matches!(second, Err(WhyCold::NoInstance { .. })), "{second:?}");
    drop(first);
    bed.open();
}

#[test]
fn unreadable_directories_are_reported_as_in_a_walk() {
    // As the user `nobody`, because the superuser may read everything.
    in_namespaces("-U", "true", "unreadable_directories_are_closed_until_they_can_be_read");
}

#[test]
#[ignore = "only run in a namespace by another test"]
fn unreadable_directories_are_closed_until_they_can_be_read() {
    let bed = ChangingRoot::with_files(&[("a/b/file", ""), ("a/file", "x"), ("c/file", "")]);
    let mut follower = bed.open();
    follower.check(&bed, "the beginning");
    for (name, mode) in [("a", 0o000), ("a", 0o700), ("a/b", 0o000), ("a/b", 0o700), ("a", 0o600)] {
        fs::set_permissions(bed.at(name), Permissions::from_mode(mode)).unwrap();
        follower.refresh().unwrap();
        assert_eq!(follower.found(), bed.walked(), "{name} has {mode:o}");
        bed.write("c/file", name);
        follower.refresh().unwrap();
        assert_eq!(bed.open().found(), bed.walked(), "{name} has {mode:o} from the beginning");
    }
    fs::set_permissions(bed.at("a"), Permissions::from_mode(0o700)).unwrap();
    follower.check(&bed, "everything can be read");
}

#[test]
fn mounts_below_the_root_are_closed() {
    in_namespaces("-Urm", "true", "mounted_directories_are_closed_and_files_make_the_tree_cold");
}

#[test]
#[ignore = "only run in a namespace by another test"]
fn mounted_directories_are_closed_and_files_make_the_tree_cold() {
    let bind = |from: &Path, to: &Path| {
        let status = Command::new("mount").arg("--bind").args([from, to]).status();
        assert!(status.unwrap().success());
    };
    let unmount = |at: &Path| assert!(Command::new("umount").arg(at).status().unwrap().success());
    let bed = ChangingRoot::with_files(&[("a/b/file", "below"), ("c/file", ""), ("d", "")]);
    fs::write(bed.outside.join("file"), "mounted").unwrap();
    let mut follower = bed.open();
    follower.check(&bed, "the beginning");
    bind(&bed.outside, &bed.at("a/b"));
    follower.refresh().unwrap();
    let place = follower.tree.place(Path::new("a/b/file"));
    assert!(matches!(place, TreeEntry::Closed(_, WhyClosed::Mounted)), "{place:?}");
    fs::write(bed.outside.join("other"), "mounted").unwrap();
    follower.refresh().unwrap();
    let mut second = bed.open();
    let place = second.tree.place(Path::new("a/b"));
    assert!(matches!(place, TreeEntry::Closed(_, WhyClosed::Mounted)), "{place:?}");
    unmount(&bed.at("a/b"));
    follower.check(&bed, "unmounting");
    second.check(&bed, "unmounting");
    bind(&bed.outside.join("file"), &bed.at("d"));
    assert_eq!(follower.refresh(), Err(WhyCold::Mount { at: bed.at("d") }));
    let opened = WatchedTree::open(&bed.root, &bed.settings, &|| false);
    assert_eq!(opened.err(), Some(WhyCold::Mount { at: bed.at("d") }));
    unmount(&bed.at("d"));
}

#[test]
fn a_hundred_thousand_files_in_one_directory_take_little_memory_each() {
    let bed = ChangingRoot::in_memory();
    let folder = bed.at("many");
    fs::create_dir(&folder).unwrap();
    let name = |number: usize| folder.join(format!("file-{number:06}"));
    for number in 0..100_000 {
        fs::File::create(name(number)).unwrap();
    }
    let mut follower = bed.open();
    assert_eq!(follower.tree.len(), 100_002);
    let each = follower.tree.memory() / follower.tree.len();
    assert!(each <= 64, "{each} bytes for each file");
    follower.tree.take_changes();
    for number in (0..100_000).step_by(20) {
        fs::write(name(number), "x").unwrap();
        fs::remove_file(name(number + 1)).unwrap();
    }
    follower.refresh().unwrap();
    let changes = follower.tree.take_changes();
    assert_eq!((changes.added.len(), changes.changed.len()), (0, 5_000));
    assert_eq!(changes.removed.len(), 5_000);
    assert_eq!(follower.found(), bed.walked());
    fs::remove_dir_all(&folder).unwrap();
    // If that overflows the queue, the tree has to be read again.
    if follower.refresh().is_err() {
        follower.tree.read_again(&|| false).unwrap();
    }
    assert_eq!(follower.found(), []);
    assert_eq!(follower.tree.take_changes().removed.len(), 95_000);
    let memory = follower.tree.memory();
    for number in 0..1_000 {
        bed.write(&format!("again/{number}"), "");
    }
    follower.refresh().unwrap();
    assert!(follower.tree.memory() <= memory + 100_000, "numbers are used again");
}

#[test]
fn ten_thousand_changed_files_are_known_at_once() {
    let bed = ChangingRoot::in_memory();
    for number in 0..10_000 {
        bed.write(&format!("{}/{number}", number % 100), "before");
    }
    let mut follower = bed.open();
    follower.check(&bed, "the beginning");
    for number in 0..10_000 {
        bed.write(&format!("{}/{number}", number % 100), "after!");
    }
    // Three events for each file may overflow the queue.
    if follower.refresh().is_err() {
        follower.tree.read_again(&|| false).unwrap();
    }
    follower.check(&bed, "all are changed");
}
