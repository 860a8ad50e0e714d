//! The walk itself: threads that list directories, judge entries and visit files.

use std::{
    ffi::OsString,
    io,
    ops::ControlFlow,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use super::{
    entry::{EntryBuffer, EntryKind},
    folder::Folder,
    queue::{Gather, Order, Position, Queue},
    rule_set::global_excludes,
    rules::{RuleFiles, Rules},
    selection::{Candidate, IgnoreRules, Selection, Verdict},
    threads::SearchThreads,
    visibility::{Subject, Visibility},
};
use crate::workspace::WorkspacePath;

/// How many files are one piece of work: enough to make the queue cheap, few enough to share them out.
const FILES_AT_ONCE: usize = 32;
/// How much work has to be waiting before another thread is worth its start.
const WORK_WORTH_A_THREAD: usize = 4;
/// How many entries of a directory are looked at between two looks at the caller's wish to stop.
const ENTRIES_BETWEEN_CHECKS: usize = 1_024;

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
        names: Vec<OsString>,
        done: &dyn Fn() -> bool,
    ) -> Option<Self::Result>;

    /// Takes note of a directory that could not be read.
    fn unreadable(&mut self, folder: &Path, cause: &io::Error) -> Option<Self::Result>;
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

enum Work {
    /// Lists the directory a walk starts with.
    Start(Arc<Folder>),
    /// Enters and lists a directory.
    Enter { parent: Arc<Folder>, name: OsString, rules: Option<Arc<Rules>>, left_out: bool },
    /// Visits files.
    Visit { folder: Arc<Folder>, names: Vec<OsString> },
}

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
        let start = Folder::start(self.start)?.rest();
        let rules = match self.ignore_rules {
            IgnoreRules::Hold => Rules::above(
                start.path(),
                self.global_excludes.and_then(|(file, below)| global_excludes(file, below)),
            ),
            IgnoreRules::Disregarded => None,
        };
        let run = Run {
            walk: self,
            rules,
            queue: Queue::new(self.order, Work::Start(start), gather),
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
    queue: Queue<'a, Work, G>,
    left_out_any: AtomicBool,
    cancelled: &'a (dyn Fn() -> bool + Sync),
}

struct Thread<'r, 'a, G: Gather, V> {
    run: &'r Run<'a, G>,
    visitor: V,
    buffer: EntryBuffer,
    path: PathBuf,
    below: PathBuf,
}

/// An entry of a listing that a walk may take.
struct Entry {
    name: OsString,
    kind: EntryKind,
    left_out: bool,
}

