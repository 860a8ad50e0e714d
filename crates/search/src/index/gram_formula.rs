//! Formulas over grams: what a text must contain for a pattern to match in it.

use std::cmp::Reverse;

use super::{
    gram_numbers::{GramNumber, GramNumbers},
    grams::{Gram, folded, grams_in},
};

/// The most parts that one conjunction keeps. Leaving some out makes more texts candidates, never fewer.
const MOST_PARTS: usize = 192;
/// The most grams in a formula. A larger formula would cost more time than it saves.
const MOST_GRAMS: usize = 2_048;

/// What a text must contain, as grams, as their numbers in a tree, or as rows of filters.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum GramFormula<G = Gram> {
    /// Nothing: any text may match.
    Anything,
    /// No text matches.
    Impossible,
    /// This gram.
    Has(G),
    /// All of these.
    All(Vec<Self>),
    /// At least one of these.
    OneOf(Vec<Self>),
}

impl GramFormula {
    /// The formula for a text that contains one of `texts`. Their letters are in lower case.
    pub(super) fn one_of_texts<'t>(texts: impl Iterator<Item = &'t [u8]>) -> Self {
        let mut all_grams: Vec<Vec<Gram>> = Vec::new();
        for text in texts {
            let grams = grams_of(text);
            if grams.is_empty() {
                return Self::Anything;
            }
            all_grams.push(grams);
        }
        let Some((first, others)) = all_grams.split_first() else { return Self::Impossible };
        // The grams that all texts share are checked first: most texts do not even have those.
        let is_common = |it: &Gram| others.iter().all(|grams| grams.binary_search(it).is_ok());
        let common: Vec<Gram> = first.iter().copied().filter(is_common).collect();
        let mut branches = Vec::new();
        for grams in &all_grams {
            let own = grams.iter().filter(|it| common.binary_search(it).is_err());
            branches.push(Self::all(own.copied().map(Self::Has)));
        }
        let common = common.into_iter().map(Self::Has);
        Self::all(common.chain([Self::one_of(branches.into_iter())]))
    }

    /// The same formula with the numbers of the grams. Rare grams come first, so that most texts
    /// are ruled out early.
    pub(super) fn numbered(&self, numbers: &GramNumbers) -> GramFormula<GramNumber> {
        self.map(&|gram| numbers.of(gram)).rarest_first()
    }
}

impl GramFormula<GramNumber> {
    fn rarest_first(self) -> Self {
        let sorted = |parts: Vec<Self>| parts.into_iter().map(Self::rarest_first).collect();
        match self {
            Self::All(parts) => {
                let mut parts: Vec<Self> = sorted(parts);
                parts.sort_by_key(|it| match it {
                    Self::Has(number) => (0, Reverse(Some(*number))),
                    _ => (1, Reverse(None)),
                });
                // Several grams may share a number.
                parts.dedup();
                Self::All(parts)
            }
            Self::OneOf(parts) => Self::OneOf(sorted(parts)),
            Self::Anything | Self::Impossible | Self::Has(_) => self,
        }
    }
}

impl<G: Copy + Ord> GramFormula<G> {
    /// The same formula over something else.
    pub(super) fn map<H>(&self, of: &dyn Fn(G) -> H) -> GramFormula<H> {
        let all = |parts: &[Self]| parts.iter().map(|it| it.map(of)).collect();
        match self {
            Self::Anything => GramFormula::Anything,
            Self::Impossible => GramFormula::Impossible,
            Self::Has(gram) => GramFormula::Has(of(*gram)),
            Self::All(parts) => GramFormula::All(all(parts)),
            Self::OneOf(parts) => GramFormula::OneOf(all(parts)),
        }
    }

    /// The formula that holds if all of these hold.
    pub(super) fn all(formulas: impl Iterator<Item = Self>) -> Self {
        let mut parts = Vec::new();
        for formula in formulas {
            match formula {
                Self::Anything => {}
                Self::Impossible => return Self::Impossible,
                Self::All(more) => parts.extend(more),
                Self::Has(_) | Self::OneOf(_) => parts.push(formula),
            }
            if parts.len() > 2 * MOST_PARTS {
                shorten(&mut parts);
            }
        }
        shorten(&mut parts);
        if parts.len() > 1 { Self::All(parts) } else { parts.pop().unwrap_or(Self::Anything) }
    }

    /// The formula that holds if one of these holds.
    pub(super) fn one_of(formulas: impl Iterator<Item = Self>) -> Self {
        let mut parts = Vec::new();
        let mut grams = 0_usize;
        for formula in formulas {
            grams += formula.grams();
            // No branch may be left out, so with too many of them the formula accepts anything.
            if grams > MOST_GRAMS {
                return Self::Anything;
            }
            match formula {
                Self::Anything => return Self::Anything,
                Self::Impossible => {}
                Self::OneOf(more) => parts.extend(more),
                Self::Has(_) | Self::All(_) => parts.push(formula),
            }
        }
        parts.sort_unstable();
        parts.dedup();
        if parts.len() > 1 { Self::OneOf(parts) } else { parts.pop().unwrap_or(Self::Impossible) }
    }

