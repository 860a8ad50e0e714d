//! An automaton for one pattern that is made as it goes, and can be left at any byte.

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
    all_ways::{AllWays, Ways},
    long_text::Left,
    query::MAX_COMPILED_BYTES,
};

/// How much an automaton may keep.
const AUTOMATON_BYTES: usize = 2 * 1024 * 1024;
/// How many bytes are one block of steps through an automaton that knows its way.
pub(super) const BLOCK_BYTES: usize = 64 * 1024;
/// How many states of the pattern may be looked at to make the next block of an automaton.
const STATES_AT_ONCE: usize = 1024 * 1024;

/// What a search through an automaton came to.
enum Stepped {
    Found(Option<Match>),
    /// Beside a character that is not ASCII, it cannot tell where words end.
    CannotTell,
}

/// The pattern from its beginning to its end, and the other way round.
#[derive(Debug)]
pub(super) struct Stepper {
    forward: DFA,
    reverse: DFA,
    states: usize,
    pool: Pool<Scratch, fn() -> Option<Box<Caches>>>,
}

type Scratch = Option<Box<Caches>>;

/// What a thread needs to search.
#[derive(Debug)]
struct Caches {
    forward: Cache,
    reverse: Cache,
    ways: Ways,
}

impl Stepper {
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

    /// The first match from a place on; `left` says whether to stop.
    pub(super) fn find(
        &self,
        text: &[u8],
        at: usize,
        left: &dyn Fn() -> bool,
    ) -> Result<Option<Match>, Left> {
        let mut scratch = self.pool.get();
        let caches = scratch.get_or_insert_with(|| {
            Box::new(Caches {
                forward: self.forward.create_cache(),
                reverse: self.reverse.create_cache(),
                ways: Ways::default(),
            })
        });
        match self.find_stepping(caches, text, at, left)? {
            Stepped::Found(found) => Ok(found),
            Stepped::CannotTell => {
                AllWays(self.forward.get_nfa()).find(&mut caches.ways, text, at, left)
            }
        }
    }

    #[cfg(test)]
    pub(super) fn find_by_all_ways(
        &self,
        text: &[u8],
        at: usize,
        left: &dyn Fn() -> bool,
    ) -> Result<Option<Match>, Left> {
        AllWays(self.forward.get_nfa()).find(&mut Ways::default(), text, at, left)
    }

    fn find_stepping(
        &self,
        caches: &mut Caches,
        text: &[u8],
        at: usize,
        left: &dyn Fn() -> bool,
    ) -> Result<Stepped, Left> {
        let forward = Steps { dfa: &self.forward, cache: &mut caches.forward, states: self.states };
        let end = match forward.end_of_match(text, at, left)? {
            Half::At(end) => end,
            Half::None => return Ok(Stepped::Found(None)),
            Half::CannotTell => return Ok(Stepped::CannotTell),
        };
        let reverse = Steps { dfa: &self.reverse, cache: &mut caches.reverse, states: self.states };
        match reverse.start_of_match(text, at, end, left)? {
            Half::At(start) => Ok(Stepped::Found(Some(Match::new(start, end)))),
            Half::None | Half::CannotTell => Ok(Stepped::CannotTell),
        }
    }
}

/// One end of a match.
enum Half {
    At(usize),
    None,
    CannotTell,
}

/// Goes through an automaton in blocks. A block is short while the automaton is being made, which takes
/// time by the size of the pattern, and long where it knows its way.
struct Steps<'a> {
    dfa: &'a DFA,
    cache: &'a mut Cache,
    states: usize,
}

impl Steps<'_> {
    /// Takes the bytes of a text, in order; `each` sees the state behind each byte and its number, and may
    /// end the search.
    fn take<'t>(
        &mut self,
        mut state: LazyStateID,
        mut bytes: impl Iterator<Item = &'t u8>,
        left: &dyn Fn() -> bool,
        each: &mut dyn FnMut(LazyStateID, usize) -> bool,
    ) -> Result<Result<LazyStateID, Half>, Left> {
        let shortest = (STATES_AT_ONCE / self.states.max(1)).clamp(1, 4_096);
        let mut block = shortest;
        let mut taken = 0;
        loop {
            if left() {
                return Err(Left);
            }
            let known = (self.cache.memory_usage(), self.cache.clear_count());
            let mut in_block = 0;
            for byte in bytes.by_ref().take(block) {
                let Ok(next) = self.dfa.next_state(self.cache, state, *byte) else {
                    return Ok(Err(Half::CannotTell));
                };
                state = next;
                if state.is_tagged() {
                    if state.is_quit() {
                        return Ok(Err(Half::CannotTell));
                    }
                    if !each(state, taken + in_block) {
                        return Ok(Err(Half::None));
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
        left: &dyn Fn() -> bool,
    ) -> Result<Half, Left> {
        let input = Input::new(text).span(at..text.len());
        let Ok(start) = self.dfa.start_state_forward(self.cache, &input) else {
            return Ok(Half::CannotTell);
        };
        let mut found = None;
        let rest = text.get(at..).unwrap_or_default();
        let ended = self.take(start, rest.iter(), left, &mut |state, index| {
            // A match is seen one byte behind it.
            if state.is_match() {
                found = Some(at + index);
            }
            !state.is_dead()
        })?;
        match ended {
            Ok(state) => {
                let Ok(last) = self.dfa.next_eoi_state(self.cache, state) else {
                    return Ok(Half::CannotTell);
                };
                if last.is_match() {
                    found = Some(text.len());
                }
            }
            Err(Half::CannotTell) => return Ok(Half::CannotTell),
            Err(_) => {}
        }
        Ok(found.map_or(Half::None, Half::At))
    }

    fn start_of_match(
        mut self,
        text: &[u8],
        at: usize,
        end: usize,
        left: &dyn Fn() -> bool,
    ) -> Result<Half, Left> {
        let input = Input::new(text).span(at..end).anchored(Anchored::Yes);
        let Ok(start) = self.dfa.start_state_reverse(self.cache, &input) else {
            return Ok(Half::CannotTell);
        };
        let mut found = None;
        let before = text.get(at..end).unwrap_or_default();
        let ended = self.take(start, before.iter().rev(), left, &mut |state, index| {
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
                    Ok(_) | Err(_) => return Ok(Half::CannotTell),
                }
            }
            Err(Half::CannotTell) => return Ok(Half::CannotTell),
            Err(_) => {}
        }
        Ok(found.map_or(Half::None, Half::At))
    }
}