impl<'r, 'a, G, V> Thread<'r, 'a, G, V>
where
    G: Gather,
    V: Visitor<Result = G::Result>,
{
    fn new(run: &'r Run<'a, G>, visitor: V) -> Self {
        Self {
            run,
            visitor,
            buffer: EntryBuffer::default(),
            path: PathBuf::new(),
            below: PathBuf::new(),
        }
    }

    /// Does one piece of work; false when there is none.
    fn step(&mut self) -> bool {
        if (self.run.cancelled)() {
            self.run.queue.stop();
        }
        let Some((work, running)) = self.run.queue.next() else { return false };
        match work {
            Work::Visit { folder, names } => {
                let run = self.run;
                let done = || run.queue.is_stopped() || (run.cancelled)();
                let result = self.visitor.visit(&folder, names, &done);
                running.end(result, Vec::new());
            }
            Work::Start(folder) => {
                let rules = self.run.rules.as_ref();
                let (result, further) = self.list(&folder, rules, false, running.position());
                running.end(result, further);
            }
            Work::Enter { parent, name, rules, left_out } => {
                let (result, further) = match parent.enter(&name) {
                    Ok(folder) => {
                        self.list(&folder.rest(), rules.as_ref(), left_out, running.position())
                    }
                    Err(cause) => (self.unreadable(&parent.path().join(&name), &cause), Vec::new()),
                };
                running.end(result, further);
            }
        }
        true
    }

    fn unreadable(&mut self, folder: &Path, cause: &io::Error) -> Option<G::Result> {
        // Removed since its parent was listed: nothing is missing from the answer.
        if cause.kind() == io::ErrorKind::NotFound {
            return None;
        }
        self.visitor.unreadable(folder, cause)
    }

    /// Lists a directory and makes work of what is in it.
    fn list(
        &mut self,
        folder: &Arc<Folder>,
        above: Option<&Arc<Rules>>,
        left_out: bool,
        position: &Position,
    ) -> (Option<G::Result>, Vec<(Position, Work)>) {
        let mut entries: Vec<Entry> = Vec::new();
        let mut rule_files = RuleFiles::default();
        let mut seen = 0_usize;
        let cancelled = self.run.cancelled;
        let selection = self.run.walk.selection;
        let listed = folder.entries(&mut self.buffer, &mut |name, kind| {
            let bytes = name.as_encoded_bytes();
            if bytes.first() == Some(&b'.') {
                rule_files.note(bytes, kind);
            }
            let wanted = match kind {
                EntryKind::File => !selection.rejects_name(name),
                EntryKind::Folder => true,
                EntryKind::Link | EntryKind::Other => false,
            };
            if wanted {
                entries.push(Entry { name: name.to_owned(), kind, left_out });
            }
            seen += 1;
            if seen.is_multiple_of(ENTRIES_BETWEEN_CHECKS) && cancelled() {
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        });
        let result = match listed {
            Ok(()) => None,
            Err(cause) => self.unreadable(folder.path(), &cause),
        };
        let rules = match self.run.walk.ignore_rules {
            IgnoreRules::Hold => Rules::within(above, folder, rule_files, selection.naming(folder)),
            IgnoreRules::Disregarded => None,
        };
        self.judge(folder, &mut entries, rules.as_deref());
        (result, self.share_out(folder, entries, rules.as_ref(), position))
    }

    /// Keeps the entries that are asked for.
    fn judge(&mut self, folder: &Folder, entries: &mut Vec<Entry>, rules: Option<&Rules>) {
        let Walk { selection, visibility, taken, .. } = *self.run.walk;
        // Most files of a search are judged by name alone; a path for each would cost more than that.
        let needs_path = rules.is_some() || selection.needs_path() || !visibility.is_everything();
        let needs_below = selection.needs_path_below();
        let (path, below) = (&mut self.path, &mut self.below);
        path.clear();
        path.push(folder.path());
        below.clear();
        below.push(folder.below());
        let mut left_out_any = false;
        entries.retain_mut(|entry| {
            if needs_path {
                path.push(&entry.name);
            }
            if needs_below {
                below.push(&entry.name);
            }
            // Below an ignored directory everything is left out; its own rules do not matter.
            let rules = if entry.left_out { None } else { rules };
            let candidate = Candidate {
                path,
                below,
                name: &entry.name,
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
            if needs_below {
                below.pop();
            }
            wanted
        });
        if left_out_any {
            self.run.left_out_any.store(true, Ordering::Relaxed);
        }
    }

    /// Makes pieces of work of entries, in the order the walk is to have.
    fn share_out(
        &self,
        folder: &Arc<Folder>,
        mut entries: Vec<Entry>,
        rules: Option<&Arc<Rules>>,
        position: &Position,
    ) -> Vec<(Position, Work)> {
        match self.run.walk.order {
            Order::Path => entries.sort_unstable_by(|one, other| {
                one.name.as_encoded_bytes().cmp(other.name.as_encoded_bytes())
            }),
            // Files first: the sooner they are done, the sooner the directory can be closed.
            Order::Any => entries.sort_by_key(|it| it.kind != EntryKind::File),
        }
        let mut further: Vec<(Position, Work)> = Vec::new();
        let mut names: Vec<OsString> = Vec::new();
        let add = |work: Work, further: &mut Vec<(Position, Work)>| {
            further.push((position.child(further.len()), work));
        };
        for Entry { name, kind, left_out } in entries {
            let is_file = kind == EntryKind::File;
            if !names.is_empty() && (!is_file || names.len() == FILES_AT_ONCE) {
                let names = std::mem::take(&mut names);
                add(Work::Visit { folder: Arc::clone(folder), names }, &mut further);
            }
            if is_file {
                names.push(name);
            } else {
                let (parent, rules) = (Arc::clone(folder), rules.cloned());
                add(Work::Enter { parent, name, rules, left_out }, &mut further);
            }
        }
        if !names.is_empty() {
            add(Work::Visit { folder: Arc::clone(folder), names }, &mut further);
        }
        further
    }
}
