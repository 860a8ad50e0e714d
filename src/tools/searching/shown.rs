//! How places and amounts are shown.

use std::{
    path::{MAIN_SEPARATOR, Path, PathBuf},
    sync::Arc,
};

use serde_json::{Map, Value, json};

use crate::{
    path_text::name_to_text,
    tool::shown_path,
    workspace::search::{FoundFile, Skipped},
};

/// Shows paths as a model can use them: below the workspace relative to it, others absolute.
pub(in crate::tools) struct Paths(PathBuf);

impl Paths {
    pub(super) fn below(root: &Path) -> Self {
        Self(root.to_owned())
    }

    pub(super) fn root(&self) -> &Path {
        &self.0
    }

    pub(in crate::tools) fn shown(&self, path: &Path) -> String {
        if let Some(below) = self.quickly_below(path) {
            return shown_path(below);
        }
        match path.strip_prefix(&self.0) {
            Ok(below) if below.as_os_str().is_empty() => ".".to_owned(),
            Ok(below) => shown_path(below),
            Err(_) => shown_path(path),
        }
    }

    /// The path below the workspace, for most paths: without taking both apart, which for a long list
    /// takes as long as to sort it. Paths from a walk have one separator between their parts.
    fn quickly_below<'p>(&self, path: &'p Path) -> Option<&'p Path> {
        let below = path.to_str()?.strip_prefix(self.0.to_str()?)?;
        let below = below.strip_prefix(std::path::MAIN_SEPARATOR)?;
        (!below.is_empty()).then(|| Path::new(below))
    }

    /// Some paths in backticks.
    pub(super) fn named(&self, paths: &[PathBuf]) -> String {
        let names: Vec<String> = paths.iter().map(|it| format!("`{}`", self.shown(it))).collect();
        names.join(", ")
    }
}

/// Shows files one after the other. Their directories are shown once for all that follow each other.
pub(super) struct ShownFiles<'p> {
    paths: &'p Paths,
    absolute: bool,
    /// A directory, and what is shown before the names in it.
    folder: Option<(Arc<Path>, String)>,
}

impl<'p> ShownFiles<'p> {
    pub(super) fn new(paths: &'p Paths, absolute: bool) -> Self {
        Self { paths, absolute, folder: None }
    }

    pub(super) fn shown(&mut self, file: &FoundFile) -> String {
        let begin = match self.folder.take() {
            Some((folder, begin)) if Arc::ptr_eq(&folder, &file.folder) => begin,
            _ => self.begin(&file.folder),
        };
        let mut shown = String::with_capacity(begin.len() + file.name.len());
        shown.push_str(&begin);
        shown.push_str(&name_to_text(&file.name));
        self.folder = Some((Arc::clone(&file.folder), begin));
        shown
    }

    fn begin(&self, folder: &Path) -> String {
        let mut begin = if self.absolute {
            shown_path(folder)
        } else if folder == self.paths.root() {
            return String::new();
        } else {
            self.paths.shown(folder)
        };
        if !begin.ends_with(MAIN_SEPARATOR) {
            begin.push(MAIN_SEPARATOR);
        }
        begin
    }
}

/// `1 file`, `2 files`.
pub(super) fn amount(count: u64, noun: &str) -> String {
    let plural = if noun.ends_with("ch") { "es" } else { "s" };
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}{plural}") }
}

/// What could not be read, in words.
pub(super) fn unreadable_note(
    count: u64,
    examples: &[(PathBuf, String)],
    paths: &Paths,
) -> Option<String> {
    let (path, cause) = examples.first()?;
    let rest = count.saturating_sub(1);
    let more = if rest > 0 { format!(", and {rest} more") } else { String::new() };
    Some(format!("not searched: `{}` ({cause}){more}", paths.shown(path)))
}

/// The same as data.
pub(super) fn unreadable_data(
    count: u64,
    examples: &[(PathBuf, String)],
    paths: &Paths,
) -> Map<String, Value> {
    let mut data = Map::new();
    if count > 0 {
        data.insert("unreadable".to_owned(), json!(count));
        let examples: Vec<Value> = examples
            .iter()
            .map(|(path, cause)| json!({ "path": paths.shown(path), "cause": cause }))
            .collect();
        data.insert("examples".to_owned(), Value::Array(examples));
    }
    data
}

/// Which file was searched in part, in words.
pub(super) fn partly_note(skipped: &Skipped, paths: &Paths) -> Option<String> {
    let (path, from) = skipped.partly_examples.first()?;
    let rest = skipped.partly.saturating_sub(1);
    let more = if rest > 0 { format!(", and {rest} more are like it") } else { String::new() };
    Some(format!(
        "`{}` is binary from about byte {from} on and was searched up to there; name it as path to search all of it{more}",
        paths.shown(path)
    ))
}

/// The same as data.
pub(super) fn partly_data(skipped: &Skipped, paths: &Paths) -> Value {
    let files = skipped.partly_examples.iter();
    let files: Vec<Value> = files
        .map(|(path, from)| json!({ "file": paths.shown(path), "binaryFrom": from }))
        .collect();
    json!({ "count": skipped.partly, "files": files })
}
