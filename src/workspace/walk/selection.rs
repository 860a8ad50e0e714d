//! Which entries of a directory a walk takes.

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
};

use ignore::{
    overrides::OverrideBuilder,
    types::{Types, TypesBuilder},
};

use super::{
    entry::EntryKind,
    folder::Folder,
    pattern::{MAX_GLOB_BYTES, PathPattern, PatternError, check_glob, literal_beginning},
    rule_set::RuleSet,
    rules::{Naming, Rules, Ruling},
};
use crate::workspace::WorkspacePath;

/// How much of an unknown type's name is looked at.
const MAX_TYPE_CHARS: usize = 40;

/// Whether names that begin with a dot are seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HiddenFiles {
    /// Like any other; `.git` alone is left out.
    Seen,
    /// Left out unless a pattern names them.
    LeftOut,
}

/// Whether ignore rules hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IgnoreRules {
    /// What they ignore is left out.
    Hold,
    /// Nobody looks at them.
    Disregarded,
}

/// What a walk takes, beside the ignore rules.
#[derive(Debug)]
pub struct Selection {
    hidden: HiddenFiles,
    /// ripgrep's `--glob`: a file it names is taken even if it is ignored.
    overrides: Option<Globs>,
    /// Directories that those globs spell out.
    places: Vec<PathBuf>,
    /// Whether one of them is about what is in `.git`, or about it.
    names_git: bool,
    types: Option<Types>,
    pattern: Option<PathPattern>,
}

/// Globs of a caller. They say of a file what rules say, the other way round.
#[derive(Debug)]
struct Globs {
    rules: RuleSet,
    /// Whether one of them names what is wanted: what none of them is about is then unwanted.
    names_wanted: bool,
}

impl Globs {
    fn verdict(&self, path: &Path, is_folder: bool) -> Option<Verdict> {
        match self.rules.ruling(path, is_folder) {
            Ruling::Ignored => Some(Verdict::Taken),
            Ruling::Kept => Some(Verdict::Unwanted),
            Ruling::Unmentioned if self.names_wanted && !is_folder => Some(Verdict::Unwanted),
            Ruling::Unmentioned => None,
        }
    }
}

/// Why a selection was refused.
#[derive(Debug, thiserror::Error)]
pub enum SelectionError {
    /// A glob is no glob.
    #[error(transparent)]
    Pattern(#[from] PatternError),
    /// The type is unknown.
    #[error("no file type is named `{name}`; close ones: {close}")]
    UnknownType {
        /// The type as it came.
        name: String,
        /// Names like it.
        close: String,
    },
    /// The types cannot be used.
    #[error("the file type `{0}` cannot be used: {1}")]
    BadType(String, String),
}

/// What a selection says of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Taken,
    /// Ignored, or hidden: an answer may say that it was left out.
    LeftOut,
    /// Nothing that was asked for.
    Unwanted,
}

/// An entry to be judged.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate<'a> {
    pub(super) path: &'a Path,
    /// The path below the start; only looked at where there is a pattern.
    pub(super) below: &'a Path,
    pub(super) name: &'a OsStr,
    pub(super) kind: EntryKind,
    /// How many directories below the start its own directory is.
    pub(super) depth: usize,
}

impl Selection {
    /// Everything.
    pub fn new(hidden: HiddenFiles) -> Self {
        Self {
            hidden,
            overrides: None,
            places: Vec::new(),
            names_git: false,
            types: None,
            pattern: None,
        }
    }

    /// Only files that fit ripgrep's globs, which are relative to a directory; `!` leaves out.
    pub fn with_globs(
        mut self,
        globs: &[String],
        relative_to: &Path,
    ) -> Result<Self, SelectionError> {
        let bytes = globs.iter().map(String::len).sum();
        if bytes > MAX_GLOB_BYTES {
            return Err(PatternError::TooLong(bytes).into());
        }
        let mut lines: Vec<String> = Vec::new();
        for glob in globs {
            check_glob(glob)?;
            // Who names a directory wants what is in it, ignored or not.
            let mut place = String::new();
            if !glob.starts_with('!') && glob.trim_start_matches('/').contains('/') {
                let parts = literal_beginning(glob.trim_start_matches('/'));
                for part in parts.iter().filter_map(|it| it.to_str()) {
                    place = format!("{place}/{part}");
                    lines.push(format!("{place}/"));
                    self.places.push(relative_to.join(place.trim_start_matches('/')));
                }
            }
            self.names_git |= !glob.starts_with('!') && glob.split('/').any(|part| part == ".git");
            OverrideBuilder::new(relative_to)
                .add(glob)
                .map_err(|err| PatternError::Malformed(glob.clone(), err.to_string()))?;
            lines.push(glob.clone());
        }
        let read = RuleSet::of_globs(&lines, relative_to);
        if let Some(limit) = read.limit {
            return Err(PatternError::Malformed(globs.join(" "), limit).into());
        }
        self.overrides = read.rules.map(|rules| Globs { names_wanted: rules.ignores_any(), rules });
        Ok(self)
    }

