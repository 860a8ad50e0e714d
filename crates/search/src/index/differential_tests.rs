//! Compares the answers of the index with those of a cold search, while another thread changes the
//! tree.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "tests; a failing test prints its seed"
)]

use std::{
    cell::Cell,
    fs,
    path::{Path, PathBuf},
    sync::mpsc,
    thread,
};

use pretty_assertions::assert_eq;
use tempfile::TempDir;
use toolwright_files::{RelativePaths, Roots, Visibility};
use toolwright_walk::{Depth, HiddenFiles, ListingRequest, PathPattern, SearchThreads, Selection};

use super::*;
use crate::{
    CaseSensitivity, FindFilesRequest, MatchSpan, Query, Scope, SearchRequest, Shape, find_files,
    list, search,
};

const WORDS: [&str; 9] =
    ["foo", "bar", "Foo", "needle", "naïve", "日本語", "foo bar", "lock(&", "ſtop loc\u{212a}"];
const NAMES: [&str; 9] =
    ["a.ts", "b.js", "main.py", "c.rs", "keep.log", "x.txt", "y.md", ".dot.ts", "z.d.ts"];
const FOLDERS: [&str; 8] = ["src", "lib", "build", "docs", ".hid", "new", "deep", "été"];
const RULES: [&str; 11] = [
    "*.log",
    "build/",
    "/lib",
    "!keep.log",
    "*.d.ts",
    "src/**",
    "docs/*.md",
    "**/deep",
    "*",
    "!*.ts",
    "",
];
const PATTERNS: [&str; 20] = [
    "needle",
    "foo",
    "(?i)FOO",
    "foo|bar",
    "\\bfoo\\b",
    "^foo",
    "bar$",
    "x*",
    "o+",
    "日本",
    "[a-z]+\\(&",
    "nothing has this",
    "foo.*bar",
    "na[iï]ve",
    "(?i)stop",
    "(?i:LOCK)\\W",
    "needle$",
    "(?m)bar$",
    "needle\\s+foo",
    "(?-u:\\xff)|NAÏVE",
];
const GLOBS: [&str; 9] =
    ["*.ts", "!*.md", "src/**", "**/*.py", "/a*", "build/**", ".hid/**", "*", "**/deep/**"];
const FILE_PATTERNS: [&str; 10] = [
    "**/*.ts",
    "*",
    "**/*",
    "src/**",
    "build/**/*",
    "**/.*",
    "docs/*.md",
    ".git/**",
    "**/*.none",
    "lib/*.{js,rs}",
];

/// A small random number generator with a seed, so that a failure can be repeated.
#[derive(Clone)]
struct Choices(u64);

impl Choices {
    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % limit as u64).unwrap()
    }

    fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        from[self.below(from.len())]
    }

    fn text(&mut self) -> Vec<u8> {
        let lines = self.below(6) + 1;
        let mut text = String::new();
        for _ in 0..lines {
            text += &format!("{} {}\n", self.pick(&WORDS), self.pick(&WORDS));
        }
        if self.below(12) == 0 {
            text.push('\0');
        }
        if self.below(15) == 0 {
            text.push_str(&"filler needle\n".repeat(9_000));
        }
        match self.below(16) {
            0 => format!("\u{feff}{text}").into_bytes(),
            1 => format!("\u{feff}{text}").encode_utf16().flat_map(u16::to_le_bytes).collect(),
            2 => text.replace('\n', "\r\n").into_bytes(),
            3 => [text.as_bytes(), b"\xff\xfe needle \xc3\n"].concat(),
            _ => text.into_bytes(),
        }
    }
}

#[derive(Default)]
struct PlantedEntries {
    files: Vec<PathBuf>,
    folders: Vec<PathBuf>,
}

fn entries(folder: &Path, found: &mut PlantedEntries) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_dir() && entry.file_name() != ".git" {
            found.folders.push(entry.path());
            entries(&entry.path(), found);
        } else if kind.is_file() {
            found.files.push(entry.path());
        }
    }
}

