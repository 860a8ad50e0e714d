//! The kinds of change that another process makes.

use std::{
    fs::{self, File, OpenOptions, Permissions},
    io::{IoSlice, Seek as _, SeekFrom, Write as _},
    os::{
        fd::AsRawFd as _,
        unix::fs::{FileExt as _, MetadataExt as _, PermissionsExt as _, symlink},
    },
    path::{Path, PathBuf},
};

use rustix::fs::{AtFlags, CWD, FallocateFlags, Mode, OFlags, RenameFlags};

/// A random number generator with a seed.
pub(super) struct Chance(pub(super) u64);

impl Chance {
    pub(super) fn below(&mut self, most: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % most.max(1)
    }

    fn one_of<T: Clone>(&mut self, all: &[T]) -> Option<T> {
        all.get(self.below(all.len())).cloned()
    }
}

/// Changes a tree.
pub(super) struct Mutator {
    pub(super) root: PathBuf,
    pub(super) outside: PathBuf,
    pub(super) chance: Chance,
    serial: usize,
    /// Whether directories may be ignored. Changes through names in ignored directories are found
    /// later.
    may_ignore: bool,
    /// Files that are kept open after they were written.
    open: Vec<File>,
}

type TreeChange = fn(&mut Mutator);

/// How many kinds at the end of [`CHANGES`] change ignore rules.
pub(super) const RULE_CHANGES: usize = 4;

