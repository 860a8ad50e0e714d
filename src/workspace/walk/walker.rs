//! The walk itself: threads that list directories, judge entries and visit files.

use std::{
    io,
    ops::ControlFlow,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
};

use super::{
    entry::{EntryBuffer, EntryKind},
    folder::Folder,
    names::{FileNames, NameList},
    queue::{Gather, Order, Queue},
    rules::{RuleFiles, Rules, UnappliedRules},
    selection::{Candidate, IgnoreRules, Selection, Verdict},
    threads::SearchThreads,
    visibility::{Subject, Visibility},
    work::{Contents, Work},
};
use crate::workspace::WorkspacePath;

/// How much work has to be waiting before another thread is worth its start.
const WORK_WORTH_A_THREAD: usize = 4;
/// How many entries of a directory are looked at between two looks at the caller's wish to stop.
pub(super) const ENTRIES_BETWEEN_CHECKS: usize = 1_024;
/// How many bytes of names a walk holds at once: of a million files in one directory, or of so many in
/// several that are one in the other.
pub(super) const MAX_NAMES_BYTES: usize = 40 * 1024 * 1024;

/// Which files a walk hands over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// Those that are asked for.
    Selected,
    /// Those that would be, if they were not ignored or hidden.
    LeftOut,
}

/// A walk that can be run.
#[derive(Debug)]
pub struct Walk<'a> {
    /// The directory to start with.
    pub start: &'a WorkspacePath,
    /// What is asked for.
    pub selection: &'a Selection,
    /// Whether ignore rules hold.
    pub ignore_rules: IgnoreRules,
    /// The user's global excludes, and the directory they are relative to.
    pub global_excludes: Option<(&'a Path, &'a Path)>,
    /// What may be seen at all.
    pub visibility: &'a Visibility,
    /// Which files are handed over.
    pub taken: Taken,
    /// In which order results are gathered.
    pub order: Order,
    /// The threads to use.
    pub threads: &'a SearchThreads,
}

/// Looks at files. Each thread has its own.
pub trait Visitor {
    /// What is gathered.
    type Result: Send;

    /// Looks at some files of a directory. What it gives back after `done` says true is dropped.
    fn visit(
        &mut self,
        folder: &Folder,
        names: FileNames<'_>,
        done: &dyn Fn() -> bool,
    ) -> Option<Self::Result>;

    /// Takes note of what an answer has to say about a directory.
    fn notice(&mut self, noticed: Noticed) -> Option<Self::Result>;
}

/// What an answer has to say about a directory.
#[derive(Debug, Default)]
pub struct Noticed {
    /// It, or some of it, could not be read, and why.
    pub unreadable: Option<(PathBuf, io::Error)>,
    /// Rules that do not hold in it.
    pub unapplied: Vec<UnappliedRules>,
}

/// How a walk ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WalkEnd {
    /// Whether something was ignored or hidden.
    pub left_out_any: bool,
}

/// The walk was cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the search was cancelled")]
pub struct Cancelled;

impl Walk<'_> {
    /// Runs the walk on this thread, and on others while there is enough to do.
    pub fn run<V, G>(
        &self,
        visitor: &(dyn Fn() -> V + Sync),
        gather: &mut G,
        cancelled: &(dyn Fn() -> bool + Sync),
    ) -> io::Result<Result<WalkEnd, Cancelled>>
    where
        V: Visitor,
        G: Gather<Result = V::Result>,
    {
        let start = Folder::start(self.start)?;
        let mut unapplied = Vec::new();
        let rules = match self.ignore_rules {
            IgnoreRules::Hold => Rules::above(&start.path(), self.global_excludes, &mut unapplied),
            IgnoreRules::Disregarded => None,
        };
        let run = Run {
            walk: self,
            rules,
            unapplied_above: Mutex::new(unapplied),
            held: Arc::default(),
            queue: Queue::new(self.order, Work::Start(Box::new(start)), gather),
            left_out_any: AtomicBool::new(false),
            cancelled,
        };
        thread::scope(|scope| {
            let mut helpers = 0;
            let mut thread = Thread::new(&run, visitor());
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
                            let mut thread = Thread::new(run, visitor());
                            while thread.step() {}
                        });
                    // A system without threads to spare is no reason to fail.
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

struct Run<'a, G: Gather> {
    walk: &'a Walk<'a>,
    rules: Option<Arc<Rules>>,
    /// Rules above the start that do not hold.
    unapplied_above: Mutex<Vec<UnappliedRules>>,
    /// How many bytes of names are held.
    held: Arc<AtomicUsize>,
    queue: Queue<'a, Work, G>,
    left_out_any: AtomicBool,
    cancelled: &'a (dyn Fn() -> bool + Sync),
}

struct Thread<'r, 'a, G: Gather, V> {
    run: &'r Run<'a, G>,
    visitor: V,
    buffer: EntryBuffer,
    path: PathBuf,
    /// The directory that this thread worked in last.
    last: Option<Arc<Folder>>,
}

/// How a directory came to be listed.
struct Arrival<'a> {
    rules: Option<&'a Arc<Rules>>,
    left_out: bool,
    noticed: Noticed,
}

