//! Paths inside the workspace.
//!
//! A path is resolved once, to a path without links below one of the roots, and the resolved path
//! is opened. On Linux opening fails if it would leave the root or follow a link. So replacing a
//! directory with a link between the check and the use has no effect.

#[cfg(unix)]
use std::os::fd::OwnedFd;
use std::{
    fs::File,
    io,
    path::{Component, Path, PathBuf},
};

#[cfg(unix)]
use rustix::fs::OFlags;
#[cfg(target_os = "linux")]
use rustix::fs::ResolveFlags;
use toolwright_base::{SHOWN_NAME, path_from_text, path_to_text, regular_file, shortened};

use super::not_absolute::refusal_of;
use crate::visibility::Visibility;

// On Linux a directory can be opened without permission to list it, only to open entries in it.
#[cfg(target_os = "linux")]
pub(super) const PASS: OFlags = OFlags::PATH;
#[cfg(all(unix, not(target_os = "linux")))]
pub(super) const PASS: OFlags = OFlags::RDONLY;

#[cfg(target_os = "linux")]
const NO_LINKS: ResolveFlags = ResolveFlags::NO_SYMLINKS.union(ResolveFlags::NO_MAGICLINKS);

/// Why a path was refused.
#[derive(Debug, thiserror::Error)]
pub enum PathError {
    /// The path is not absolute, although the tool requires an absolute path.
    #[error("`{asked}` {what}; give the absolute path{meant}")]
    NotAbsolute {
        /// The path as it was given.
        asked: String,
        /// What it is instead.
        what: &'static str,
        /// The paths that it may mean, as a text for the message.
        meant: String,
    },
    /// The path is empty or too long.
    #[error("`{0}` is not a path: {1}")]
    Malformed(String, &'static str),
    /// The path contains a NUL character, at which systems would end it.
    #[error("`{0}` contains a NUL character, so it cannot be a path inside the workspace")]
    Nul(String),
    /// The path has `..` after a component that does not exist. If that is created as a link, the
    /// path could lead anywhere.
    #[error(
        "`{0}` goes up from a directory that does not exist, so where it leads cannot be checked"
    )]
    UpFromNothing(String),
    /// The path is not below any root.
    #[error("`{asked}` is outside the workspace ({roots}); use a path inside it, or ask the user")]
    Outside {
        /// The path as it was given.
        asked: String,
        /// The roots, as a list for the message.
        roots: String,
    },
    /// The path is or contains a link whose target does not exist.
    #[error("`{0}` is a dangling symbolic link, so where it leads cannot be checked")]
    Dangling(String),
    /// The operating system could not resolve the path.
    #[error("`{0}` cannot be resolved: {1}")]
    Unresolvable(String, io::Error),
    /// A root is not a directory or cannot be resolved.
    #[error("workspace directory `{0}` cannot be used: {1}")]
    BadRoot(String, io::Error),
}

/// Whether a tool accepts relative paths.
#[derive(Clone, Copy, Debug)]
pub enum RelativePaths<'v> {
    /// Refused. The error suggests the absolute paths they may mean, and whether visible ones
    /// exist.
    Refused(&'v Visibility),
    /// Taken as relative to the first root.
    FromFirstRoot,
}

/// The longest path that systems accept. Longer ones are refused before their parts are resolved.
const MAX_PATH_BYTES: usize = 4_096;

/// The directories that file tools may access.
#[derive(Debug)]
pub struct Roots {
    all: Vec<PathBuf>,
    home: Option<PathBuf>,
}

/// A resolved path inside a root, without links. It may not exist yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkspacePath {
    root: PathBuf,
    below: PathBuf,
    absolute: PathBuf,
}

impl Roots {
    /// The roots for a project and additional directories. All must exist.
    pub fn new(project: &Path, additional: &[PathBuf]) -> Result<Self, PathError> {
        std::iter::once(project)
            .chain(additional.iter().map(PathBuf::as_path))
            .map(|root| {
                let bad = |err| PathError::BadRoot(path_to_text(root).into_owned(), err);
                let root = root.canonicalize().map_err(bad)?;
                if root.is_dir() { Ok(root) } else { Err(bad(io::ErrorKind::NotADirectory.into())) }
            })
            .collect::<Result<_, _>>()
            .map(|all| Self { all, home: None })
    }

    /// Sets the directory that `~` means. It is not used to resolve paths, only to explain in the
    /// error what a path with `~` means.
    #[must_use]
    pub fn with_home(mut self, home: Option<PathBuf>) -> Self {
        self.home = home;
        self
    }

