//! The index of one root: its state, and the threads that build it and learn.

use std::{
    fs::File,
    io,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use toolwright_walk::{Listing, ListingRequest, WalkPlan};

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
use crate::{Query, Scope};

/// How long `status()` waits for the lock before it returns the published status.
const STATUS_PATIENCE: Duration = Duration::from_millis(2);

/// The index of one root.
#[derive(Debug)]
pub(super) struct RootIndex {
    root: PathBuf,
    global_excludes: Option<(PathBuf, PathBuf)>,
    max_memory: AtomicUsize,
    /// Whether the index has no users any more.
    is_closed: AtomicBool,
    /// Set when a user allows more memory than those before.
    has_more_memory: AtomicBool,
    state: Mutex<IndexState>,
    /// Locked after the state, if both are locked. `close()` waits for no other lock.
    learner: Mutex<Option<Learner>>,
    /// The status after the last change of the state. Every change publishes it before it unlocks the state,
    /// so `status()` never reports what was true before a change that a caller has seen.
    published: Mutex<IndexStatus>,
}

#[derive(Debug)]
struct IndexState {
    stage: IndexStage,
    began: Option<Instant>,
    last_build: Option<Duration>,
}

#[derive(Debug)]
enum IndexStage {
    /// It has not been requested.
    NotBuilt,
    /// A thread lists the files, or lists them again because changes were lost.
    Listing(WhyCold),
    Ready(Box<ReadyIndex>),
    /// It could not be built, or can no longer be trusted.
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
        let not_built = Some(WhyCold::NotBuiltYet.to_string());
        let published = Mutex::new(IndexStatus::cold(&root, not_built));
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
            published,
        }
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// Raises the memory limit, because another user of the index allows this much.
    pub(super) fn allow_memory(&self, bytes: usize) {
        if self.max_memory.fetch_max(bytes, Ordering::Relaxed) < bytes {
            self.has_more_memory.store(true, Ordering::Relaxed);
        }
    }

    /// Starts to build the index, unless it is built, or building failed recently.
    pub(super) fn want(self: &Arc<Self>) {
        let mut state = self.state.lock();
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

    /// Starts a thread that lists the files. `lost` is an index that missed changes and is brought
    /// up to date.
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
        self.publish(state);
    }

    fn list_files(self: Arc<Self>, lost: Option<Box<ReadyIndex>>) {
        // If it fails, the thread only competes more with others.
        let _ = rustix::process::setpriority_process(None, 19);
        let listed = self.listed(lost);
        let mut state = self.state.lock();
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
        self.publish(&state);
    }

    /// Wakes the learner, or starts it if there is none.
    fn start_learner(self: &Arc<Self>) -> io::Result<()> {
        let mut learner = self.learner.lock();
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
            // Meanwhile the learner could open none of its files, and asks for each only once.
            ready.take_back_handed_out();
            return Ok(ready);
        }
        let settings = TreeSettings::new(self.global_excludes.clone());
        let tree = WatchedTree::open(&self.root, &settings, &cancelled)?;
        let max_memory = self.max_memory.load(Ordering::Relaxed);
        Ok(Box::new(ReadyIndex::new(tree, max_memory)?))
    }

    /// Applies every complete change, and then queries the index.
    pub(super) fn ask<T>(
        self: &Arc<Self>,
        question: impl FnOnce(&ReadyIndex) -> Result<T, WhyCold>,
    ) -> Result<T, WhyCold> {
        let mut state = self.state.lock();
        let ready = match &mut state.stage {
            IndexStage::Ready(ready) => ready,
            IndexStage::NotBuilt => return Err(WhyCold::NotBuiltYet),
            IndexStage::Listing(why) => return Err(why.clone()),
            IndexStage::Refused { why, .. } => {
                let why = why.clone();
                drop(state);
                // The cause may be gone.
                self.want();
                return Err(why);
            }
        };
        if self.has_more_memory.swap(false, Ordering::Relaxed) {
            ready.allow_memory(self.max_memory.load(Ordering::Relaxed));
        }
        let has_changed = match ready.refresh() {
            Ok(has_changed) => has_changed,
            Err(why) => {
                self.lose_track(&mut state, why.clone());
                return Err(why);
            }
        };
        let answer = question(ready);
        if (ready.has_work() || ready.tree.needs_sweep().is_some())
            && let Some(learner) = &*self.learner.lock()
        {
            learner.wake();
        }
        if has_changed {
            self.publish(&state);
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

    /// Calls `work` with the index, if it is ready.
    fn with_ready<T>(&self, work: impl FnOnce(&mut ReadyIndex) -> T) -> Option<T> {
        match &mut self.state.lock().stage {
            IndexStage::Ready(ready) => Some(work(ready)),
            _ => None,
        }
    }

    /// Compares the stamps of all files if that is due, a few at a time. The lock is released in
    /// between, because this thread has the lowest priority and requests must not wait for it.
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
            let mut state = self.state.lock();
            if let IndexStage::Ready(ready) = &mut state.stage {
                ready.end_sweep(changed);
                self.publish(&state);
            }
        }
    }

    /// Samples the frequency of grams from a few files, if that is due.
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
            // A file that cannot be read is skipped.
            if let Ok(text) = self.open(file).and_then(first_text) {
                sample.add(&text);
            }
        }
        self.with_ready(|it| it.number_by(sample.numbers()));
    }

    /// Records that the tree can no longer be trusted.
    fn lose_track(self: &Arc<Self>, state: &mut IndexState, why: WhyCold) {
        let before = std::mem::replace(&mut state.stage, IndexStage::NotBuilt);
        if let (IndexStage::Ready(ready), WhyCold::QueueOverflow) = (before, &why) {
            self.begin(state, Some(ready), why);
        } else {
            state.stage = IndexStage::Refused { why, at: Instant::now() };
            self.publish(state);
        }
    }

    /// Asks the threads to end. The last of them frees the index.
    pub(super) fn close(&self) {
        self.is_closed.store(true, Ordering::Relaxed);
        drop(self.learner.lock().take());
    }

    /// Keeps the status of a state that has changed, for callers that find it locked.
    fn publish(&self, state: &IndexState) {
        *self.published.lock() = self.status_of(state);
    }

    /// The status of the index. Returns the published status if the state stays locked, because hosts
    /// call this on their main thread and the index threads have the lowest priority.
    pub(super) fn status(&self) -> IndexStatus {
        match self.state.try_lock_for(STATUS_PATIENCE) {
            Some(state) => self.status_of(&state),
            None => self.published.lock().clone(),
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
                let why_cold = ready.why_nothing_learned();
                let phase = match &why_cold {
                    Some(_) => IndexPhase::Cold,
                    None if ready.is_settled() => IndexPhase::Warm,
                    None => IndexPhase::Building,
                };
                IndexStatus {
                    phase,
                    files: counts.files,
                    learned: counts.learned,
                    memory_bytes: ready.memory(),
                    cold_subtrees: ready.tree.cold_subtrees(),
                    ..IndexStatus::cold(&self.root, why_cold.map(|it| it.to_string()))
                }
            }
        };
        status.last_build = state.last_build;
        status
    }
}

