//! The index of one root: its state, and the threads that build it and learn.

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use super::{
    IndexPhase, IndexSettings, IndexStatus, IndexedFiles, SearchPlan, WhyCold,
    learner::{Committed, FileToLearn, LearnSource, Learner},
    need::Need,
    ready_index::{ReadyIndex, retry_after},
    texts::LearnedFile,
    tree::{TreeSettings, WatchedTree},
};
use crate::workspace::{
    search::{Query, Scope},
    walk::{Listing, ListingRequest, WalkPlan},
};

/// The index of one root.
#[derive(Debug)]
pub(super) struct RootIndex {
    root: PathBuf,
    global_excludes: Option<(PathBuf, PathBuf)>,
    max_memory: AtomicUsize,
    /// Whether nobody uses the index any more.
    is_closed: AtomicBool,
    state: Mutex<IndexState>,
}

#[derive(Debug)]
struct IndexState {
    stage: IndexStage,
    learner: Option<Learner>,
    began: Option<Instant>,
    last_build: Option<Duration>,
}

#[derive(Debug)]
enum IndexStage {
    /// Nobody wanted it so far.
    NotBuilt,
    /// A thread lists the files, or lists them again because changes were lost.
    Listing(WhyCold),
    Ready(Box<ReadyIndex>),
    /// It could not be built, or cannot be trusted any more.
    Refused {
        why: WhyCold,
        at: Instant,
    },
}

