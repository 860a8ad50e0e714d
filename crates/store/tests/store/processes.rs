//! Stores with several processes, killed processes, missing permissions and full disks.

#![expect(clippy::indexing_slicing, clippy::panic, reason = "tests")]

use std::{
    env, fs,
    io::{self, BufRead as _, BufReader, Write as _},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use toolwright_store::{SetOutcome, StoreBackend as _, ValueChange};

use super::store_bed::{StoreBed, sqlite_at, store_at};

const ROLE: &str = "role=";
const PATH: &str = "path=";

fn child_arguments(role: &str, path: &Path) -> [String; 5] {
    let (_crate, module) = module_path!().split_once("::").unwrap();
    let name = format!("{module}::plays_its_role_when_started_as_a_child");
    let (role, path) = (format!("{ROLE}{role}"), format!("{PATH}{}", path.display()));
    [name, role, path, "--exact".into(), "--nocapture".into()]
}

fn start(role: &str, path: &Path) -> Child {
    Command::new(env::current_exe().unwrap())
        .args(child_arguments(role, path))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// The output of a child that is started by a shell script, in which `"$@"` is the child.
fn said_after(script: &str, role: &str, path: &Path) -> String {
    let output = Command::new("sh")
        .args(["-c", script, "sh"])
        .arg(env::current_exe().unwrap())
        .args(child_arguments(role, path))
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let said: Vec<&str> = text.lines().filter_map(|it| Some(it.split_once("said: ")?.1)).collect();
    assert!(!said.is_empty(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    said.join("\n")
}

fn say(text: &str) {
    let mut out = io::stdout();
    writeln!(out, "\nsaid: {text}").unwrap();
    out.flush().unwrap();
}

#[tokio::test]
async fn plays_its_role_when_started_as_a_child() {
    let argument =
        |prefix: &str| env::args().find_map(|it| it.strip_prefix(prefix).map(str::to_owned));
    let Some(role) = argument(ROLE) else { return };
    let path = PathBuf::from(argument(PATH).unwrap());
    match role.split_once(':').unwrap_or((role.as_str(), "")) {
        ("change", name) => change(&path, name).await,
        ("write", name) => write(&path, name).await,
        ("fill", _) => fill(&path).await,
        ("visit", _) => {
            let visitor = rusqlite::Connection::open(&path).unwrap();
            let sql = "SELECT count(*) FROM entries";
            let count: i64 = visitor.query_row(sql, [], |row| row.get(0)).unwrap();
            visitor.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
            visitor.close().unwrap();
            // As SQLite before 3.51 does when it believes to be the last user.
            for ending in ["-wal", "-shm"] {
                fs::remove_file(format!("{}{ending}", path.display())).unwrap();
            }
            say(&count.to_string());
        }
        _ => {
            let store = store_at(&path);
            let answers = [
                store.get("a").await.map(|it| format!("{it:?}")),
                store.set("a", "changed").await.map(|()| "stored".to_owned()),
            ];
            for answer in answers {
                say(&answer.unwrap_or_else(|it| it.to_string()));
            }
        }
    }
}

/// Adds 1 to a number 500 times, and a line to a list 500 times.
async fn change(path: &Path, name: &str) {
    let store = store_at(path);
    for number in 0..500 {
        let add = |old: Option<&str>| {
            let count: u32 = old.map_or(0, |it| it.parse().unwrap());
            (ValueChange::Set((count + 1).to_string()), ())
        };
        store.update("count", add).await.unwrap();
        let append = |old: Option<&str>| {
            (ValueChange::Set(format!("{}{name}-{number}\n", old.unwrap_or_default())), ())
        };
        store.update("list", append).await.unwrap();
    }
    store.close().await;
    say("done");
}

/// Counts up the value of a key and prints each acknowledged number, until it is killed.
async fn write(path: &Path, name: &str) {
    let store = sqlite_at(path);
    let found = store.get(name).await.unwrap();
    let mut number: u64 = found.as_ref().map_or(0, |it| it.value.trim_end().parse().unwrap());
    let mut version = found.map(|it| it.version);
    loop {
        number += 1;
        // Values of several pages, so that a write can be interrupted in the middle.
        let value = format!("{number}{}", " ".repeat(usize::try_from(number % 3).unwrap() * 9_000));
        match store.set(name, &value, version.as_ref()).await.unwrap() {
            SetOutcome::Stored(stored) => version = Some(stored),
            SetOutcome::Changed => panic!("`{name}` was changed by another writer"),
        }
        say(&number.to_string());
    }
}

/// Stores values until that fails, and prints the error and what is stored.
async fn fill(path: &Path) {
    let store = store_at(path);
    let mut stored = 0;
    let error = loop {
        let key = format!("key/{stored:04}");
        match store.set(&key, &"x".repeat(50_000)).await {
            Ok(()) => stored += 1,
            Err(error) => break error,
        }
    };
    say(&error.to_string());
    let (entries, _) = store.entries("key/", 10_000, true).await.unwrap();
    let are_whole = entries.iter().all(|it| it.value.len() == 50_000);
    say(&format!("stored {stored}, found {}, whole {are_whole}", entries.len()));
}

#[tokio::test]
async fn a_thousand_changes_by_each_of_eight_processes_are_all_applied() {
    let bed = StoreBed::new();
    let children: Vec<Child> =
        (0..8).map(|number| start(&format!("change:{number}"), &bed.path())).collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(text.contains("said: done"), "{text}");
    }
    let store = bed.store();
    assert_eq!(store.get("count").await.unwrap().unwrap().value, "4000");
    let list = store.get("list").await.unwrap().unwrap().value;
    let mut lines: Vec<&str> = list.lines().collect();
    lines.sort_unstable();
    lines.dedup();
    assert_eq!(lines.len(), 4_000);
    // The changes of one process are in order.
    for number in 0..8 {
        let beginning = format!("{number}-");
        let own: Vec<u32> =
            list.lines().filter_map(|it| it.strip_prefix(&beginning)?.parse().ok()).collect();
        assert!(own.is_sorted() && own.len() == 500);
    }
}

#[tokio::test]
async fn a_log_that_another_process_removes_loses_no_changes() {
    let bed = StoreBed::new();
    let store = bed.store();
    let log = bed.folder().join("store.sqlite-wal");
    for round in 1..5 {
        store.set(&format!("key/{round}"), "value").await.unwrap();
        assert_eq!(said_after(r#"exec "$@""#, "visit", &bed.path()), round.to_string());
        assert!(!log.exists());
    }
    store.set("key/5", "value").await.unwrap();
    let (entries, _) = bed.store().entries("key/", 10, true).await.unwrap();
    assert_eq!(entries.len(), 5);
}

/// The number of rounds, and of processes that are killed in each round: 1,000 in total.
const ROUNDS: usize = 125;
const WRITERS: usize = 8;

#[tokio::test]
async fn a_thousand_processes_that_are_killed_while_writing_lose_no_acknowledged_change() {
    let bed = StoreBed::new();
    let mut acknowledged = [0_u64; WRITERS];
    for round in 0..ROUNDS {
        let mut writers: Vec<(Child, _)> = (0..WRITERS)
            .map(|number| {
                let mut child = start(&format!("write:writer/{number}"), &bed.path());
                let output = BufReader::new(child.stdout.take().unwrap()).lines();
                (child, output)
            })
            .collect();
        let number_of = |line: io::Result<String>| -> Option<u64> {
            line.ok()?.split_once("said: ")?.1.parse().ok()
        };
        // Each is killed after a different number of changes, during the next one.
        for (number, (child, output)) in writers.iter_mut().enumerate() {
            let awaited = 1 + (round * 7 + number * 3) % 5;
            let said: Vec<u64> = output.filter_map(number_of).take(awaited).collect();
            assert_eq!(said.len(), awaited, "a writer ended by itself");
            child.kill().unwrap();
            acknowledged[number] = said[awaited - 1];
        }
        for (number, (mut child, output)) in writers.into_iter().enumerate() {
            child.wait().unwrap();
            // Numbers that were printed before the kill but not read yet.
            if let Some(last) = output.filter_map(number_of).last() {
                acknowledged[number] = last;
            }
        }
        let store = bed.store();
        for (number, acknowledged) in acknowledged.iter().enumerate() {
            let found = store.get(&format!("writer/{number}")).await.unwrap().unwrap().value;
            let found: u64 = found.trim_end().parse().unwrap();
            // The change during which it was killed may be stored or not.
            let difference = found.checked_sub(*acknowledged);
            assert!(matches!(difference, Some(0 | 1)), "{found} after {acknowledged}");
        }
        store.close().await;
    }
    let check = rusqlite::Connection::open(bed.path()).unwrap();
    let sql = "PRAGMA integrity_check";
    assert_eq!(check.query_row(sql, [], |row| row.get::<_, String>(0)).unwrap(), "ok");
    let names: Vec<String> = bed.names().into_iter().filter(|it| it.contains("damaged")).collect();
    assert!(names.is_empty(), "{names:?}");
}

#[tokio::test]
async fn processes_that_are_killed_while_creating_a_store_leave_none_or_a_complete_one() {
    for round in 0..40_u64 {
        let bed = StoreBed::new();
        let mut children: Vec<Child> =
            (0..3).map(|number| start(&format!("write:writer/{number}"), &bed.path())).collect();
        // A child needs a few milliseconds to start. The rounds kill it at different moments.
        while round % 4 > 0 && !bed.folder().join("store.sqlite.lock").exists() {
            std::thread::yield_now();
        }
        for _ in 0..(round * 37) % 400 {
            std::thread::yield_now();
        }
        for child in &mut children {
            child.kill().unwrap();
            child.wait().unwrap();
        }
        let store = bed.store();
        store.set("a", "1").await.unwrap();
        assert_eq!(store.get("a").await.unwrap().unwrap().value, "1");
        let left = bed.names();
        assert!(!left.iter().any(|it| it.contains(".new") || it.contains("damaged")), "{left:?}");
    }
}

/// The prefix of a script that drops root, because root ignores file permissions.
const AS_NOBODY: &str = "setpriv --reuid 65534 --regid 65534 --clear-groups";

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

fn set_mode(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[tokio::test]
async fn a_store_without_permissions_is_an_error_and_not_changed() {
    let script =
        if is_root() { format!(r#"exec {AS_NOBODY} "$@""#) } else { r#"exec "$@""#.into() };
    for (folder_mode, file_mode) in [(0o555, 0o644), (0o555, 0o444), (0o755, 0o000), (0o000, 0o644)]
    {
        let bed = StoreBed::new();
        let store = bed.store();
        store.set("a", "1").await.unwrap();
        store.close().await;
        let before = fs::read(bed.path()).unwrap();
        for name in bed.names() {
            set_mode(&bed.folder().join(name), file_mode);
        }
        set_mode(&bed.folder(), folder_mode);
        let said = said_after(&script, "try", &bed.path());
        set_mode(&bed.folder(), 0o755);
        let written = said.lines().last().unwrap();
        assert!(
            written.contains("the store cannot be used: `"),
            "{folder_mode:o} {file_mode:o} {said}"
        );
        assert_eq!(fs::read(bed.path()).unwrap(), before);
        assert!(!bed.names().iter().any(|it| it.contains("damaged")), "{:?}", bed.names());
    }
}

#[tokio::test]
async fn a_directory_in_which_nothing_can_be_created_is_an_error() {
    let bed = StoreBed::new();
    let script =
        if is_root() { format!(r#"exec {AS_NOBODY} "$@""#) } else { r#"exec "$@""#.into() };
    set_mode(&bed.folder(), 0o555);
    let said = said_after(&script, "try", &bed.folder().join("below").join("store.sqlite"));
    set_mode(&bed.folder(), 0o755);
    assert!(said.starts_with("None\nthe store cannot be used: `"), "{said}");
    assert!(said.contains("Permission denied"), "{said}");
    assert!(bed.names().is_empty());
}

#[tokio::test]
async fn a_file_size_limit_is_an_error_and_stored_values_are_kept() {
    // A file may have 512 KiB. The signal that normally ends a process at this limit is ignored.
    let bed = StoreBed::new();
    let script = r#"trap "" XFSZ; ulimit -f 1024; exec "$@""#;
    let said = said_after(script, "fill", &bed.path());
    assert!(said.contains("the store cannot be used: `"), "{said}");
    let stored: usize =
        said.split_once("stored ").unwrap().1.split_once(',').unwrap().0.parse().unwrap();
    assert!(
        stored > 0 && said.ends_with(&format!("stored {stored}, found {stored}, whole true")),
        "{said}"
    );
    let (entries, _) = bed.store().entries("key/", 10_000, true).await.unwrap();
    assert_eq!(entries.len(), stored);
    bed.store().set("another", "value").await.unwrap();
}

#[tokio::test]
async fn a_full_file_system_is_an_error_and_stored_values_are_kept() {
    let bed = StoreBed::new();
    let can_mount = Command::new("unshare")
        .args(["-m", "sh", "-c", "mount -t tmpfs -o size=1m none /mnt"])
        .status()
        .is_ok_and(|it| it.success());
    if !can_mount {
        writeln!(io::stderr(), "LEFT OUT: a full file system, which needs root").unwrap();
        return;
    }
    let folder = bed.folder();
    let script = format!(
        r#"exec unshare -m sh -c 'mount -t tmpfs -o size=1m none {} && exec "$@"' sh "$@""#,
        folder.display()
    );
    let said = said_after(&script, "fill", &bed.path());
    assert!(said.contains("the disk is full; nothing was changed"), "{said}");
    let stored = said.split_once("stored ").unwrap().1.split_once(',').unwrap().0;
    assert!(said.ends_with(&format!("stored {stored}, found {stored}, whole true")), "{said}");
    assert_ne!(stored, "0");
}
