//! ARCHITECTURE.md names functions that exist, for each kind of call that it has to explain.

use std::{collections::BTreeSet, ffi::OsStr, fs, path::Path};

use toolwright_tidy::project;

/// A path and a function that the document names side by side: `` `path` `function` ``.
fn named_functions(document: &str) -> BTreeSet<(&str, &str)> {
    let is_source = |path: &str| [".rs", ".js", ".mjs"].iter().any(|end| path.ends_with(end));
    let pairs = document.lines().flat_map(|line| {
        let parts: Vec<&str> = line.split('`').collect();
        let pairs = parts.windows(3).filter_map(|it| match *it {
            [path, " ", name] if is_source(path) => Some((path, name)),
            _ => None,
        });
        pairs.collect::<Vec<_>>()
    });
    pairs.collect()
}

fn has_function(text: &str, path: &str, name: &str) -> bool {
    let name = name.rsplit("::").next().unwrap();
    if Path::new(path).extension() != Some(OsStr::new("rs")) {
        let declares = |it: &str| format!("{it}{name}(");
        return ["function ", "  ", "async ", "#"].iter().any(|it| text.contains(&declares(it)))
            || text.contains(&format!("const {name} ="));
    }
    let declaration = format!("fn {name}");
    text.match_indices(&declaration)
        .any(|(at, _)| text[at + declaration.len()..].starts_with(['(', '<']))
}

#[test]
fn named_functions_exist() {
    let document = fs::read_to_string(project().join("ARCHITECTURE.md")).unwrap();
    let named = named_functions(&document);
    // A change of the document's form must not leave this test without cases.
    assert!(named.len() >= 50, "only {} functions are named", named.len());
    let missing: Vec<_> = named
        .into_iter()
        .filter(|(path, name)| {
            let text = fs::read_to_string(project().join(path)).unwrap_or_default();
            !has_function(&text, path, name)
        })
        .collect();
    assert!(missing.is_empty(), "ARCHITECTURE.md names what does not exist: {missing:#?}");
}

#[test]
fn every_crate_has_a_paragraph() {
    let document = fs::read_to_string(project().join("ARCHITECTURE.md")).unwrap();
    for folder in fs::read_dir(project().join("crates")).unwrap() {
        let name = folder.unwrap().file_name().into_string().unwrap();
        assert!(document.contains(&format!("`{name}`")), "ARCHITECTURE.md omits crate `{name}`");
    }
}
