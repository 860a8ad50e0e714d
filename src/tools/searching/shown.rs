//! How places and amounts are shown.

use std::{
    path::{MAIN_SEPARATOR, Path, PathBuf},
    sync::Arc,
};

use serde_json::{Map, Value, json};

use crate::{
    path_text::name_to_text,
    tool::shown_path,
    workspace::{
        search::{FoundFile, Notices, Skipped},
        walk::UnappliedRules,
    },
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

/// What could not be read, and which rules did not hold, in words.
pub(super) fn notices_in_words(notices: &Notices, paths: &Paths) -> Vec<String> {
    let more = |count: u64| match count.saturating_sub(1) {
        0 => String::new(),
        rest => format!(", and {rest} more"),
    };
    let unreadable = notices.examples.first().map(|(path, cause)| {
        format!("not searched: `{}` ({cause}){}", paths.shown(path), more(notices.unreadable))
    });
    let unapplied = rules_in_words(&notices.unapplied_examples, paths);
    let unapplied = unapplied.map(|it| it + &more(notices.unapplied));
    unreadable.into_iter().chain(unapplied).collect()
}

/// The first of the rules that did not hold, in words.
pub(in crate::tools) fn rules_in_words(
    unapplied: &[UnappliedRules],
    paths: &Paths,
) -> Option<String> {
    let UnappliedRules { file, cause } = unapplied.first()?;
    Some(format!("ignore rules that do not hold: `{}` ({cause})", paths.shown(file)))
}

/// The same as data.
pub(super) fn notices_data(notices: &Notices, paths: &Paths) -> Map<String, Value> {
    let named = |path: &Path, cause: &str| json!({ "path": paths.shown(path), "cause": cause });
    let mut data = Map::new();
    if notices.unreadable > 0 {
        data.insert("unreadable".to_owned(), json!(notices.unreadable));
        let examples = notices.examples.iter().map(|(path, cause)| named(path, cause));
        data.insert("examples".to_owned(), examples.collect());
    }
    if notices.unapplied > 0 {
        let files = notices.unapplied_examples.iter().map(|it| named(&it.file, &it.cause));
        let files: Value = files.collect();
        data.insert("rules".to_owned(), json!({ "count": notices.unapplied, "files": files }));
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
