//! What a text must contain to match a search, so that other texts need not be read.

use regex_syntax::hir::{Hir, HirKind};

use super::{gram_formula::GramFormula, needed_grams::needed_grams};
use crate::Query;

/// The most parts of a pattern that is analyzed. A larger pattern is searched for the cold way.
const MOST_PARTS: usize = 4_000;

/// What a text must contain for a query to match in it.
#[derive(Clone, Debug)]
pub(crate) struct Need {
    pub(super) formula: GramFormula,
    /// Whether a match may span lines, and so several texts of a file.
    pub(super) spans_lines: bool,
}

impl Need {
    /// The need of a query. `None` if the query can match in any text, so that every file has to be
    /// searched.
    pub(crate) fn of(query: &Query) -> Option<Self> {
        let pattern = query.hir();
        let mut parts_left = MOST_PARTS;
        if !is_small(pattern, &mut parts_left) {
            return None;
        }
        let formula = needed_grams(pattern);
        let is_needed = formula != GramFormula::Anything;
        is_needed.then(|| Self { formula, spans_lines: query.spans_lines() })
    }
}

/// Whether a pattern has at most `parts_left` parts. Repeated parts count once for each copy that
/// is analyzed.
fn is_small(pattern: &Hir, parts_left: &mut usize) -> bool {
    let Some(fewer) = parts_left.checked_sub(1) else { return false };
    *parts_left = fewer;
    match pattern.kind() {
        HirKind::Empty | HirKind::Look(_) | HirKind::Literal(_) | HirKind::Class(_) => true,
        HirKind::Capture(group) => is_small(&group.sub, parts_left),
        HirKind::Repetition(repeated) => {
            (0..repeated.min.clamp(1, 3)).all(|_| is_small(&repeated.sub, parts_left))
        }
        HirKind::Concat(parts) | HirKind::Alternation(parts) => {
            parts.iter().all(|it| is_small(it, parts_left))
        }
    }
}

#[cfg(test)]
impl Need {
    /// Whether a search with the index would read this text.
    pub(crate) fn may_be_in(&self, text: &[u8]) -> bool {
        use super::{
            file_number::EntryNumber, gram_numbers::GramNumbers, grams::GramSet,
            slice_block::TextOwner, slices::BitSlices,
        };

        let numbers = GramNumbers::default();
        let mut grams = GramSet::new(numbers.clone());
        grams.feed(&text.to_ascii_lowercase());
        let mut slices = BitSlices::default();
        let owner = TextOwner { file: EntryNumber(0), text: 0 };
        let place = slices.add(owner, &grams.take_filter());
        let mut is_found = false;
        let formula = self.formula.numbered(&numbers);
        slices.each_match(&formula, &mut |_| is_found = true);
        assert_eq!(place.is_some_and(|it| slices.may_match(it, &formula)), is_found);
        is_found
    }
}
