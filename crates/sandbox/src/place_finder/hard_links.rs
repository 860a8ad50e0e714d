//! Finds the other names (hard links) of a file.

use std::{
    collections::{HashMap, HashSet},
    os::unix::fs::MetadataExt as _,
    path::{Path, PathBuf},
};

use super::{NotAllFound, PlaceEntry, PlaceFinder, PlaceSearch};

/// How many files in hidden directories are checked for other names.
const MAX_LOOKED_AT: usize = 20_000;

/// A file that has several names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LinkedFile {
    /// One of its names.
    pub(crate) path: PathBuf,
    device: u64,
    inode: u64,
    /// How many names it has.
    names: u64,
}

impl LinkedFile {
    /// The file at a path, if it has several names.
    pub(crate) fn at(path: &Path) -> Option<Self> {
        let metadata = path.symlink_metadata().ok()?;
        let has_others = !metadata.is_dir() && metadata.nlink() > 1;
        has_others.then(|| Self {
            path: path.to_owned(),
            device: metadata.dev(),
            inode: metadata.ino(),
            names: metadata.nlink(),
        })
    }
}

/// The other names of files.
#[derive(Debug, Default)]
pub(crate) struct OtherNames {
    /// The names that were found.
    pub(crate) found: Vec<PathBuf>,
    /// Files with names that were not found.
    pub(crate) incomplete: Vec<PathBuf>,
}

impl PlaceFinder {
    /// The files below a directory that have several names. The flag is false if there were too
    /// many files to check all.
    pub(crate) fn linked_below(&self, directory: &Path) -> (Vec<LinkedFile>, bool) {
        let mut found = Vec::new();
        let mut left = MAX_LOOKED_AT;
        let mut open = vec![directory.to_owned()];
        while let Some(path) = open.pop() {
            let Some(listed) = self.listing(&path) else { continue };
            let Some(less) = left.checked_sub(listed.entries()) else { return (found, false) };
            left = less;
            found.extend(listed.linked(&path));
            open.extend(listed.subdirectories().map(|it| path.join(it)));
        }
        (found, true)
    }

    /// Searches the trees of `search` for the other names of files.
    pub(crate) fn other_names(
        &self,
        files: &[LinkedFile],
        search: &PlaceSearch<'_>,
    ) -> (OtherNames, Option<NotAllFound>) {
        let mut wanted: HashMap<u64, HashMap<u64, (u64, &LinkedFile)>> = HashMap::new();
        let known: HashSet<&Path> = files.iter().map(|it| it.path.as_path()).collect();
        for file in files {
            let of_device = wanted.entry(file.device).or_default();
            let missing = of_device.entry(file.inode).or_insert((file.names, file));
            missing.0 = missing.0.saturating_sub(1);
        }
        let mut names = OtherNames::default();
        let (mut entries, mut not_all) = (0, None);
        let mut open: Vec<PathBuf> = search.starts.to_vec();
        while let Some(path) = open.pop() {
            if search.cancel.is_cancelled() {
                not_all = Some(NotAllFound::Cancelled);
                break;
            }
            let Some(listed) = self.listing(&path) else { continue };
            entries += listed.entries();
            if entries > search.max_entries {
                not_all = Some(NotAllFound::TooManyEntries);
                break;
            }
            let mut of_device = wanted.get_mut(&listed.device());
            for (name, kind, inode) in listed.iter() {
                if kind == PlaceEntry::Directory {
                    open.push(path.join(name));
                    continue;
                }
                let Some((missing, file)) =
                    of_device.as_mut().and_then(|it| it.get_mut(&inode)).filter(|it| it.0 > 0)
                else {
                    continue;
                };
                let place = path.join(name);
                if known.contains(place.as_path()) || !is_same(&place, file) {
                    continue;
                }
                *missing -= 1;
                names.found.push(place);
            }
        }
        let files = wanted.values().flat_map(HashMap::values).filter(|it| it.0 > 0);
        names.incomplete = files.map(|it| it.1.path.clone()).collect();
        names.incomplete.sort();
        (names, not_all)
    }
}

fn is_same(path: &Path, file: &LinkedFile) -> bool {
    path.symlink_metadata().is_ok_and(|it| it.dev() == file.device && it.ino() == file.inode)
}
