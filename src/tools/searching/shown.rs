//! How places and amounts are shown.

use std::{
    path::{MAIN_SEPARATOR, Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use crate::{
    path_text::name_to_text,
    tool::shown_path,
    workspace::{
        search::{FoundFile, Notices, Skipped},
        walk::UnappliedRules,
    },
};

/// Shows the paths of one answer: below a directory relative to it, others absolute. An answer that
/// shows a relative path says once what it is relative to, because other tools want absolute ones.
pub(in crate::tools) struct Paths {
    root: PathBuf,
    /// Whether a relative path has been shown.
    is_owed: AtomicBool,
}

impl Paths {
    pub(in crate::tools) fn below(root: &Path) -> Self {
        Self { root: root.to_owned(), is_owed: AtomicBool::new(false) }
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// A path in the text of the answer.
    pub(in crate::tools) fn shown(&self, path: &Path) -> String {
        let (shown, is_relative) = self.told(path);
        if is_relative {
            self.owe_the_root();
        }
        shown
    }

    /// The same path in the answer's data, where the directory has a place of its own.
    pub(in crate::tools) fn in_data(&self, path: &Path) -> String {
        self.told(path).0
    }

    /// The directory, for the answer's data.
    pub(in crate::tools) fn root_in_data(&self) -> String {
        shown_path(&self.root)
    }

    /// The path, and whether it is relative.
    fn told(&self, path: &Path) -> (String, bool) {
        if let Some(below) = self.quickly_below(path) {
            return (shown_path(below), true);
        }
        match path.strip_prefix(&self.root) {
            Ok(below) if below.as_os_str().is_empty() => (".".to_owned(), true),
            Ok(below) => (shown_path(below), true),
            Err(_) => (shown_path(path), false),
        }
    }

    /// The answer shows something relative, by whomever.
    pub(in crate::tools) fn owe_the_root(&self) {
        self.is_owed.store(true, Ordering::Relaxed);
    }

    /// What the paths in the text are relative to; nothing where none is relative.
    pub(in crate::tools) fn root_note(&self) -> Option<String> {
        let root = || format!("paths are relative to `{}`", shown_path(&self.root));
        self.is_owed.load(Ordering::Relaxed).then(root)
    }

    /// The path below the workspace, for most paths: without taking both apart, which for a long list
    /// takes as long as to sort it. Paths from a walk have one separator between their parts.
    fn quickly_below<'p>(&self, path: &'p Path) -> Option<&'p Path> {
        let below = path.to_str()?.strip_prefix(self.root.to_str()?)?;
        let below = below.strip_prefix(std::path::MAIN_SEPARATOR)?;
        (!below.is_empty()).then(|| Path::new(below))
    }

    pub(super) fn all_in_data(&self, paths: &[PathBuf]) -> Vec<String> {
        paths.iter().map(|it| self.in_data(it)).collect()
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
    /// A directory, and what is shown before the names in it.
    folder: Option<(Arc<Path>, String)>,
}

impl<'p> ShownFiles<'p> {
    pub(super) fn new(paths: &'p Paths) -> Self {
        Self { paths, folder: None }
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
        let mut begin = self.paths.shown(folder);
        if folder == self.paths.root() {
            return String::new();
        }
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
