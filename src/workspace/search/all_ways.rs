//! Follows all ways through a pattern at once, byte by byte, and can be left between any two.
//!
//! Slower than an automaton, and never at a loss: it looks at what is beside each byte.

use grep_matcher::Match;
use regex_automata::{
    nfa::thompson::{NFA, State},
    util::primitives::StateID,
};

use super::long_text::Left;

/// How many states may be looked at between two questions.
const STATES_BETWEEN_QUESTIONS: usize = 256 * 1024;

/// A pattern.
pub(super) struct AllWays<'n>(pub(super) &'n NFA);

/// The ways that lead to one place of a text, the preferred one first; room that is used again.
#[derive(Debug, Default)]
pub(super) struct Ways {
    here: List,
    next: List,
    stack: Vec<StateID>,
}

/// States, each with where its match would begin.
#[derive(Debug, Default)]
struct List {
    ways: Vec<(StateID, usize)>,
    /// For each state, in which round it was added last.
    added: Vec<usize>,
    round: usize,
}

impl List {
    fn clear(&mut self, states: usize) {
        self.ways.clear();
        self.added.resize(states, 0);
        self.round += 1;
    }

    /// False where the state is there already.
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

impl AllWays<'_> {
    /// The first match from a place on.
    pub(super) fn find(
        &self,
        ways: &mut Ways,
        text: &[u8],
        from: usize,
        left: &dyn Fn() -> bool,
    ) -> Result<Option<Match>, Left> {
        let states = self.0.states().len();
        let Ways { here, next, stack } = ways;
        here.clear(states);
        next.clear(states);
        let mut found = None;
        let mut looked_at = 0;
        for at in from..=text.len() {
            if found.is_none() {
                self.follow(self.0.start_anchored(), at, (text, at), here, stack);
            }
            if here.ways.is_empty() && found.is_some() {
                break;
            }
            looked_at += here.ways.len() + 1;
            if looked_at > STATES_BETWEEN_QUESTIONS {
                looked_at = 0;
                if left() {
                    return Err(Left);
                }
            }
            for (state, start) in &here.ways {
                let leads_to = match self.0.state(*state) {
                    State::Match { .. } => {
                        found = Some(Match::new(*start, at));
                        // What is left is preferred less.
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

    /// Adds a state, and those that it leads to without a byte.
    fn follow(
        &self,
        state: StateID,
        start: usize,
        (text, at): (&[u8], usize),
        list: &mut List,
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
                | State::Match { .. } => list.ways.push((state, start)),
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
