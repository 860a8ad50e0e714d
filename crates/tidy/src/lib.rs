//! Reads the project's own source files, for tests of rules that the compiler does not check: sizes, names,
//! wording, and which files may open files.
//!
//! It must not know Rust's syntax: it looks at lines, and [`Prose`] at where comments and strings begin and end.
//!
//! The invariant: every rule names the file and the line or text that breaks it.
//!
//! Start at `tests/tidy/main.rs`, where each file is one kind of rule.

#![allow(clippy::unwrap_used, clippy::missing_panics_doc, reason = "a test fails by a panic")]

mod prose;

pub use prose::Prose;

use std::{
    fs,
    path::{Path, PathBuf},
};

/// The root of the project.
pub fn project() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_owned()
}

/// A source file of the project.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// Its path from the root of the project, with `/`.
    pub path: String,
    /// Its content.
    pub text: String,
}

impl SourceFile {
    /// True for files that only tests compile.
    pub fn is_test(&self) -> bool {
        let name = self.path.rsplit('/').next().unwrap();
        self.path.contains("/tests/")
            || self.path.contains("/benches/")
            || name.ends_with("tests.rs")
    }

    /// The crate that the file belongs to: a folder of `crates/`, or `src` for the addon.
    pub fn crate_name(&self) -> &str {
        let below = self.path.strip_prefix("crates/").unwrap_or(&self.path);
        below.split('/').next().unwrap()
    }

    /// The lines before the tests at the end of the file, without comments.
    pub fn code(&self) -> impl Iterator<Item = &str> {
        let code = self.text.split("#[cfg(test)]").next().unwrap();
        let code = code.split("#[cfg(all(test,").next().unwrap();
        code.lines().filter(|it| !it.trim_start().starts_with("//"))
    }
}

/// The Rust files of a folder of the project, sorted by path.
pub fn rust_files(folder: &str) -> Vec<SourceFile> {
    files_below(folder, &["rs"])
}

/// The Rust files of all crates.
pub fn all_rust_files() -> Vec<SourceFile> {
    let mut files = rust_files("crates");
    files.extend(rust_files("src"));
    files
}

/// The files of a folder with one of these extensions, sorted by path.
pub fn files_below(folder: &str, extensions: &[&str]) -> Vec<SourceFile> {
    let mut paths = Vec::new();
    find(&project().join(folder), extensions, &mut paths);
    paths.sort();
    let root = project();
    let read = |path: PathBuf| SourceFile {
        path: path.strip_prefix(&root).unwrap().to_str().unwrap().replace('\\', "/"),
        text: fs::read_to_string(&path).unwrap(),
    };
    paths.into_iter().map(read).collect()
}

/// A file of the project.
pub fn file_at(path: &str) -> SourceFile {
    SourceFile { path: path.to_owned(), text: fs::read_to_string(project().join(path)).unwrap() }
}

fn find(folder: &Path, extensions: &[&str], found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() {
            if !["node_modules", "target", "generated"].contains(&name) {
                find(&path, extensions, found);
            }
        } else if extensions.iter().any(|it| name.ends_with(&format!(".{it}"))) {
            found.push(path);
        }
    }
}