/// Every kind of change, by its name.
pub(super) const CHANGES: &[(&str, TreeChange)] = &[
    ("a new file", |it| {
        let path = it.fresh("new");
        it.write(&path);
    }),
    ("a new file, kept open", |it| {
        let path = it.fresh("open");
        let text = it.text();
        let mut file = File::create(path).unwrap();
        file.write_all(text.as_bytes()).unwrap();
        it.keep(file);
    }),
    ("a file rewritten, kept open", |it| {
        let Some(path) = it.file() else { return };
        let text = it.text();
        let mut file = OpenOptions::new().write(true).open(path).unwrap();
        file.set_len(0).unwrap();
        file.seek(SeekFrom::Start(0)).unwrap();
        file.write_all(text.as_bytes()).unwrap();
        it.keep(file);
    }),
    ("a file rewritten", |it| {
        if let Some(path) = it.file() {
            it.write(&path);
        }
    }),
    ("a file appended to", |it| {
        let Some(path) = it.file() else { return };
        let text = it.text();
        let mut file = OpenOptions::new().append(true).open(path).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    }),
    ("bytes written in place", |it| {
        let Some(path) = it.file() else { return };
        let text = it.text();
        let file = OpenOptions::new().write(true).open(path).unwrap();
        file.write_all_at(text.as_bytes(), 0).unwrap();
    }),
    ("buffers written in place", |it| {
        let Some(path) = it.file() else { return };
        let text = it.text();
        let (one, other) = text.as_bytes().split_at(text.len() / 2);
        let file = OpenOptions::new().write(true).open(path).unwrap();
        rustix::io::pwritev(&file, &[IoSlice::new(one), IoSlice::new(other)], 0).unwrap();
    }),
    ("a file cut to nothing", |it| {
        let Some(path) = it.file() else { return };
        OpenOptions::new().write(true).open(path).unwrap().set_len(0).unwrap();
    }),
    ("a file made longer", |it| {
        let Some(path) = it.file() else { return };
        let file = OpenOptions::new().write(true).open(path).unwrap();
        file.set_len(file.metadata().unwrap().len() + 100).unwrap();
    }),
    ("a file renamed in its directory", |it| {
        let Some(path) = it.file() else { return };
        fs::rename(&path, path.with_file_name(it.name("renamed"))).unwrap();
    }),
    ("a file renamed to another directory", |it| {
        let Some(path) = it.file() else { return };
        let to = it.fresh("across");
        fs::rename(&path, to).unwrap();
    }),
    ("a file saved by a renaming", |it| {
        let Some(path) = it.file() else { return };
        let temporary = path.with_file_name(it.name(".tmp"));
        it.write(&temporary);
        fs::rename(temporary, path).unwrap();
    }),
    ("two files exchanged", |it| {
        let (Some(one), Some(other)) = (it.file(), it.file()) else { return };
        rustix::fs::renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE).unwrap();
    }),
    ("a file moved out", |it| {
        let Some(path) = it.file() else { return };
        let to = it.beside("out");
        fs::rename(path, to).unwrap();
    }),
    ("a file moved in", |it| {
        let from = it.beside("in");
        it.write(&from);
        let to = it.fresh("moved-in");
        fs::rename(from, to).unwrap();
    }),
    ("a file removed", |it| {
        if let Some(path) = it.file() {
            fs::remove_file(path).unwrap();
        }
    }),
    ("directories with files", |it| {
        let top = it.fresh("folder");
        fs::create_dir_all(top.join("a/b")).unwrap();
        it.write(&top.join("one"));
        it.write(&top.join("a/b/two"));
    }),
    ("a directory removed", |it| {
        if let Some(folder) = it.folder() {
            fs::remove_dir_all(folder).unwrap();
        }
    }),
    ("a directory renamed", |it| {
        let Some(folder) = it.folder() else { return };
        let to = it.fresh("renamed");
        if !to.starts_with(&folder) {
            fs::rename(folder, to).unwrap();
        }
    }),
    ("a directory moved out", |it| {
        let Some(folder) = it.folder() else { return };
        let to = it.beside("out");
        fs::rename(folder, to).unwrap();
    }),
    ("a directory moved in", |it| {
        let from = it.beside("in");
        fs::create_dir_all(from.join("a/b")).unwrap();
        it.write(&from.join("a/b/three"));
        let to = it.fresh("moved-in");
        fs::rename(from, to).unwrap();
    }),
    ("a directory replaced by a new one", |it| {
        let Some(folder) = it.folder() else { return };
        let name = it.name("replaced");
        fs::rename(&folder, folder.with_file_name(name)).unwrap();
        fs::create_dir(&folder).unwrap();
        it.write(&folder.join("one"));
    }),
    ("two directories exchanged", |it| {
        let (Some(one), Some(other)) = (it.folder(), it.folder()) else { return };
        if !one.starts_with(&other) && !other.starts_with(&one) {
            rustix::fs::renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE).unwrap();
        }
    }),
    ("a directory moved out, changed and moved back", |it| {
        let Some(folder) = it.folder() else { return };
        let away = it.beside("away");
        fs::rename(&folder, &away).unwrap();
        fs::create_dir(away.join(it.name("made-outside"))).unwrap();
        let new = away.join(it.name("written-outside"));
        it.write(&new);
        fs::rename(&away, &folder).unwrap();
    }),
    ("a directory replaced by a file", |it| {
        let Some(folder) = it.folder() else { return };
        fs::remove_dir_all(&folder).unwrap();
        it.write(&folder);
    }),
    ("a file replaced by a directory", |it| {
        let Some(path) = it.file() else { return };
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        it.write(&path.join("inside"));
    }),
    ("a file replaced by a link", |it| {
        let Some(path) = it.file() else { return };
        let link = path.with_file_name(it.name("link"));
        symlink("/etc/hostname", &link).unwrap();
        fs::rename(link, path).unwrap();
    }),
    ("a second name, written by it", |it| {
        let Some(path) = it.file() else { return };
        let link = it.second(&path, "second");
        fs::hard_link(&path, &link).unwrap();
        it.write(&link);
    }),
    ("a second name made, written and removed", |it| {
        let Some(path) = it.file() else { return };
        let link = it.second(&path, "short");
        fs::hard_link(&path, &link).unwrap();
        it.write(&link);
        fs::remove_file(link).unwrap();
    }),
    ("a second name made, written and moved out", |it| {
        let Some(path) = it.file() else { return };
        let link = it.second(&path, "short");
        fs::hard_link(&path, &link).unwrap();
        it.write(&link);
        let to = it.beside("out");
        fs::rename(link, to).unwrap();
    }),
    ("a second name made, written and replaced", |it| {
        let Some(path) = it.file() else { return };
        let link = it.second(&path, "short");
        fs::hard_link(&path, &link).unwrap();
        it.write(&link);
        let other = it.fresh("other");
        it.write(&other);
        fs::rename(other, link).unwrap();
    }),
    ("other permissions", |it| {
        let Some(path) = it.file() else { return };
        let mode = path.metadata().unwrap().permissions().mode();
        fs::set_permissions(path, Permissions::from_mode(mode ^ 0o040)).unwrap();
    }),
    ("written through a link", |it| {
        let Some(path) = it.file() else { return };
        let link = it.beside("link");
        symlink(path, &link).unwrap();
        it.write(&link);
    }),
    ("copied by the kernel", |it| {
        let Some(path) = it.file() else { return };
        let from = it.beside("source");
        it.write(&from);
        let source = File::open(&from).unwrap();
        let target = OpenOptions::new().write(true).truncate(true).open(path).unwrap();
        let length = usize::try_from(source.metadata().unwrap().len()).unwrap();
        rustix::fs::copy_file_range(&source, None, &target, None, length).unwrap();
        it.keep(target);
    }),
    ("sent by the kernel", |it| {
        let Some(path) = it.file() else { return };
        let from = it.beside("source");
        it.write(&from);
        let source = File::open(&from).unwrap();
        let target = OpenOptions::new().write(true).truncate(true).open(path).unwrap();
        let length = usize::try_from(source.metadata().unwrap().len()).unwrap();
        rustix::fs::sendfile(&target, &source, None, length).unwrap();
        it.keep(target);
    }),
    ("spliced from a pipe", |it| {
        let Some(path) = it.file() else { return };
        let text = it.text();
        let (read, write) = rustix::pipe::pipe().unwrap();
        File::from(write).write_all(text.as_bytes()).unwrap();
        let target = OpenOptions::new().write(true).truncate(true).open(path).unwrap();
        let flags = rustix::pipe::SpliceFlags::empty();
        rustix::pipe::splice(&read, None, &target, None, text.len(), flags).unwrap();
        it.keep(target);
    }),
    ("a hole punched", |it| {
        let Some(path) = it.file() else { return };
        let file = OpenOptions::new().write(true).open(path).unwrap();
        let length = file.metadata().unwrap().len().max(1);
        let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        rustix::fs::fallocate(&file, flags, 0, length).unwrap();
        it.keep(file);
    }),
    ("a nameless file that gets a name", |it| {
        let folder = it.any_folder();
        let flags = OFlags::TMPFILE | OFlags::RDWR;
        let Ok(file) = rustix::fs::open(&folder, flags, Mode::from_raw_mode(0o600)) else { return };
        let mut file = File::from(file);
        file.write_all(it.text().as_bytes()).unwrap();
        let from = format!("/proc/self/fd/{}", file.as_raw_fd());
        let to = folder.join(it.name("named"));
        rustix::fs::linkat(CWD, from, CWD, to, AtFlags::SYMLINK_FOLLOW).unwrap();
    }),
    ("the same size and the same time", |it| {
        let Some(path) = it.file() else { return };
        let before = path.metadata().unwrap();
        let mut text = it.text().into_bytes();
        text.resize(usize::try_from(before.size()).unwrap(), b'\n');
        fs::write(&path, text).unwrap();
        File::options()
            .write(true)
            .open(path)
            .unwrap()
            .set_modified(before.modified().unwrap())
            .unwrap();
    }),
    ("written by a descriptor's path", |it| {
        let Some(path) = it.file() else { return };
        let file = File::open(path).unwrap();
        it.write(Path::new(&format!("/proc/self/fd/{}", file.as_raw_fd())));
    }),
    ("many writes of some files", |it| {
        for _ in 0..5 {
            let Some(path) = it.file() else { return };
            for _ in 0..5 {
                it.write(&path);
            }
        }
    }),
    ("a name that comes and goes", |it| {
        let path = it.fresh("short");
        it.write(&path);
        fs::remove_file(path).unwrap();
    }),
    ("an ignore file", |it| {
        let folder = it.any_folder();
        let name = it.chance.one_of(&[".gitignore", ".ignore", ".rgignore"]).unwrap();
        let lines = ["*1*", "!*12*", "folder*/", "/a", "a/", "*.none", "new2*", "**/b/*", "!two"];
        let mut text = String::new();
        for _ in 0..it.chance.below(4) {
            text = format!("{text}{}\n", it.chance.one_of(&lines).unwrap());
        }
        fs::write(folder.join(name), text).unwrap();
    }),
    ("an ignore file removed", |it| {
        let named =
            |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().ends_with("ignore");
        let all: Vec<PathBuf> = it.entries().0.into_iter().filter(named).collect();
        if let Some(path) = it.chance.one_of(&all) {
            fs::remove_file(path).unwrap();
        }
    }),
    ("a repository", |it| {
        let folder = it.any_folder();
        let git = folder.join(".git");
        if git.is_dir() {
            fs::remove_dir_all(git).unwrap();
        } else if fs::create_dir_all(git.join("info")).is_ok() {
            fs::write(git.join("info/exclude"), "*3*\n").unwrap();
        }
    }),
    ("rules above the root", |it| {
        let above = it.root.parent().unwrap().join(".gitignore");
        if it.chance.below(2) == 0 {
            fs::write(above, format!("*{}*\n", it.chance.below(10))).unwrap();
        } else {
            let _ = fs::remove_file(above);
        }
    }),
];

