//! The walk itself: threads that list directories, select entries and visit files.

use std::{
    io,
    ops::ControlFlow,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
};

use parking_lot::Mutex;
use toolwright_files::{
    EntryBuffer, EntryKind, Folder, Visibility, VisibilitySubject, WorkspacePath,
};

use super::{
    entry_judge::{EntryJudge, IgnoredBy},
    name_list::{FileNames, NameList},
    plan::{PlannedFolder, WalkPlan},
    queue::{Gather, Queue, ResultOrder},
    rules::{RuleFiles, Rules, UnappliedRules},
    selection::Selection,
    threads::SearchThreads,
    walk_work::{ContentsFrom, DirectoryContents, WalkWork},
};

/// How many pieces of work have to be waiting to make starting another thread worthwhile.
const WORK_WORTH_A_THREAD: usize = 4;
/// How many entries of a directory are read between two checks for cancellation.
pub(super) const ENTRIES_BETWEEN_CHECKS: usize = 1_024;
/// How many bytes of names a walk holds at once. This is enough for a million files in one directory,
/// or in several nested ones.
pub(super) const MAX_NAMES_BYTES: usize = 40 * 1024 * 1024;

/// Which files a walk visits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WalkedFiles {
    /// Those that are selected.
    Selected,
    /// Those that would be selected if they were not ignored or hidden.
    LeftOut,
}

/// What to walk, and how.
#[derive(Debug)]
pub struct DirectoryWalk<'a> {
    /// The directory to start in.
    pub start: &'a WorkspacePath,
    /// Which files are selected.
    pub selection: &'a Selection,
    /// The user's global excludes, and the directory they are relative to.
    pub global_excludes: Option<(&'a Path, &'a Path)>,
    /// Which files may be seen at all.
    pub visibility: &'a Visibility,
    /// Which files are visited.
    pub taken: WalkedFiles,
    /// The order in which results are gathered.
    pub order: ResultOrder,
    /// The threads that do the work.
    pub threads: &'a SearchThreads,
    /// The files to visit, if they are known.
    pub plan: Option<&'a WalkPlan>,
}

/// Processes files. Each thread has its own visitor.
pub trait WalkVisitor {
    /// The result for a group of files.
    type Result: Send;

    /// Processes some files of a directory. If `done` returns true, the visitor should stop: its result
    /// will be dropped.
    fn visit(
        &mut self,
        folder: &Folder,
        names: FileNames<'_>,
        done: &dyn Fn() -> bool,
    ) -> Option<Self::Result>;

    /// Turns problems with a directory into a result.
    fn notice(&mut self, noticed: Noticed) -> Option<Self::Result>;
}

/// Problems with a directory that an answer should report.
#[derive(Debug, Default)]
pub struct Noticed {
    /// The path of what could not be read, and why.
    pub unreadable: Option<(PathBuf, io::Error)>,
    /// Its ignore files that could not be applied.
    pub unapplied: Vec<UnappliedRules>,
}

/// What is known after a walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WalkEnd {
    /// Whether something was ignored or hidden.
    pub left_out_any: bool,
}

/// The caller cancelled the walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the search was cancelled")]
pub struct Cancelled;

impl DirectoryWalk<'_> {
    /// Runs the walk on this thread, and on others while there is enough to do.
    pub fn run<V, G>(
        &self,
        visitor: &(dyn Fn() -> V + Sync),
        gather: &mut G,
        cancelled: &(dyn Fn() -> bool + Sync),
    ) -> io::Result<Result<WalkEnd, Cancelled>>
    where
        V: WalkVisitor,
        G: Gather<Result = V::Result>,
    {
        let start = Folder::start(self.start)?;
        let mut unapplied = Vec::new();
        // A plan is only made if there is no problem with the rules above the start.
        let rules = if self.plan.is_none() {
            Rules::above(&start.path(), self.global_excludes, &mut unapplied)
        } else {
            None
        };
        let run = WalkRun {
            walk: self,
            rules,
            unapplied_above: Mutex::new(unapplied),
            held: Arc::default(),
            queue: Queue::new(self.order, WalkWork::Start(Box::new(start)), gather),
            left_out_any: AtomicBool::new(false),
            cancelled,
        };
        thread::scope(|scope| {
            let mut helpers = 0;
            let mut thread = WalkThread::new(&run, visitor());
            while thread.step() {
                if helpers < self.threads.most_per_search()
                    && run.queue.pending() >= WORK_WORTH_A_THREAD
                    && let Some(helper) = self.threads.helper()
                {
                    helpers += 1;
                    let run = &run;
                    let started = thread::Builder::new()
                        .name("toolwright-search".to_owned())
                        .spawn_scoped(scope, move || {
                            let _helper = helper;
                            let mut thread = WalkThread::new(run, visitor());
                            while thread.step() {}
                        });
                    // If no more threads can be started, the walk runs on those it has.
                    drop(started);
                }
            }
        });
        if cancelled() {
            return Ok(Err(Cancelled));
        }
        Ok(Ok(WalkEnd { left_out_any: run.left_out_any.load(Ordering::Relaxed) }))
    }
}