/// Makes one change. A change that is not possible is skipped.
fn change(root: &Path, dice: &mut Choices) -> Option<()> {
    let mut found = PlantedEntries { files: Vec::new(), folders: vec![root.to_owned()] };
    entries(root, &mut found);
    let folder = found.folders[dice.below(found.folders.len())].clone();
    let sub = found.folders[dice.below(found.folders.len())].clone();
    let new = folder.join(dice.pick(&NAMES));
    if found.files.is_empty() {
        return fs::write(new, dice.text()).ok();
    }
    let file = found.files[dice.below(found.files.len())].clone();
    match dice.below(19) {
        0 | 1 => fs::write(new, dice.text()).ok(),
        2 => fs::write(file, dice.text()).ok(),
        3 => {
            use std::io::Write as _;
            let mut file = fs::OpenOptions::new().append(true).open(file).ok()?;
            file.write_all(&dice.text()).ok()
        }
        4 => {
            use std::os::unix::fs::FileExt as _;
            let file = fs::OpenOptions::new().write(true).open(file).ok()?;
            file.write_all_at(b"needle", dice.below(4) as u64).ok()
        }
        5 => {
            let file = fs::OpenOptions::new().write(true).open(file).ok()?;
            file.set_len(dice.below(20) as u64).ok()
        }
        6 => fs::remove_file(file).ok(),
        7 => fs::rename(file, new).ok(),
        8 => {
            let other = file.with_extension("tmp");
            fs::write(&other, dice.text()).ok()?;
            fs::rename(other, file).ok()
        }
        // In the same directory, because the index does not promise to see changes through names in
        // ignored directories at once.
        9 => fs::hard_link(&file, file.parent()?.join("linked.ts")).ok(),
        10 => {
            // The second name is removed before the index can look at it.
            let other = file.parent()?.join("passing-link");
            fs::hard_link(file, &other).ok()?;
            fs::write(&other, dice.text()).ok()?;
            fs::remove_file(other).ok()
        }
        11 => {
            let path = folder.join(dice.pick(&FOLDERS)).join(dice.pick(&FOLDERS));
            fs::create_dir_all(&path).ok()?;
            fs::write(path.join(dice.pick(&NAMES)), dice.text()).ok()
        }
        12 => fs::rename(sub, folder.join(dice.pick(&FOLDERS))).ok(),
        13 if sub != root && dice.below(3) == 0 => fs::remove_dir_all(sub).ok(),
        14 | 15 => {
            let name = dice.pick(&[".gitignore", ".gitignore", ".ignore", ".rgignore"]);
            let rules = format!("{}\n{}\n", dice.pick(&RULES), dice.pick(&RULES));
            fs::write(folder.join(name), rules).ok()
        }
        16 => {
            // Two directories are swapped, written to, and perhaps swapped back.
            let between = root.join("between");
            fs::rename(&folder, &between).ok()?;
            let swapped = fs::rename(&sub, &folder).and_then(|()| fs::rename(&between, &sub));
            if swapped.is_err() {
                return fs::rename(between, folder).ok();
            }
            fs::write(folder.join(dice.pick(&NAMES)), dice.text()).ok()?;
            if dice.below(2) == 0 {
                fs::rename(&folder, &between).ok()?;
                fs::rename(&sub, &folder).ok()?;
                fs::rename(between, sub).ok()?;
            }
            Some(())
        }
        17 => fs::remove_file(folder.join(dice.pick(&[".gitignore", ".ignore"]))).ok(),
        _ => std::os::unix::fs::symlink(file, folder.join("symbolic.ts")).ok(),
    }
}

/// A thread that changes a tree on request.
struct Changer {
    orders: mpsc::Sender<usize>,
    done: mpsc::Receiver<()>,
}

impl Changer {
    fn start(root: PathBuf, mut dice: Choices) -> Self {
        let (orders, ordered) = mpsc::channel();
        let (report, done) = mpsc::channel();
        thread::spawn(move || {
            for count in ordered {
                for _ in 0..count {
                    let _ = change(&root, &mut dice);
                }
                if report.send(()).is_err() {
                    return;
                }
            }
        });
        Self { orders, done }
    }
}

struct Bed {
    /// The number of requests, and how many of them the index answered.
    asked: Cell<(usize, usize)>,
    roots: Roots,
    visibility: Visibility,
    threads: SearchThreads,
}