impl Mutator {
    pub(super) fn new(root: PathBuf, outside: PathBuf, seed: u64) -> Self {
        Self { root, outside, chance: Chance(seed), serial: 0, may_ignore: false, open: Vec::new() }
    }

    /// Creates some directories and files.
    pub(super) fn begin(&mut self) {
        for one in 0..4 {
            for two in 0..3 {
                let folder = self.root.join(format!("p{one}/s{two}"));
                fs::create_dir_all(&folder).unwrap();
                for three in 0..4 {
                    self.write(&folder.join(format!("f{three}")));
                }
            }
        }
    }

    fn name(&mut self, kind: &str) -> String {
        self.serial += 1;
        format!("{kind}{}", self.serial)
    }

    fn fresh(&mut self, kind: &str) -> PathBuf {
        self.any_folder().join(self.name(kind))
    }

    /// A second name for a file.
    fn second(&mut self, path: &Path, kind: &str) -> PathBuf {
        let fresh = self.fresh(kind);
        if !self.may_ignore {
            return fresh;
        }
        path.with_file_name(fresh.file_name().unwrap())
    }

    /// Makes a change of a kind.
    pub(super) fn change(&mut self, kind: usize) -> &'static str {
        self.may_ignore |= kind >= CHANGES.len() - RULE_CHANGES;
        let (name, change) = CHANGES[kind];
        change(self);
        name
    }

    fn beside(&mut self, kind: &str) -> PathBuf {
        let name = self.name(kind);
        self.outside.join(name)
    }

    fn text(&mut self) -> String {
        self.serial += 1;
        format!("text {} {}\n", self.serial, "x".repeat(self.chance.below(100)))
    }

    fn write(&mut self, path: &Path) {
        let text = self.text();
        fs::write(path, text).unwrap();
    }

    fn keep(&mut self, file: File) {
        self.open.push(file);
        if self.open.len() > 20 {
            self.open.remove(0);
        }
    }

    /// All files and directories in order, without `.git`.
    fn entries(&self) -> (Vec<PathBuf>, Vec<PathBuf>) {
        let (mut files, mut folders) = (Vec::new(), vec![self.root.clone()]);
        let mut next = 0;
        while let Some(folder) = folders.get(next).cloned() {
            next += 1;
            for entry in fs::read_dir(folder).unwrap() {
                let entry = entry.unwrap();
                let kind = entry.file_type().unwrap();
                if kind.is_dir() && entry.file_name() != ".git" {
                    folders.push(entry.path());
                } else if kind.is_file() {
                    files.push(entry.path());
                }
            }
        }
        files.sort();
        folders.sort();
        (files, folders)
    }

    fn file(&mut self) -> Option<PathBuf> {
        let files = self.entries().0;
        self.chance.one_of(&files)
    }

    fn any_folder(&mut self) -> PathBuf {
        let folders = self.entries().1;
        self.chance.one_of(&folders).unwrap()
    }

    /// A directory other than the root.
    fn folder(&mut self) -> Option<PathBuf> {
        let folders = self.entries().1;
        self.chance.one_of(folders.get(1..)?)
    }
}
