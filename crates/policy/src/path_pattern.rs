//! Patterns of paths in rules, similar to those of ignore files.
//!
//! `src/**` and `/src/**` start at the project, `~/x` at home, `//etc/x` at the root of the file system. A name
//! without a slash matches at any depth. A name also covers everything below it. All patterns of a policy are
//! matched at once.

use std::path::{Path, PathBuf};

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use super::places::{PolicyPlaces, normal};

/// How many braces a pattern may have. The glob library recurses over them.
const MAX_BRACES: usize = 16;
const MAX_LENGTH: usize = 1_024;

/// A pattern of a policy, by its index.
pub(super) type PatternId = usize;

/// How much a pattern matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// A permission: `src/*` is the files of `src`.
    Narrow,
    /// A limit: `src/*` is everything below `src`, as in ignore files.
    Wide,
}

/// Patterns under construction.
pub(super) struct PathPatterns {
    builder: GlobSetBuilder,
    /// The pattern that each glob of the set belongs to.
    owners: Vec<PatternId>,
    /// Where each pattern starts, up to its first wildcard.
    bases: Vec<PathBuf>,
    /// Each pattern as a glob over absolute paths.
    texts: Vec<String>,
}

/// The patterns of a policy, ready to match.
#[derive(Debug, Default)]
pub(super) struct PathIndex {
    set: GlobSet,
    owners: Vec<PatternId>,
    bases: Vec<PathBuf>,
    texts: Vec<String>,
}

impl PathPatterns {
    pub(super) fn new() -> Self {
        Self {
            builder: GlobSetBuilder::new(),
            owners: Vec::new(),
            bases: Vec::new(),
            texts: Vec::new(),
        }
    }

    /// Adds a pattern as it is written in a rule.
    pub(super) fn add(
        &mut self,
        text: &str,
        reach: Reach,
        places: &PolicyPlaces,
    ) -> Result<PatternId, String> {
        self.add_anchored(anchored(text, places)?, reach)
            .map_err(|cause| format!("`{text}` is not a pattern of paths: {cause}"))
    }

    /// Adds the pattern of a directory and everything below it.
    pub(super) fn add_directory(
        &mut self,
        directory: &Path,
        reach: Reach,
    ) -> Result<PatternId, String> {
        let text = directory.to_str().ok_or("the directory's path is not UTF-8")?;
        let pattern = match text.trim_end_matches('/') {
            "" => "/**".to_owned(),
            text => escaped(text),
        };
        self.add_anchored(pattern, reach)
    }

    fn add_anchored(&mut self, anchored: String, reach: Reach) -> Result<PatternId, String> {
        let id = self.bases.len();
        let last = anchored.rsplit('/').next().unwrap_or_default();
        let mut globs = vec![anchored.clone()];
        if reach == Reach::Wide || !has_wildcard(last) {
            globs.push(format!("{anchored}/**"));
        }
        // If the content of a directory must not be read, the directory must not be copied either.
        let directory = anchored.strip_suffix("/**").filter(|it| !it.is_empty());
        if let (Reach::Wide, Some(directory)) = (reach, directory) {
            globs.push(directory.to_owned());
        }
        for glob in globs {
            let built = GlobBuilder::new(&glob)
                .literal_separator(true)
                .backslash_escape(true)
                // On these systems `.ENV` may be the same file as `.env`.
                .case_insensitive(cfg!(any(target_os = "macos", windows)))
                .build()
                .map_err(|it| it.kind().to_string())?;
            self.builder.add(built);
            self.owners.push(id);
        }
        self.bases.push(base_of(&anchored));
        self.texts.push(anchored);
        Ok(id)
    }

    /// Compiles the patterns.
    pub(super) fn build(self) -> Result<PathIndex, String> {
        let set = self.builder.build().map_err(|it| format!("the patterns of paths: {it}"))?;
        Ok(PathIndex { set, owners: self.owners, bases: self.bases, texts: self.texts })
    }
}

impl PathIndex {
    /// The patterns that match a path, in no particular order. A pattern may occur twice.
    pub(super) fn matches(&self, path: &Path) -> Vec<PatternId> {
        if self.owners.is_empty() {
            return Vec::new();
        }
        let found = self.set.matches(path);
        found.into_iter().filter_map(|glob| self.owners.get(glob).copied()).collect()
    }

    /// The patterns that start at a directory or below it.
    pub(super) fn starting_below(&self, directory: &Path) -> impl Iterator<Item = PatternId> {
        let bases = self.bases.iter().enumerate();
        bases.filter(move |(_, base)| base.starts_with(directory)).map(|(id, _)| id)
    }

    /// The pattern as a glob over absolute paths.
    pub(super) fn text(&self, id: PatternId) -> Option<&str> {
        self.texts.get(id).map(String::as_str)
    }

    /// The directory or file that a pattern starts at.
    pub(super) fn base(&self, id: PatternId) -> Option<&Path> {
        self.bases.get(id).map(PathBuf::as_path)
    }
}

/// The pattern as a glob over absolute paths.
fn anchored(text: &str, places: &PolicyPlaces) -> Result<String, String> {
    if text.len() > MAX_LENGTH || text.matches(['{', '[']).count() > MAX_BRACES {
        return Err("the pattern is too long or has too many braces".to_owned());
    }
    if text.is_empty() || text.contains('\0') {
        return Err("the pattern is empty or has a NUL character".to_owned());
    }
    if text.split('/').any(|it| it == "..") {
        return Err(format!("`{text}` climbs with `..`; write where it should start, as `//path`"));
    }
    let below = |base: &Path, rest: &str| -> Result<String, String> {
        let base = base.to_str().ok_or("the project's path is not UTF-8")?;
        let base = escaped(base.trim_end_matches('/'));
        Ok(format!("{base}/{}", rest.trim_start_matches('/').trim_end_matches('/')))
    };
    if let Some(rest) = text.strip_prefix("//") {
        return below(Path::new("/"), rest);
    }
    if text == "~" || text.starts_with("~/") {
        let home =
            places.home.as_deref().ok_or("`~` is not known here; write the path as `//…`")?;
        return below(home, text.trim_start_matches('~'));
    }
    let rest = text.strip_prefix("./").unwrap_or(text);
    if matches!(rest, "" | ".") {
        return below(&places.project, "**");
    }
    // A name without a slash matches at any depth, as in ignore files.
    let is_lone = !rest.trim_end_matches('/').contains('/') && rest.len() == text.len();
    if is_lone {
        below(&places.project, &format!("**/{rest}"))
    } else {
        below(&places.project, rest)
    }
}

/// The text as a glob that matches it and nothing else.
pub(super) fn escaped(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    for character in text.chars() {
        if matches!(character, '*' | '?' | '[' | ']' | '{' | '}' | '\\' | '!' | ',') {
            result.push('\\');
        }
        result.push(character);
    }
    result
}

fn base_of(glob: &str) -> PathBuf {
    let literal: Vec<String> = glob
        .split('/')
        .take_while(|it| !it.contains(['*', '?', '[', '{']) || it.contains('\\'))
        .map(|it| it.replace('\\', ""))
        .collect();
    normal(&Path::new("/").join(literal.join("/")))
}

/// True for a glob with a wildcard that is not escaped.
pub(super) fn has_wildcard(glob: &str) -> bool {
    let mut characters = glob.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => drop(characters.next()),
            '*' | '?' | '[' | '{' => return true,
            _ => {}
        }
    }
    false
}