impl Bed {
    /// Makes the same request with and without an index, and compares the answers.
    fn compare(&self, index: &WorkspaceIndex, dice: &mut Choices) {
        let mut found = PlantedEntries::default();
        entries(self.roots.first(), &mut found);
        let start = match dice.below(4) {
            0 if !found.folders.is_empty() => {
                found.folders[dice.below(found.folders.len())].clone()
            }
            _ => self.roots.first().to_owned(),
        };
        let start = path_to_start(&self.roots, &start);
        let hidden = if dice.below(2) == 0 { HiddenFiles::Seen } else { HiddenFiles::LeftOut };
        match dice.below(5) {
            0 => {
                let pattern = dice.pick(&FILE_PATTERNS);
                let compiled = PathPattern::new(pattern, Depth::Any).unwrap();
                let selection = Selection::new(hidden).with_pattern(compiled);
                let limit = if dice.below(3) == 0 { 3 } else { 1_000 };
                let ask = |index| {
                    let scope = self.scope(&start, &selection, index);
                    let mut found =
                        find_files(&FindFilesRequest { scope, limit }, &|| false).unwrap();
                    self.note(index, found.why_cold.take().as_ref());
                    found
                };
                assert_eq!(ask(Some(index)), ask(None), "{pattern} in {:?}", start.absolute());
            }
            1 => {
                let depth = dice.below(4);
                let ask = |index| {
                    let request = ListingRequest {
                        start: &start,
                        hidden,
                        max_depth: depth,
                        max_entries: 50,
                        global_excludes: None,
                        visibility: &self.visibility,
                    };
                    list(&request, index, &|| false).unwrap()
                };
                assert_eq!(ask(Some(index)), ask(None), "{depth} of {:?}", start.absolute());
            }
            _ => {
                let mut selection = Selection::new(hidden);
                let mut globs = Vec::new();
                if dice.below(3) == 0 {
                    globs.push(dice.pick(&GLOBS).to_owned());
                    selection = selection.with_globs(&globs, start.absolute()).unwrap();
                }
                let pattern = dice.pick(&PATTERNS);
                let span = if dice.below(5) == 0 { MatchSpan::Lines } else { MatchSpan::Line };
                let case = match dice.below(3) {
                    0 => CaseSensitivity::Insensitive,
                    _ => CaseSensitivity::Sensitive,
                };
                let query = Query::new(pattern, case, span).unwrap();
                let context = dice.below(3);
                let shape = match dice.below(4) {
                    0 => Shape::Files,
                    1 => Shape::Counts,
                    which => {
                        Shape::Lines { before: context, after: context, only_matching: which == 2 }
                    }
                };
                let (offset, limit) = (dice.below(2) * 2, Some(1 + dice.below(40)));
                let ask = |index| {
                    let scope = self.scope(&start, &selection, index);
                    let max_bytes = 1024 * 1024;
                    let request =
                        SearchRequest { scope, query: &query, shape, offset, limit, max_bytes };
                    let mut answer = search(&request, &|| false).unwrap();
                    // A query that can match in any file is always searched the cold way.
                    if answer.why_cold != Some(WhyCold::NoNeed) {
                        self.note(index, answer.why_cold.take().as_ref());
                    }
                    answer.why_cold = None;
                    answer
                };
                let (warm, cold) = (ask(Some(index)), ask(None));
                let place = start.absolute();
                assert_eq!(warm, cold, "{pattern} {globs:?} {shape:?} {hidden:?} in {place:?}");
            }
        }
    }

    fn note(&self, index: Option<&WorkspaceIndex>, why_cold: Option<&WhyCold>) {
        if index.is_some() {
            let (asked, warm) = self.asked.get();
            self.asked.set((asked + 1, warm + usize::from(why_cold.is_none())));
        }
    }

    fn scope<'a>(
        &'a self,
        start: &'a toolwright_files::WorkspacePath,
        selection: &'a Selection,
        index: Option<&'a WorkspaceIndex>,
    ) -> Scope<'a> {
        Scope {
            start,
            selection,
            global_excludes: None,
            visibility: &self.visibility,
            threads: &self.threads,
            index,
        }
    }
}

fn path_to_start(roots: &Roots, path: &Path) -> toolwright_files::WorkspacePath {
    roots.resolve(path.to_str().unwrap(), RelativePaths::FromFirstRoot).unwrap()
}

fn wait_until_warm(index: &WorkspaceIndex) {
    while index.handle.index.status().phase != IndexPhase::Warm {
        thread::yield_now();
    }
}

#[test]
fn answers_are_those_of_a_cold_search_whatever_changed_between_two_questions() {
    let given = |it: Option<&str>| it.and_then(|it| it.parse::<u32>().ok());
    let cases = given(option_env!("TOOLWRIGHT_INDEX_CASES")).unwrap_or(1_000);
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    let seed = given(option_env!("TOOLWRIGHT_INDEX_SEED")).unwrap_or(now.subsec_nanos());
    println!("seed {seed}");
    let mut dice = Choices(u64::from(seed) | 1);
    let (mut asked, mut warm) = (0, 0);
    for _ in 0..cases / 200 {
        let dir = TempDir::new().unwrap();
        for _ in 0..60 {
            let _ = change(dir.path(), &mut dice);
        }
        let bed = Bed {
            asked: Cell::default(),
            roots: Roots::new(dir.path(), &[]).unwrap(),
            visibility: if dice.below(2) == 0 {
                Visibility::everything()
            } else {
                let hidden = ["docs", "keep.log", ".rgignore", "c.rs"];
                Visibility::judged_by(move |path, _| !hidden.iter().any(|it| path.ends_with(it)))
            },
            threads: SearchThreads::new(1),
        };
        let settings = IndexSettings { mode: IndexMode::On, ..IndexSettings::OFF };
        let pool = IndexPool::default();
        let index = pool.open(bed.roots.first(), None, settings);
        index.want();
        if dice.below(2) == 0 {
            wait_until_warm(&index);
        }
        let changer = Changer::start(bed.roots.first().to_owned(), dice.clone());
        for _ in 0..200 {
            changer.orders.send(dice.below(4)).unwrap();
            changer.done.recv().unwrap();
            bed.compare(&index, &mut dice);
        }
        asked += bed.asked.get().0;
        warm += bed.asked.get().1;
    }
    println!("{warm} of {asked} answers by an index");
    assert!(warm > asked / 2, "{warm} of {asked}");
}