    /// The directory that `~` means.
    pub(super) fn home(&self) -> Option<&Path> {
        self.home.as_deref()
    }

    /// The directory of the project, which relative paths are relative to.
    pub fn first(&self) -> &Path {
        self.all.first().map_or(Path::new("/"), PathBuf::as_path)
    }

    /// All roots, with the directory of the project first.
    pub fn all(&self) -> &[PathBuf] {
        &self.all
    }

    /// Resolves a path, following links as the system does.
    pub fn resolve(
        &self,
        asked: &str,
        relative: RelativePaths<'_>,
    ) -> Result<WorkspacePath, PathError> {
        if asked.is_empty() {
            return Err(PathError::Malformed(asked.to_owned(), "it is empty"));
        }
        if asked.contains('\0') {
            return Err(PathError::Nul(asked.replace('\0', "\\0")));
        }
        if asked.len() > MAX_PATH_BYTES {
            let shown = shortened(asked, SHOWN_NAME).into_owned();
            return Err(PathError::Malformed(shown, "it is longer than 4,096 bytes"));
        }
        // With a trailing slash, the checks below would not see that the path is a link.
        let names_directory = asked.ends_with('/');
        let trimmed = asked.trim_end_matches('/');
        let path = path_from_text(if trimmed.is_empty() { "/" } else { trimmed });
        if path.is_relative()
            && let RelativePaths::Refused(visibility) = relative
        {
            return Err(refusal_of(asked, &path, self, visibility));
        }
        self.place_of(&self.first().join(&path), asked, names_directory)
    }

    /// Resolves an absolute path. `asked` is the path as it was given, for errors.
    pub(super) fn place_of(
        &self,
        path: &Path,
        asked: &str,
        names_directory: bool,
    ) -> Result<WorkspacePath, PathError> {
        let absolute = resolve_links(path, asked)?;
        if names_directory && absolute.is_file() {
            let cause = io::ErrorKind::NotADirectory.into();
            return Err(PathError::Unresolvable(asked.to_owned(), cause));
        }
        // `strip_prefix` compares whole components, so `/repo-evil` is not below `/repo`.
        let found = self.all.iter().find_map(|root| {
            let below = absolute.strip_prefix(root).ok()?.to_owned();
            Some((root.clone(), below))
        });
        match found {
            Some((root, below)) => Ok(WorkspacePath { root, below, absolute }),
            None => Err(PathError::Outside { asked: asked.to_owned(), roots: self.in_words() }),
        }
    }

    /// The list of roots for a message, each in backticks.
    pub(super) fn in_words(&self) -> String {
        let roots: Vec<_> = self.all.iter().map(|it| format!("`{}`", path_to_text(it))).collect();
        roots.join(", ")
    }
}

/// Follows all links of a path. Components that do not exist yet are appended unchanged.
fn resolve_links(path: &Path, asked: &str) -> Result<PathBuf, PathError> {
    let mut missing = Vec::new();
    // `.` components are removed, because a link followed by `.` would not be seen as a link.
    let mut existing: PathBuf = path.components().collect();
    loop {
        match existing.canonicalize() {
            Ok(resolved) => {
                return Ok(missing.iter().rev().fold(resolved, |path, name| path.join(name)));
            }
            Err(err)
                if matches!(err.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) =>
            {
                if existing.symlink_metadata().is_ok_and(|it| it.is_symlink()) {
                    return Err(PathError::Dangling(asked.to_owned()));
                }
                let name = match existing.components().next_back() {
                    Some(Component::Normal(name)) => name.to_owned(),
                    Some(Component::ParentDir) => {
                        return Err(PathError::UpFromNothing(asked.to_owned()));
                    }
                    _ => return Err(PathError::Unresolvable(asked.to_owned(), err)),
                };
                missing.push(name);
                if !existing.pop() {
                    return Err(PathError::Unresolvable(asked.to_owned(), err));
                }
            }
            Err(err) => return Err(PathError::Unresolvable(asked.to_owned(), err)),
        }
    }
}

impl WorkspacePath {
    /// The absolute path, without links.
    pub fn absolute(&self) -> &Path {
        &self.absolute
    }

