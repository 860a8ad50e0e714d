//! The protected places of a git repository: files that git runs, and files that configure what it
//! runs. The rest of `.git` stays writable, so that `git commit` works.

use std::{
    io::Read as _,
    path::{Path, PathBuf},
};

use toolwright_base::regular_file;
use toolwright_command_protocol::PlaceKind;

/// Files below the git directory that configure what git runs.
const SETTINGS: [&str; 2] = ["config", "config.worktree"];
/// Other protected places below the git directory.
const OTHERS: [&str; 2] = ["hooks", "info/attributes"];
/// How many repositories of submodules are protected.
const MAX_MODULES: usize = 64;
/// How many bytes are read of a file that names a directory.
const MAX_LINK_BYTES: u64 = 4_096;

/// The protected places of repositories.
#[derive(Debug, Default)]
pub(super) struct GitPlaces {
    pub(super) existing: Vec<PathBuf>,
    pub(super) missing: Vec<(PathBuf, PlaceKind)>,
    pub(super) watched: Vec<PathBuf>,
    pub(super) settings: Vec<PathBuf>,
    /// The protected places that are symbolic links.
    pub(super) links: Vec<PathBuf>,
}

impl GitPlaces {
    /// The protected places of the repository that a root belongs to.
    pub(super) fn around(root: &Path) -> Self {
        let mut places = Self::default();
        let link =
            root.ancestors().map(|it| it.join(".git")).find(|it| it.symlink_metadata().is_ok());
        let Some(link) = link else { return places };
        places.note_link(&link);
        let Ok(git) = link.canonicalize() else { return places };
        if git.is_dir() {
            places.repository(&git);
            return places;
        }
        // A worktree or a submodule: `.git` is a file that names the git directory.
        let directory = named_directory(&git, "gitdir:");
        places.existing.push(git);
        let Some(directory) = directory else { return places };
        let shared = directory.join("commondir");
        match named_directory(&shared, "") {
            Some(common) => {
                places.existing.extend([shared, directory.join("gitdir")]);
                places.existing.extend(existing(&directory.join("config.worktree")));
                places.repository(&common);
            }
            None => places.repository(&directory),
        }
        places
    }

    fn repository(&mut self, git: &Path) {
        self.parts(git);
        // Git takes the settings and hooks from the directory that this file names. A missing file gets no
        // placeholder, because an empty `commondir` breaks the repository.
        let elsewhere = git.join("commondir");
        match existing(&elsewhere) {
            Some(place) => self.existing.push(place),
            None => self.watched.push(elsewhere),
        }
        let modules = std::fs::read_dir(git.join("modules")).into_iter().flatten().flatten();
        for module in modules.take(MAX_MODULES) {
            let module = module.path();
            if module.join("HEAD").is_file() {
                self.parts(&module);
            }
        }
    }

    fn note_link(&mut self, place: &Path) {
        self.links.extend(place.is_symlink().then(|| place.to_owned()));
    }

    fn parts(&mut self, git: &Path) {
        for name in SETTINGS.iter().chain(&OTHERS) {
            self.note_link(&git.join(name));
        }
        for name in SETTINGS {
            if let Some(place) = existing(&git.join(name)) {
                self.settings.push(place.clone());
                self.existing.push(place);
            }
        }
        for name in OTHERS {
            self.existing.extend(existing(&git.join(name)));
        }
        let hooks = git.join("hooks");
        if hooks.symlink_metadata().is_err() {
            self.missing.push((hooks, PlaceKind::Directory));
        }
    }
}

fn existing(place: &Path) -> Option<PathBuf> {
    place.canonicalize().ok()
}

/// The directory that the first line of a file names after a prefix.
fn named_directory(file: &Path, prefix: &str) -> Option<PathBuf> {
    let mut text = String::new();
    let opened = regular_file::open(file).ok()?;
    opened.take(MAX_LINK_BYTES).read_to_string(&mut text).ok()?;
    let named = text.lines().next()?.trim().strip_prefix(prefix)?.trim();
    let directory = file.parent()?.join(named).canonicalize().ok()?;
    directory.is_dir().then_some(directory)
}
