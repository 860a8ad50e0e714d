//! Walks of real trees: the order of results, when a walk ends, and what it must not open.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::{
    collections::BTreeSet,
    fs,
    ops::ControlFlow,
    os::unix::fs::symlink,
    panic::{AssertUnwindSafe, catch_unwind, resume_unwind},
    path::{Path, PathBuf},
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use pretty_assertions::assert_eq;
use tempfile::TempDir;
use toolwright_files::{Folder, RelativePaths, Roots, Visibility, WorkspacePath};

use super::{walker::WalkEnd, *};

/// Gathers the paths of visited files, relative to the root.
#[derive(Default)]
struct PathCollector {
    seen: Vec<String>,
    most: Option<usize>,
}

impl Gather for PathCollector {
    type Result = Vec<String>;

    fn weight(paths: &Vec<String>) -> usize {
        paths.len()
    }

    fn take(&mut self, paths: Vec<String>) -> ControlFlow<()> {
        self.seen.extend(paths);
        match self.most {
            Some(most) if self.seen.len() >= most => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    }
}

/// Returns the names of files, after calling a function for each.
struct Names<'a>(&'a (dyn Fn(&Path) + Sync));

impl WalkVisitor for Names<'_> {
    type Result = Vec<String>;

    fn visit(
        &mut self,
        folder: &Folder,
        names: FileNames<'_>,
        done: &dyn Fn() -> bool,
    ) -> Option<Vec<String>> {
        let mut paths = Vec::new();
        for name in names {
            if done() {
                return None;
            }
            let path = folder.path().join(name);
            (self.0)(&path);
            let names: Vec<_> = path.iter().rev().take(folder.depth() + 1).collect();
            let below: std::path::PathBuf = names.into_iter().rev().collect();
            paths.push(below.display().to_string());
        }
        Some(paths)
    }

    fn notice(&mut self, noticed: Noticed) -> Option<Vec<String>> {
        let unreadable = noticed.unreadable.iter();
        let unreadable = unreadable.map(|(path, _)| format!("{} is unreadable", path.display()));
        let unapplied =
            noticed.unapplied.iter().map(|it| format!("{}: {}", it.file.display(), it.cause));
        Some(unreadable.chain(unapplied).collect())
    }
}

struct Tree {
    dir: TempDir,
    threads: SearchThreads,
    selection: Selection,
    visibility: Visibility,
}

impl Tree {
    fn new(files: &[&str]) -> Self {
        let dir = TempDir::new().unwrap();
        for file in files {
            let path = dir.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x\n").unwrap();
        }
        Self {
            dir,
            threads: SearchThreads::new(3),
            selection: Selection::new(HiddenFiles::Seen),
            visibility: Visibility::everything(),
        }
    }

    fn start(&self) -> WorkspacePath {
        let roots = Roots::new(self.dir.path(), &[]).unwrap();
        roots.resolve(".", RelativePaths::FromFirstRoot).unwrap()
    }

    fn walk(&self, look: &(dyn Fn(&Path) + Sync)) -> Vec<String> {
        let mut paths = PathCollector::default();
        self.walk_into(&mut paths, look, &|| false).unwrap();
        paths.seen
    }

    fn walk_into(
        &self,
        paths: &mut PathCollector,
        look: &(dyn Fn(&Path) + Sync),
        cancelled: &(dyn Fn() -> bool + Sync),
    ) -> Result<WalkEnd, Cancelled> {
        let start = self.start();
        self.from(&start).run(&|| Names(look), paths, cancelled).unwrap()
    }

    fn from<'a>(&'a self, start: &'a WorkspacePath) -> DirectoryWalk<'a> {
        DirectoryWalk {
            start,
            selection: &self.selection,
            global_excludes: None,
            visibility: &self.visibility,
            taken: WalkedFiles::Selected,
            order: ResultOrder::Path,
            threads: &self.threads,
            plan: None,
        }
    }
}

fn many() -> Vec<String> {
    (0..3_000).map(|it| format!("{}/{}/f{it}", it % 17, it % 5)).collect()
}

fn tree_of_many() -> Tree {
    let many = many();
    Tree::new(&many.iter().map(String::as_str).collect::<Vec<_>>())
}

#[test]
fn results_come_by_path_however_many_threads_walk() {
    let tree = tree_of_many();
    let mut expected = many();
    expected.sort_by(|one, other| Path::new(one).cmp(Path::new(other)));
    assert_eq!(tree.walk(&|_| {}), expected);
}

#[test]
fn a_walk_that_has_enough_ends_with_the_first_by_path() {
    let tree = tree_of_many();
    let all = tree.walk(&|_| {});
    for _ in 0..20 {
        let mut paths = PathCollector { most: Some(100), ..PathCollector::default() };
        tree.walk_into(&mut paths, &|_| {}, &|| false).unwrap();
        assert!(paths.seen.len() < 200, "{}", paths.seen.len());
        assert_eq!(paths.seen, all.get(..paths.seen.len()).unwrap());
    }
}

