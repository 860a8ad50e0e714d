//! Compares the tree with the disk. After every change the tree must equal what a walk finds, and
//! the content of a file must not change without a new version.
#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod limits;
mod mutations;
mod other_process;
mod read_your_writes;
mod rule_changes;
mod samples;
mod swapped_folders;

use std::{
    collections::{HashMap, HashSet},
    ffi::OsStr,
    fs, io,
    ops::ControlFlow,
    path::{Path, PathBuf},
    time::SystemTime,
};

use pretty_assertions::assert_eq;
use tempfile::TempDir;
use toolwright_files::{EntryKind, Folder, RelativePaths, Roots, Visibility};
use toolwright_walk::{
    DirectoryWalk, FileNames, Gather, HiddenFiles, Noticed, ResultOrder, SearchThreads, Selection,
    WalkVisitor, WalkedFiles,
};

use super::{
    EntryNumber,
    entry_table::{EntryVersion, WhyClosed},
    sweep::SweepCause,
    tree::{TreeSettings, WatchedTree},
    why_cold::WhyCold,
};

/// The path of a file and its time, or a problem without a time.
type FoundInTree = (String, Option<SystemTime>);

/// A root to change, and a directory outside of it.
struct ChangingRoot {
    _dir: TempDir,
    root: PathBuf,
    outside: PathBuf,
    settings: TreeSettings,
}

impl ChangingRoot {
    fn new() -> Self {
        Self::with_files(&[])
    }

    fn with_files(files: &[(&str, &str)]) -> Self {
        Self::in_directory(TempDir::new().unwrap(), files)
    }

    /// In a memory file system if possible, for tests with many files.
    fn in_memory() -> Self {
        let dir = TempDir::new_in("/dev/shm").or_else(|_| TempDir::new()).unwrap();
        Self::in_directory(dir, &[])
    }

    fn in_directory(dir: TempDir, files: &[(&str, &str)]) -> Self {
        let top = dir.path().canonicalize().unwrap();
        let (root, outside) = (top.join("above/root"), top.join("outside"));
        fs::create_dir_all(&root).unwrap();
        fs::create_dir_all(&outside).unwrap();
        let global = top.join("global");
        let settings = TreeSettings::new(Some((global, root.clone())));
        let bed = Self { _dir: dir, root, outside, settings };
        for (name, text) in files {
            bed.write(name, text);
        }
        bed
    }

    fn at(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.at(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn open(&self) -> TreeFollower {
        let tree = WatchedTree::open(&self.root, &self.settings, &|| false).unwrap();
        TreeFollower { tree, known: HashMap::new() }
    }

    /// What a walk finds, in its order.
    fn walked(&self) -> Vec<FoundInTree> {
        let roots = Roots::new(&self.root, &[]).unwrap();
        let start = roots.resolve(".", RelativePaths::FromFirstRoot).unwrap();
        let global = self.settings.global_excludes.as_ref().unwrap();
        let walk = DirectoryWalk {
            start: &start,
            selection: &Selection::new(HiddenFiles::Seen),
            global_excludes: Some((&global.0, &global.1)),
            visibility: &Visibility::everything(),
            taken: WalkedFiles::Selected,
            order: ResultOrder::Path,
            threads: &SearchThreads::new(0),
            plan: None,
        };
        let mut found = WalkedNames(Vec::new());
        walk.run(&|| FilesOfTree, &mut found, &|| false).unwrap().unwrap();
        found.0
    }
}

struct WalkedNames(Vec<FoundInTree>);

impl Gather for WalkedNames {
    type Result = Vec<FoundInTree>;

    fn weight(found: &Vec<FoundInTree>) -> usize {
        found.len()
    }

    fn take(&mut self, found: Vec<FoundInTree>) -> ControlFlow<()> {
        self.0.extend(found);
        ControlFlow::Continue(())
    }
}

struct FilesOfTree;

impl WalkVisitor for FilesOfTree {
    type Result = Vec<FoundInTree>;

    fn visit(
        &mut self,
        folder: &Folder,
        names: FileNames<'_>,
        _: &dyn Fn() -> bool,
    ) -> Option<Vec<FoundInTree>> {
        let found = |name: &OsStr| {
            let path = folder.path().join(name).display().to_string();
            (path, Some(folder.modified(name).unwrap_or(SystemTime::UNIX_EPOCH)))
        };
        Some(names.map(found).collect())
    }

    fn notice(&mut self, noticed: Noticed) -> Option<Vec<FoundInTree>> {
        let mut found = problems(noticed.unapplied.iter().map(|it| (it.file.as_path(), &it.cause)));
        let unreadable = noticed.unreadable.map(|(path, cause)| (path, cause.to_string()));
        found.extend(problems(unreadable.iter().map(|(path, cause)| (path.as_path(), cause))));
        Some(found)
    }
}

fn problems<'a>(unapplied: impl Iterator<Item = (&'a Path, &'a String)>) -> Vec<FoundInTree> {
    unapplied.map(|(file, cause)| (format!("{}: {cause}", file.display()), None)).collect()
}

/// A tree, and the content that its files had when their versions were recorded.
struct TreeFollower {
    tree: WatchedTree,
    known: HashMap<EntryNumber, (EntryVersion, Vec<u8>)>,
}

impl TreeFollower {
    /// Does what a request does before it is answered.
    fn refresh(&mut self) -> Result<(), WhyCold> {
        self.tree.refresh()?;
        if self.tree.needs_sweep() == Some(SweepCause::NameGone) {
            self.tree.sweep(2)?;
        }
        Ok(())
    }

