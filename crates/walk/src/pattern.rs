//! Glob patterns that select files by path, for the tools that find files.

use std::{
    ffi::{OsStr, OsString},
    path::Path,
};

use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

/// The length of the longest pattern.
pub(super) const MAX_GLOB_BYTES: usize = 4_096;
/// How deep braces may be nested. The parser is recursive, and a stack overflow would end the host.
const MAX_NESTING: usize = 16;
/// Braces are expanded into at most this many patterns. Larger ones are left to the regex engine.
const MAX_ALTERNATIVES: usize = 64;

/// Why a pattern was refused.
#[derive(Debug, thiserror::Error)]
pub enum PatternError {
    /// The pattern is too long.
    #[error("the pattern has {0} bytes; at most {MAX_GLOB_BYTES} are taken")]
    TooLong(usize),
    /// The braces of the pattern are nested too deeply.
    #[error("the braces of the pattern are nested deeper than {MAX_NESTING} levels")]
    TooDeep,
    /// The pattern is empty.
    #[error("the pattern is empty; `**/*` finds every file")]
    Empty,
    /// The pattern contains `..`.
    #[error("`{0}` leads out of the directory; give the directory to search in instead of `..`")]
    Climbs(String),
    /// The pattern is not a valid glob.
    #[error("`{0}` is not a glob: {1}")]
    Malformed(String, String),
}

/// Where a pattern without a slash matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// In every directory below the start.
    Any,
    /// Only in the start directory.
    Top,
}

/// How a path is matched.
#[derive(Debug)]
enum Fit {
    /// By the end of the file name, as for `*.{c,h}`. Most patterns are like that, and this is faster
    /// than a glob.
    NameEnds(Vec<String>),
    /// By the file name, in any directory.
    Name(GlobSet),
    /// By the path below the start.
    Path(GlobSet),
}

/// A compiled pattern for paths relative to the start of a walk.
#[derive(Debug)]
pub struct PathPattern {
    fit: Fit,
    /// The directories with which every matching path begins; the whole path if the pattern has no
    /// wildcard.
    literal: Vec<OsString>,
    /// Whether the pattern spells out the names of the files it matches, in whatever directory.
    names_files: bool,
}

impl PathPattern {
    /// Compiles a pattern, after checking its length and nesting.
    pub fn new(pattern: &str, depth: Depth) -> Result<Self, PatternError> {
        let trimmed = pattern.trim_start_matches("./");
        if trimmed.is_empty() {
            return Err(PatternError::Empty);
        }
        check_glob(trimmed)?;
        if trimmed.split('/').any(|part| part == "..") {
            return Err(PatternError::Climbs(pattern.to_owned()));
        }
        let anchored = trimmed.trim_start_matches('/');
        let floats = depth == Depth::Any && !trimmed.contains('/');
        let last = if floats { Some(anchored) } else { anchored.strip_prefix("**/") };
        // Within a name, `**` means the same as `*`.
        let name = last.filter(|it| !it.contains('/')).map(single_stars);
        let malformed = |err: globset::Error| {
            PatternError::Malformed(pattern.to_owned(), err.kind().to_string())
        };
        let parts = alternatives(name.as_deref().unwrap_or(anchored));
        let literal = if floats { Vec::new() } else { literal_beginning(anchored) };
        if name.is_some()
            && let Some(ends) = parts.iter().map(|it| plain_end(it)).collect()
        {
            return Ok(Self { fit: Fit::NameEnds(ends), literal, names_files: false });
        }
        let is_name = |it: &String| it.rsplit('/').next().is_some_and(is_literal);
        let names_files = parts.iter().all(is_name);
        let mut globs = GlobSetBuilder::new();
        for glob in parts {
            let glob = GlobBuilder::new(&glob)
                .literal_separator(true)
                .backslash_escape(true)
                .empty_alternates(true)
                .build()
                .map_err(malformed)?;
            globs.add(glob);
        }
        let globs = globs.build().map_err(malformed)?;
        let fit = if name.is_some() { Fit::Name(globs) } else { Fit::Path(globs) };
        Ok(Self { fit, literal, names_files })
    }

    /// Whether files are matched by name alone.
    pub(super) fn is_by_name(&self) -> bool {
        !matches!(self.fit, Fit::Path(_))
    }

    /// Whether a file matches by its name. True if the pattern is not by name.
    pub(super) fn fits_name(&self, name: &OsStr) -> bool {
        match &self.fit {
            Fit::NameEnds(ends) => {
                let name = name.as_encoded_bytes();
                // Most names differ in the last byte.
                let fits = |end: &[u8]| {
                    end.last().is_none_or(|it| name.last() == Some(it)) && name.ends_with(end)
                };
                ends.iter().any(|end| fits(end.as_bytes()))
            }
            Fit::Name(globs) => globs.is_match(name),
            Fit::Path(_) => true,
        }
    }