struct WalkRun<'a, G: Gather> {
    walk: &'a DirectoryWalk<'a>,
    rules: Option<Arc<Rules>>,
    /// Ignore files above the start that could not be applied.
    unapplied_above: Mutex<Vec<UnappliedRules>>,
    /// The memory that names take, in bytes.
    held: Arc<AtomicUsize>,
    queue: Queue<'a, WalkWork<'a>, G>,
    left_out_any: AtomicBool,
    cancelled: &'a (dyn Fn() -> bool + Sync),
}

struct WalkThread<'r, 'a, G: Gather, V> {
    run: &'r WalkRun<'a, G>,
    visitor: V,
    buffer: EntryBuffer,
    judge: EntryJudge<'a>,
    /// The directory in which this thread worked last.
    last: Option<Arc<Folder>>,
}

/// The context in which a directory is listed.
struct FolderContext<'a> {
    rules: Option<&'a Arc<Rules>>,
    left_out: bool,
    noticed: Noticed,
}

impl<'r, 'a, G, V> WalkThread<'r, 'a, G, V>
where
    G: Gather,
    V: WalkVisitor<Result = G::Result>,
{
    fn new(run: &'r WalkRun<'a, G>, visitor: V) -> Self {
        let DirectoryWalk { start, selection, visibility, taken, .. } = *run.walk;
        let start_bytes = start.absolute().as_os_str().len();
        let judge = EntryJudge::new(selection, visibility, taken, start_bytes);
        Self { run, visitor, buffer: EntryBuffer::default(), judge, last: None }
    }

    /// Does one piece of work. Returns false if there is none.
    fn step(&mut self) -> bool {
        if (self.run.cancelled)() {
            self.run.queue.stop();
        }
        let Some((work, running)) = self.run.queue.next() else { return false };
        let (result, further) = match work {
            WalkWork::Start(folder) => self.start(*folder),
            WalkWork::Entries { listed, from, to, .. } => self.go_to(&listed, from, to),
        };
        running.end(result, further);
        true
    }

    /// Begins with the directory in which the walk starts.
    fn start(&mut self, folder: Folder) -> (Option<G::Result>, Option<WalkWork<'a>>) {
        if let Some(plan) = self.run.walk.plan {
            return (None, plan.folder(0).and_then(|planned| Self::planned(folder, planned)));
        }
        let unapplied = &self.run.unapplied_above;
        let mut unapplied = unapplied.lock();
        let noticed = Noticed { unapplied: std::mem::take(&mut *unapplied), ..Noticed::default() };
        let rules = self.run.rules.as_ref();
        self.list(folder, FolderContext { rules, left_out: false, noticed })
    }

    /// Visits files of a directory, or enters a subdirectory.
    fn go_to(
        &mut self,
        listed: &DirectoryContents<'a>,
        from: usize,
        to: usize,
    ) -> (Option<G::Result>, Option<WalkWork<'a>>) {
        let DirectoryContents { folder, entries } = listed;
        let names = listed.names();
        self.work_in(folder);
        let Some((name, entry)) = names.get(from) else { return (None, None) };
        if entry.kind == EntryKind::File {
            let run = self.run;
            let done = || run.queue.is_stopped() || (run.cancelled)();
            let mut files = FileNames::new(names, from, to);
            if let ContentsFrom::Plan(planned) = entries {
                files = files.numbered(planned.numbers());
            }
            return (self.visitor.visit(folder, files, &done), None);
        }
        let mut noticed = Noticed::default();
        let place = match entries {
            ContentsFrom::Plan(planned) => planned.place(from),
            ContentsFrom::Listing { .. } => None,
        };
        let entered = if place.is_some() { folder.enter_planned(name) } else { folder.enter(name) };
        match entered {
            Ok(entered) => {
                if let Some(place) = place {
                    let planned = self.run.walk.plan.and_then(|it| it.folder(place));
                    return (None, planned.and_then(|it| Self::planned(entered, it)));
                }
                let (rules, left_out) = (listed.rules(), entry.left_out);
                self.list(entered, FolderContext { rules, left_out, noticed })
            }
            // It was removed since its parent was listed, so nothing is missing from the answer.
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => (None, None),
            Err(cause) => {
                noticed.unreadable = Some((folder.path().join(name), cause));
                (self.visitor.notice(noticed), None)
            }
        }
    }

    /// Lets go of the directory in which this thread worked before.
    fn work_in(&mut self, folder: &Arc<Folder>) {
        if !self.last.as_ref().is_some_and(|it| Arc::ptr_eq(it, folder))
            && let Some(last) = self.last.replace(Arc::clone(folder))
        {
            last.let_go();
        }
    }

    /// Lists a directory and turns its entries into work.
    fn list(
        &mut self,
        folder: Folder,
        arrival: FolderContext<'_>,
    ) -> (Option<G::Result>, Option<WalkWork<'a>>) {
        let FolderContext { rules: above, left_out, mut noticed } = arrival;
        let mut names = NameList::default();
        let mut rule_files = RuleFiles::default();
        let mut seen = 0_usize;
        let mut too_many = false;
        let WalkRun { cancelled, held, .. } = self.run;
        let DirectoryWalk { selection, visibility, order, .. } = *self.run.walk;
        let mut listed = folder.entries(&mut self.buffer, &mut |name, kind| {
            let bytes = name.as_encoded_bytes();
            if bytes.first() == Some(&b'.') {
                rule_files.note(bytes, kind);
            }
            let wanted = match kind {
                EntryKind::File => !selection.rejects_name(name),
                EntryKind::Folder => true,
                EntryKind::Link | EntryKind::Other => false,
            };
            if wanted && !names.push(name, kind, left_out) {
                too_many = true;
            }
            seen += 1;
            if seen.is_multiple_of(ENTRIES_BETWEEN_CHECKS) {
                too_many |= names.bytes() + held.load(Ordering::Relaxed) > MAX_NAMES_BYTES;
                if too_many || cancelled() {
                    return ControlFlow::Break(());
                }
            }
            ControlFlow::Continue(())
        });
        if too_many {
            listed = Err(io::Error::other(format!(
                "it has too many entries; only the first {} were read",
                names.len()
            )));
        }
        if let Err(cause) = listed
            && cause.kind() != io::ErrorKind::NotFound
        {
            noticed.unreadable = Some((folder.path().to_path_buf(), cause));
        }
        let naming = selection.naming(&folder.path(), folder.depth());
        let rules = Rules::within(above, &folder, rule_files, naming, &mut noticed.unapplied);
        noticed.unapplied.retain(|it| visibility.shows(&it.file, VisibilitySubject::File));
        let says_nothing = noticed.unreadable.is_none() && noticed.unapplied.is_empty();
        let result = if says_nothing { None } else { self.visitor.notice(noticed) };
        self.select(&folder, &mut names, rules.as_deref());
        match order {
            ResultOrder::Path => names.sort_by_name(),
            // Files first, so that the directory can be closed soon.
            ResultOrder::Any => names.sort_files_first(),
        }
        (result, self.further(folder, names, rules))
    }

    /// The work that is planned for a directory.
    fn planned(folder: Folder, planned: &'a PlannedFolder) -> Option<WalkWork<'a>> {
        if planned.names().is_empty() {
            return None;
        }
        Some(WalkWork::of(DirectoryContents::planned(folder.rest(), planned)))
    }

    /// The work for the entries of a directory.
    fn further(
        &self,
        folder: Folder,
        names: NameList,
        rules: Option<Arc<Rules>>,
    ) -> Option<WalkWork<'a>> {
        if names.is_empty() {
            return None;
        }
        Some(WalkWork::of(DirectoryContents::new(folder.rest(), rules, names, &self.run.held)))
    }

    /// Keeps the entries that are selected.
    fn select(&mut self, folder: &Folder, names: &mut NameList, rules: Option<&Rules>) {
        if names.is_empty() {
            return;
        }
        let judge = &mut self.judge;
        judge.go_to(&folder.path(), folder.depth());
        names.retain(|name, entry| {
            let kind = entry.kind;
            // Most searches select files by name alone; building a path for each would cost more than that.
            match rules.filter(|_| !entry.left_out) {
                None => judge.takes(name, kind, &mut entry.left_out, IgnoredBy::known(false)),
                Some(rules) => {
                    let ignored = IgnoredBy::Rules(|path: &Path| rules.ignores(path, kind));
                    judge.takes(name, kind, &mut entry.left_out, ignored)
                }
            }
        });
        if judge.left_out_any {
            self.run.left_out_any.store(true, Ordering::Relaxed);
        }
    }
}
