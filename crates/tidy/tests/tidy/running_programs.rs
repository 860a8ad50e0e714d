//! Which programs run other programs is known in one table, in the shell crate.

use std::collections::BTreeSet;

use toolwright_shell::running_programs::is_listed;
use toolwright_tidy::{SourceFile, all_rust_files};

/// A list with so many names of the table is a second table.
const MOST_NAMES: usize = 2;

/// Files that may list names of the table, with the reason.
const REVIEWED: [(&str, &str); 2] = [
    ("crates/policy/src/programs/tables/", "what each program does with files"),
    ("crates/bash-recorder/src/", "programs that tests start or replace"),
];

#[test]
fn only_the_shell_lists_programs_that_run_programs() {
    let mut used = BTreeSet::new();
    let mut found = Vec::new();
    let files = all_rust_files();
    for file in files.iter().filter(|it| !it.is_test() && it.crate_name() != "shell") {
        for mut names in lists_of_names(file) {
            names.retain(|it| is_listed(it));
            if names.len() <= MOST_NAMES {
                continue;
            }
            match REVIEWED.iter().position(|(path, _)| file.path.starts_with(path)) {
                Some(reviewed) => drop(used.insert(reviewed)),
                None => found.push(format!("{}: {names:?}", file.path)),
            }
        }
    }
    assert!(
        found.is_empty(),
        "ask `running_programs` of the shell crate, or add the file to REVIEWED with the reason: {found:#?}"
    );
    for (at, (path, _)) in REVIEWED.iter().enumerate() {
        assert!(used.contains(&at), "`{path}` lists no such programs; remove it from REVIEWED");
    }
}

/// The texts that stand one after another in an array or a pattern: `["sh", "bash"]`, `"sh" | "bash"`.
fn lists_of_names(file: &SourceFile) -> Vec<BTreeSet<String>> {
    let code: Vec<&str> = file.code().collect();
    let code = code.join("\n");
    let mut lists = vec![BTreeSet::new()];
    for piece in code.split('"') {
        let is_separator = matches!(piece.trim(), "," | "|");
        let is_name = !is_separator && !piece.is_empty() && !piece.contains(char::is_whitespace);
        if is_name {
            lists.last_mut().unwrap().insert(piece.to_owned());
        } else if !is_separator {
            lists.push(BTreeSet::new());
        }
    }
    lists
}
