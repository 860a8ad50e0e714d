//! Finds a match with a lazy DFA, whose states are built on demand, in a way that can be interrupted.

use grep_matcher::Match;
use regex_automata::{
    Anchored, Input,
    hybrid::{
        LazyStateID,
        dfa::{Cache, DFA},
    },
    nfa::thompson::{self, NFA, WhichCaptures},
    util::pool::Pool,
};
use regex_syntax::hir::Hir;

use super::{
    long_text::Interrupted,
    nfa_simulation::{NfaSimulation, NfaThreads},
    query::MAX_COMPILED_BYTES,
};

/// The size of the cache of each DFA.
const AUTOMATON_BYTES: usize = 2 * 1024 * 1024;
/// How many bytes are searched between two checks for cancellation if all states have been built.
pub(super) const BLOCK_BYTES: usize = 64 * 1024;
/// How many states of the pattern may be visited between two checks while states are being built.
const STATES_AT_ONCE: usize = 1024 * 1024;

/// The result of a search with the DFA.
enum DfaOutcome {
    Found(Option<Match>),
    /// The DFA cannot decide whether there is a word boundary next to a character that is not ASCII.
    Undecided,
}

/// A pattern as two DFAs: one finds the end of a match, the other goes backwards to its start.
#[derive(Debug)]
pub(super) struct InterruptibleDfa {
    forward: DFA,
    reverse: DFA,
    states: usize,
    pool: Pool<CachesSlot, fn() -> Option<Box<Caches>>>,
}

type CachesSlot = Option<Box<Caches>>;

/// The memory that a thread needs for a search.
#[derive(Debug)]
struct Caches {
    forward: Cache,
    reverse: Cache,
    threads: NfaThreads,
}

impl InterruptibleDfa {
    pub(super) fn new(hir: &Hir) -> Option<Self> {
        let compile = |reverse: bool| {
            let config = NFA::config()
                .utf8(false)
                .reverse(reverse)
                .which_captures(WhichCaptures::None)
                .nfa_size_limit(Some(MAX_COMPILED_BYTES));
            thompson::Compiler::new().configure(config).build_from_hir(hir).ok()
        };
        let automaton = |nfa: NFA, kind| {
            let config = DFA::config()
                .match_kind(kind)
                .unicode_word_boundary(true)
                .cache_capacity(AUTOMATON_BYTES)
                .skip_cache_capacity_check(true);
            DFA::builder().configure(config).build_from_nfa(nfa).ok()
        };
        let forward = automaton(compile(false)?, regex_automata::MatchKind::LeftmostFirst)?;
        let reverse = automaton(compile(true)?, regex_automata::MatchKind::All)?;
        let states = forward.get_nfa().states().len();
        Some(Self { forward, reverse, states, pool: Pool::new(|| None) })
    }

    /// The first match at or after `at`.
    pub(super) fn find(
        &self,
        text: &[u8],
        at: usize,
        is_cancelled: &dyn Fn() -> bool,
    ) -> Result<Option<Match>, Interrupted> {
        let mut scratch = self.pool.get();
        let caches = scratch.get_or_insert_with(|| {
            Box::new(Caches {
                forward: self.forward.create_cache(),
                reverse: self.reverse.create_cache(),
                threads: NfaThreads::default(),
            })
        });
        match self.find_by_dfa(caches, text, at, is_cancelled)? {
            DfaOutcome::Found(found) => Ok(found),
            DfaOutcome::Undecided => NfaSimulation(self.forward.get_nfa()).find(
                &mut caches.threads,
                text,
                at,
                is_cancelled,
            ),
        }
    }

    #[cfg(test)]
    pub(super) fn find_by_simulation(
        &self,
        text: &[u8],
        at: usize,
        is_cancelled: &dyn Fn() -> bool,
    ) -> Result<Option<Match>, Interrupted> {
        NfaSimulation(self.forward.get_nfa()).find(
            &mut NfaThreads::default(),
            text,
            at,
            is_cancelled,
        )
    }

    fn find_by_dfa(
        &self,
        caches: &mut Caches,
        text: &[u8],
        at: usize,
        is_cancelled: &dyn Fn() -> bool,
    ) -> Result<DfaOutcome, Interrupted> {
        let forward =
            DfaSteps { dfa: &self.forward, cache: &mut caches.forward, states: self.states };
        let end = match forward.end_of_match(text, at, is_cancelled)? {
            MatchEnd::At(end) => end,
            MatchEnd::None => return Ok(DfaOutcome::Found(None)),
            MatchEnd::Undecided => return Ok(DfaOutcome::Undecided),
        };
        let reverse =
            DfaSteps { dfa: &self.reverse, cache: &mut caches.reverse, states: self.states };
        match reverse.start_of_match(text, at, end, is_cancelled)? {
            MatchEnd::At(start) => Ok(DfaOutcome::Found(Some(Match::new(start, end)))),
            MatchEnd::None | MatchEnd::Undecided => Ok(DfaOutcome::Undecided),
        }
    }
}