impl RootIndex {
    pub(super) fn new(
        root: PathBuf,
        global_excludes: Option<(PathBuf, PathBuf)>,
        settings: IndexSettings,
    ) -> Self {
        Self {
            root,
            global_excludes,
            max_memory: AtomicUsize::new(settings.max_memory),
            is_closed: AtomicBool::new(false),
            state: Mutex::new(IndexState {
                stage: IndexStage::NotBuilt,
                learner: None,
                began: None,
                last_build: None,
            }),
        }
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    fn state(&self) -> MutexGuard<'_, IndexState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Another user of the index allows this much memory.
    pub(super) fn allow_memory(&self, bytes: usize) {
        self.max_memory.fetch_max(bytes, Ordering::Relaxed);
    }

    /// Has the index built, unless it is, or could not be shortly before.
    pub(super) fn want(self: &Arc<Self>) {
        let mut state = self.state();
        let may_begin = match &state.stage {
            IndexStage::NotBuilt => true,
            IndexStage::Listing(_) | IndexStage::Ready(_) => false,
            IndexStage::Refused { why, at } => {
                retry_after(why).is_some_and(|it| at.elapsed() >= it)
            }
        };
        if may_begin {
            self.begin(&mut state, None, WhyCold::NotBuiltYet);
        }
    }

    /// Starts a thread that lists the files, or lists them again in an index that lost track of them.
    fn begin(
        self: &Arc<Self>,
        state: &mut IndexState,
        lost: Option<Box<ReadyIndex>>,
        why: WhyCold,
    ) {
        if self.is_closed.load(Ordering::Relaxed) {
            return;
        }
        state.began = Some(Instant::now());
        let index = Arc::clone(self);
        let started = thread::Builder::new()
            .name("toolwright-index".to_owned())
            .spawn(move || index.list_files(lost));
        state.stage = match started {
            Ok(_) => IndexStage::Listing(why),
            Err(cause) => IndexStage::Refused { why: WhyCold::failed(&cause), at: Instant::now() },
        };
    }

    fn list_files(self: Arc<Self>, lost: Option<Box<ReadyIndex>>) {
        // Without it the thread is merely less polite.
        let _ = rustix::process::setpriority_process(None, 19);
        let listed = self.listed(lost);
        let mut state = self.state();
        if self.is_closed.load(Ordering::Relaxed) {
            return;
        }
        state.stage = match listed {
            Ok(ready) => IndexStage::Ready(ready),
            Err(why) => IndexStage::Refused { why, at: Instant::now() },
        };
        match (&state.stage, &state.learner) {
            (IndexStage::Ready(_), Some(learner)) => learner.wake(),
            (IndexStage::Ready(_), None) => {
                let source: Arc<dyn LearnSource> = Arc::<Self>::clone(&self);
                match Learner::start(source) {
                    Ok(learner) => state.learner = Some(learner),
                    Err(cause) => {
                        let why = WhyCold::failed(&cause);
                        state.stage = IndexStage::Refused { why, at: Instant::now() };
                    }
                }
            }
            _ => {}
        }
    }

    fn listed(&self, lost: Option<Box<ReadyIndex>>) -> Result<Box<ReadyIndex>, WhyCold> {
        let cancelled = || self.is_closed.load(Ordering::Relaxed);
        if let Some(mut ready) = lost {
            ready.tree.read_again(&cancelled)?;
            ready.take_changes();
            return Ok(ready);
        }
        let settings = TreeSettings::new(self.global_excludes.clone());
        let tree = WatchedTree::open(&self.root, &settings, &cancelled)?;
        let max_memory = self.max_memory.load(Ordering::Relaxed);
        Ok(Box::new(ReadyIndex::new(tree, max_memory)?))
    }

    /// Asks the index, after it has taken in every change that is complete.
    pub(super) fn ask<T>(
        self: &Arc<Self>,
        question: impl FnOnce(&ReadyIndex) -> Result<T, WhyCold>,
    ) -> Result<T, WhyCold> {
        let mut state = self.state();
        let ready = match &mut state.stage {
            IndexStage::Ready(ready) => ready,
            IndexStage::NotBuilt => return Err(WhyCold::NotBuiltYet),
            IndexStage::Listing(why) => return Err(why.clone()),
            IndexStage::Refused { why, .. } => {
                let why = why.clone();
                drop(state);
                // Whatever was in the way may be gone.
                self.want();
                return Err(why);
            }
        };
        if let Err(why) = ready.refresh() {
            self.lose_track(&mut state, why.clone());
            return Err(why);
        }
        let answer = question(ready);
        if (ready.has_work() || ready.tree.needs_sweep().is_some())
            && let Some(learner) = &state.learner
        {
            learner.wake();
        }
        answer
    }

    pub(super) fn plan_search(
        self: &Arc<Self>,
        scope: &Scope<'_>,
        query: &Query,
    ) -> Result<SearchPlan, WhyCold> {
        let need = Need::of(query).ok_or(WhyCold::NoNeed)?;
        self.ask(|ready| ready.plan_search(scope, &need))
    }

    pub(super) fn plan_left_out(self: &Arc<Self>, scope: &Scope<'_>) -> Result<WalkPlan, WhyCold> {
        self.ask(|ready| ready.plan_left_out(scope))
    }

    pub(super) fn find_files(
        self: &Arc<Self>,
        scope: &Scope<'_>,
        limit: usize,
    ) -> Result<IndexedFiles, WhyCold> {
        self.ask(|ready| ready.find_files(scope, limit))
    }

    pub(super) fn list(self: &Arc<Self>, request: &ListingRequest<'_>) -> Result<Listing, WhyCold> {
        self.ask(|ready| ready.list(request))
    }

    /// Takes note that the tree cannot be trusted any more.
    fn lose_track(self: &Arc<Self>, state: &mut IndexState, why: WhyCold) {
        let before = std::mem::replace(&mut state.stage, IndexStage::NotBuilt);
        if let (IndexStage::Ready(ready), WhyCold::QueueOverflow) = (before, &why) {
            self.begin(state, Some(ready), why);
        } else {
            state.stage = IndexStage::Refused { why, at: Instant::now() };
        }
    }

    /// Tells the threads to end. What the index takes is freed by the last of them.
    pub(super) fn close(&self) {
        self.is_closed.store(true, Ordering::Relaxed);
        let mut state = self.state();
        let learner = state.learner.take();
        drop(state);
        drop(learner);
    }

    pub(super) fn status(&self) -> IndexStatus {
        let state = self.state();
        let cold = |why: &WhyCold| IndexStatus::cold(&self.root, Some(why.to_string()));
        let mut status = match &state.stage {
            IndexStage::NotBuilt => cold(&WhyCold::NotBuiltYet),
            IndexStage::Refused { why, .. } => cold(why),
            IndexStage::Listing(why) => IndexStatus { phase: IndexPhase::Building, ..cold(why) },
            IndexStage::Ready(ready) => {
                let counts = ready.signatures.counts();
                let phase =
                    if ready.is_settled() { IndexPhase::Warm } else { IndexPhase::Building };
                IndexStatus {
                    phase,
                    files: counts.files,
                    learned: counts.learned,
                    memory_bytes: ready.memory(),
                    cold_subtrees: ready.tree.cold_subtrees(),
                    ..IndexStatus::cold(&self.root, None)
                }
            }
        };
        status.last_build = state.last_build;
        status
    }
}

impl LearnSource for RootIndex {
    fn next_files(&self, files: &mut Vec<FileToLearn>) {
        let mut state = self.state();
        let IndexState { stage, began, last_build, .. } = &mut *state;
        let IndexStage::Ready(ready) = stage else { return };
        // If it fails, the next question will find out why.
        let _ = ready.sweep_if_due();
        ready.next_files(files);
        if ready.is_settled()
            && let Some(began) = began.take()
        {
            *last_build = Some(began.elapsed());
        }
    }

    fn open(&self, file: FileToLearn) -> io::Result<File> {
        let state = self.state();
        let place = match &state.stage {
            IndexStage::Ready(ready) => ready.place_of(file),
            _ => None,
        };
        drop(state);
        place.ok_or(io::ErrorKind::NotFound)?.open()
    }

    fn commit(&self, file: FileToLearn, learned: LearnedFile) -> Committed {
        match &mut self.state().stage {
            IndexStage::Ready(ready) => ready.commit(file, learned),
            _ => Committed::Outdated,
        }
    }

    fn tidy(&self) -> bool {
        match &mut self.state().stage {
            IndexStage::Ready(ready) => ready.signatures.tidy(),
            _ => false,
        }
    }
}