#[test]
fn a_cancelled_walk_looks_at_no_further_file() {
    let tree = tree_of_many();
    let (looked_at, after) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let cancelled = AtomicBool::new(false);
    let look = |_: &Path| {
        if cancelled.load(Ordering::SeqCst) {
            after.fetch_add(1, Ordering::SeqCst);
        }
        if looked_at.fetch_add(1, Ordering::SeqCst) == 200 {
            cancelled.store(true, Ordering::SeqCst);
        }
    };
    let ended =
        tree.walk_into(&mut PathCollector::default(), &look, &|| cancelled.load(Ordering::SeqCst));
    assert_eq!(ended, Err(Cancelled));
    // Each of the four threads may have been between the check and the file.
    assert!(after.load(Ordering::SeqCst) <= 4, "{after:?}");
}

#[test]
fn a_panic_in_one_thread_ends_the_walk_for_all() {
    let tree = tree_of_many();
    let looked_at = AtomicUsize::new(0);
    let look = |_: &Path| match looked_at.fetch_add(1, Ordering::SeqCst) {
        // Not `panic!`, which prints a message before it unwinds, and that takes time.
        500 => resume_unwind(Box::new("a panic on purpose")),
        // From now on the others take longer than it takes to notice.
        501.. => thread::sleep(Duration::from_millis(1)),
        _ => {}
    };
    let ended = catch_unwind(AssertUnwindSafe(|| tree.walk(&look)));
    assert!(ended.is_err());
    assert!(looked_at.load(Ordering::SeqCst) < 3_000);
}

#[test]
fn what_may_not_be_seen_is_neither_visited_nor_entered() {
    let mut tree = Tree::new(&["a.txt", "secret.txt", "vault/key", "src/b.txt", "src/secret.txt"]);
    let asked = std::sync::Arc::new(Mutex::new(BTreeSet::<PathBuf>::new()));
    let asking = std::sync::Arc::clone(&asked);
    tree.visibility = Visibility::judged_by(move |path, _| {
        asking.lock().unwrap().insert(path.to_owned());
        !path.ends_with("secret.txt") && !path.ends_with("vault")
    });
    let opened = Mutex::new(Vec::new());
    let seen = tree.walk(&|path| opened.lock().unwrap().push(path.to_owned()));
    assert_eq!(seen, ["a.txt", "src/b.txt"]);
    assert_eq!(opened.into_inner().unwrap().len(), 2);
    let root = tree.start();
    assert!(!asked.lock().unwrap().contains(&root.absolute().join("vault/key")));
}

#[test]
fn a_directory_swapped_for_a_link_is_not_followed() {
    let outside = Tree::new(&["evil.txt"]);
    let tree = Tree::new(&["a/first.txt", "b/second.txt"]);
    let (root, target) = (tree.dir.path().to_owned(), outside.dir.path().to_owned());
    // The first file of the walk is in `a`. While it is visited, `b` becomes a link.
    let mut tree = tree;
    tree.threads = SearchThreads::new(0);
    let seen = tree.walk(&|path| {
        if path.ends_with("first.txt") {
            fs::remove_dir_all(root.join("b")).unwrap();
            symlink(&target, root.join("b")).unwrap();
        }
    });
    assert_eq!(seen.first().unwrap(), "a/first.txt");
    assert!(!seen.iter().any(|it| it.contains("evil")), "{seen:?}");
}

#[test]
#[cfg(target_os = "linux")]
fn deep_nesting_keeps_few_directories_open() {
    let deep: Vec<String> = (1..400).map(|depth| format!("{}z.txt", "d/".repeat(depth))).collect();
    let tree = Tree::new(&deep.iter().map(String::as_str).collect::<Vec<_>>());
    let most = AtomicUsize::new(0);
    let open_folders = || {
        let links = fs::read_dir("/proc/self/fd").unwrap().filter_map(Result::ok);
        let targets = links.filter_map(|it| fs::read_link(it.path()).ok());
        targets.filter(|it| it.starts_with(tree.dir.path()) && it.is_dir()).count()
    };
    let seen = tree.walk(&|_| {
        most.fetch_max(open_folders(), Ordering::SeqCst);
    });
    assert_eq!(seen.len(), 399);
    // 64, every 32nd of the deeper ones, and what four threads are about to open.
    assert!(most.load(Ordering::SeqCst) <= 64 + 400 / 32 + 8, "{most:?}");
}