    /// Opens the root of this path, only to open entries in it. The root's path had no links when the
    /// workspace was set up, and none is followed now.
    #[cfg(unix)]
    pub(super) fn open_root(&self) -> Result<OwnedFd, rustix::io::Errno> {
        use rustix::fs::{CWD, Mode, openat};
        use rustix::io::Errno;

        let flags = PASS | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        #[cfg(target_os = "linux")]
        match rustix::fs::openat2(CWD, &self.root, flags, Mode::empty(), NO_LINKS) {
            // Kernels before 5.6, and sandboxes that filter the call.
            Err(Errno::NOSYS | Errno::PERM) => {}
            opened => return opened,
        }
        let opened = openat(CWD, &self.root, flags, Mode::empty())?;
        if self.root.canonicalize().is_ok_and(|it| it == self.root) {
            Ok(opened)
        } else {
            Err(Errno::LOOP)
        }
    }

    /// The root that this path is in.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The path relative to the root. It contains no `..`.
    pub fn below(&self) -> &Path {
        &self.below
    }

    /// Opens the file for reading. Nothing but a regular file is opened, and no link is followed.
    pub fn open(&self) -> io::Result<File> {
        #[cfg(target_os = "linux")]
        {
            let confined = |flags| self.open_beneath(flags);
            match confined(OFlags::PATH | OFlags::CLOEXEC) {
                // Kernels before 5.6, and sandboxes that filter the call.
                Err(rustix::io::Errno::NOSYS | rustix::io::Errno::PERM) => {}
                Ok(place) => {
                    let again = || confined(regular_file::reading());
                    return regular_file::open_place(&place, again);
                }
                Err(err) => return Err(err.into()),
            }
        }
        self.open_checked()
    }

    /// Opens the directory at this path to list it, without following links.
    #[cfg(unix)]
    pub(super) fn open_folder(&self) -> io::Result<OwnedFd> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        #[cfg(target_os = "linux")]
        match self.open_beneath(flags) {
            Err(rustix::io::Errno::NOSYS | rustix::io::Errno::PERM) => {}
            opened => return Ok(opened?),
        }
        let opened = rustix::fs::open(&self.absolute, flags, rustix::fs::Mode::empty())?;
        self.check_unmoved()?;
        Ok(opened)
    }

    /// The directory that contains this path. `None` for a root.
    pub(super) fn parent(&self) -> Option<Self> {
        let below = self.below.parent()?.to_owned();
        let absolute = self.absolute.parent()?.to_owned();
        Some(Self { root: self.root.clone(), below, absolute })
    }

    /// Opens the file for writing in the same way, without changing it.
    #[cfg(unix)]
    pub(super) fn open_to_write(&self) -> io::Result<File> {
        use rustix::fs::{Mode, openat};

        let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let mut directory = self.open_root()?;
        for part in self.below.parent().into_iter().flat_map(|it| it.iter()) {
            let pass = PASS | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            directory = openat(&directory, part, pass, Mode::empty())?;
        }
        let name = self.below.file_name().ok_or(io::ErrorKind::IsADirectory)?;
        Ok(openat(&directory, name, flags | OFlags::NOFOLLOW, Mode::empty())?.into())
    }

    #[cfg(target_os = "linux")]
    fn open_beneath(&self, flags: OFlags) -> Result<OwnedFd, rustix::io::Errno> {
        use rustix::fs::{Mode, openat2};

        let root = self.open_root()?;
        let below = if self.below.as_os_str().is_empty() { Path::new(".") } else { &self.below };
        let confined = ResolveFlags::BENEATH.union(NO_LINKS);
        openat2(&root, below, flags, Mode::empty(), confined)
    }

    /// For systems without `openat2`: opens the file, then checks that its path has not changed.
    fn open_checked(&self) -> io::Result<File> {
        let file = regular_file::open_named(&self.absolute)?;
        self.check_unmoved()?;
        Ok(file)
    }

    fn check_unmoved(&self) -> io::Result<()> {
        if self.absolute.canonicalize()? == self.absolute {
            return Ok(());
        }
        Err(io::Error::new(io::ErrorKind::PermissionDenied, "the path changed while it was opened"))
    }
}

