//! Tests single writes of single files, on a real disk.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::{
    fs,
    io::Write as _,
    os::unix::{
        fs::{MetadataExt as _, PermissionsExt as _, chown, symlink},
        net::UnixListener,
    },
    path::{Path, PathBuf},
    process::Command,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, SystemTime},
};

use pretty_assertions::assert_eq;
use rustix::fs::{XattrFlags, getxattr, setxattr};
use tempfile::TempDir;

use super::{
    Expected::{Absent, Anything, Unchanged},
    temporary_name::slot_name,
    *,
};
use crate::path::{RelativePaths, Roots};

pub(super) struct WriteBed {
    pub(super) root: PathBuf,
    dir: TempDir,
}

impl WriteBed {
    pub(super) fn new() -> Self {
        Self::of(TempDir::new().unwrap())
    }

    fn in_memory() -> Self {
        Self::of(TempDir::new_in("/dev/shm").or_else(|_| TempDir::new()).unwrap())
    }

    pub(super) fn of(dir: TempDir) -> Self {
        let root = dir.path().canonicalize().unwrap().join("repo");
        fs::create_dir(&root).unwrap();
        Self { root, dir }
    }

    pub(super) fn place(&self, below: &str) -> WorkspacePath {
        place(&self.root, below)
    }

    /// Every name in the root, sorted.
    pub(super) fn names(&self) -> Vec<String> {
        names(&self.root)
    }
}

