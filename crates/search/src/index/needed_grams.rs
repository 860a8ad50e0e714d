//! Finds the grams that every match of a pattern contains, as a formula.
//!
//! The method is from Russ Cox's trigram index. For each part of a pattern it keeps the set of
//! texts that match, while the set is small. After that it keeps how matches begin and end. Where
//! two parts meet, the end of one and the beginning of the next give grams. Each step may only
//! accept more texts: a text with a match always satisfies the formula.

use std::collections::BTreeSet;

use regex_syntax::hir::{Class, Hir, HirKind, Repetition};

use super::{gram_formula::GramFormula, grams::folded};

/// The most texts in the set of all texts that a part can match.
const MOST_EXACT: usize = 16;
/// The most texts that two parts together may have before the set is limited.
const MOST_PRODUCT: usize = 64;
/// The most beginnings or ends that are kept. With more of them the formula would rule out too
/// little.
const MOST_ENDS: usize = 32;
/// The most members of a class that are kept as separate texts.
const MOST_MEMBERS: u32 = 32;
/// How many bytes of a beginning or an end are kept: those that can form a gram with the neighbour.
const END_BYTES: usize = 2;
/// The longest text that is kept whole.
const LONGEST_EXACT: usize = 64;
/// How many repetitions are analyzed. More rarely give new grams.
const MOST_COPIES: u32 = 3;

/// Some texts, with their letters in lower case.
type Texts = BTreeSet<Vec<u8>>;

/// What is known about the matches of a part of a pattern.
enum Extent {
    /// Each match is one of these.
    Exactly(Texts),
    /// Each match begins with a text of the first set and ends with a text of the second. Both sets
    /// may contain the empty text.
    Between(Texts, Texts),
}

/// A part of a pattern.
struct PatternPart {
    extent: Extent,
    /// What a text with a match must contain, in addition to what follows from the extent.
    needs: Vec<GramFormula>,
}

/// What a text must contain for the pattern to match in it.
pub(super) fn needed_grams(pattern: &Hir) -> GramFormula {
    PatternPart::of(pattern).loosened().formula()
}

impl PatternPart {
    fn of(pattern: &Hir) -> Self {
        match pattern.kind() {
            HirKind::Empty | HirKind::Look(_) => Self::exactly(only(b"")),
            HirKind::Literal(literal) => Self::literal(&literal.0),
            HirKind::Class(class) => Self::class(class),
            HirKind::Capture(group) => Self::of(&group.sub),
            HirKind::Repetition(repeated) => Self::repetition(repeated),
            HirKind::Concat(parts) => parts
                .iter()
                .map(Self::of)
                .reduce(Self::then)
                .unwrap_or_else(|| Self::exactly(only(b""))),
            HirKind::Alternation(branches) => Self::one_of(branches.iter().map(Self::of).collect()),
        }
    }

    fn exactly(texts: Texts) -> Self {
        Self { extent: Extent::Exactly(texts), needs: Vec::new() }
    }

    fn unknown() -> Self {
        Self { extent: Extent::Between(only(b""), only(b"")), needs: Vec::new() }
    }

    fn literal(bytes: &[u8]) -> Self {
        let bytes: Vec<u8> = bytes.iter().copied().map(folded).collect();
        Self::exactly(only(&bytes)).bounded()
    }

    fn class(class: &Class) -> Self {
        let members: Texts = match class {
            Class::Unicode(class) => {
                let count = class.ranges().iter().map(regex_syntax::hir::ClassUnicodeRange::len);
                if count.sum::<usize>() > MOST_MEMBERS as usize * 2 {
                    return Self::unknown();
                }
                let members = class.ranges().iter().flat_map(|it| it.start()..=it.end());
                let bytes = |it: char| it.encode_utf8(&mut [0; 4]).bytes().map(folded).collect();
                members.map(bytes).collect()
            }
            Class::Bytes(class) => {
                let members = class.ranges().iter().flat_map(|it| it.start()..=it.end());
                members.map(|it| vec![folded(it)]).collect()
            }
        };
        if members.len() > MOST_MEMBERS as usize { Self::unknown() } else { Self::exactly(members) }
    }

    fn repetition(repeated: &Repetition) -> Self {
        let once = || Self::of(&repeated.sub);
        match (repeated.min, repeated.max) {
            (_, Some(0)) => Self::exactly(only(b"")),
            (0, Some(1)) => Self::one_of(vec![once(), Self::exactly(only(b""))]),
            (0, _) => Self::unknown(),
            (min, max) => {
                let copies = min.min(MOST_COPIES);
                let all = (1..copies).fold(once(), |part, _| part.then(once()));
                // The beginning and the end of a match are known, but not the part between.
                if max == Some(copies) { all } else { all.loosened() }
            }
        }
    }

