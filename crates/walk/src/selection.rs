//! Selects the entries of a directory that a walk visits or enters.

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
};

use ignore::{
    overrides::OverrideBuilder,
    types::{Types, TypesBuilder},
};
use toolwright_base::shortened;
use toolwright_files::{EntryKind, WorkspacePath};

use super::{
    pattern::{MAX_GLOB_BYTES, PathPattern, PatternError, check_glob, literal_beginning},
    rule_set::RuleSet,
    rules::{IgnoreDecision, Naming},
};

/// How many characters of an unknown type are compared with known ones.
const MAX_TYPE_CHARS: usize = 40;

/// Whether names that begin with a dot are selected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HiddenFiles {
    /// They are treated like other names, except for `.git`.
    Seen,
    /// They are left out unless a pattern names them.
    LeftOut,
}

/// What a walk selects, besides the ignore rules.
#[derive(Debug)]
pub struct Selection {
    hidden: HiddenFiles,
    /// Globs as for ripgrep's `--glob`: a matching file is selected even if it is ignored.
    overrides: Option<Globs>,
    /// The directories that those globs spell out.
    places: Vec<PathBuf>,
    /// Whether one of those globs names `.git` or something in it.
    names_git: bool,
    types: Option<Types>,
    pattern: Option<PathPattern>,
}

/// Globs of a caller. They are parsed like ignore rules, but with the opposite meaning.
#[derive(Debug)]
struct Globs {
    rules: RuleSet,
    /// Whether one of them is positive. Then files that no glob matches are not selected.
    names_wanted: bool,
}

impl Globs {
    fn verdict(&self, path: &Path, is_folder: bool) -> Option<SelectionVerdict> {
        match self.rules.ruling(path, is_folder) {
            IgnoreDecision::Ignored => Some(SelectionVerdict::Taken),
            IgnoreDecision::Kept => Some(SelectionVerdict::Unwanted),
            IgnoreDecision::Unmentioned if self.names_wanted && !is_folder => {
                Some(SelectionVerdict::Unwanted)
            }
            IgnoreDecision::Unmentioned => None,
        }
    }
}

/// Why a selection was refused.
#[derive(Debug, thiserror::Error)]
pub enum SelectionError {
    /// A glob is invalid.
    #[error(transparent)]
    Pattern(#[from] PatternError),
    /// There is no file type with this name.
    #[error("there is no file type `{name}`; similar ones: {close}")]
    UnknownType {
        /// The name that was asked for.
        name: String,
        /// Similar names, as a list for the message.
        close: String,
    },
    /// The file type cannot be compiled.
    #[error("the file type `{0}` cannot be used: {1}")]
    BadType(String, String),
}

/// The decision of a selection about an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SelectionVerdict {
    Taken,
    /// Ignored or hidden. An answer may say that it was left out.
    LeftOut,
    /// Not what was asked for.
    Unwanted,
}

/// An entry to decide about.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate<'a> {
    pub(super) path: &'a Path,
    /// The path below the start. Only used if there is a pattern.
    pub(super) below: &'a Path,
    pub(super) name: &'a OsStr,
    pub(super) kind: EntryKind,
    /// How many levels below the start its directory is.
    pub(super) depth: usize,
}

impl Selection {
    /// Selects everything.
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

    /// Selects only files that match these globs, which are relative to a directory and have ripgrep's
    /// meaning: `!` excludes.
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
            // The caller wants to see what is in a directory that a glob spells out.
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

    /// Selects only files of one of ripgrep's types.
    pub fn with_type(mut self, name: &str) -> Result<Self, SelectionError> {
        let mut builder = TypesBuilder::new();
        builder.add_defaults();
        let definitions = builder.definitions();
        if name != "all" && !definitions.iter().any(|it| it.name() == name) {
            // Computing the distance takes longer for long names, and no known name is long.
            let asked = shortened(name, MAX_TYPE_CHARS).into_owned();
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

    /// Selects only files whose path below the start matches. Unlike with ripgrep's globs, ignored files
    /// are not selected unless the pattern spells them out.
    #[must_use]
    pub fn with_pattern(mut self, pattern: PathPattern) -> Self {
        self.pattern = Some(pattern);
        self
    }

    /// Whether a file that the caller named matches the pattern, by its name or by its path below the
    /// root. Globs and types do not apply to such a file, as in ripgrep.
    pub fn takes_file(&self, file: &WorkspacePath) -> bool {
        let Some(pattern) = &self.pattern else { return true };
        let path = file.absolute();
        let name = path.file_name().unwrap_or_default();
        let below = path.strip_prefix(file.root()).unwrap_or(path);
        pattern.fits_name(name) && (pattern.fits_path(Path::new(name)) || pattern.fits_path(below))
    }

    /// Whether the caller named a directory, which is `depth` levels below the start.
    pub(super) fn naming(&self, folder: &Path, depth: usize) -> Naming {
        if self.is_named(folder, depth) { Naming::Named } else { Naming::Reached }
    }

    /// The same as a plain answer.
    pub fn is_named(&self, folder: &Path, depth: usize) -> bool {
        let spelled_out = self.pattern.as_ref().map_or(0, PathPattern::spelled_out);
        depth <= spelled_out || self.places.iter().any(|it| it == folder)
    }

    /// Whether the decision depends on the path below the start.
    pub(super) fn needs_path_below(&self) -> bool {
        self.pattern.as_ref().is_some_and(|it| !it.is_by_name())
    }

    /// Whether a file can be rejected by its name alone. `verdict` does not check this again.
    pub(super) fn rejects_name(&self, name: &OsStr) -> bool {
        self.pattern.as_ref().is_some_and(|it| !it.fits_name(name))
    }

    /// Whether something may be selected although it is ignored.
    pub fn may_take_ignored(&self) -> bool {
        self.overrides.is_some() || self.names_git || self.pattern.is_some()
    }

    /// Whether the decision depends on the absolute path.
    pub(super) fn needs_path(&self) -> bool {
        self.overrides.is_some() || self.types.is_some()
    }

    /// The decision about an entry. `is_ignored` says whether the ignore rules ignore it, and is only asked
    /// if that matters.
    pub(super) fn verdict(
        &self,
        entry: Candidate<'_>,
        is_ignored: impl FnOnce() -> bool,
    ) -> SelectionVerdict {
        let is_folder = entry.kind == EntryKind::Folder;
        let mut named = false;
        if let Some(pattern) = &self.pattern {
            if is_folder {
                if !pattern.leads_into(entry.name, entry.depth) {
                    return SelectionVerdict::Unwanted;
                }
            } else if !pattern.fits_path(entry.below) {
                return SelectionVerdict::Unwanted;
            }
            named = pattern.names(entry.name, entry.depth) || (!is_folder && pattern.names_files());
        }
        // Checked before the globs, because `*` is not meant to include it.
        if entry.name == ".git" && !named && !self.names_git {
            return SelectionVerdict::Unwanted;
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
            return SelectionVerdict::Unwanted;
        }
        let is_hidden = entry.name.as_encoded_bytes().first() == Some(&b'.');
        let left_out = (is_hidden && self.hidden == HiddenFiles::LeftOut) || is_ignored();
        if left_out && !named {
            return SelectionVerdict::LeftOut;
        }
        SelectionVerdict::Taken
    }
}
