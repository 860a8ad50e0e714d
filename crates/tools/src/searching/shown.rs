//! Formats the paths, counts and notes of search answers.

use std::{
    path::{MAIN_SEPARATOR, Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use toolwright_base::{name_to_text, shown_path};
use toolwright_search::{FoundFile, Notices, Skipped};
use toolwright_walk::UnappliedRules;

/// Formats the paths of one answer: relative to a directory if they are below it, otherwise absolute. An answer
/// with a relative path says once what it is relative to, because other tools need absolute paths.
pub(crate) struct Paths {
    root: PathBuf,
    /// Whether a relative path has been shown.
    is_owed: AtomicBool,
}

impl Paths {
    pub(crate) fn below(root: &Path) -> Self {
        Self { root: root.to_owned(), is_owed: AtomicBool::new(false) }
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// A path for the text of the answer.
    pub(crate) fn shown(&self, path: &Path) -> String {
        let (shown, is_relative) = self.text_of(path);
        if is_relative {
            self.owe_the_root();
        }
        shown
    }

    /// A path for the structured data, which contains the directory in a separate property.
    pub(crate) fn in_data(&self, path: &Path) -> String {
        self.text_of(path).0
    }

    /// The directory, for the structured data.
    pub(crate) fn root_in_data(&self) -> String {
        shown_path(&self.root)
    }

    /// The text of a path, and whether it is relative.
    fn text_of(&self, path: &Path) -> (String, bool) {
        if let Some(below) = self.quickly_below(path) {
            return (shown_path(below), true);
        }
        match path.strip_prefix(&self.root) {
            Ok(below) if below.as_os_str().is_empty() => (".".to_owned(), true),
            Ok(below) => (shown_path(below), true),
            Err(_) => (shown_path(path), false),
        }
    }

    /// Notes that the answer has a relative path, so that [`Self::root_note`] is needed.
    pub(crate) fn owe_the_root(&self) {
        self.is_owed.store(true, Ordering::Relaxed);
    }

    /// Says what the paths in the text are relative to; `None` if none is relative.
    pub(crate) fn root_note(&self) -> Option<String> {
        let root = || format!("paths are relative to `{}`", shown_path(&self.root));
        self.is_owed.load(Ordering::Relaxed).then(root)
    }

    /// The relative path by comparing text, which works for most paths. Comparing components takes as long as
    /// sorting the list, and paths from a walk have a single separator between components.
    fn quickly_below<'p>(&self, path: &'p Path) -> Option<&'p Path> {
        let below = path.to_str()?.strip_prefix(self.root.to_str()?)?;
        let below = below.strip_prefix(std::path::MAIN_SEPARATOR)?;
        (!below.is_empty()).then(|| Path::new(below))
    }

    pub(super) fn all_in_data(&self, paths: &[PathBuf]) -> Vec<String> {
        paths.iter().map(|it| self.in_data(it)).collect()
    }

    /// Some paths in backticks, separated by commas.
    pub(super) fn named(&self, paths: &[PathBuf]) -> String {
        let names: Vec<String> = paths.iter().map(|it| format!("`{}`", self.shown(it))).collect();
        names.join(", ")
    }
}

/// Formats the paths of many files. The text of a directory is reused for the files that follow in it.
pub(super) struct ShownFiles<'p> {
    paths: &'p Paths,
    /// The last directory, and the text before the names in it.
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

/// A number with its noun: `1 file`, `2 files`.
pub(super) fn amount(count: u64, noun: &str) -> String {
    let plural = if noun.ends_with("ch") { "es" } else { "s" };
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}{plural}") }
}

/// Notes about what could not be read, and about ignore rules that were not applied.
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

/// A note about the first of the ignore files with rules that were not applied.
pub(crate) fn rules_in_words(unapplied: &[UnappliedRules], paths: &Paths) -> Option<String> {
    let UnappliedRules { file, cause } = unapplied.first()?;
    Some(format!("ignore rules not applied: `{}` ({cause})", paths.shown(file)))
}

/// A note about the first of the files that were searched in part.
pub(super) fn partly_note(skipped: &Skipped, paths: &Paths) -> Option<String> {
    let (path, from) = skipped.partly_examples.first()?;
    let rest = skipped.partly.saturating_sub(1);
    let more =
        if rest > 0 { format!("; the same applies to {rest} more files") } else { String::new() };
    Some(format!(
        "`{}` is binary from about byte {from} on and was searched up to there; pass it as path to search all of it{more}",
        paths.shown(path)
    ))
}
