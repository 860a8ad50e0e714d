//! Formulas over grams: what a text has to contain for a pattern to match in it.

use super::grams::{Gram, folded};

/// The most parts that one conjunction keeps. Leaving some out makes more texts candidates, never fewer.
const MOST_PARTS: usize = 192;
/// The most grams of a formula. A larger one would take longer than it saves.
const MOST_GRAMS: usize = 2_048;

/// What has to be in a text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum GramFormula {
    /// Nothing: any text may match.
    Anything,
    /// No text matches.
    Impossible,
    /// This gram.
    Has(Gram),
    /// All of these.
    All(Vec<GramFormula>),
    /// At least one of these.
    OneOf(Vec<GramFormula>),
}

impl GramFormula {
    /// What a text has to contain to contain one of these, whose letters are in lower case.
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
        // What all have in common is asked for first: most texts do not even have that.
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
            // No branch may be left out, so too many of them say nothing.
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

    /// How many grams it names.
    fn grams(&self) -> usize {
        match self {
            Self::Anything | Self::Impossible => 0,
            Self::Has(_) => 1,
            Self::All(parts) | Self::OneOf(parts) => parts.iter().map(Self::grams).sum(),
        }
    }

    /// Whether it holds for a text that has these grams.
    pub(super) fn holds(&self, has: &dyn Fn(Gram) -> bool) -> bool {
        match self {
            Self::Anything => true,
            Self::Impossible => false,
            Self::Has(gram) => has(*gram),
            Self::All(parts) => parts.iter().all(|it| it.holds(has)),
            Self::OneOf(parts) => parts.iter().any(|it| it.holds(has)),
        }
    }
}

/// Brings the parts of a conjunction in order, single grams first, each once, and not too many.
fn shorten(parts: &mut Vec<GramFormula>) {
    parts.sort_unstable();
    parts.dedup();
    parts.truncate(MOST_PARTS);
    let mut grams = 0_usize;
    parts.retain(|it| {
        grams = grams.saturating_add(it.grams());
        grams <= MOST_GRAMS
    });
}

/// The grams of a text, in rising order, each once.
fn grams_of(text: &[u8]) -> Vec<Gram> {
    let bytes = |it: &[u8]| <[u8; 3]>::try_from(it).ok().map(|it| Gram::of(it.map(folded)));
    let mut grams: Vec<Gram> = text.windows(3).filter_map(bytes).collect();
    grams.sort_unstable();
    grams.dedup();
    grams
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

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
}