/// The search for one end of a match.
enum MatchEnd {
    At(usize),
    None,
    Undecided,
}

/// Goes through a DFA in blocks, with a check for cancellation before each. A block is short while
/// states are being built, which takes the longer the larger the pattern is, and long otherwise.
struct DfaSteps<'a> {
    dfa: &'a DFA,
    cache: &'a mut Cache,
    states: usize,
}

impl DfaSteps<'_> {
    /// Goes through the bytes of a text. `each` is called with the state after a byte and the index of the
    /// byte, if the state is special, and returns false to end the search.
    fn take<'t>(
        &mut self,
        mut state: LazyStateID,
        mut bytes: impl Iterator<Item = &'t u8>,
        is_cancelled: &dyn Fn() -> bool,
        each: &mut dyn FnMut(LazyStateID, usize) -> bool,
    ) -> Result<Result<LazyStateID, MatchEnd>, Interrupted> {
        let shortest = (STATES_AT_ONCE / self.states.max(1)).clamp(1, 4_096);
        let mut block = shortest;
        let mut taken = 0;
        loop {
            if is_cancelled() {
                return Err(Interrupted);
            }
            let known = (self.cache.memory_usage(), self.cache.clear_count());
            let mut in_block = 0;
            for byte in bytes.by_ref().take(block) {
                let Ok(next) = self.dfa.next_state(self.cache, state, *byte) else {
                    return Ok(Err(MatchEnd::Undecided));
                };
                state = next;
                if state.is_tagged() {
                    if state.is_quit() {
                        return Ok(Err(MatchEnd::Undecided));
                    }
                    if !each(state, taken + in_block) {
                        return Ok(Err(MatchEnd::None));
                    }
                }
                in_block += 1;
            }
            taken += in_block;
            if in_block < block {
                return Ok(Ok(state));
            }
            let is_known = known == (self.cache.memory_usage(), self.cache.clear_count());
            block = if is_known { (block * 2).min(BLOCK_BYTES) } else { shortest };
        }
    }

    fn end_of_match(
        mut self,
        text: &[u8],
        at: usize,
        is_cancelled: &dyn Fn() -> bool,
    ) -> Result<MatchEnd, Interrupted> {
        let input = Input::new(text).span(at..text.len());
        let Ok(start) = self.dfa.start_state_forward(self.cache, &input) else {
            return Ok(MatchEnd::Undecided);
        };
        let mut found = None;
        let rest = text.get(at..).unwrap_or_default();
        let ended = self.take(start, rest.iter(), is_cancelled, &mut |state, index| {
            // A DFA reports a match one byte late.
            if state.is_match() {
                found = Some(at + index);
            }
            !state.is_dead()
        })?;
        match ended {
            Ok(state) => {
                let Ok(last) = self.dfa.next_eoi_state(self.cache, state) else {
                    return Ok(MatchEnd::Undecided);
                };
                if last.is_match() {
                    found = Some(text.len());
                }
            }
            Err(MatchEnd::Undecided) => return Ok(MatchEnd::Undecided),
            Err(_) => {}
        }
        Ok(found.map_or(MatchEnd::None, MatchEnd::At))
    }

    fn start_of_match(
        mut self,
        text: &[u8],
        at: usize,
        end: usize,
        is_cancelled: &dyn Fn() -> bool,
    ) -> Result<MatchEnd, Interrupted> {
        let input = Input::new(text).span(at..end).anchored(Anchored::Yes);
        let Ok(start) = self.dfa.start_state_reverse(self.cache, &input) else {
            return Ok(MatchEnd::Undecided);
        };
        let mut found = None;
        let before = text.get(at..end).unwrap_or_default();
        let ended = self.take(start, before.iter().rev(), is_cancelled, &mut |state, index| {
            if state.is_match() {
                found = Some(end - index);
            }
            !state.is_dead()
        })?;
        match ended {
            Ok(state) => {
                let last = match at.checked_sub(1).and_then(|it| text.get(it)) {
                    Some(byte) => self.dfa.next_state(self.cache, state, *byte),
                    None => self.dfa.next_eoi_state(self.cache, state),
                };
                match last {
                    Ok(last) if last.is_match() => found = Some(at),
                    Ok(last) if !last.is_quit() => {}
                    Ok(_) | Err(_) => return Ok(MatchEnd::Undecided),
                }
            }
            Err(MatchEnd::Undecided) => return Ok(MatchEnd::Undecided),
            Err(_) => {}
        }
        Ok(found.map_or(MatchEnd::None, MatchEnd::At))
    }
}
