//! Comments, documents, texts of the program, and names of functions, types and tests are in plain English: in
//! the words that programmers use.

use toolwright_tidy::{Prose, SourceFile, all_rust_files, file_at, files_below, rust_files};

use crate::structure::declared_types;

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

/// Words that names of functions and types and titles of tests must not have either. In a comment they can be
/// right.
const UNPLAIN_IN_NAMES: [(&str, &str); 3] = [
    ("told", "reported, shown, named"),
    ("door", "entry point, transport, endpoint"),
    ("doors", "entry points, transports, endpoints"),
];

/// Sentences in which a word is right.
const REVIEWED: [(&str, &str); 6] = [
    ("crates/search/src/index/tests/limits.rs", "the user `nobody`"),
    ("crates/supervisor/src/sandbox/namespaces.rs", "appear as `nobody`"),
    ("crates/policy/src/programs/handling.rs", "a word of an unknown program"),
    ("scripts/server-programs.mjs", "nobody"),
    ("lib/cli/command-line.js", "the second word of commands"),
    ("__test__/properties/shell.test.ts", "one word of a shell"),
];

fn lower_case(texts: Vec<String>) -> Vec<String> {
    texts.into_iter().map(|it| it.to_lowercase()).collect()
}

/// The paragraphs of a document, without its samples of code.
fn paragraphs(file: &SourceFile) -> Vec<String> {
    let is_prose = |(at, _): &(usize, &str)| at % 2 == 0;
    let prose = file.text.split("\n```").enumerate().filter(is_prose);
    let paragraphs = prose.flat_map(|(_, it)| it.split("\n\n"));
    paragraphs.map(|it| it.replace('\n', " ").to_lowercase()).collect()
}

/// The names of a Rust file's functions, as words. Names of tests are sentences.
fn function_names(file: &SourceFile) -> Vec<String> {
    let name = |line: &str| {
        let (_, after) = line.split_once("fn ").filter(|(before, _)| !before.contains("//"))?;
        Some(after.split(|it: char| !it.is_alphanumeric() && it != '_').next()?.replace('_', " "))
    };
    file.text.lines().filter_map(name).collect()
}

/// The titles in a file of JavaScript tests: the first argument of `test`, `it` and `describe`, also after
/// `.each(…)` and the like.
fn titles(file: &SourceFile) -> Vec<String> {
    let starts = ["test", "it", "describe"].into_iter().flat_map(|function| {
        file.text.match_indices(function).filter_map(move |(at, _)| {
            let before = file.text[..at].chars().next_back();
            let is_whole =
                !before.is_some_and(|it| it.is_alphanumeric() || "_.$-/\"'`".contains(it));
            is_whole.then_some(&file.text[at + function.len()..])
        })
    });
    starts.filter_map(title).collect()
}

/// The title of a test, from the text that follows the name of the function.
fn title(mut text: &str) -> Option<String> {
    while let Some(member) = text.strip_prefix('.') {
        text = member.trim_start_matches(|it: char| it.is_alphanumeric());
    }
    let arguments = text.strip_prefix('(')?;
    let quoted = |it: &str| {
        let it = it.trim_start();
        let quote = it.chars().next().filter(|it| "\"'`".contains(*it))?;
        it[1..].split(quote).next().map(str::to_lowercase)
    };
    quoted(arguments).or_else(|| {
        // The arguments of `.each(…)`. A bracket in a string only makes the title unknown.
        let mut depth = 1_usize;
        let end = arguments.find(|it| {
            depth = match it {
                '(' => depth + 1,
                ')' => depth - 1,
                _ => depth,
            };
            depth == 0
        })?;
        quoted(arguments[end + 1..].strip_prefix('(')?)
    })
}

fn has_phrase(text: &str, phrase: &str) -> bool {
    let is_part = |it: Option<char>| it.is_some_and(|it| it.is_alphanumeric() || it == '_');
    text.match_indices(phrase).any(|(at, _)| {
        !is_part(text[..at].chars().next_back())
            && !is_part(text[at + phrase.len()..].chars().next())
    })
}

/// True if no noun follows, unlike in "the output of its own session".
fn has_bare_own(text: &str) -> bool {
    ["of its own", "of their own"].iter().flat_map(|it| text.split(it).skip(1)).any(|after| {
        let noun = after.trim_start().chars().next();
        !noun.is_some_and(|it| it.is_alphanumeric() || it == '`' || it == '_')
    })
}

/// True for `what is`, one word and `of`, also with `to be` before the word.
fn has_what_of(text: &str) -> bool {
    let is_mark = |it: char| !it.is_alphanumeric();
    let words: Vec<&str> = text.split_whitespace().map(|it| it.trim_matches(is_mark)).collect();
    let is_of = |it: &[&str]| match it {
        ["what", "is" | "are" | "was" | "were", rest @ ..] => {
            matches!(rest, ["to", "be", _, "of", ..] | [_, "of", ..])
        }
        _ => false,
    };
    (0..words.len()).any(|at| words.get(at..).is_some_and(is_of))
}

/// The phrases of a text that are not plain, each with what to write instead.
fn unplain(text: &str) -> Vec<(&'static str, &'static str)> {
    let mut found: Vec<_> =
        UNPLAIN.into_iter().filter(|(phrase, _)| has_phrase(text, phrase)).collect();
    if has_bare_own(text) {
        found.push(("of its own", "separate, its own …"));
    }
    if has_what_of(text) {
        found.push(("what is … of", "name the thing: the part, the rest, the state"));
    }
    found
}

