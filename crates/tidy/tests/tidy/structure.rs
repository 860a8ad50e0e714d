//! Sizes, module comments, and names that mean one thing.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
};

use toolwright_tidy::{SourceFile, all_rust_files, files_below, project, rust_files};

/// The most lines of a crate, tests included.
const MAX_CRATE_LINES: usize = 15_000;
/// The most lines of a file.
const MAX_FILE_LINES: usize = 500;
/// Tests in one file may be longer, because they are a list of cases.
const MAX_TEST_LINES: usize = 1_000;

#[test]
fn no_crate_and_no_file_is_too_large() {
    let mut crates: BTreeMap<String, usize> = BTreeMap::new();
    for file in all_rust_files() {
        let lines = file.text.lines().count();
        *crates.entry(file.crate_name().to_owned()).or_default() += lines;
        let most = if file.is_test() { MAX_TEST_LINES } else { MAX_FILE_LINES };
        assert!(lines <= most, "{} has {lines} lines; split it by subject", file.path);
    }
    crates.retain(|_, lines| *lines > MAX_CRATE_LINES);
    assert!(crates.is_empty(), "these crates are too large: {crates:?}");
}

/// The folders of JavaScript that the package and its scripts consist of.
const SCRIPT_FOLDERS: [&str; 3] = ["lib", "scripts", "bin"];

#[test]
fn no_file_of_javascript_is_too_large() {
    for file in SCRIPT_FOLDERS.iter().flat_map(|it| files_below(it, &["js", "mjs"])) {
        let lines = file.text.lines().count();
        assert!(lines <= MAX_FILE_LINES, "{} has {lines} lines; split it by subject", file.path);
    }
}

#[test]
fn every_file_has_a_module_comment() {
    for file in all_rust_files() {
        assert!(file.text.starts_with("//!"), "{} has no module comment", file.path);
    }
}

#[test]
fn no_file_belongs_to_two_crates() {
    for file in all_rust_files() {
        let mut attributes = file.text.lines().filter(|it| it.trim_start().starts_with("#[path"));
        assert_eq!(attributes.next(), None, "{} takes a file by its path", file.path);
    }
}

/// Type names that every tool uses in its own file.
const TYPES_OF_TOOLS: [&str; 2] = ["Input", "Plan"];
/// Types of which each system has its own.
const TYPES_OF_SYSTEMS: [&str; 2] = ["RootIndex", "SandboxPlans"];

#[test]
fn a_type_name_means_one_thing() {
    let mut places: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for file in all_rust_files().iter().filter(|it| !it.path.contains("/tests/")) {
        for name in declared_types(file) {
            if !TYPES_OF_TOOLS.contains(&name) && !TYPES_OF_SYSTEMS.contains(&name) {
                places.entry(name.to_owned()).or_default().insert(file.path.clone());
            }
        }
    }
    places.retain(|_, files| files.len() > 1);
    assert!(places.is_empty(), "these names are used for several types: {places:#?}");
}

pub(crate) fn declared_types(file: &SourceFile) -> impl Iterator<Item = &str> {
    file.text.lines().filter_map(|line| {
        // The types of a trait's implementation are indented.
        let is_nested = line.starts_with(' ');
        let words = without_visibility(line.trim_start());
        let (keyword, rest) = words.split_once(' ')?;
        let declares = ["struct", "enum", "trait", "union"].contains(&keyword)
            || (keyword == "type" && !is_nested);
        declares.then(|| name_at_start(rest)).filter(|it| !it.is_empty())
    })
}

/// A declaration without `pub` or `pub(…)`.
fn without_visibility(line: &str) -> &str {
    let Some(rest) = line.strip_prefix("pub") else { return line };
    let rest =
        if rest.starts_with('(') { rest.split_once(')').map_or(rest, |it| it.1) } else { rest };
    rest.trim_start()
}

fn name_at_start(text: &str) -> &str {
    let end = text.find(|it: char| !it.is_alphanumeric() && it != '_').unwrap_or(text.len());
    &text[..end]
}

#[test]
fn no_crate_exports_what_only_itself_uses() {
    let mut files = all_rust_files();
    files.extend(rust_files("fuzz"));
    let mut unused = Vec::new();
    for folder in fs::read_dir(project().join("crates")).unwrap() {
        let name = folder.unwrap().file_name().into_string().unwrap();
        let others: BTreeSet<&str> = files
            .iter()
            .filter(|it| it.crate_name() != name || it.path.contains("/tests/"))
            .flat_map(|it| it.text.split(|it: char| !it.is_alphanumeric() && it != '_'))
            .collect();
        let own = files.iter().filter(|it| it.path.starts_with(&format!("crates/{name}/src/")));
        for file in own.filter(|it| !it.is_test()) {
            for item in public_items(file) {
                if !others.contains(item) {
                    unused.push(format!("{}: {item}", file.path));
                }
            }
        }
    }
    assert!(unused.is_empty(), "make these `pub(crate)`, no other crate names them: {unused:#?}");
}

/// The names that a file declares with `pub`. Types that only appear in the signature of another public item
/// have to be public too, so only functions, constants and modules count.
fn public_items(file: &SourceFile) -> impl Iterator<Item = &str> {
    file.code().filter_map(|line| {
        let rest = line.trim_start().strip_prefix("pub ")?;
        let rest = rest.strip_prefix("async ").unwrap_or(rest);
        let rest = rest.strip_prefix("const fn ").map_or(rest, |_| &rest["const ".len()..]);
        let (keyword, rest) = rest.split_once(' ')?;
        ["fn", "const", "static", "mod"].contains(&keyword).then(|| name_at_start(rest))
    })
}
