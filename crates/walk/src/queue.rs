//! The queue of a walk: work that is still to be done, and results that are still to be gathered.
//!
//! Work is taken in the order of the tree. That keeps few directories open, and allows gathering
//! results in path order although several threads work: a result waits until all work before it is
//! done. So a search that has enough results can stop, and always gives the same answer.

use std::{
    collections::BTreeMap,
    ops::ControlFlow,
    sync::{
        Arc,
        atomic::{self, AtomicBool},
    },
};

use parking_lot::{Condvar, Mutex, MutexGuard};

use super::tree_position::TreePosition;

/// How many bytes of results may wait for work before them. A thread that would add more has to wait.
const MAX_WAITING_WEIGHT: usize = 8 * 1024 * 1024;

/// The order in which results are gathered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultOrder {
    /// As soon as they are there.
    Any,
    /// By path, compared component by component, and these byte by byte.
    Path,
}

/// Receives results one at a time, and decides when there are enough.
pub trait Gather: Send {
    /// The result of one piece of work.
    type Result: Send;

    /// An estimate of the memory that a result takes.
    fn weight(result: &Self::Result) -> usize;

    /// Receives a result. `Break` ends the walk.
    fn take(&mut self, result: Self::Result) -> ControlFlow<()>;
}

/// Work that consists of many pieces, which are split off one by one, so that queued work takes little
/// memory.
pub(super) trait Splits: Sized {
    /// The first piece, and the rest if there is any.
    fn split(self) -> (Self, Option<Self>);

    /// The number of pieces.
    fn pieces(&self) -> usize;
}

struct PendingWork<T> {
    position: Arc<TreePosition>,
    work: T,
}

struct QueueState<T, R> {
    /// Sorted in reverse, so that the last item is next. Most work is added at that end, so this needs
    /// fewer comparisons than a heap, and comparing two positions may take as many steps as a tree is
    /// deep.
    pending: Vec<PendingWork<T>>,
    /// The number of pieces of all pending work.
    pieces: usize,
    running: Vec<Arc<TreePosition>>,
    waiting: BTreeMap<Arc<TreePosition>, R>,
    waiting_weight: usize,
    /// How many threads are asleep. If there are none, none has to be woken.
    idle: usize,
    stopped: bool,
}

/// The queue of one walk, shared by its threads.
pub(super) struct Queue<'g, T, G: Gather> {
    order: ResultOrder,
    state: Mutex<(QueueState<T, G::Result>, &'g mut G)>,
    changed: Condvar,
    /// A copy of the flag in the state that can be read without a lock.
    stopped: AtomicBool,
}

type Guard<'s, 'g, T, G> = MutexGuard<'s, (QueueState<T, <G as Gather>::Result>, &'g mut G)>;

/// A piece of work that a thread is doing. If it is dropped before it ends, as by a panic, the walk
/// stops: otherwise the other threads would wait for it for ever.
pub(super) struct RunningWork<'q, 'g, T: Splits, G: Gather> {
    queue: &'q Queue<'g, T, G>,
    position: Arc<TreePosition>,
    ended: bool,
}

impl<'g, T: Splits, G: Gather> Queue<'g, T, G> {
    pub(super) fn new(order: ResultOrder, first: T, gather: &'g mut G) -> Self {
        let pieces = first.pieces();
        let first = PendingWork { position: Arc::default(), work: first };
        let state = QueueState {
            pending: vec![first],
            pieces,
            running: Vec::new(),
            waiting: BTreeMap::new(),
            waiting_weight: 0,
            idle: 0,
            stopped: false,
        };
        Self {
            order,
            state: Mutex::new((state, gather)),
            changed: Condvar::new(),
            stopped: AtomicBool::new(false),
        }
    }

    /// The next piece of work. `None` if all is done or the walk was stopped.
    pub(super) fn next(&self) -> Option<(T, RunningWork<'_, 'g, T, G>)> {
        let mut guard = self.state.lock();
        loop {
            let (state, _) = &mut *guard;
            if state.stopped {
                return None;
            }
            if let Some((position, work)) = state.take_first() {
                state.running.push(Arc::clone(&position));
                return Some((work, RunningWork { queue: self, position, ended: false }));
            }
            if state.running.is_empty() {
                return None;
            }
            self.sleep(&mut guard);
        }
    }