fn report(
    file: &SourceFile,
    text: &str,
    phrases: Vec<(&'static str, &'static str)>,
    found: &mut Vec<String>,
) {
    let is_reviewed = |(path, sentence): &(&str, &str)| {
        file.path == *path && text.contains(&sentence.to_lowercase())
    };
    if !REVIEWED.iter().any(is_reviewed) {
        let text = text.trim();
        found.extend(
            phrases
                .into_iter()
                .map(|(phrase, instead)| format!("{}: `{phrase}` ({instead}): {text}", file.path)),
        );
    }
}

fn check(file: &SourceFile, texts: Vec<String>, found: &mut Vec<String>) {
    for text in texts {
        report(file, &text, unplain(&text), found);
    }
}

fn check_names(file: &SourceFile, names: Vec<String>, found: &mut Vec<String>) {
    for name in names {
        let mut phrases = unplain(&name);
        phrases.extend(UNPLAIN_IN_NAMES.into_iter().filter(|(it, _)| has_phrase(&name, it)));
        report(file, &name, phrases, found);
    }
}

#[test]
fn phrases_are_recognized() {
    assert!(has_bare_own("a file of its own, with a lock") && has_bare_own("a line of their own"));
    assert!(!has_bare_own("the output of its own session"));
    assert!(has_what_of("returns what is kept of it") && has_what_of("what was left of a file"));
    assert!(has_what_of("what is to be read of a file"));
    assert!(!has_what_of("what is wrong with it") && !has_what_of("what is printed for most of"));
    let text = "test('one', x); describe.each([f(1)])(\n  \"two\", x); it.skipIf(no)(`three`, x);";
    let file = SourceFile { path: String::new(), text: text.to_owned() };
    assert_eq!(titles(&file), ["one", "three", "two"]);
    assert_eq!(words_of_name("ToolRegistry"), "tool registry");
}

/// The folders of JavaScript and TypeScript whose comments are checked.
const SCRIPT_FOLDERS: [&str; 9] = [
    "lib",
    "scripts",
    "bin",
    "bench",
    "conformance",
    "e2e",
    "examples",
    "__test__",
    "crates/http/page",
];

#[test]
fn comments_are_plain() {
    let mut found = Vec::new();
    let mut files = all_rust_files();
    files.extend(rust_files("fuzz"));
    files.extend(["index.js", "index.mjs", "index.d.ts", "index.d.mts"].map(file_at));
    let scripts = SCRIPT_FOLDERS.iter();
    files.extend(scripts.flat_map(|it| files_below(it, &["js", "mjs", "cjs", "ts", "mts"])));
    for file in &files {
        check(file, lower_case(Prose::of(file).comments), &mut found);
    }
    let mut manifests = files_below("crates", &["toml"]);
    manifests.extend(files_below("fuzz", &["toml"]));
    manifests.extend(["Cargo.toml", "clippy.toml", "deny.toml", "rustfmt.toml"].map(file_at));
    for file in &manifests {
        check(file, lower_case(Prose::of_toml(file).comments), &mut found);
    }
    assert!(found.is_empty(), "say these plainly:\n{}", found.join("\n"));
}

#[test]
fn documents_are_plain() {
    let mut found = Vec::new();
    let documents =
        ["README", "ARCHITECTURE", "CONTRIBUTING", "SECURITY", "CHANGELOG", "CODE_OF_CONDUCT"];
    let documents = documents.map(|it| file_at(&format!("{it}.md")));
    let pages = ["docs", "bench", "examples", "conformance", "crates/tools/src/description"];
    let pages = pages.iter().flat_map(|it| files_below(it, &["md"]));
    let page = file_at("crates/http/page/index.html");
    for file in pages.chain(documents).chain([page]) {
        let texts = paragraphs(&file);
        check(&file, texts, &mut found);
    }
    assert!(found.is_empty(), "say these plainly:\n{}", found.join("\n"));
}

/// What people and models read while the program runs: its texts are string literals.
#[test]
fn literals_are_plain() {
    let mut found = Vec::new();
    let mut files = all_rust_files();
    // The tests of wording name the words.
    files.retain(|it| it.crate_name() != "tidy");
    let scripts = ["lib", "bin", "scripts", "crates/http/page"];
    files.extend(scripts.iter().flat_map(|it| files_below(it, &["js", "mjs"])));
    let mut count = 0;
    for file in &files {
        let literals = Prose::of(file).literals;
        count += literals.len();
        check(file, lower_case(literals), &mut found);
    }
    assert!(count > 5_000, "only {count} literals were found");
    assert!(found.is_empty(), "say these plainly:\n{}", found.join("\n"));
}

#[test]
fn names_of_types_are_plain() {
    let mut found = Vec::new();
    for file in all_rust_files() {
        let names = declared_types(&file).map(words_of_name).collect();
        check_names(&file, names, &mut found);
    }
    assert!(found.is_empty(), "say these plainly:\n{}", found.join("\n"));
}

/// The words of a name like `ToolRegistry`, in lower case.
fn words_of_name(name: &str) -> String {
    let mut words = String::new();
    for it in name.chars() {
        if it.is_uppercase() && !words.is_empty() {
            words.push(' ');
        }
        words.extend(it.to_lowercase());
    }
    words
}

#[test]
fn names_of_functions_and_tests_are_plain() {
    let mut found = Vec::new();
    for file in all_rust_files() {
        check_names(&file, function_names(&file), &mut found);
    }
    let mut count = 0;
    for folder in ["__test__", "e2e"] {
        for file in files_below(folder, &["ts", "mts", "mjs"]) {
            let titles = titles(&file);
            count += titles.len();
            check_names(&file, titles, &mut found);
        }
    }
    assert!(count > 1_000, "only {count} titles of tests were found");
    assert!(found.is_empty(), "say these plainly:\n{}", found.join("\n"));
}
