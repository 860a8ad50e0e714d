//! Finds a match by simulating the NFA of a pattern: it follows all possible threads through the
//! pattern at once, byte by byte, and can be interrupted after any byte.
//!
//! This is slower than a DFA, but works for every pattern, because it can look at the bytes around a
//! position.

use grep_matcher::Match;
use regex_automata::{
    nfa::thompson::{NFA, State},
    util::primitives::StateID,
};

use super::long_text::Interrupted;

/// How many states are visited between two checks for cancellation.
const STATES_BETWEEN_CHECKS: usize = 256 * 1024;

/// The simulation of one pattern.
pub(super) struct NfaSimulation<'n>(pub(super) &'n NFA);

/// The threads at the current and at the next position. Reused, so that a search allocates nothing.
#[derive(Debug, Default)]
pub(super) struct NfaThreads {
    here: ActiveStates,
    next: ActiveStates,
    stack: Vec<StateID>,
}

/// The states that threads are in, preferred threads first, each with where its match would begin.
#[derive(Debug, Default)]
struct ActiveStates {
    threads: Vec<(StateID, usize)>,
    /// For each state, the last round in which it was added.
    added: Vec<usize>,
    round: usize,
}

impl ActiveStates {
    fn clear(&mut self, states: usize) {
        self.threads.clear();
        self.added.resize(states, 0);
        self.round += 1;
    }

    /// Returns false if the state was added in this round already.
    fn add(&mut self, state: StateID) -> bool {
        match self.added.get_mut(state.as_usize()) {
            Some(round) if *round != self.round => {
                *round = self.round;
                true
            }
            _ => false,
        }
    }
}

impl NfaSimulation<'_> {
    /// The first match at or after `from`.
    pub(super) fn find(
        &self,
        threads: &mut NfaThreads,
        text: &[u8],
        from: usize,
        is_cancelled: &dyn Fn() -> bool,
    ) -> Result<Option<Match>, Interrupted> {
        let states = self.0.states().len();
        let NfaThreads { here, next, stack } = threads;
        here.clear(states);
        next.clear(states);
        let mut found = None;
        let mut visited = 0;
        for at in from..=text.len() {
            if found.is_none() {
                self.follow(self.0.start_anchored(), at, (text, at), here, stack);
            }
            if here.threads.is_empty() && found.is_some() {
                break;
            }
            visited += here.threads.len() + 1;
            if visited > STATES_BETWEEN_CHECKS {
                visited = 0;
                if is_cancelled() {
                    return Err(Interrupted);
                }
            }
            for (state, start) in &here.threads {
                let leads_to = match self.0.state(*state) {
                    State::Match { .. } => {
                        found = Some(Match::new(*start, at));
                        // The remaining threads are less preferred.
                        break;
                    }
                    State::ByteRange { trans } => trans.matches(text, at).then_some(trans.next),
                    State::Sparse(sparse) => sparse.matches(text, at),
                    State::Dense(dense) => dense.matches(text, at),
                    _ => None,
                };
                if let Some(state) = leads_to {
                    self.follow(state, *start, (text, at + 1), next, stack);
                }
            }
            std::mem::swap(here, next);
            next.clear(states);
        }
        Ok(found)
    }

    /// Adds a state, and all states that can be reached from it without consuming a byte.
    fn follow(
        &self,
        state: StateID,
        start: usize,
        (text, at): (&[u8], usize),
        list: &mut ActiveStates,
        stack: &mut Vec<StateID>,
    ) {
        stack.push(state);
        while let Some(state) = stack.pop() {
            if !list.add(state) {
                continue;
            }
            match self.0.state(state) {
                State::ByteRange { .. }
                | State::Sparse(_)
                | State::Dense(_)
                | State::Match { .. } => list.threads.push((state, start)),
                State::Look { look, next } => {
                    if self.0.look_matcher().matches(*look, text, at) {
                        stack.push(*next);
                    }
                }
                State::Union { alternates } => stack.extend(alternates.iter().rev()),
                State::BinaryUnion { alt1, alt2 } => stack.extend([*alt2, *alt1]),
                State::Capture { next, .. } => stack.push(*next),
                State::Fail => {}
            }
        }
    }
}