    /// Whether a file matches by its path below the start. True if the pattern is not by path.
    pub(super) fn fits_path(&self, below: &Path) -> bool {
        match &self.fit {
            Fit::Path(globs) => globs.is_match(below),
            Fit::NameEnds(_) | Fit::Name(_) => true,
        }
    }

    /// Whether a directory at this depth may contain matching files.
    pub(super) fn leads_into(&self, name: &OsStr, depth: usize) -> bool {
        self.literal.get(depth).is_none_or(|literal| literal == name)
    }

    /// Whether the pattern spells out this part of the path. Such entries are shown even if they are
    /// ignored.
    pub(super) fn names(&self, name: &OsStr, depth: usize) -> bool {
        self.literal.get(depth).is_some_and(|literal| literal == name)
    }

    /// Whether the pattern spells out the names of the files it matches.
    pub(super) fn names_files(&self) -> bool {
        self.names_files
    }

    /// How many nested directories below the start the pattern spells out.
    pub(super) fn spelled_out(&self) -> usize {
        self.literal.len()
    }
}

/// Splits an absolute pattern into the directory that it spells out and the pattern below that.
pub fn split_absolute(pattern: &str) -> Option<(String, String)> {
    let below = pattern.strip_prefix('/')?;
    let parts: Vec<&str> = below.split('/').collect();
    let literal = literal_beginning(below).len().min(parts.len().saturating_sub(1));
    let (folder, rest) = parts.split_at(literal);
    Some((format!("/{}", folder.join("/")), rest.join("/")))
}

/// Refuses globs that are too long or too deeply nested for the parser.
pub(super) fn check_glob(glob: &str) -> Result<(), PatternError> {
    if glob.len() > MAX_GLOB_BYTES {
        return Err(PatternError::TooLong(glob.len()));
    }
    if nests_too_deep(glob) { Err(PatternError::TooDeep) } else { Ok(()) }
}

