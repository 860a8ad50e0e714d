//! ARCHITECTURE.md names functions that exist, for each kind of call that it has to explain.

use std::{collections::BTreeSet, fs};

use toolwright_tidy::project;

/// A path and a function that the document names side by side: `` `path` `function` ``.
fn named_functions(document: &str) -> BTreeSet<(&str, &str)> {
    let is_source = |it: &&str| [".rs", ".js", ".mjs"].iter().any(|end| it.ends_with(end));
    let pairs = document.lines().flat_map(|line| {
        let parts: Vec<&str> = line.split('`').collect();
        // The odd parts are between backticks.
        let pairs = parts.windows(3).enumerate().filter(|(at, it)| at % 2 == 1 && it[1] == " ");
        pairs.map(|(_, it)| (it[0], it[2])).collect::<Vec<_>>()
    });
    pairs.filter(|(path, _)| is_source(path)).collect()
}

fn has_function(text: &str, path: &str, name: &str) -> bool {
    let name = name.rsplit("::").next().unwrap();
    if !path.ends_with(".rs") {
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
