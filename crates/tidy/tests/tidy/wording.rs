//! Comments and documents are in plain English: in the words that programmers use.

use toolwright_tidy::{SourceFile, all_rust_files, files_below, project};

/// Words that made readers stop, and what to write instead.
const UNPLAIN: [(&str, &str); 12] = [
    ("whoever", "name the role: the caller, the listener, the user"),
    ("whomever", "name the role"),
    ("nobody", "say what is missing: no listener, no caller"),
    ("somebody", "name the role"),
    ("is told", "is reported, is notified, receives"),
    ("are told", "are reported, are notified, receive"),
    ("told of", "reported"),
    ("held to", "enforced, limited to"),
    ("goes on", "continues"),
    ("go on", "continue"),
    ("as far as", "if, where, up to"),
    ("word of", "a report, a message, news"),
];

/// Sentences in which a word is right.
const REVIEWED: [(&str, &str); 5] = [
    ("crates/search/src/index/tests/limits.rs", "the user `nobody`"),
    ("crates/supervisor/src/sandbox/namespaces.rs", "appear as `nobody`"),
    ("crates/policy/src/programs/handling.rs", "a word of an unknown program"),
    ("lib/cli/command-line.js", "the second word of commands"),
    ("__test__/properties/shell.test.ts", "one word of a shell"),
];

/// The comments of a file, each as one line of lower-case text, so that a line break hides no phrase.
fn comments(file: &SourceFile) -> Vec<String> {
    let mut blocks = vec![String::new()];
    for line in file.text.lines() {
        let line = line.trim_start();
        let words = ["//!", "///", "//", "* ", "/**"].iter().find_map(|it| line.strip_prefix(it));
        match (words, blocks.last_mut()) {
            (Some(words), Some(block)) => {
                block.push(' ');
                block.push_str(words.trim());
            }
            _ => blocks.push(String::new()),
        }
    }
    blocks.retain(|it| !it.is_empty());
    blocks.into_iter().map(|it| it.to_lowercase()).collect()
}

/// The paragraphs of a document, without its samples of code.
fn paragraphs(file: &SourceFile) -> Vec<String> {
    let is_prose = |(at, _): &(usize, &str)| at % 2 == 0;
    let prose = file.text.split("\n```").enumerate().filter(is_prose);
    let paragraphs = prose.flat_map(|(_, it)| it.split("\n\n"));
    paragraphs.map(|it| it.replace('\n', " ").to_lowercase()).collect()
}

fn has_phrase(text: &str, phrase: &str) -> bool {
    let is_part = |it: Option<char>| it.is_some_and(|it| it.is_alphanumeric() || it == '_');
    text.match_indices(phrase).any(|(at, _)| {
        !is_part(text[..at].chars().next_back())
            && !is_part(text[at + phrase.len()..].chars().next())
    })
}

fn check(file: &SourceFile, texts: Vec<String>, found: &mut Vec<String>) {
    for text in texts {
        for (phrase, instead) in UNPLAIN {
            let is_reviewed = |(path, sentence): &(&str, &str)| {
                file.path == *path && text.contains(&sentence.to_lowercase())
            };
            if has_phrase(&text, phrase) && !REVIEWED.iter().any(is_reviewed) {
                found.push(format!("{}: `{phrase}` ({instead}): {}", file.path, text.trim()));
            }
        }
    }
}

#[test]
fn comments_and_documents_are_plain() {
    let mut found = Vec::new();
    for file in all_rust_files() {
        let texts = comments(&file);
        check(&file, texts, &mut found);
    }
    let scripts =
        ["lib", "scripts", "bin", "bench", "e2e", "examples", "__test__", "crates/http/page"];
    for folder in scripts {
        for file in files_below(folder, &["js", "mjs", "cjs", "ts", "mts"]) {
            let texts = comments(&file);
            check(&file, texts, &mut found);
        }
    }
    let documents = ["README", "ARCHITECTURE", "CONTRIBUTING", "SECURITY", "CHANGELOG"].map(|it| {
        let path = format!("{it}.md");
        SourceFile { text: std::fs::read_to_string(project().join(&path)).unwrap(), path }
    });
    let pages = ["docs", "bench", "examples", "conformance", "crates/tools/src/description"];
    let pages = pages.iter().flat_map(|it| files_below(it, &["md"]));
    for file in pages.chain(documents) {
        let texts = paragraphs(&file);
        check(&file, texts, &mut found);
    }
    assert!(found.is_empty(), "say these plainly:\n{}", found.join("\n"));
}