    /// What a walk would find, according to the tree.
    fn found(&self) -> Vec<FoundInTree> {
        let mut found =
            problems(self.tree.unapplied_above().iter().map(|it| (it.file.as_path(), &it.cause)));
        self.add_found(self.tree.root_number(), &mut found);
        found
    }

    fn add_found(&self, folder: EntryNumber, found: &mut Vec<FoundInTree>) {
        let unapplied = self.tree.unapplied(folder).iter();
        found.extend(problems(unapplied.map(|it| (it.file.as_path(), &it.cause))));
        for entry in self.tree.entries(folder) {
            if entry.is_ignored || entry.name == ".git" {
                continue;
            }
            if entry.kind == EntryKind::File {
                let stamp = self.tree.stamp(entry.number).unwrap();
                let path = self.tree.path(entry.number).display().to_string();
                found.push((path, Some(stamp.modified())));
            } else if entry.kind == EntryKind::Folder {
                match self.tree.why_closed(entry.number) {
                    None => self.add_found(entry.number, found),
                    Some(WhyClosed::Unreadable(cause)) => {
                        let cause = io::Error::from_raw_os_error(cause).to_string();
                        let path = self.tree.path(entry.number);
                        found.extend(problems([(path.as_path(), &cause)].into_iter()));
                    }
                    Some(why) => panic!("{}: {why}", entry.name.display()),
                }
            }
        }
    }

    /// Brings the tree up to date and compares it with the disk, which must not change during the
    /// call.
    fn check(&mut self, bed: &ChangingRoot, after: &str) {
        self.refresh().unwrap();
        assert_eq!(self.found(), bed.walked(), "after {after}");
        self.check_contents(after);
    }

    /// Checks that every file with the recorded version has the recorded content, and that every
    /// other file was reported as added or changed.
    fn check_contents(&mut self, after: &str) {
        let changes = self.tree.take_changes();
        for gone in &changes.removed {
            self.known.remove(gone);
        }
        let reported: HashSet<EntryNumber> =
            changes.added.into_iter().chain(changes.changed).collect();
        for number in self.files() {
            let version = self.tree.version(number).unwrap();
            let path = self.tree.path(number);
            let content = fs::read(&path).unwrap();
            if let Some((_, known)) = self.known.get(&number).filter(|it| it.0 == version) {
                assert!(*known == content, "{} is stale after {after}", path.display());
                assert!(!reported.contains(&number));
            } else {
                assert!(reported.contains(&number), "{} was not reported: {after}", path.display());
                self.known.insert(number, (version, content));
            }
        }
    }

    /// Records the content of files as a learner does: it reads without the tree, and the version
    /// decides.
    fn learn(&mut self) {
        for number in self.files() {
            let version = self.tree.version(number).unwrap();
            if self.known.get(&number).is_some_and(|it| it.0 == version) {
                continue;
            }
            let place = self.tree.file_place(number).unwrap();
            let mut content = Vec::new();
            if let Ok(mut file) = place.open()
                && std::io::Read::read_to_end(&mut file, &mut content).is_ok()
            {
                self.known.insert(number, (version, content));
            }
        }
    }

    fn files(&self) -> Vec<EntryNumber> {
        let mut files = Vec::new();
        let mut folders = vec![self.tree.root_number()];
        while let Some(folder) = folders.pop() {
            for entry in self.tree.entries(folder) {
                match entry.kind {
                    EntryKind::File => files.push(entry.number),
                    EntryKind::Folder => folders.push(entry.number),
                    EntryKind::Link | EntryKind::Other => {}
                }
            }
        }
        files
    }
}
