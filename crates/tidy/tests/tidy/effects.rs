//! Which files may reach outside of the program: open files, read the environment.

use std::collections::BTreeSet;

use toolwright_tidy::all_rust_files;

#[test]
fn only_the_session_reads_the_environment() {
    for file in all_rust_files().iter().filter(|it| !it.is_test() && !is_for_tests(it.crate_name()))
    {
        let reaches_out = file.text.contains("env::var") || file.text.contains("current_dir()");
        let may = file.path.starts_with("crates/core/src/session/");
        assert!(!reaches_out || may, "{} reads the environment", file.path);
    }
}

/// True for crates that only tests depend on.
fn is_for_tests(name: &str) -> bool {
    ["bash-recorder", "test-bed", "tidy"].contains(&name)
}

/// Ways to open a file. Only [`OPENERS`] may use them.
const WAYS_TO_OPEN: [&str; 8] = [
    "File::open(",
    "fs::read(",
    "fs::read_to_string(",
    "File::options(",
    "OpenOptions",
    "openat(",
    "openat2(",
    "fs::open(",
];
/// The files that may open files, with the reason.
const OPENERS: [(&str, &str); 16] = [
    ("base/src/regular_file.rs", "the one way to open a file for reading"),
    ("files/src/path.rs", "opens paths to inspect them, and directories"),
    ("files/src/folder.rs", "opens directories"),
    ("files/src/atomic", "opens directories, and files that it creates or writes"),
    ("files/src/file_lock", "opens lock files"),
    ("search/src/index/root_check.rs", "opens directories and files below a root, and reads /proc"),
    ("mcp/src/server/standard_streams.rs", "replaces standard input by /dev/null"),
    ("process/src/output_files.rs", "creates files"),
    ("process/src/reactor.rs", "writes to /dev/null"),
    ("command-protocol/src/descendants.rs", "reads /proc"),
    ("process/src/without_supervisor.rs", "reads /proc"),
    ("process/src/locate_supervisor.rs", "reads /proc"),
    ("process/src/rescue.rs", "reads /proc"),
    ("store/src/sqlite/creation.rs", "opens a file and a directory that it created"),
    ("store/src/sqlite/store_files.rs", "opens a lock file"),
    ("supervisor/src", "a separate program, which reads /proc"),
];

#[test]
fn only_listed_files_open_files() {
    let mut used = BTreeSet::new();
    for file in all_rust_files().iter().filter(|it| !it.is_test() && !is_for_tests(it.crate_name()))
    {
        let opens = |line: &&str| WAYS_TO_OPEN.iter().any(|way| line.contains(way));
        let ways: Vec<&str> = file.code().filter(opens).collect();
        if ways.is_empty() {
            continue;
        }
        let below = file.path.trim_start_matches("crates/");
        let listed = OPENERS.iter().position(|(place, _)| below.starts_with(place));
        assert!(
            listed.is_some(),
            "{} opens a file itself; use `regular_file`, or add it to OPENERS with the reason: {ways:?}",
            file.path
        );
        used.extend(listed);
    }
    for (at, (place, _)) in OPENERS.iter().enumerate() {
        assert!(used.contains(&at), "`{place}` opens no file; remove it from OPENERS");
    }
}
