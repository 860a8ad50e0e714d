//! The order of paths in answers: component by component, and these byte by byte, as
//! `rg --sort path` does.

use std::{
    cmp::Ordering,
    path::{Path, PathBuf},
};

/// A path that is ordered in this way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ByPath(pub(super) PathBuf);

impl Ord for ByPath {
    fn cmp(&self, other: &Self) -> Ordering {
        by_path(&self.0, &other.0)
    }
}

impl PartialOrd for ByPath {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Compares as if component by component, but without splitting the paths: a separator sorts before
/// every other byte. This is the same because the paths are normalised: no component is empty.
pub(super) fn by_path(one: &Path, other: &Path) -> Ordering {
    let (one, other) = (one.as_os_str().as_encoded_bytes(), other.as_os_str().as_encoded_bytes());
    let rank = |byte: &u8| if std::path::is_separator(char::from(*byte)) { 0 } else { *byte };
    // Most of the time of sorting is spent here, and most paths have a common prefix, so compare eight
    // bytes at a time.
    let pieces = one.chunks_exact(8).zip(other.chunks_exact(8));
    let alike = 8 * pieces.take_while(|(one, other)| one == other).count();
    let (rest, other_rest) = (one.iter().skip(alike), other.iter().skip(alike));
    match rest.zip(other_rest).find(|(one, other)| one != other) {
        Some((one, other)) => rank(one).cmp(&rank(other)),
        None => one.len().cmp(&other.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_ordered_as_their_components_are() {
        let paths = [
            "/a",
            "/a/b",
            "/a/b/c",
            "/a-b",
            "/a.c/d",
            "/a b/c",
            "/ab",
            "/a/\u{1}",
            "/é/x",
            "/same/beginning/of/a/path/x",
            "/same/beginning/of/a/path-x",
            "/same/beginning/of/a/pathx",
            "/é",
        ];
        for one in paths {
            for other in paths {
                let expected = Path::new(one).cmp(Path::new(other));
                assert_eq!(by_path(Path::new(one), Path::new(other)), expected, "{one} {other}");
            }
        }
    }
}