    /// Only files of one of ripgrep's types.
    pub fn with_type(mut self, name: &str) -> Result<Self, SelectionError> {
        let mut builder = TypesBuilder::new();
        builder.add_defaults();
        let definitions = builder.definitions();
        if name != "all" && !definitions.iter().any(|it| it.name() == name) {
            // Distance takes time by length, and no name is long.
            let asked: String = name.chars().take(MAX_TYPE_CHARS).collect();
            let mut names: Vec<&str> =
                definitions.iter().map(ignore::types::FileTypeDef::name).collect();
            names.sort_by_key(|it| strsim::osa_distance(it, &asked));
            let close: Vec<String> = names.iter().take(5).map(|it| format!("`{it}`")).collect();
            return Err(SelectionError::UnknownType { name: asked, close: close.join(", ") });
        }
        let types = builder
            .select(name)
            .build()
            .map_err(|err| SelectionError::BadType(name.to_owned(), err.to_string()))?;
        self.types = Some(types);
        Ok(self)
    }

    /// Only files whose path below the start fits. Unlike ripgrep's globs, it brings nothing back
    /// that is ignored, except what it spells out.
    #[must_use]
    pub fn with_pattern(mut self, pattern: PathPattern) -> Self {
        self.pattern = Some(pattern);
        self
    }

    /// Whether a file that the caller named is searched: by its name, or by where it is below its root.
    /// To ripgrep's globs and types, as to ripgrep itself, it is whatever they say.
    pub fn takes_file(&self, file: &WorkspacePath) -> bool {
        let Some(pattern) = &self.pattern else { return true };
        let path = file.absolute();
        let name = path.file_name().unwrap_or_default();
        let below = path.strip_prefix(file.root()).unwrap_or(path);
        pattern.fits_name(name) && (pattern.fits_path(Path::new(name)) || pattern.fits_path(below))
    }

    /// Whether a directory is what was asked for by name.
    pub(super) fn naming(&self, folder: &Folder) -> Naming {
        let spelled_out = self.pattern.as_ref().map_or(0, PathPattern::spelled_out);
        if folder.depth() <= spelled_out || self.is_place(folder) {
            Naming::Named
        } else {
            Naming::Reached
        }
    }

    fn is_place(&self, folder: &Folder) -> bool {
        !self.places.is_empty() && self.places.contains(&folder.path().to_path_buf())
    }

    /// Whether files are judged by where they are below the start.
    pub(super) fn needs_path_below(&self) -> bool {
        self.pattern.as_ref().is_some_and(|it| !it.is_by_name())
    }

    /// Whether a file is unwanted whatever else may be known of it. A verdict is only about the others.
    pub(super) fn rejects_name(&self, name: &OsStr) -> bool {
        self.pattern.as_ref().is_some_and(|it| !it.fits_name(name))
    }

    /// Whether files are judged by where they are.
    pub(super) fn needs_path(&self) -> bool {
        self.overrides.is_some() || self.types.is_some()
    }

    pub(super) fn verdict(&self, entry: Candidate<'_>, rules: Option<&Rules>) -> Verdict {
        let is_folder = entry.kind == EntryKind::Folder;
        let mut named = false;
        if let Some(pattern) = &self.pattern {
            if is_folder {
                if !pattern.leads_into(entry.name, entry.depth) {
                    return Verdict::Unwanted;
                }
            } else if !pattern.fits_path(entry.below) {
                return Verdict::Unwanted;
            }
            named = pattern.names(entry.name, entry.depth) || (!is_folder && pattern.names_files());
        }
        // Before the globs: `*` is no wish to see it.
        if entry.name == ".git" && !named && !self.names_git {
            return Verdict::Unwanted;
        }
        if let Some(verdict) =
            self.overrides.as_ref().and_then(|it| it.verdict(entry.path, is_folder))
        {
            return verdict;
        }
        if !is_folder
            && let Some(types) = &self.types
            && types.matched(entry.path, is_folder).is_ignore()
        {
            return Verdict::Unwanted;
        }
        let is_hidden = entry.name.as_encoded_bytes().first() == Some(&b'.');
        let left_out = (is_hidden && self.hidden == HiddenFiles::LeftOut)
            || rules.is_some_and(|it| it.ruling(entry.path, entry.kind) == Ruling::Ignored);
        if left_out && !named {
            return Verdict::LeftOut;
        }
        Verdict::Taken
    }
}