#[cfg(all(test, unix))]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use std::{fs, os::unix::fs::symlink};

    use tempfile::TempDir;

    use super::*;

    fn workspace() -> (TempDir, PathBuf, Roots) {
        let dir = TempDir::new().unwrap();
        let repo = dir.path().canonicalize().unwrap().join("repo");
        fs::create_dir_all(repo.join("src")).unwrap();
        fs::create_dir_all(dir.path().join("repo-evil")).unwrap();
        fs::write(repo.join("src/a.txt"), "a").unwrap();
        fs::write(dir.path().join("repo-evil/secret"), "s").unwrap();
        let roots = Roots::new(&repo, &[]).unwrap();
        (dir, repo, roots)
    }

    fn resolve(roots: &Roots, path: &Path) -> Result<WorkspacePath, PathError> {
        roots.resolve(path.to_str().unwrap(), RelativePaths::FromFirstRoot)
    }

    #[test]
    fn paths_below_a_root_are_found_and_opened() {
        let (_dir, repo, roots) = workspace();
        symlink(repo.join("src"), repo.join("link")).unwrap();
        for asked in ["src/a.txt", "./src/../src/a.txt", "link/a.txt"] {
            let place = roots.resolve(asked, RelativePaths::FromFirstRoot).unwrap();
            assert_eq!(place.absolute(), repo.join("src/a.txt"));
            assert_eq!(io::read_to_string(place.open().unwrap()).unwrap(), "a");
        }
    }

    #[test]
    fn a_sibling_whose_name_begins_with_the_roots_name_is_outside() {
        let (dir, _repo, roots) = workspace();
        let outside = resolve(&roots, &dir.path().join("repo-evil/secret"));
        assert!(matches!(outside, Err(PathError::Outside { .. })), "{outside:?}");
    }

    #[test]
    fn links_and_dots_that_lead_out_and_dangling_links_are_refused() {
        let (dir, repo, roots) = workspace();
        symlink(dir.path().join("repo-evil/secret"), repo.join("out")).unwrap();
        symlink(dir.path(), repo.join("up")).unwrap();
        symlink("nowhere", repo.join("dangling")).unwrap();
        for asked in
            ["out", "up/repo-evil/secret", "../repo-evil/secret", "up/new.txt", "/etc/passwd"]
        {
            let refused = roots.resolve(asked, RelativePaths::FromFirstRoot);
            assert!(matches!(refused, Err(PathError::Outside { .. })), "{asked}: {refused:?}");
        }
        for asked in ["dangling", "dangling/"] {
            let refused = roots.resolve(asked, RelativePaths::FromFirstRoot);
            assert!(matches!(refused, Err(PathError::Dangling(_))), "{refused:?}");
        }
    }

    #[test]
    fn dots_below_a_directory_that_does_not_exist_are_refused() {
        let (_dir, _repo, roots) = workspace();
        let refused = roots.resolve("new/../../x", RelativePaths::FromFirstRoot);
        assert!(matches!(refused, Err(PathError::UpFromNothing(..))), "{refused:?}");
    }

    #[test]
    fn empty_paths_and_nul_are_refused_and_relative_paths_on_request() {
        let (_dir, _repo, roots) = workspace();
        for asked in ["", &"a/".repeat(5_000)] {
            let refused = roots.resolve(asked, RelativePaths::FromFirstRoot);
            assert!(matches!(refused, Err(PathError::Malformed(..))), "{refused:?}");
        }
        let refused = roots.resolve("a\0b", RelativePaths::FromFirstRoot);
        assert!(matches!(refused, Err(PathError::Nul(..))), "{refused:?}");
        let refused = roots.resolve("src/a.txt", RelativePaths::Refused(&Visibility::everything()));
        assert!(matches!(refused, Err(PathError::NotAbsolute { .. })), "{refused:?}");
    }

    #[test]
    fn a_directory_swapped_for_a_link_after_the_check_is_not_opened() {
        let (dir, repo, roots) = workspace();
        let place = resolve(&roots, &repo.join("src/a.txt")).unwrap();
        fs::remove_dir_all(repo.join("src")).unwrap();
        fs::write(dir.path().join("repo-evil/a.txt"), "evil").unwrap();
        symlink(dir.path().join("repo-evil"), repo.join("src")).unwrap();
        assert!(place.open().is_err());
        assert!(place.open_checked().is_err());
    }

    #[test]
    fn a_root_swapped_for_a_link_is_not_opened_and_a_new_root_is() {
        let (dir, repo, roots) = workspace();
        let place = resolve(&roots, &repo.join("src/a.txt")).unwrap();
        fs::rename(&repo, dir.path().join("moved")).unwrap();
        symlink(dir.path().join("moved"), &repo).unwrap();
        assert!(place.open().is_err());
        assert!(place.open_checked().is_err());
        fs::remove_file(&repo).unwrap();
        fs::create_dir_all(repo.join("src")).unwrap();
        fs::write(repo.join("src/a.txt"), "anew").unwrap();
        assert_eq!(io::read_to_string(place.open().unwrap()).unwrap(), "anew");
    }
}
