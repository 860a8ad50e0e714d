//! The layers of the crate: a module names only modules of lower layers, so there are no cycles.

use std::{collections::BTreeSet, fs, path::Path};

use super::tidy::{source_files, src};

/// The modules below `src/`, lowest layer first. Modules of one layer do not name each other.
const LAYERS: [&[&str]; 13] = [
    &["terminal", "terminal_parser"],
    &["error", "path_text", "regular_file"],
    &["workspace", "process", "shell", "store", "net", "agents", "team"],
    &["state"],
    &["session", "git"],
    &["tool"],
    &["policy", "registry", "tools"],
    &["confirm", "definition", "hooks", "plugin", "policy_files"],
    &["pipeline"],
    &["mcp", "provider"],
    &["host"],
    &["http"],
    &["binding"],
];

/// Crate roots. `lib.rs` lists the modules; the supervisor is a program of its own, which has its own root
/// and takes single files of the library by path.
const ROOTS: [&str; 2] = ["lib", "supervisor"];

fn layer_of(module: &str) -> Option<usize> {
    LAYERS.iter().position(|layer| layer.contains(&module))
}

/// The module of the crate's root that a file belongs to.
fn top_module(below: &Path) -> String {
    let first = below.components().next().unwrap().as_os_str().to_str().unwrap();
    first.trim_end_matches(".rs").to_owned()
}

/// How many `super` lead from a file to the crate's root.
fn depth(below: &Path) -> usize {
    let is_folder_itself = below.ends_with("mod.rs");
    below.components().count() - usize::from(is_folder_itself)
}

/// The first name of each path in a `use` group or behind a single path: `a::B, c::{D, E}` is `a`, `c`.
fn first_names(rest: &str) -> Vec<String> {
    let name_of = |text: &str| -> String {
        let is_part = |it: &char| it.is_alphanumeric() || *it == '_' || *it == '*';
        text.trim_start().chars().take_while(is_part).collect()
    };
    let Some(group) = rest.strip_prefix('{') else { return vec![name_of(rest)] };
    let mut names = Vec::new();
    let (mut open, mut from) = (0_usize, 0);
    for (at, sign) in group.char_indices() {
        match sign {
            '{' => open += 1,
            ',' if open == 0 => {
                names.push(name_of(&group[from..at]));
                from = at + 1;
            }
            '}' if open == 0 => {
                names.push(name_of(&group[from..at]));
                break;
            }
            '}' => open -= 1,
            _ => {}
        }
    }
    names.retain(|it| !it.is_empty());
    names
}

/// Every module of the crate's root that a text names: by `crate::`, or by as many `super::` as lead there.
/// Comments count as well, because a link in them is a name, too.
fn named_modules(text: &str, depth: usize) -> BTreeSet<String> {
    let from_root = text.match_indices("crate::").map(|(at, found)| &text[at + found.len()..]);
    let up = "super::".repeat(depth);
    let escapes = text.match_indices(&up).map(|(at, found)| &text[at + found.len()..]);
    // A module inside a file is one deeper, so one `super` more leads from there to the root.
    let escapes = escapes.map(|it| it.strip_prefix("super::").unwrap_or(it));
    let by_root = from_root.flat_map(first_names);
    let by_escape = escapes.flat_map(first_names).filter(|it| layer_of(it).is_some());
    // Modules inside a file begin with `use super::*`, which is the file itself; outside of them it is more.
    let is_everything = |line: &str| line.strip_prefix("use ") == Some(&format!("{up}*;"));
    let everything = text.lines().any(is_everything).then(|| "*".to_owned());
    by_root.chain(by_escape).chain(everything).collect()
}

#[test]
fn a_module_names_only_modules_of_lower_layers() {
    let mut checked = 0;
    for path in source_files(&src()) {
        let below = path.strip_prefix(src()).unwrap().to_owned();
        let module = top_module(&below);
        if ROOTS.contains(&module.as_str()) {
            continue;
        }
        let own = layer_of(&module);
        assert!(own.is_some(), "`{module}` has no layer; give it one here and in ARCHITECTURE.md");
        let text = fs::read_to_string(&path).unwrap();
        for named in named_modules(&text, depth(&below)) {
            if named == module {
                continue;
            }
            let is_lower = layer_of(&named).is_some_and(|it| Some(it) < own);
            assert!(is_lower, "{} names `{named}`, which is not below `{module}`", below.display());
            checked += 1;
        }
    }
    assert!(checked > 100, "only {checked} names were found: the test looks at the wrong text");
}

#[test]
fn every_way_to_name_a_module_is_seen() {
    for (text, depth, wanted) in [
        ("use crate::{\n    a::{B, c::D},\n    e,\n    f::*,\n};", 2, "a e f"),
        ("fn f(it: &crate::tools::Bash) { crate::a() }", 2, "a tools"),
        ("/// As [`crate::mcp::Server`] does.", 1, "mcp"),
        ("use super::super::pipeline::Pipeline;", 2, "pipeline"),
        ("use super::super::{sibling, mcp::Server};", 2, "mcp"),
        ("mod tests {\n    use super::super::tools;", 1, "tools"),
        ("use super::*;", 1, "*"),
        ("mod tests {\n    use super::*;", 1, ""),
        ("use super::tools;", 2, ""),
    ] {
        let names = Vec::from_iter(named_modules(text, depth)).join(" ");
        assert_eq!(names, wanted, "{text}");
    }
}
