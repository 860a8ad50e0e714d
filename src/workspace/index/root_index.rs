//! The index of one root: its state, and the threads that build it and learn.

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, TryLockError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use super::{
    IndexPhase, IndexSettings, IndexStatus, IndexedFiles, SearchPlan, WhyCold,
    gram_numbers::{GramNumbers, GramSample},
    learner::{Committed, FileToLearn, LearnSource, Learner},
    need::Need,
    ready_index::{ReadyIndex, retry_after},
    sweep::StampedFolder,
    texts::{LearnedFile, first_text},
    tree::{TreeSettings, WatchedTree},
};
use crate::workspace::{
    search::{Query, Scope},
    walk::{Listing, ListingRequest, WalkPlan},
};

/// How long somebody who asks for the status waits for whoever changes the index.
const STATUS_PATIENCE: Duration = Duration::from_millis(2);

/// The index of one root.
#[derive(Debug)]
pub(super) struct RootIndex {
    root: PathBuf,
    global_excludes: Option<(PathBuf, PathBuf)>,
    max_memory: AtomicUsize,
    /// Whether nobody uses the index any more.
    is_closed: AtomicBool,
    /// Set when a user allows more memory than those before.
    has_more_memory: AtomicBool,
    state: Mutex<IndexState>,
    /// Locked after the state, if both are. Whoever closes the index waits for nothing else.
    learner: Mutex<Option<Learner>>,
    last_status: Mutex<IndexStatus>,
}

#[derive(Debug)]
struct IndexState {
    stage: IndexStage,
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
        let last_status = Mutex::new(IndexStatus {
            phase: IndexPhase::Building,
            ..IndexStatus::cold(&root, Some(WhyCold::NotBuiltYet.to_string()))
        });
        Self {
            root,
            global_excludes,
            max_memory: AtomicUsize::new(settings.max_memory),
            is_closed: AtomicBool::new(false),
            state: Mutex::new(IndexState {
                stage: IndexStage::NotBuilt,
                began: None,
                last_build: None,
            }),
            has_more_memory: AtomicBool::new(false),
            learner: Mutex::default(),
            last_status,
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
        if self.max_memory.fetch_max(bytes, Ordering::Relaxed) < bytes {
            self.has_more_memory.store(true, Ordering::Relaxed);
        }
    }

    /// Has the index built, unless it is, or could not be shortly before.
    pub(super) fn want(self: &Arc<Self>) {
        let mut state = self.state();
        let may_begin = match &state.stage {
            IndexStage::NotBuilt => true,
            IndexStage::Listing(_) | IndexStage::Ready(_) => false,
            IndexStage::Refused { why: WhyCold::OverBudget, .. } => {
                self.has_more_memory.swap(false, Ordering::Relaxed)
            }
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
        if matches!(state.stage, IndexStage::Ready(_))
            && let Err(cause) = self.start_learner()
        {
            let why = WhyCold::failed(&cause);
            state.stage = IndexStage::Refused { why, at: Instant::now() };
        }
    }

    fn learner(&self) -> MutexGuard<'_, Option<Learner>> {
        self.learner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has the learner learn, and starts it if there is none.
    fn start_learner(self: &Arc<Self>) -> io::Result<()> {
        let mut learner = self.learner();
        if let Some(learner) = &*learner {
            learner.wake();
        } else if !self.is_closed.load(Ordering::Relaxed) {
            let source: Arc<dyn LearnSource> = Arc::<Self>::clone(self);
            *learner = Some(Learner::start(source)?);
        }
        Ok(())
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
        if self.has_more_memory.swap(false, Ordering::Relaxed) {
            ready.allow_memory(self.max_memory.load(Ordering::Relaxed));
        }
        if let Err(why) = ready.refresh() {
            self.lose_track(&mut state, why.clone());
            return Err(why);
        }
        let answer = question(ready);
        if (ready.has_work() || ready.tree.needs_sweep().is_some())
            && let Some(learner) = &*self.learner()
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

    /// Runs something with the index, if there is one.
    fn with_ready<T>(&self, work: impl FnOnce(&mut ReadyIndex) -> T) -> Option<T> {
        match &mut self.state().stage {
            IndexStage::Ready(ready) => Some(work(ready)),
            _ => None,
        }
    }

    /// Compares the stamps of all files if that is due, a few at a time: whoever asks meanwhile must not wait
    /// for this thread, which runs when nobody else does.
    fn sweep_if_due(&self) {
        let Some(mut folders) = self.with_ready(|it| it.tree.begin_sweep()).flatten() else {
            return;
        };
        let mut changed = Vec::new();
        while !folders.is_empty() && !self.is_closed.load(Ordering::Relaxed) {
            let stamps = self.with_ready(|it| it.tree.next_stamps(&mut folders));
            let Some(stamps) = stamps else { return };
            changed.extend(stamps.into_iter().flat_map(StampedFolder::differing));
        }
        if !changed.is_empty() {
            self.with_ready(|it| it.end_sweep(changed));
        }
    }

    /// Finds out how common grams are if that is due, from a few files.
    fn sample_if_due(&self) {
        let files = self.with_ready(ReadyIndex::next_sample).unwrap_or_default();
        if files.is_empty() {
            return;
        }
        let mut sample = GramSample::new();
        for file in files {
            if self.is_closed.load(Ordering::Relaxed) {
                return;
            }
            // One that cannot be read tells nothing.
            if let Ok(text) = self.open(file).and_then(first_text) {
                sample.add(&text);
            }
        }
        self.with_ready(|it| it.number_by(sample.numbers()));
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
        drop(self.learner().take());
    }

    /// How the index stands. Whoever asks for it must not wait long, so while somebody changes the index for longer this
    /// is how it stood the last time.
    pub(super) fn status(&self) -> IndexStatus {
        let mut last = self.last_status.lock().unwrap_or_else(PoisonError::into_inner);
        let until = Instant::now() + STATUS_PATIENCE;
        loop {
            match self.state.try_lock() {
                Ok(state) => *last = self.status_of(&state),
                Err(TryLockError::Poisoned(state)) => *last = self.status_of(&state.into_inner()),
                Err(TryLockError::WouldBlock) if Instant::now() < until => {
                    thread::yield_now();
                    continue;
                }
                Err(TryLockError::WouldBlock) => {}
            }
            return last.clone();
        }
    }

    fn status_of(&self, state: &IndexState) -> IndexStatus {
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
        self.sweep_if_due();
        self.sample_if_due();
        let mut state = self.state();
        let IndexState { stage, began, last_build, .. } = &mut *state;
        let IndexStage::Ready(ready) = stage else { return };
        ready.next_files(files);
        if ready.is_settled()
            && let Some(began) = began.take()
        {
            *last_build = Some(began.elapsed());
            ready.shrink();
        }
    }

    fn gram_numbers(&self) -> GramNumbers {
        self.with_ready(|it| it.signatures.gram_numbers().clone()).unwrap_or_default()
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
