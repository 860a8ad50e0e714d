//! Finds the repository that a directory belongs to.

use std::path::{Path, PathBuf};

use toolwright_base::path_to_text;

use super::{GitError, GitRunner};

/// How a directory relates to a repository.
pub(crate) enum RepositoryState {
    /// It is in a working tree.
    WorkingTree(GitRepository),
    /// It is a bare repository, which has no working tree.
    Bare,
    /// It is not in a repository.
    Nowhere,
}

/// A repository with a working tree.
pub(crate) struct GitRepository {
    /// The top directory of the working tree, without links.
    pub(crate) top: PathBuf,
}

/// Finds the repository of the runner's directory.
pub(crate) async fn find_repository(
    git: &GitRunner<'_>,
    directory: &Path,
) -> Result<RepositoryState, GitError> {
    match git.run(&["rev-parse", "--is-inside-work-tree", "--show-toplevel"]).await {
        Ok(answer) => {
            let lines = answer.strip_suffix(b"\n").unwrap_or(&answer);
            let Some(top) = lines.strip_prefix(b"true\n") else {
                return Err(not_in_a_working_tree(directory));
            };
            working_tree(&path_from_bytes(top), directory)
        }
        Err(GitError::Refused { message, .. }) if message.contains("safe.bareRepository") => {
            Ok(RepositoryState::Bare)
        }
        Err(GitError::Refused { message, .. }) if message.contains("not a git repository") => {
            Ok(RepositoryState::Nowhere)
        }
        Err(GitError::Refused { message, .. })
            if message.contains("must be run in a work tree") =>
        {
            Err(not_in_a_working_tree(directory))
        }
        Err(other) => Err(other),
    }
}

/// Accepts a working tree only if it contains the requested directory. A repository may name any
/// directory as its working tree, and could otherwise reveal files elsewhere.
fn working_tree(top: &Path, directory: &Path) -> Result<RepositoryState, GitError> {
    let contains = |top: &PathBuf| directory.starts_with(top);
    match top.canonicalize().ok().filter(contains) {
        Some(top) => Ok(RepositoryState::WorkingTree(GitRepository { top })),
        None => Err(GitError::Unusable(format!(
            "the repository at `{}` has its working tree elsewhere, at `{}`, which is not examined",
            path_to_text(directory),
            path_to_text(top)
        ))),
    }
}

fn not_in_a_working_tree(directory: &Path) -> GitError {
    GitError::Unusable(format!(
        "`{}` is not in a working tree, but among git's own files; give a `path` beside them",
        path_to_text(directory)
    ))
}

#[cfg(unix)]
pub(super) fn path_from_bytes(bytes: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt as _;
    PathBuf::from(std::ffi::OsStr::from_bytes(bytes))
}

#[cfg(not(unix))]
pub(super) fn path_from_bytes(bytes: &[u8]) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(bytes).into_owned())
}