pub(super) fn place(root: &Path, below: &str) -> WorkspacePath {
    Roots::new(root, &[]).unwrap().resolve(below, RelativePaths::FromFirstRoot).unwrap()
}

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    let mut names: Vec<_> =
        entries.map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn mode(path: &Path) -> u32 {
    path.symlink_metadata().unwrap().mode() & 0o7777
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_new_file_and_its_missing_directories_are_created() {
    let bed = WriteBed::new();
    let written = write_atomically(&bed.place("a/b/c.txt"), b"new", Absent).unwrap();
    assert!(written.created && written.durable && written.in_place.is_none());
    assert_eq!(fs::read(bed.root.join("a/b/c.txt")).unwrap(), b"new");
    assert_eq!(names(&bed.root.join("a/b")), ["c.txt"]);
}

#[test]
fn the_mode_of_an_existing_file_is_kept() {
    let bed = WriteBed::new();
    let path = bed.root.join("run.sh");
    for wanted in [0o755, 0o600, 0o666, 0o640, 0o1777] {
        fs::write(&path, "old").unwrap();
        set_mode(&path, wanted);
        let written = write_atomically(&bed.place("run.sh"), b"new", Anything).unwrap();
        assert_eq!((mode(&path), written.not_kept, written.created), (wanted, vec![], false));
        assert_eq!(fs::read(&path).unwrap(), b"new");
    }
}

#[test]
fn new_content_does_not_inherit_set_user_id() {
    let bed = WriteBed::new();
    let path = bed.root.join("su");
    fs::write(&path, "old").unwrap();
    set_mode(&path, 0o6755);
    let written = write_atomically(&bed.place("su"), b"new", Anything).unwrap();
    assert_eq!((mode(&path), written.not_kept), (0o755, vec![NotKept::Privileges]));
}

#[test]
fn owner_and_group_are_kept() {
    let bed = WriteBed::new();
    let path = bed.root.join("theirs");
    fs::write(&path, "old").unwrap();
    // Only root can change the owner. For other users their own ids have to stay.
    let _only_as_root = chown(&path, Some(1234), Some(2345));
    let before = path.metadata().unwrap();
    let written = write_atomically(&bed.place("theirs"), b"new", Anything).unwrap();
    let after = path.metadata().unwrap();
    assert_eq!((after.uid(), after.gid()), (before.uid(), before.gid()));
    assert_eq!(written.not_kept, []);
}

#[test]
fn extended_attributes_and_access_control_lists_are_kept() {
    let bed = WriteBed::new();
    let path = bed.root.join("tagged");
    fs::write(&path, "old").unwrap();
    set_mode(&path, 0o640);
    let entry = |tag: u16, rights: u16, id: u32| {
        [&tag.to_le_bytes()[..], &rights.to_le_bytes(), &id.to_le_bytes()].concat()
    };
    let nobody = u32::MAX;
    let list = [
        2_u32.to_le_bytes().to_vec(),
        entry(1, 6, nobody),
        entry(2, 4, 1234),
        entry(4, 4, nobody),
        entry(0x10, 4, nobody),
        entry(0x20, 0, nobody),
    ]
    .concat();
    let attributes: Vec<(&str, &[u8])> = [("user.origin", &b"here"[..]), ("system.posix_acl_access", &list)]
            .into_iter()
            // Some file systems support neither of them.
            .filter(|(name, value)| setxattr(&path, *name, value, XattrFlags::empty()).is_ok())
            .collect();
    let written = write_atomically(&bed.place("tagged"), b"new", Anything).unwrap();
    assert_eq!((written.not_kept, mode(&path)), (vec![], 0o640));
    for (name, value) in attributes {
        let mut kept = vec![0; 256];
        let length = getxattr(&path, name, kept.as_mut_slice()).unwrap();
        assert_eq!(kept.get(..length), Some(value), "{name}");
    }
}

#[test]
fn a_default_list_of_the_directory_does_not_open_an_existing_file() {
    let bed = WriteBed::new();
    let path = bed.root.join("secret");
    fs::write(&path, "old").unwrap();
    set_mode(&path, 0o600);
    let mut list = 2_u32.to_le_bytes().to_vec();
    for (tag, id) in [(1_u16, u32::MAX), (2, 1234), (4, u32::MAX), (16, u32::MAX), (32, u32::MAX)] {
        list.extend([&tag.to_le_bytes()[..], &7_u16.to_le_bytes(), &id.to_le_bytes()].concat());
    }
    if setxattr(&bed.root, "system.posix_acl_default", &list, XattrFlags::empty()).is_err() {
        return;
    }
    write_atomically(&bed.place("secret"), b"new", Anything).unwrap();
    let mut buffer = [0; 256];
    assert!(getxattr(&path, "system.posix_acl_access", &mut buffer[..]).is_err());
    assert_eq!(mode(&path), 0o600);
}

#[test]
fn a_symbolic_link_stays_one_and_its_target_is_written() {
    let bed = WriteBed::new();
    fs::create_dir(bed.root.join("real")).unwrap();
    fs::write(bed.root.join("real/a"), "old").unwrap();
    symlink("real/a", bed.root.join("link")).unwrap();
    write_atomically(&bed.place("link"), b"new", Anything).unwrap();
    assert_eq!(fs::read_link(bed.root.join("link")).unwrap(), Path::new("real/a"));
    assert_eq!(fs::read(bed.root.join("real/a")).unwrap(), b"new");
}

#[test]
fn hard_links_stay_together_whatever_the_lengths() {
    let bed = WriteBed::new();
    let (one, other) = (bed.root.join("one"), bed.root.join("other"));
    fs::write(&one, "").unwrap();
    set_mode(&one, 0o750);
    fs::hard_link(&one, &other).unwrap();
    for (old, new) in (0..12_usize).flat_map(|old| (0..12_usize).map(move |new| (old, new))) {
        fs::write(&one, vec![b'o'; old]).unwrap();
        let read = read_for_edit(&bed.place("one"), u64::MAX).unwrap();
        let new: Vec<u8> = (0..new).map(|it| b'a' + u8::try_from(it).unwrap()).collect();
        let written = write_atomically(&bed.place("one"), &new, Unchanged(&read.stamp)).unwrap();
        assert_eq!(written.in_place, Some(InPlace::HardLinked));
        assert_eq!(fs::read(&other).unwrap(), new);
    }
    assert_eq!(one.metadata().unwrap().ino(), other.metadata().unwrap().ino());
    assert_eq!((mode(&one), bed.names()), (0o750, vec!["one".to_owned(), "other".to_owned()]));
}

#[test]
fn a_file_that_was_to_be_new_is_not_replaced() {
    let bed = WriteBed::new();
    fs::write(bed.root.join("a"), "theirs").unwrap();
    let refused = write_atomically(&bed.place("a"), b"mine", Absent);
    assert!(matches!(refused, Err(WriteError::Exists(_))), "{refused:?}");
    assert_eq!(fs::read(bed.root.join("a")).unwrap(), b"theirs");
}

#[test]
fn exactly_one_of_many_creators_of_a_file_succeeds() {
    let bed = WriteBed::in_memory();
    for round in 0..50 {
        let place = bed.place(&format!("new-{round}"));
        let created = thread::scope(|scope| {
            let writers: Vec<_> = (0..8_u8)
                .map(|it| {
                    scope.spawn({
                        let place = &place;
                        move || write_atomically(place, &[it], Absent).is_ok()
                    })
                })
                .collect();
            writers.into_iter().map(|it| it.join().unwrap()).filter(|&it| it).count()
        });
        assert_eq!(created, 1);
    }
    assert_eq!(bed.names().len(), 50);
}

#[test]
fn a_path_that_is_not_a_file_is_refused_with_its_kind() {
    let bed = WriteBed::new();
    fs::create_dir(bed.root.join("directory")).unwrap();
    let made = Command::new("mkfifo").arg(bed.root.join("fifo")).status().unwrap();
    assert!(made.success());
    let _socket = UnixListener::bind(bed.root.join("socket")).unwrap();
    for (name, wanted) in [
        ("directory", "a directory"),
        ("fifo", "a FIFO"),
        ("socket", "a socket"),
        (".", "a directory"),
    ] {
        for expected in [Anything, Absent] {
            match write_atomically(&bed.place(name), b"new", expected) {
                Err(WriteError::NotAFile { kind, .. }) => assert_eq!(kind, wanted),
                other => unreachable!("{name}: {other:?}"),
            }
        }
    }
    assert_eq!(bed.names(), ["directory", "fifo", "socket"]);
}

#[test]
fn a_file_replaced_by_a_directory_or_a_link_after_it_was_read_is_refused() {
    let bed = WriteBed::new();
    let path = bed.root.join("a");
    let (outside, place) = (bed.dir.path().join("outside"), bed.place("a"));
    fs::write(&path, "old").unwrap();
    fs::write(&outside, "old").unwrap();
    let read = read_for_edit(&place, u64::MAX).unwrap();
    fs::remove_file(&path).unwrap();
    symlink(&outside, &path).unwrap();
    let refused = write_atomically(&place, b"new", Unchanged(&read.stamp));
    assert!(matches!(refused, Err(WriteError::NotAFile { kind: "a symbolic link", .. })));
    assert_eq!(fs::read(&outside).unwrap(), b"old");
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    let refused = write_atomically(&place, b"new", Unchanged(&read.stamp));
    assert!(matches!(refused, Err(WriteError::NotAFile { kind: "a directory", .. })));
    assert_eq!(bed.names(), ["a"]);
}

#[test]
fn a_file_in_the_path_is_named_in_the_error() {
    let bed = WriteBed::new();
    fs::write(bed.root.join("a"), "file").unwrap();
    let refused = write_atomically(&bed.place("a/b/c"), b"new", Anything).unwrap_err();
    let path = bed.root.join("a/b/c");
    let wanted = format!("`{}` cannot be reached: `a` is a file, not a directory", path.display());
    assert_eq!(refused.to_string(), wanted);
}

#[test]
fn directories_created_for_a_failed_write_are_removed() {
    let bed = WriteBed::new();
    fs::write(bed.root.join("known"), "known").unwrap();
    let stamp = read_for_edit(&bed.place("known"), u64::MAX).unwrap().stamp;
    let refused = write_atomically(&bed.place("a/b/c"), b"new", Unchanged(&stamp));
    assert!(matches!(refused, Err(WriteError::Changed(_))), "{refused:?}");
    assert_eq!(bed.names(), ["known"]);
}

#[test]
fn a_change_of_content_is_noticed_even_in_the_same_tick_and_length() {
    let bed = WriteBed::new();
    let path = bed.root.join("a");
    for round in 0..200 {
        fs::write(&path, format!("old {round:03}")).unwrap();
        let read = read_for_edit(&bed.place("a"), u64::MAX).unwrap();
        let theirs = format!("new {round:03}");
        fs::File::options().write(true).open(&path).unwrap().write_all(theirs.as_bytes()).unwrap();
        let refused = write_atomically(&bed.place("a"), b"mine", Unchanged(&read.stamp));
        assert!(matches!(refused, Err(WriteError::Changed(_))), "{refused:?}");
        assert_eq!(fs::read_to_string(&path).unwrap(), theirs);
    }
    assert_eq!(bed.names(), ["a"]);
}

#[test]
fn the_same_content_is_unchanged_whatever_the_times_and_the_inode() {
    let bed = WriteBed::new();
    let path = bed.root.join("a");
    fs::write(&path, "old").unwrap();
    let read = read_for_edit(&bed.place("a"), u64::MAX).unwrap();
    assert_eq!(read.bytes, b"old");
    fs::write(bed.root.join("b"), "old").unwrap();
    fs::rename(bed.root.join("b"), &path).unwrap();
    let past = SystemTime::now() - Duration::from_secs(1000);
    fs::File::open(&path).unwrap().set_modified(past).unwrap();
    set_mode(&path, 0o711);
    let written = write_atomically(&bed.place("a"), b"new", Unchanged(&read.stamp)).unwrap();
    assert_eq!((mode(&path), fs::read(&path).unwrap()), (0o711, b"new".to_vec()));
    write_atomically(&bed.place("a"), b"newer", Unchanged(&written.stamp)).unwrap();
}

#[test]
fn a_file_that_is_gone_has_changed() {
    let bed = WriteBed::new();
    fs::write(bed.root.join("a"), "old").unwrap();
    let read = read_for_edit(&bed.place("a"), u64::MAX).unwrap();
    fs::remove_file(bed.root.join("a")).unwrap();
    let refused = write_atomically(&bed.place("a"), b"new", Unchanged(&read.stamp));
    assert!(matches!(refused, Err(WriteError::Changed(_))), "{refused:?}");
    let missing = read_for_edit(&bed.place("a"), u64::MAX);
    assert!(matches!(missing, Err(WriteError::Missing(_))), "{missing:?}");
    assert_eq!(bed.names(), Vec::<String>::new());
}

#[test]
fn a_file_is_removed_only_with_the_expected_content() {
    let bed = WriteBed::new();
    let path = bed.root.join("a");
    let written = write_atomically(&bed.place("a"), b"mine", Absent).unwrap();
    fs::write(&path, "theirs").unwrap();
    let refused = remove_unchanged(&bed.place("a"), &written.stamp);
    assert!(matches!(refused, Err(WriteError::Changed(_))), "{refused:?}");
    fs::write(&path, "mine").unwrap();
    remove_unchanged(&bed.place("a"), &written.stamp).unwrap();
    assert_eq!(bed.names(), Vec::<String>::new());
    let gone = remove_unchanged(&bed.place("a/b/c"), &written.stamp);
    assert!(matches!(gone, Err(WriteError::Changed(_))), "{gone:?}");
    assert_eq!(bed.names(), Vec::<String>::new());
}

#[test]
fn strays_are_removed_and_the_files_of_living_writers_are_not() {
    let bed = WriteBed::new();
    for slot in [0, 1, 3, 9] {
        fs::write(bed.root.join(slot_name(slot)), "half").unwrap();
    }
    let living = fs::File::open(bed.root.join(slot_name(1))).unwrap();
    living.lock().unwrap();
    symlink("nowhere", bed.root.join(slot_name(2))).unwrap();
    write_atomically(&bed.place("a"), b"new", Anything).unwrap();
    assert_eq!(bed.names(), [slot_name(1).as_str(), &slot_name(2), "a"]);
    drop(living);
    // A process that another test is starting holds a copy of the lock until its `exec`.
    for _ in 0..100 {
        write_atomically(&bed.place("a"), b"newer", Anything).unwrap();
        if bed.names().len() == 2 {
            break;
        }
        thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(bed.names(), [slot_name(2).as_str(), "a"]);
}

#[test]
fn planted_temporary_names_do_not_prevent_writing() {
    let bed = WriteBed::in_memory();
    let mut planted: Vec<String> = (0..4_200).map(slot_name).collect();
    for (number, name) in planted.iter().enumerate() {
        let path = bed.root.join(name);
        match number % 3 {
            0 => fs::create_dir(path).unwrap(),
            1 => symlink("nowhere", path).unwrap(),
            _ => fs::create_dir_all(path.join("full")).unwrap(),
        }
    }
    fs::write(bed.root.join("a"), "old").unwrap();
    let stray = temporary_name::random_name(7);
    fs::write(bed.root.join(&stray), "half").unwrap();
    let read = read_for_edit(&bed.place("a"), u64::MAX).unwrap();
    write_atomically(&bed.place("a"), b"new", Unchanged(&read.stamp)).unwrap();
    write_atomically(&bed.place("b"), b"new", Absent).unwrap();
    assert_eq!(fs::read(bed.root.join("a")).unwrap(), b"new");
    planted.extend(["a".to_owned(), "b".to_owned()]);
    planted.sort();
    assert_eq!(bed.names(), planted);
}

#[test]
fn bytes_appended_since_the_read_come_after_what_is_written() {
    let bed = WriteBed::new();
    let path = bed.root.join("a");
    fs::write(&path, "one\ntwo\n").unwrap();
    let read = read_for_edit(&bed.place("a"), u64::MAX).unwrap();
    let mut appender = fs::File::options().append(true).open(&path).unwrap();
    appender.write_all(b"three\n").unwrap();
    let written = write_atomically(&bed.place("a"), b"1\n2\n", Unchanged(&read.stamp)).unwrap();
    let leases = writers::is_open_for_writing(&fs::File::open(&path).unwrap()).is_some();
    let reported =
        ConcurrentChanges { appended: 6, has_replaced_open: leases, wrote_to_replaced: false };
    assert_eq!(written.foreign, reported);
    assert_eq!(fs::read_to_string(&path).unwrap(), "1\n2\nthree\n");
    // The stamp has the hash of what was written, without the appended bytes.
    assert_eq!(written.stamp.content_hash(), blake3::hash(b"1\n2\n"));
    assert_eq!(bed.names(), ["a"]);
    fs::hard_link(&path, bed.root.join("b")).unwrap();
    let refused = write_atomically(&bed.place("a"), b"", Unchanged(&written.stamp));
    assert!(matches!(refused, Err(WriteError::Changed(_))), "{refused:?}");
}

#[test]
fn many_writers_in_one_directory_do_not_take_each_other_for_strays() {
    let bed = WriteBed::in_memory();
    thread::scope(|scope| {
        for writer in 0..16 {
            let place = bed.place(&format!("file-{writer}"));
            scope.spawn(move || {
                for round in 0..200 {
                    let bytes = format!("{writer} {round}").repeat(100);
                    write_atomically(&place, bytes.as_bytes(), Anything).unwrap();
                    assert_eq!(fs::read(place.absolute()).unwrap(), bytes.as_bytes());
                }
            });
        }
    });
    assert_eq!(bed.names().len(), 16);
}

#[test]
fn nothing_outside_is_touched_while_a_directory_is_swapped_for_a_link() {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    let bed = WriteBed::in_memory();
    let (directory, aside) = (bed.root.join("dir"), bed.root.join("aside"));
    let outside = bed.dir.path().canonicalize().unwrap().join("outside");
    fs::create_dir_all(&outside).unwrap();
    fs::create_dir_all(&directory).unwrap();
    fs::write(outside.join("file"), "outside").unwrap();
    fs::write(directory.join("file"), "inside").unwrap();
    let places = [bed.place("dir/file"), bed.place("dir/made/by/write"), bed.place("dir/other")];
    symlink(&outside, &aside).unwrap();
    let stop = AtomicBool::new(false);
    let (mut written, mut refused) = (0, 0);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                renameat_with(CWD, &directory, CWD, &aside, RenameFlags::EXCHANGE).unwrap();
                let _there_or_not = fs::remove_dir_all(bed.root.join("dir/made"));
            }
        });
        for place in places.iter().cycle().take(100_000) {
            match write_atomically(place, b"written", Anything) {
                Ok(_) => written += 1,
                Err(_) => refused += 1,
            }
        }
        stop.store(true, Ordering::Relaxed);
    });
    assert_eq!(names(&outside), ["file"]);
    assert_eq!(fs::read(outside.join("file")).unwrap(), b"outside");
    assert!(written > 0 && refused > 0, "{written} written, {refused} refused");
}
