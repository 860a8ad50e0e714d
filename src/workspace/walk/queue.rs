//! The work that a walk still has to do, and the results on their way to whoever gathers them.
//!
//! Work is taken by place in the tree, the first place first. That keeps few directories open, and it
//! lets results be handed over in path order while several threads search: a result waits until
//! nothing before it is left to do. A search that has enough can stop there, and the answer is the
//! same every time.

use std::{
    collections::BTreeMap,
    ops::ControlFlow,
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{self, AtomicBool},
    },
};

use super::position::Position;

/// How much finished work may wait for something before it; whoever would add more waits instead.
const MAX_WAITING_WEIGHT: usize = 8 * 1024 * 1024;

/// In which order results are handed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// As they come.
    Any,
    /// By path: names compared byte by byte, directory by directory.
    Path,
}

/// Takes results, one at a time, and says when there are enough.
pub trait Gather: Send {
    /// What comes from one piece of work.
    type Result: Send;

    /// About how many bytes a result holds.
    fn weight(result: &Self::Result) -> usize;

    /// Takes a result; breaking ends the walk.
    fn take(&mut self, result: Self::Result) -> ControlFlow<()>;
}

/// Work that may be many pieces: as much is made of it as is taken, so that what waits takes little memory.
pub(super) trait Splits: Sized {
    /// The first piece, and what is left, if anything is.
    fn split(self) -> (Self, Option<Self>);

    /// How many pieces it is.
    fn pieces(&self) -> usize;
}

struct Pending<T> {
    position: Arc<Position>,
    work: T,
}

struct State<T, R> {
    /// What comes first is the last. Work is mostly added where it is taken off, so that this takes less
    /// than a heap would: to compare two places may take as many steps as a tree is deep.
    pending: Vec<Pending<T>>,
    /// How many pieces those are.
    pieces: usize,
    running: Vec<Arc<Position>>,
    waiting: BTreeMap<Arc<Position>, R>,
    waiting_weight: usize,
    /// Threads asleep: nobody has to be woken where nobody sleeps.
    idle: usize,
    stopped: bool,
}

/// The queue of one walk.
pub(super) struct Queue<'g, T, G: Gather> {
    order: Order,
    state: Mutex<(State<T, G::Result>, &'g mut G)>,
    changed: Condvar,
    /// The same as in the state, to be seen without a lock.
    stopped: AtomicBool,
}

type Guard<'s, 'g, T, G> = MutexGuard<'s, (State<T, <G as Gather>::Result>, &'g mut G)>;

/// A piece of work that a thread is at. Dropped without an end, as by a panic, it stops the walk:
/// the others would wait for it for ever.
pub(super) struct Running<'q, 'g, T: Splits, G: Gather> {
    queue: &'q Queue<'g, T, G>,
    position: Arc<Position>,
    ended: bool,
}

impl<'g, T: Splits, G: Gather> Queue<'g, T, G> {
    pub(super) fn new(order: Order, first: T, gather: &'g mut G) -> Self {
        let pieces = first.pieces();
        let first = Pending { position: Arc::default(), work: first };
        let state = State {
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

    /// The next piece of work, or nothing when all is done or the walk has stopped.
    pub(super) fn next(&self) -> Option<(T, Running<'_, 'g, T, G>)> {
        let mut guard = self.lock();
        loop {
            let (state, _) = &mut *guard;
            if state.stopped {
                return None;
            }
            if let Some((position, work)) = state.take_first() {
                state.running.push(Arc::clone(&position));
                return Some((work, Running { queue: self, position, ended: false }));
            }
            if state.running.is_empty() {
                return None;
            }
            guard = self.sleep(guard);
        }
    }

    fn sleep<'s>(&self, mut guard: Guard<'s, 'g, T, G>) -> Guard<'s, 'g, T, G> {
        guard.0.idle += 1;
        let mut guard = self.changed.wait(guard).unwrap_or_else(PoisonError::into_inner);
        guard.0.idle -= 1;
        guard
    }

    /// How many pieces of work nobody is at.
    pub(super) fn pending(&self) -> usize {
        self.lock().0.pieces
    }

    /// Ends the walk as soon as every thread has noticed.
    pub(super) fn stop(&self) {
        self.stopped.store(true, atomic::Ordering::Relaxed);
        self.lock().0.stopped = true;
        self.changed.notify_all();
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.stopped.load(atomic::Ordering::Relaxed)
    }

    fn lock(&self) -> Guard<'_, 'g, T, G> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Splits, G: Gather> Running<'_, '_, T, G> {
    /// Ends this piece of work with what it found and the work it leads to.
    pub(super) fn end(mut self, result: Option<G::Result>, further: Option<T>) {
        self.ended = true;
        let mut guard = self.queue.lock();
        let (state, gather) = &mut *guard;
        state.running.retain(|it| !Arc::ptr_eq(it, &self.position));
        if let Some(work) = further {
            state.add(self.position.first_child(), work);
        }
        if let Some(result) = result {
            match self.queue.order {
                Order::Any => state.stopped |= gather.take(result).is_break(),
                Order::Path => {
                    state.waiting_weight += G::weight(&result);
                    state.waiting.insert(Arc::clone(&self.position), result);
                }
            }
        }
        if self.queue.order == Order::Path {
            state.hand_over(*gather);
        }
        if state.stopped {
            self.queue.stopped.store(true, atomic::Ordering::Relaxed);
        }
        if state.idle > 0 {
            self.queue.changed.notify_all();
        }
        // Somebody is at what comes first; more results would only wait for it.
        while guard.0.waiting_weight > MAX_WAITING_WEIGHT
            && !guard.0.stopped
            && guard.0.first_is_running()
        {
            guard = self.queue.sleep(guard);
        }
    }
}

impl<T: Splits, G: Gather> Drop for Running<'_, '_, T, G> {
    fn drop(&mut self) {
        if !self.ended {
            self.queue.stop();
        }
    }
}

impl<T: Splits, R> State<T, R> {
    fn add(&mut self, position: Arc<Position>, work: T) {
        self.pieces += work.pieces();
        let is_first = self.pending.last().is_none_or(|it| position < it.position);
        let index = if is_first {
            self.pending.len()
        } else {
            self.pending.partition_point(|it| it.position > position)
        };
        self.pending.insert(index, Pending { position, work });
    }

    /// Takes the first piece of work off.
    fn take_first(&mut self) -> Option<(Arc<Position>, T)> {
        let Pending { position, work } = self.pending.pop()?;
        self.pieces = self.pieces.saturating_sub(work.pieces());
        let (piece, rest) = work.split();
        if let Some(rest) = rest {
            self.add(position.next(), rest);
        }
        Some((position, piece))
    }

    /// Hands over every result that nothing can come before any more.
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