    fn sleep(&self, guard: &mut Guard<'_, 'g, T, G>) {
        guard.0.idle += 1;
        self.changed.wait(guard);
        guard.0.idle -= 1;
    }

    /// The number of pieces of work that no thread has taken yet.
    pub(super) fn pending(&self) -> usize {
        self.state.lock().0.pieces
    }

    /// Stops the walk. Each thread ends when it notices.
    pub(super) fn stop(&self) {
        self.stopped.store(true, atomic::Ordering::Relaxed);
        self.state.lock().0.stopped = true;
        self.changed.notify_all();
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.stopped.load(atomic::Ordering::Relaxed)
    }
}

impl<T: Splits, G: Gather> RunningWork<'_, '_, T, G> {
    /// Ends this piece of work with its result and the work that follows from it.
    pub(super) fn end(mut self, result: Option<G::Result>, further: Option<T>) {
        self.ended = true;
        let mut guard = self.queue.state.lock();
        let (state, gather) = &mut *guard;
        state.running.retain(|it| !Arc::ptr_eq(it, &self.position));
        if let Some(work) = further {
            state.add(self.position.first_child(), work);
        }
        if let Some(result) = result {
            match self.queue.order {
                ResultOrder::Any => state.stopped |= gather.take(result).is_break(),
                ResultOrder::Path => {
                    state.waiting_weight += G::weight(&result);
                    state.waiting.insert(Arc::clone(&self.position), result);
                }
            }
        }
        if self.queue.order == ResultOrder::Path {
            state.hand_over(*gather);
        }
        if state.stopped {
            self.queue.stopped.store(true, atomic::Ordering::Relaxed);
        }
        if state.idle > 0 {
            self.queue.changed.notify_all();
        }
        // Another thread is doing the first piece of work; further results would only wait for it.
        while guard.0.waiting_weight > MAX_WAITING_WEIGHT
            && !guard.0.stopped
            && guard.0.first_is_running()
        {
            self.queue.sleep(&mut guard);
        }
    }
}

impl<T: Splits, G: Gather> Drop for RunningWork<'_, '_, T, G> {
    fn drop(&mut self) {
        if !self.ended {
            self.queue.stop();
        }
    }
}

impl<T: Splits, R> QueueState<T, R> {
    fn add(&mut self, position: Arc<TreePosition>, work: T) {
        self.pieces += work.pieces();
        let is_first = self.pending.last().is_none_or(|it| position < it.position);
        let index = if is_first {
            self.pending.len()
        } else {
            self.pending.partition_point(|it| it.position > position)
        };
        self.pending.insert(index, PendingWork { position, work });
    }

    /// Removes the first piece of work.
    fn take_first(&mut self) -> Option<(Arc<TreePosition>, T)> {
        let PendingWork { position, work } = self.pending.pop()?;
        self.pieces = self.pieces.saturating_sub(work.pieces());
        let (piece, rest) = work.split();
        if let Some(rest) = rest {
            self.add(position.next(), rest);
        }
        Some((position, piece))
    }

    /// Passes on every result before which no other can come any more.
    fn hand_over<G: Gather<Result = R>>(&mut self, gather: &mut G) {
        while !self.stopped
            && let Some(entry) = self.waiting.first_entry()
        {
            let pending = self.pending.last().map(|it| &it.position);
            let unfinished = self.running.iter().chain(pending).min();
            if unfinished.is_some_and(|it| it < entry.key()) {
                return;
            }
            let result = entry.remove();
            self.waiting_weight = self.waiting_weight.saturating_sub(G::weight(&result));
            self.stopped = gather.take(result).is_break();
        }
    }

    fn first_is_running(&self) -> bool {
        let pending = self.pending.last().map(|it| &it.position);
        match (self.running.iter().min(), pending) {
            (Some(running), Some(pending)) => running < pending,
            (Some(_), None) => true,
            (None, _) => false,
        }
    }
}