/// Whether braces are nested too deeply. Braces that are escaped or in a class are counted as well, so
/// that the result is never too small.
pub(super) fn nests_too_deep(glob: &str) -> bool {
    let mut depth = 0_usize;
    for byte in glob.bytes() {
        match byte {
            b'{' => depth += 1,
            b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > MAX_NESTING {
            return true;
        }
    }
    false
}

/// The components before the first one that has a wildcard.
pub(super) fn literal_beginning(glob: &str) -> Vec<OsString> {
    glob.split('/').take_while(|part| is_literal(part)).map(OsString::from).collect()
}

/// Whether a component of a glob has no wildcard.
fn is_literal(part: &str) -> bool {
    !part.is_empty() && !part.contains(['*', '?', '[', '{', '\\'])
}

/// Replaces consecutive stars by one.
fn single_stars(name: &str) -> String {
    let mut single = String::with_capacity(name.len());
    let mut after_star = false;
    let mut escaped = false;
    for character in name.chars() {
        let is_star = character == '*' && !escaped;
        if !(is_star && after_star) {
            single.push(character);
        }
        after_star = is_star;
        escaped = character == '\\' && !escaped;
    }
    single
}

/// Expands one level of braces. The resulting globs can be matched by extension or name without a regex.
fn alternatives(glob: &str) -> Vec<String> {
    let whole = || vec![glob.to_owned()];
    let Some((before, rest)) = glob.split_once('{') else { return whole() };
    let Some((inside, after)) = rest.split_once('}') else { return whole() };
    let plain = |text: &str| !text.contains(['{', '}', '\\', '[', ']']);
    if ![before, inside, after].into_iter().all(plain) {
        return whole();
    }
    let parts: Vec<&str> = inside.split(',').collect();
    if parts.len() > MAX_ALTERNATIVES {
        return whole();
    }
    parts.into_iter().map(|part| format!("{before}{part}{after}")).collect()
}

/// The part after a leading `*`, if it has no wildcard.
fn plain_end(glob: &str) -> Option<String> {
    let end = glob.strip_prefix('*')?;
    (!end.contains(['*', '?', '[', ']', '{', '}', '\\'])).then(|| end.to_owned())
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn fits(pattern: &str, depth: Depth, path: &str) -> bool {
        let path = Path::new(path);
        let pattern = PathPattern::new(pattern, depth).unwrap();
        pattern.fits_name(path.file_name().unwrap()) && pattern.fits_path(path)
    }

    #[test]
    fn the_end_of_a_name_fits_as_a_glob_would() {
        let names = ["a.c", ".c", "c", "a.C", "a.c.rs", "é.c", "a.c ", "a,b.c", "*.c", ".", "a.rs"];
        let patterns = ["*", "*.c", "*.{c,rs}", "*c", "*.c.rs", "*{,.c}", "* ", "*,b.c", "**/*.rs"];
        for pattern in patterns {
            let compiled = PathPattern::new(pattern, Depth::Any).unwrap();
            assert!(matches!(compiled.fit, Fit::NameEnds(_)), "{pattern}");
            let glob = GlobBuilder::new(pattern).empty_alternates(true).build().unwrap();
            let glob = glob.compile_matcher();
            for name in names {
                let name = OsStr::new(name);
                assert_eq!(compiled.fits_name(name), glob.is_match(name), "{pattern} {name:?}");
            }
        }
    }

    #[test]
    fn a_pattern_without_a_slash_fits_everywhere_or_at_the_top() {
        for (pattern, path, anywhere, at_top) in [
            ("*.ts", "a.ts", true, true),
            ("*.ts", "src/a.ts", true, false),
            ("**/*.ts", "a.ts", true, true),
            ("**/*.ts", "src/deep/a.ts", true, true),
            ("src/*.ts", "src/a.ts", true, true),
            ("src/*.ts", "lib/src/a.ts", false, false),
            ("./src/*.{ts,js}", "src/a.js", true, true),
            ("/*.ts", "src/a.ts", false, false),
            ("*", "src/a", true, false),
            ("**", "src/a", true, true),
            ("src/**", "src/a/b", true, true),
            ("a[bc].?s", "ab.ts", true, true),
            ("{a,b}/{c,d}.ts", "b/c.ts", true, true),
            ("{a,b}{,.d}.ts", "b.ts", true, true),
            ("{a,b}{,.d}.ts", "src/b.d.ts", true, false),
            ("**.ts", "src/a.ts", true, false),
            ("**test**", "src/my_test.ts", true, false),
            ("**/**test**", "src/my_test.ts", true, true),
            ("a\\**", "src/a*b", true, false),
            ("a\\**", "src/ab", false, false),
        ] {
            assert_eq!(fits(pattern, Depth::Any, path), anywhere, "{pattern} {path}");
            assert_eq!(fits(pattern, Depth::Top, path), at_top, "{pattern} {path}");
        }
    }

    #[test]
    fn a_pattern_with_a_plain_end_names_its_files() {
        for (pattern, names) in [
            (".env", true),
            ("**/.env", true),
            ("src/*/index.js", true),
            ("{.env,.envrc}", true),
            ("*.env", false),
            ("src/**", false),
            ("a[bc]", false),
            ("{a,b*}", false),
        ] {
            let compiled = PathPattern::new(pattern, Depth::Any).unwrap();
            assert_eq!(compiled.names_files(), names, "{pattern}");
        }
    }

    #[test]
    fn what_the_parser_would_not_survive_is_refused() {
        let deep = format!("{}a{}", "{".repeat(20_000), "}".repeat(20_000));
        assert!(matches!(PathPattern::new(&deep, Depth::Any), Err(PatternError::TooLong(_))));
        let deep = format!("{}a{}", "{".repeat(200), "}".repeat(200));
        assert!(matches!(PathPattern::new(&deep, Depth::Any), Err(PatternError::TooDeep)));
        for pattern in ["", "./"] {
            assert!(matches!(PathPattern::new(pattern, Depth::Any), Err(PatternError::Empty)));
        }
        for pattern in ["../x", "a/../b"] {
            assert!(matches!(PathPattern::new(pattern, Depth::Any), Err(PatternError::Climbs(_))));
        }
        for pattern in ["a[", "{a"] {
            let refused = PathPattern::new(pattern, Depth::Any);
            assert!(matches!(refused, Err(PatternError::Malformed(..))), "{pattern}");
        }
    }

    #[test]
    fn an_absolute_pattern_is_a_directory_and_a_pattern_below_it() {
        let split = |pattern| split_absolute(pattern).map(|(folder, rest)| [folder, rest]);
        assert_eq!(split("/a/b/*.ts"), Some(["/a/b".into(), "*.ts".into()]));
        assert_eq!(split("/a/**/x"), Some(["/a".into(), "**/x".into()]));
        assert_eq!(split("/a/b.ts"), Some(["/a".into(), "b.ts".into()]));
        assert_eq!(split("/*"), Some(["/".into(), "*".into()]));
        assert_eq!(split("a/*"), None);
    }
}
