//! The changes in a working tree.

use std::path::{Path, PathBuf};

use super::{GitError, GitRepository, GitRunner, repository::path_from_bytes};

/// An entry of `git status`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ChangedFile {
    /// Git's two letters for its state: in the index, and in the working tree.
    pub(crate) state: String,
    /// Its path, relative to the top of the working tree.
    pub(crate) path: PathBuf,
    /// The path it was renamed or copied from.
    pub(crate) from: Option<PathBuf>,
}

/// The entries of `git status` at and below the runner's directory.
pub(crate) async fn status(git: &GitRunner<'_>) -> Result<Vec<ChangedFile>, GitError> {
    let arguments = [
        "status",
        "--porcelain=v1",
        "-z",
        "--untracked-files=normal",
        // Looking into a submodule would run git with the submodule's configuration.
        "--ignore-submodules=dirty",
        "--",
        ".",
    ];
    Ok(entries(&git.run(&arguments).await?))
}

/// Parses the output of `git status -z`: `XY path`, and the old path of a rename as a separate field.
fn entries(answer: &[u8]) -> Vec<ChangedFile> {
    let mut fields = answer.split(|it| *it == 0);
    let mut entries = Vec::new();
    while let Some((state, path)) = fields.next().and_then(|it| it.split_at_checked(3)) {
        let state = String::from_utf8_lossy(state).trim_end_matches(' ').to_owned();
        let state = format!("{state:<2}");
        let is_moved = state.contains(['R', 'C']);
        let from = if is_moved { fields.next().map(path_from_bytes) } else { None };
        entries.push(ChangedFile { state, path: path_from_bytes(path), from });
    }
    entries
}

/// Which side of the index a summary compares.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum DiffSide {
    /// The last commit with the index.
    Staged,
    /// The index with the working tree.
    Unstaged,
}

/// The output of `git diff --stat` for visible files at and below the runner's directory.
pub(crate) async fn diff_summary(
    git: &GitRunner<'_>,
    repository: &GitRepository,
    side: DiffSide,
    may_be_seen: &(dyn Fn(&Path) -> bool + Sync),
) -> Result<String, GitError> {
    let mut arguments = vec![
        "diff",
        "--no-ext-diff",
        "--no-textconv",
        "--no-color",
        "--no-renames",
        // Names are relative to the top, regardless of `diff.relative`: they are looked up there.
        "--no-relative",
        "--ignore-submodules=dirty",
    ];
    if side == DiffSide::Staged {
        arguments.push("--cached");
    }
    let names = git.run(&[&arguments[..], &["--name-only", "-z", "--", "."]].concat()).await?;
    let hidden: Vec<String> = names
        .split(|it| *it == 0)
        .filter(|it| !it.is_empty())
        .map(path_from_bytes)
        .filter(|path| !may_be_seen(&repository.top.join(path)))
        // A path that is not UTF-8 cannot be excluded by name, so there is no summary at all.
        .map(|path| path.to_str().map(|it| format!(":(exclude,literal,top){it}")))
        .collect::<Option<_>>()
        .ok_or_else(|| GitError::Unusable("a changed file may not be read".to_owned()))?;
    // More would not fit into a command line.
    if hidden.iter().map(String::len).sum::<usize>() > 60_000 {
        let message = format!("{} of the changed files may not be read", hidden.len());
        return Err(GitError::Unusable(message));
    }
    let excluded: Vec<&str> = hidden.iter().map(String::as_str).collect();
    let shown =
        git.run(&[&arguments[..], &["--stat=120", "--", "."], &excluded[..]].concat()).await?;
    Ok(String::from_utf8_lossy(&shown).into_owned())
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn entries_with_blanks_and_renames_are_parsed() {
        let changed = |state: &str, path: &str, from: Option<&str>| ChangedFile {
            state: state.to_owned(),
            path: path.into(),
            from: from.map(Into::into),
        };
        assert_eq!(
            entries(b" M a b.txt\0R  new\0old\0?? dir/\0"),
            [
                changed(" M", "a b.txt", None),
                changed("R ", "new", Some("old")),
                changed("??", "dir/", None)
            ]
        );
        assert_eq!(entries(b""), []);
    }
}
