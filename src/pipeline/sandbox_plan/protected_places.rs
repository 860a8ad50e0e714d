//! The protected places that exist, and those that a command must not make: what other programs run or trust at
//! the top of each root and of the home, the files of repositories that git runs, and what the host protects.

use std::{
    collections::BTreeMap,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

use super::git_places::GitPlaces;
use crate::{
    policy::{PROTECTED_DIRECTORIES, PROTECTED_FILES, PolicyPlaces},
    process::sandbox::{PlaceKind, is_placeholder_time},
    workspace::real_place,
};

/// Files of a home that do nothing while they are empty. `.bash_profile` and `.bash_login` are not among them:
/// a login shell that finds one does not read `.profile`.
const HARMLESS_WHEN_EMPTY: [&str; 6] =
    [".bashrc", ".bash_logout", ".profile", ".zprofile", ".zshenv", ".zshrc"];

/// Files and directories of a home that are told of when a command makes them.
const WATCHED_IN_HOME: [&str; 5] =
    [".bash_login", ".bash_profile", ".gitconfig", ".inputrc", ".npmrc"];

/// Protected places, as they are now.
#[derive(Debug, Default)]
pub(super) struct ProtectedPlaces {
    /// Those that exist. Real paths.
    pub(super) existing: Vec<PathBuf>,
    /// Those that do not exist and that nothing needs.
    pub(super) missing: BTreeMap<PathBuf, PlaceKind>,
    /// Those that do not exist and in whose place nothing can stand, because programs would take it for theirs.
    pub(super) watched: Vec<PathBuf>,
    /// The settings of repositories. Real paths.
    pub(super) git_settings: Vec<PathBuf>,
    /// Those that are links. A link itself cannot be held.
    pub(super) links: Vec<PathBuf>,
}

impl ProtectedPlaces {
    /// Looks for the protected places of a workspace.
    pub(super) fn find(places: &PolicyPlaces) -> Self {
        let mut found = Self::default();
        let homes = [&places.home, &places.shell_home];
        let mut homes: Vec<PathBuf> =
            homes.into_iter().flatten().filter_map(|it| it.canonicalize().ok()).collect();
        homes.dedup();
        for root in &places.roots {
            found.top(root, homes.contains(root));
            found.add_git(GitPlaces::around(root));
        }
        for home in homes.iter().filter(|it| !places.roots.contains(it)) {
            found.home(home);
        }
        for place in &places.protected {
            found.own(place, places.made_by_host.contains(place));
        }
        // The host must be able to make its own files at any time.
        let of_host = |place: &Path| places.made_by_host.iter().any(|it| it.starts_with(place));
        let kept = found.missing.keys().filter(|it| of_host(it)).cloned().collect::<Vec<_>>();
        found.missing.retain(|it, _| !of_host(it));
        found.watched.extend(kept);
        found.existing.sort();
        found.existing.dedup();
        found
    }

    /// The protected names at the top of a root.
    fn top(&mut self, root: &Path, is_home: bool) {
        let is_new = is_new_project(root);
        for name in PROTECTED_DIRECTORIES.iter().filter(|it| **it != ".git") {
            let place = root.join(name);
            if self.exists_in_real(&place) {
                continue;
            }
            if is_new && !is_home {
                self.watched.push(place);
            } else {
                self.missing.insert(place, PlaceKind::Directory);
            }
        }
        for name in PROTECTED_FILES {
            let place = root.join(name);
            if !self.exists_in_real(&place) {
                if is_home && HARMLESS_WHEN_EMPTY.contains(&name) {
                    self.missing.insert(place, PlaceKind::File);
                } else {
                    self.watched.push(place);
                }
            }
        }
    }

    /// The protected names at the top of a home that is no root.
    fn home(&mut self, home: &Path) {
        let directories = PROTECTED_DIRECTORIES.iter().filter(|it| **it != ".git");
        for name in directories.chain(&PROTECTED_FILES) {
            let place = home.join(name);
            if self.exists_in_real(&place) {
                continue;
            }
            if HARMLESS_WHEN_EMPTY.contains(name) {
                self.missing.insert(place, PlaceKind::File);
            } else if *name == ".ssh" {
                // Whoever may log in is told there.
                self.missing.insert(place, PlaceKind::Directory);
            } else if WATCHED_IN_HOME.contains(name) {
                self.watched.push(place);
            }
        }
    }

    /// A place that the host protects: a policy file, the directory of plugins, the store.
    fn own(&mut self, place: &Path, is_made_by_host: bool) {
        if self.exists(place) || is_made_by_host {
            return;
        }
        let Some(place) = real_place(place) else { return };
        // Nothing is put into what stands for a missing directory: it would no longer be known as that.
        let parent_exists =
            |it: &Path| it.parent().is_some_and(|it| it.is_dir() && !is_placeholder(it));
        if parent_exists(&place) {
            let kind = match place.extension() {
                Some(_) => PlaceKind::File,
                None => PlaceKind::Directory,
            };
            self.missing.insert(place, kind);
            return;
        }
        // Without `~/.config/toolwright` there is no policy file in it, and nobody else needs that directory.
        match place.parent() {
            Some(parent) if parent_exists(parent) => {
                self.missing.insert(parent.to_owned(), PlaceKind::Directory);
            }
            _ => self.watched.push(place),
        }
    }

    fn add_git(&mut self, git: GitPlaces) {
        self.existing.extend(git.existing);
        self.missing.extend(git.missing);
        self.watched.extend(git.watched);
        self.git_settings.extend(git.settings);
        self.links.extend(git.links);
    }

    /// Notes a place that exists, by where it leads. False if there is nothing.
    fn exists(&mut self, place: &Path) -> bool {
        let Ok(metadata) = place.symlink_metadata() else { return false };
        if metadata.is_symlink() {
            self.links.push(place.to_owned());
        }
        self.existing.extend(place.canonicalize());
        true
    }

    /// The same for a place in a directory that no link leads to, which need not be followed.
    fn exists_in_real(&mut self, place: &Path) -> bool {
        let Ok(metadata) = place.symlink_metadata() else { return false };
        if metadata.is_symlink() {
            return self.exists(place);
        }
        self.existing.push(place.to_owned());
        true
    }
}

/// True for a directory without anything in it, apart from what stands for missing places and the directory of git.
/// `git clone url .` and programs that lay out a new project refuse one in which something stands.
fn is_new_project(root: &Path) -> bool {
    let Ok(mut entries) = std::fs::read_dir(root) else { return false };
    entries.all(|it| it.is_ok_and(|it| it.file_name() == ".git" || is_placeholder(&it.path())))
}

/// True for what stands for a missing place while another command runs.
pub(super) fn is_placeholder(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|it| is_placeholder_time(it.mtime(), it.mtime_nsec()))
}