/// Makes a FIFO. Opening one in the usual way blocks a thread for ever.
fn make_fifo(path: &Path) {
    let kind = rustix::fs::FileType::Fifo;
    rustix::fs::mknodat(rustix::fs::CWD, path, kind, 0o600.into(), 0).unwrap();
}

/// The description of a special file, and how to make it.
type Plant<'a> = (&'a str, &'a dyn Fn(&Path));

#[test]
fn rule_files_that_are_not_regular_files_do_not_block_a_walk() {
    let plants: [Plant<'_>; 9] = [
        (".gitignore", &|root| make_fifo(&root.join(".gitignore"))),
        (".ignore", &|root| make_fifo(&root.join(".ignore"))),
        (".rgignore", &|root| make_fifo(&root.join(".rgignore"))),
        ("a FIFO as .git", &|root| make_fifo(&root.join(".git"))),
        ("info/exclude", &|root| {
            fs::create_dir_all(root.join(".git/info")).unwrap();
            make_fifo(&root.join(".git/info/exclude"));
        }),
        ("a link to a FIFO", &|root| {
            fs::create_dir_all(root.join(".git/info")).unwrap();
            make_fifo(&root.join("fifo"));
            symlink(root.join("fifo"), root.join(".git/info/exclude")).unwrap();
        }),
        ("a link into /proc", &|root| {
            fs::create_dir_all(root.join(".git/info")).unwrap();
            symlink("/proc/kmsg", root.join(".git/info/exclude")).unwrap();
        }),
        ("a worktree's commondir", &|root| {
            fs::create_dir_all(root.join("private")).unwrap();
            make_fifo(&root.join("private/commondir"));
            fs::write(root.join(".git"), "gitdir: private\n").unwrap();
        }),
        ("a directory", &|root| fs::create_dir_all(root.join(".git/info/exclude")).unwrap()),
    ];
    for (name, plant) in plants {
        let tree = Tree::new(&["a.txt", "sub/b.txt"]);
        plant(tree.dir.path());
        let seen = tree.walk(&|_| {});
        assert!(seen.contains(&"a.txt".to_owned()), "{name}: {seen:?}");
        // The same for a walk that starts below, where rules above the start are read by path.
        let roots = Roots::new(tree.dir.path(), &[]).unwrap();
        let start = roots.resolve("sub", RelativePaths::FromFirstRoot).unwrap();
        let mut paths = PathCollector::default();
        let global = tree.dir.path().join("global");
        make_fifo(&global);
        let walk = DirectoryWalk {
            global_excludes: Some((&global, tree.dir.path())),
            ..tree.from(&start)
        };
        walk.run(&|| Names(&|_| {}), &mut paths, &|| false).unwrap().unwrap();
        assert!(paths.seen.contains(&"b.txt".to_owned()), "{name}: {:?}", paths.seen);
        let said = paths.seen.iter().any(|it| it.contains("global: it is a FIFO, not a file"));
        assert!(said, "{name}: {:?}", paths.seen);
    }
}

#[test]
fn rules_beyond_a_bound_are_named_once_and_hide_nothing() {
    let tree = Tree::new(&["a.txt", "sub/b.txt", "sub/deep/c.txt"]);
    fs::write(tree.dir.path().join("sub/.gitignore"), "*\n".repeat(600_000)).unwrap();
    let seen = tree.walk(&|_| {});
    let (said, files): (Vec<_>, Vec<_>) = seen.into_iter().partition(|it| it.contains(": "));
    assert_eq!(files, ["a.txt", "sub/.gitignore", "sub/b.txt", "sub/deep/c.txt"]);
    assert_eq!(said.len(), 1);
    assert!(said.concat().ends_with("sub/.gitignore: it has more than 1048576 bytes"), "{said:?}");
}

#[test]
fn rules_that_may_not_be_seen_are_not_named() {
    let mut tree = Tree::new(&["a.txt"]);
    fs::write(tree.dir.path().join(".gitignore"), "x".repeat(2_000_000)).unwrap();
    tree.visibility = Visibility::judged_by(|path, _| !path.ends_with(".gitignore"));
    assert_eq!(tree.walk(&|_| {}), ["a.txt"]);
}

#[test]
fn rules_in_every_directory_of_a_deep_tree_cost_what_is_bounded() {
    let tree = Tree::new(&[]);
    let mut folder = tree.dir.path().to_owned();
    for level in 0..1_200 {
        fs::write(folder.join(".ignore"), format!("{level}\n")).unwrap();
        folder.push("d");
        fs::create_dir(&folder).unwrap();
    }
    let seen = tree.walk(&|_| {});
    let said = seen.iter().filter(|it| it.contains("more than 32768 comparisons")).count();
    assert!((1..400).contains(&said), "{said}");
    assert_eq!(seen.iter().filter(|it| it.ends_with(".ignore")).count(), 1_200);
}