    /// This part followed by `next`.
    fn then(self, next: Self) -> Self {
        if let (Extent::Exactly(first), Extent::Exactly(second)) = (&self.extent, &next.extent)
            && first.len() * second.len() <= MOST_PRODUCT
        {
            let extent = Extent::Exactly(product(first, second));
            let needs = joined(self.needs, next.needs);
            return Self { extent, needs }.bounded();
        }
        let joint = if self.ends().len() * next.beginnings().len() <= MOST_ENDS * 8 {
            formula_of(&product(self.ends(), next.beginnings()))
        } else {
            GramFormula::Anything
        };
        let beginnings = match &self.extent {
            Extent::Exactly(texts) if texts.len() * next.beginnings().len() <= MOST_ENDS * 8 => {
                product(texts, next.beginnings())
            }
            Extent::Exactly(texts) | Extent::Between(texts, _) => texts.clone(),
        };
        let ends = match &next.extent {
            Extent::Exactly(texts) if texts.len() * self.ends().len() <= MOST_ENDS * 8 => {
                product(self.ends(), texts)
            }
            Extent::Exactly(texts) | Extent::Between(_, texts) => texts.clone(),
        };
        let mut needs = joined(self.with_own_need().needs, next.with_own_need().needs);
        needs.push(joint);
        Self { extent: Extent::Between(beginnings, ends), needs }.bounded()
    }

    /// One of the parts.
    fn one_of(parts: Vec<Self>) -> Self {
        let texts_of = |it: &Self| match &it.extent {
            Extent::Exactly(texts) if it.needs.is_empty() => Some(texts.len()),
            Extent::Exactly(_) | Extent::Between(..) => None,
        };
        let count = parts.iter().try_fold(0, |sum, it| Some(sum + texts_of(it)?));
        if count.is_some_and(|it| it <= MOST_PRODUCT) {
            let texts = parts.into_iter().flat_map(|it| match it.extent {
                Extent::Exactly(texts) | Extent::Between(texts, _) => texts,
            });
            return Self::exactly(texts.collect()).bounded();
        }
        let (mut beginnings, mut ends) = (Texts::new(), Texts::new());
        let mut needs = Vec::new();
        for part in parts {
            let part = part.loosened();
            // Large sets are cut to shorter beginnings and ends below.
            beginnings.extend(part.beginnings().iter().cloned());
            ends.extend(part.ends().iter().cloned());
            needs.push(part.formula());
        }
        let needs = vec![GramFormula::one_of(needs.into_iter())];
        Self { extent: Extent::Between(beginnings, ends), needs }.bounded()
    }

    fn beginnings(&self) -> &Texts {
        match &self.extent {
            Extent::Exactly(texts) | Extent::Between(texts, _) => texts,
        }
    }

    fn ends(&self) -> &Texts {
        match &self.extent {
            Extent::Exactly(texts) | Extent::Between(_, texts) => texts,
        }
    }

    /// The same part, with the needs that follow from its extent added.
    fn with_own_need(mut self) -> Self {
        match &self.extent {
            Extent::Exactly(texts) => self.needs.push(formula_of(texts)),
            Extent::Between(beginnings, ends) => {
                let needs = [formula_of(beginnings), formula_of(ends)];
                self.needs.extend(needs);
            }
        }
        self
    }

    /// The same part, loosened if its sets are too large.
    fn bounded(self) -> Self {
        match &self.extent {
            Extent::Exactly(texts) => {
                let is_small =
                    texts.len() <= MOST_EXACT && texts.iter().all(|it| it.len() <= LONGEST_EXACT);
                if is_small { self } else { self.loosened() }
            }
            Extent::Between(..) => self.loosened(),
        }
    }

    /// The same part with only the beginnings and ends of its matches.
    fn loosened(self) -> Self {
        let mut part = self.with_own_need();
        let beginnings = shortened(part.beginnings(), |it, most| it.get(..most).unwrap_or(it));
        let ends = shortened(part.ends(), |it, most| {
            it.get(it.len().saturating_sub(most)..).unwrap_or(it)
        });
        part.extent = Extent::Between(beginnings, ends);
        part.needs = vec![GramFormula::all(part.needs.into_iter())];
        part
    }

    fn formula(self) -> GramFormula {
        GramFormula::all(self.needs.into_iter())
    }
}

fn only(text: &[u8]) -> Texts {
    Texts::from([text.to_vec()])
}

fn joined(mut first: Vec<GramFormula>, second: Vec<GramFormula>) -> Vec<GramFormula> {
    first.extend(second);
    first
}

/// Each text of the first set followed by each text of the second.
fn product(first: &Texts, second: &Texts) -> Texts {
    let pairs = first.iter().flat_map(|one| second.iter().map(move |other| (one, other)));
    pairs.map(|(one, other)| [one.as_slice(), other.as_slice()].concat()).collect()
}

fn formula_of(texts: &Texts) -> GramFormula {
    GramFormula::one_of_texts(texts.iter().map(Vec::as_slice))
}

/// The texts, cut so short that few enough different ones remain.
fn shortened(texts: &Texts, cut: impl Fn(&[u8], usize) -> &[u8]) -> Texts {
    (1..=END_BYTES)
        .rev()
        .map(|most| texts.iter().map(|it| cut(it, most).to_vec()).collect::<Texts>())
        .find(|it| it.len() <= MOST_ENDS)
        .unwrap_or_else(|| only(b""))
}