    /// The number of grams in it.
    fn grams(&self) -> usize {
        match self {
            Self::Anything | Self::Impossible => 0,
            Self::Has(_) => 1,
            Self::All(parts) | Self::OneOf(parts) => parts.iter().map(Self::grams).sum(),
        }
    }

    /// Whether it holds for a text that has these grams.
    pub(super) fn holds(&self, has: &dyn Fn(G) -> bool) -> bool {
        match self {
            Self::Anything => true,
            Self::Impossible => false,
            Self::Has(gram) => has(*gram),
            Self::All(parts) => parts.iter().all(|it| it.holds(has)),
            Self::OneOf(parts) => parts.iter().any(|it| it.holds(has)),
        }
    }
}

/// Sorts the parts of a conjunction, single grams first, removes duplicates and limits their
/// number.
fn shorten<G: Copy + Ord>(parts: &mut Vec<GramFormula<G>>) {
    parts.sort_unstable();
    parts.dedup();
    parts.truncate(MOST_PARTS);
    let mut grams = 0_usize;
    parts.retain(|it| {
        grams = grams.saturating_add(it.grams());
        grams <= MOST_GRAMS
    });
}

/// The grams of a text, sorted and without duplicates.
fn grams_of(text: &[u8]) -> Vec<Gram> {
    let text: Vec<u8> = text.iter().copied().map(folded).collect();
    let mut grams: Vec<Gram> = grams_in(&text).collect();
    grams.sort_unstable();
    grams.dedup();
    grams
}

#[cfg(test)]
#[expect(clippy::panic, reason = "tests")]
mod tests {
    use pretty_assertions::assert_eq;

    use super::{super::gram_numbers::GramSample, *};

    fn of(texts: &[&str]) -> GramFormula {
        GramFormula::one_of_texts(texts.iter().map(|it| it.as_bytes()))
    }

    fn holds(formula: &GramFormula, text: &str) -> bool {
        let grams = grams_of(text.as_bytes());
        formula.holds(&|it| grams.binary_search(&it).is_ok())
    }

    #[test]
    fn a_text_that_contains_one_of_the_texts_is_accepted() {
        let formula = of(&["needle", "nettle", "nickel"]);
        for text in ["a needle here", "NETTLE", "nickel"] {
            assert!(holds(&formula, text), "{text}");
        }
        for text in ["", "noodle", "needl", "ettle"] {
            assert!(!holds(&formula, text), "{text}");
        }
    }

    #[test]
    fn a_text_that_is_too_short_for_a_gram_says_nothing() {
        assert_eq!(of(&["needle", "ab"]), GramFormula::Anything);
        assert_eq!(of(&[]), GramFormula::Impossible);
    }

    #[test]
    fn a_long_formula_is_shortened_so_that_it_accepts_more() {
        let words: Vec<String> = (0..5_000).map(|it| format!("word{it}x")).collect();
        let each = || words.iter().map(|it| of(&[it]));
        assert_eq!(GramFormula::one_of(each()), GramFormula::Anything);
        let all = GramFormula::all(each());
        assert!(all.grams() <= MOST_GRAMS);
        assert!(holds(&all, &words.join(" ")));
    }

    #[test]
    fn a_numbered_formula_asks_for_the_same_and_for_rare_grams_first() {
        let mut sample = GramSample::new();
        for text in ["export common", "export words", "export"] {
            sample.add(text.as_bytes());
        }
        for numbers in [GramNumbers::default(), sample.numbers()] {
            let formula = of(&["export_needle", "export_thread"]);
            let numbered = formula.numbered(&numbers);
            for text in ["an export_needle", "EXPORT_THREAD", "export_nothing", "needle", ""] {
                let text = text.to_ascii_lowercase();
                let has: Vec<GramNumber> =
                    grams_in(text.as_bytes()).map(|it| numbers.of(it)).collect();
                assert_eq!(
                    numbered.holds(&|it| has.contains(&it)),
                    holds(&formula, &text),
                    "{text}"
                );
            }
            let GramFormula::All(parts) = numbered else { panic!("{numbered:?}") };
            let asked: Vec<GramNumber> = parts
                .iter()
                .map_while(|it| if let GramFormula::Has(it) = it { Some(*it) } else { None })
                .collect();
            assert!(asked.len() > 4 && asked.is_sorted_by(|one, other| one > other), "{asked:?}");
        }
    }
}