impl<'r, 'a, G, V> Thread<'r, 'a, G, V>
where
    G: Gather,
    V: Visitor<Result = G::Result>,
{
    fn new(run: &'r Run<'a, G>, visitor: V) -> Self {
        Self { run, visitor, buffer: EntryBuffer::default(), path: PathBuf::new(), last: None }
    }

    /// Does one piece of work; false when there is none.
    fn step(&mut self) -> bool {
        if (self.run.cancelled)() {
            self.run.queue.stop();
        }
        let Some((work, running)) = self.run.queue.next() else { return false };
        let (result, further) = match work {
            Work::Start(folder) => {
                let unapplied = &self.run.unapplied_above;
                let mut unapplied = unapplied.lock().unwrap_or_else(PoisonError::into_inner);
                let unapplied = std::mem::take(&mut *unapplied);
                let noticed = Noticed { unapplied, ..Noticed::default() };
                let rules = self.run.rules.as_ref();
                self.list(*folder, Arrival { rules, left_out: false, noticed })
            }
            Work::Entries { listed, from, to, .. } => self.go_to(&listed, from, to),
        };
        running.end(result, further);
        true
    }

    /// Visits files of a directory, or enters one in it.
    fn go_to(
        &mut self,
        listed: &Contents,
        from: usize,
        to: usize,
    ) -> (Option<G::Result>, Option<Work>) {
        let Contents { folder, rules, names, .. } = listed;
        self.work_in(folder);
        let Some((name, entry)) = names.get(from) else { return (None, None) };
        if entry.kind == EntryKind::File {
            let run = self.run;
            let done = || run.queue.is_stopped() || (run.cancelled)();
            return (self.visitor.visit(folder, FileNames::new(names, from, to), &done), None);
        }
        let mut noticed = Noticed::default();
        match folder.enter(name) {
            Ok(entered) => {
                let (rules, left_out) = (rules.as_ref(), entry.left_out);
                self.list(entered, Arrival { rules, left_out, noticed })
            }
            // Removed since its parent was listed: nothing is missing from the answer.
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => (None, None),
            Err(cause) => {
                noticed.unreadable = Some((folder.path().join(name), cause));
                (self.visitor.notice(noticed), None)
            }
        }
    }

    /// Lets go of the directory that this thread worked in before.
    fn work_in(&mut self, folder: &Arc<Folder>) {
        if !self.last.as_ref().is_some_and(|it| Arc::ptr_eq(it, folder))
            && let Some(last) = self.last.replace(Arc::clone(folder))
        {
            last.let_go();
        }
    }

    /// Lists a directory and makes work of what is in it.
    fn list(&mut self, folder: Folder, arrival: Arrival<'_>) -> (Option<G::Result>, Option<Work>) {
        let Arrival { rules: above, left_out, mut noticed } = arrival;
        let mut names = NameList::default();
        let mut rule_files = RuleFiles::default();
        let mut seen = 0_usize;
        let mut too_many = false;
        let Run { cancelled, held, .. } = self.run;
        let Walk { selection, ignore_rules, visibility, order, .. } = *self.run.walk;
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
                "it has too many entries, of which the first {} were looked at",
                names.len()
            )));
        }
        if let Err(cause) = listed
            && cause.kind() != io::ErrorKind::NotFound
        {
            noticed.unreadable = Some((folder.path().to_path_buf(), cause));
        }
        let rules = match ignore_rules {
            IgnoreRules::Hold => {
                let naming = selection.naming(&folder);
                Rules::within(above, &folder, rule_files, naming, &mut noticed.unapplied)
            }
            IgnoreRules::Disregarded => None,
        };
        noticed.unapplied.retain(|it| visibility.shows(&it.file, Subject::File));
        let says_nothing = noticed.unreadable.is_none() && noticed.unapplied.is_empty();
        let result = if says_nothing { None } else { self.visitor.notice(noticed) };
        self.judge(&folder, &mut names, rules.as_deref());
        match order {
            Order::Path => names.sort_by_name(),
            // Files first: the sooner they are done, the sooner the directory can be closed.
            Order::Any => names.sort_files_first(),
        }
        (result, self.further(folder, names, rules))
    }

    /// The work that a directory leads to.
    fn further(&self, folder: Folder, names: NameList, rules: Option<Arc<Rules>>) -> Option<Work> {
        if names.is_empty() {
            return None;
        }
        Some(Work::of(Contents::new(folder.rest(), rules, names, &self.run.held)))
    }

    /// Keeps the entries that are asked for.
    fn judge(&mut self, folder: &Folder, names: &mut NameList, rules: Option<&Rules>) {
        if names.is_empty() {
            return;
        }
        let Walk { selection, visibility, taken, .. } = *self.run.walk;
        // Most files of a search are judged by name alone; a path for each would cost more than that.
        let needs_path = rules.is_some()
            || selection.needs_path()
            || selection.needs_path_below()
            || !visibility.is_everything();
        let path = &mut self.path;
        path.clear();
        path.push(&*folder.path());
        let mut left_out_any = false;
        names.retain(|name, entry| {
            if needs_path {
                path.push(name);
            }
            // Below an ignored directory everything is left out; its own rules do not matter.
            let rules = if entry.left_out { None } else { rules };
            let candidate = Candidate {
                path,
                below: folder.below_start(path),
                name,
                kind: entry.kind,
                depth: folder.depth(),
            };
            let verdict = selection.verdict(candidate, rules);
            let is_file = entry.kind == EntryKind::File;
            entry.left_out |= verdict == Verdict::LeftOut;
            let wanted = match taken {
                Taken::Selected => verdict == Verdict::Taken,
                Taken::LeftOut => verdict != Verdict::Unwanted && (entry.left_out || !is_file),
            };
            left_out_any |= verdict == Verdict::LeftOut;
            let subject = if is_file { Subject::File } else { Subject::Folder };
            let wanted = wanted && visibility.shows(path, subject);
            if needs_path {
                path.pop();
            }
            wanted
        });
        if left_out_any {
            self.run.left_out_any.store(true, Ordering::Relaxed);
        }
    }
}
