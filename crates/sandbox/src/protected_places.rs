//! Finds the protected places that exist, and those that a command must not create. They are files that
//! other programs run or trust at the top of each root and of the home, the files that git runs, and
//! places that the host protects.

use std::{
    collections::BTreeMap,
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

use toolwright_command_protocol::{PlaceKind, is_placeholder_time};
use toolwright_files::real_place;
use toolwright_policy::{PROTECTED_DIRECTORIES, PROTECTED_FILES, PolicyPlaces};

use super::git_places::GitPlaces;

/// Files in the home that have no effect while empty. `.bash_profile` and `.bash_login` are not among
/// them: a login shell that finds one of them does not read `.profile`.
const HARMLESS_WHEN_EMPTY: [&str; 6] =
    [".bashrc", ".bash_logout", ".profile", ".zprofile", ".zshenv", ".zshrc"];

/// Files in the home that are reported when a command creates them.
const WATCHED_IN_HOME: [&str; 5] =
    [".bash_login", ".bash_profile", ".gitconfig", ".inputrc", ".npmrc"];

/// The protected places at this moment.
#[derive(Debug, Default)]
pub(super) struct ProtectedPlaces {
    /// Places that exist. Real paths.
    pub(super) existing: Vec<PathBuf>,
    /// Places that do not exist. A placeholder may stand there while a command runs.
    pub(super) missing: BTreeMap<PathBuf, PlaceKind>,
    /// Places that do not exist and cannot have a placeholder, because programs would use it as a real
    /// file.
    pub(super) watched: Vec<PathBuf>,
    /// The settings files of repositories. Real paths.
    pub(super) git_settings: Vec<PathBuf>,
    /// Places that are symbolic links. The sandbox cannot protect the link itself.
    pub(super) links: Vec<PathBuf>,
}

impl ProtectedPlaces {
    /// Searches for the protected places of a workspace.
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
        // The host must be able to create its own files at any time.
        let of_host = |place: &Path| places.made_by_host.iter().any(|it| it.starts_with(place));
        let kept = found.missing.keys().filter(|it| of_host(it)).cloned().collect::<Vec<_>>();
        found.missing.retain(|it, _| !of_host(it));
        found.watched.extend(kept);
        found.existing.sort();
        found.existing.dedup();
        found
    }

    /// Adds the protected names at the top of a root.
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

    /// Adds the protected names at the top of a home that is not a root.
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
                // `authorized_keys` in it says who may log in.
                self.missing.insert(place, PlaceKind::Directory);
            } else if WATCHED_IN_HOME.contains(name) {
                self.watched.push(place);
            }
        }
    }

    /// Adds a place that the host protects: a policy file, the directory of plugins, the store.
    fn own(&mut self, place: &Path, is_made_by_host: bool) {
        if self.exists(place) || is_made_by_host {
            return;
        }
        let Some(place) = real_place(place) else { return };
        // A placeholder directory must stay empty, or it would no longer be recognized as a
        // placeholder.
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
        // If `~/.config/toolwright` cannot be created, neither can the policy file in it, and no other
        // program needs that directory.
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

    /// Adds a place that exists, by its real path. Returns false if there is no such file.
    fn exists(&mut self, place: &Path) -> bool {
        let Ok(metadata) = place.symlink_metadata() else { return false };
        if metadata.is_symlink() {
            self.links.push(place.to_owned());
        }
        self.existing.extend(place.canonicalize());
        true
    }

    /// The same for a place whose directory is already a real path, so it needs no canonicalizing.
    fn exists_in_real(&mut self, place: &Path) -> bool {
        let Ok(metadata) = place.symlink_metadata() else { return false };
        if metadata.is_symlink() {
            return self.exists(place);
        }
        self.existing.push(place.to_owned());
        true
    }
}

/// True for a directory that is empty except for placeholders and `.git`. `git clone url .` and project
/// generators refuse a directory with other files, so it gets no placeholders.
fn is_new_project(root: &Path) -> bool {
    let Ok(mut entries) = std::fs::read_dir(root) else { return false };
    entries.all(|it| it.is_ok_and(|it| it.file_name() == ".git" || is_placeholder(&it.path())))
}

/// True for a placeholder: a file that stands for a missing place while another command runs.
pub(super) fn is_placeholder(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|it| is_placeholder_time(it.mtime(), it.mtime_nsec()))
}
