//! Runs git in an untrusted repository.
//!
//! A repository can name programs in its configuration, and git runs them even for `git status`: a file
//! system monitor, content filters, text converters, an external diff, a transport for missing objects.
//! None of them runs here: see [`GitRunner`]. The cost is reported: content filters such as Git LFS are
//! not applied, and changes inside submodules are not examined.

mod repository;
mod runner;
mod working_tree;

pub(crate) use repository::{GitRepository, RepositoryState, find_repository};
pub(crate) use runner::{GitError, GitRunner};
pub(crate) use working_tree::{ChangedFile, DiffSide, diff_summary, status};
