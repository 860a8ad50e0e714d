//! Rules of the tree that no compiler checks.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

pub(crate) fn source_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(source_files(&path));
        } else if path.extension().is_some_and(|it| it == "rs") {
            files.push(path);
        }
    }
    files
}

pub(crate) fn src() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

#[test]
fn napi_is_named_in_the_binding_alone() {
    for path in source_files(&src()) {
        let below = path.strip_prefix(src()).unwrap();
        let code: String = fs::read_to_string(&path)
            .unwrap()
            .lines()
            .filter(|it| !it.trim_start().starts_with("//"))
            .collect();
        let names_napi = code.contains("napi::") || code.contains("napi_derive");
        assert!(!names_napi || below.starts_with("binding"), "{} names napi", below.display());
    }
}

#[test]
fn rmcp_is_named_in_its_own_module_alone() {
    for path in source_files(&src()) {
        let below = path.strip_prefix(src()).unwrap();
        let names_rmcp = fs::read_to_string(&path).unwrap().contains("rmcp::");
        assert!(!names_rmcp || below.starts_with("mcp"), "{} names rmcp", below.display());
    }
}

/// The types that every tool has, each in its own file.
const TYPES_OF_TOOLS: [&str; 2] = ["Input", "Plan"];

#[test]
fn a_type_name_means_one_thing() {
    let mut places: BTreeMap<String, BTreeSet<PathBuf>> = BTreeMap::new();
    for path in source_files(&src()) {
        let text = fs::read_to_string(&path).unwrap();
        for line in text.lines() {
            // The types of a trait's implementation are indented.
            let is_nested = line.starts_with(' ');
            let line = line.trim_start();
            let line = line.strip_prefix("pub").unwrap_or(line);
            let line = match line.strip_prefix('(') {
                Some(rest) => rest.split_once(')').map_or(line, |it| it.1),
                None => line,
            };
            let mut words = line.split_whitespace();
            let keyword = words.next().unwrap_or_default();
            let declares = ["struct", "enum", "trait", "union"].contains(&keyword)
                || (keyword == "type" && !is_nested);
            if !declares {
                continue;
            }
            let is_part = |it: &char| it.is_alphanumeric() || *it == '_';
            let name: String =
                words.next().unwrap_or_default().chars().take_while(is_part).collect();
            if !TYPES_OF_TOOLS.contains(&name.as_str()) {
                let below = path.strip_prefix(src()).unwrap().to_owned();
                places.entry(name).or_default().insert(below);
            }
        }
    }
    places.retain(|_, files| files.len() > 1);
    assert!(places.is_empty(), "these names stand for several types: {places:#?}");
}

#[test]
fn every_tool_file_stands_in_the_table_of_its_set() {
    for set in ["claude", "classic", "diagnostic"] {
        let folder = src().join("tools").join(set);
        let table = fs::read_to_string(folder.join("mod.rs")).unwrap();
        let mut tools = 0;
        for path in source_files(&folder) {
            let name = path.file_stem().unwrap().to_str().unwrap();
            if name == "mod" {
                continue;
            }
            tools += 1;
            assert!(
                table.contains(&format!("mod {name};")),
                "{set}/{name}.rs is not a module of its set"
            );
            assert!(
                table.contains(&format!("BuiltinTool::of::<{name}::")),
                "{set}/{name}.rs is not in the table"
            );
        }
        assert_eq!(table.matches("BuiltinTool::of::<").count(), tools, "{set} lists a tool twice");
    }
}

#[test]
fn policy_names_no_tool() {
    let catalogue = toolwright::tools::catalogue();
    for path in source_files(&src().join("policy")) {
        let text = fs::read_to_string(&path).unwrap();
        assert!(!text.contains("crate::tools"), "{} names the tools", path.display());
        let code = text.lines().filter(|it| !it.trim_start().starts_with("//"));
        for line in code {
            for name in catalogue.names() {
                // `ls`, `grep` and `memory` are programs and words as well.
                let is_word = name.bytes().all(|it| it.is_ascii_lowercase());
                let is_named = !is_word && line.contains(&format!("\"{name}"));
                assert!(!is_named, "{} names `{name}`: {line}", path.display());
            }
        }
    }
}

#[test]
fn errors_of_engines_become_tool_errors_in_one_file() {
    for path in source_files(&src().join("tools")) {
        let below = path.strip_prefix(src()).unwrap();
        if below.ends_with("failures.rs") {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        assert!(!text.contains(" for ToolError {"), "{} converts errors", below.display());
        for converted in text.split("map_err(").skip(1) {
            let statement = converted.split(';').next().unwrap();
            assert!(
                !statement.contains("ToolError::new"),
                "{} converts an error by itself; add a `From` to `tools/failures.rs`: {statement}",
                below.display()
            );
        }
    }
}

#[test]
fn every_file_says_what_it_is_for() {
    for path in source_files(&src()) {
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("//!"), "{} has no module comment", path.display());
    }
}

#[test]
fn the_outside_world_enters_through_the_session_alone() {
    for path in source_files(&src()) {
        let below = path.strip_prefix(src()).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        let reaches_out = text.contains("env::var") || text.contains("current_dir()");
        assert!(
            !reaches_out || below.starts_with("session"),
            "{} reads the environment",
            below.display()
        );
    }
}

/// Ways to open a file, and the only places that may go them, with the reason.
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
const OPENERS: [(&str, &str); 16] = [
    ("regular_file.rs", "the one way to open a file for reading"),
    ("workspace/path.rs", "opens places to look at, and directories"),
    ("workspace/walk/folder.rs", "opens directories"),
    ("workspace/atomic", "opens directories, and files that it makes or writes"),
    ("workspace/file_lock", "opens the files of locks"),
    ("workspace/index/root_check.rs", "opens directories and files below a root, and reads /proc"),
    ("mcp/server/standard_streams.rs", "has /dev/null read in place of standard input"),
    ("process/output_files.rs", "makes files"),
    ("process/reactor.rs", "writes to /dev/null"),
    ("process/descendants.rs", "reads /proc"),
    ("process/without_supervisor.rs", "reads /proc"),
    ("process/locate_supervisor.rs", "reads /proc"),
    ("process/rescue.rs", "reads /proc"),
    ("store/sqlite/creation.rs", "opens a file and a directory that it made"),
    ("store/sqlite/store_files.rs", "opens the file of a lock"),
    ("supervisor", "a program of its own, which reads /proc"),
];

#[test]
fn files_are_opened_for_reading_in_one_way() {
    let mut opening = 0;
    for path in source_files(&src()) {
        let below = path.strip_prefix(src()).unwrap();
        if below.to_str().is_some_and(|it| it.ends_with("tests.rs") || it.contains("/tests/")) {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        let code = text.split("#[cfg(test)]").next().unwrap();
        let code = code.split("#[cfg(all(test,").next().unwrap();
        let lines = code.lines().filter(|it| !it.trim_start().starts_with("//"));
        let ways: Vec<&str> =
            lines.filter(|line| WAYS_TO_OPEN.iter().any(|way| line.contains(way))).collect();
        opening += usize::from(!ways.is_empty());
        let name = below.to_str().unwrap();
        let may = OPENERS.iter().any(|(place, _)| name.starts_with(place));
        assert!(
            may || ways.is_empty(),
            "{} opens a file by itself; use `regular_file`, or say in OPENERS why not: {ways:?}",
            below.display()
        );
    }
    assert!(opening >= 5, "only {opening} files open anything: the test looks at the wrong ones");
}