impl LearnSource for RootIndex {
    fn next_files(&self, files: &mut Vec<FileToLearn>, put_off: usize) {
        self.sweep_if_due();
        self.sample_if_due();
        let mut state = self.state.lock();
        let IndexState { stage, began, last_build, .. } = &mut *state;
        let IndexStage::Ready(ready) = stage else { return };
        ready.put_off = put_off;
        ready.next_files(files);
        if ready.is_settled()
            && let Some(began) = began.take()
        {
            *last_build = Some(began.elapsed());
            ready.shrink();
        }
        self.publish(&state);
    }

    fn gram_numbers(&self) -> GramNumbers {
        self.with_ready(|it| it.signatures.gram_numbers().clone()).unwrap_or_default()
    }

    fn open(&self, file: FileToLearn) -> io::Result<File> {
        let state = self.state.lock();
        let place = match &state.stage {
            IndexStage::Ready(ready) => ready.place_of(file),
            _ => None,
        };
        drop(state);
        place.ok_or(io::ErrorKind::NotFound)?.open()
    }

    fn commit(&self, file: FileToLearn, learned: LearnedFile) -> Committed {
        match &mut self.state.lock().stage {
            IndexStage::Ready(ready) => ready.commit(file, learned),
            _ => Committed::Outdated,
        }
    }

    fn tidy(&self) -> bool {
        match &mut self.state.lock().stage {
            IndexStage::Ready(ready) => ready.signatures.tidy(),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests;
