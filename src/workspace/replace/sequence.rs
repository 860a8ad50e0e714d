//! Where a sequence occurs in another, overlaps included, in linear time (Knuth, Morris, Pratt).

/// A sequence that is looked for.
pub(super) struct Sequence<'a, T> {
    items: &'a [T],
    /// For each beginning, the longest shorter beginning that it ends with.
    borders: Vec<usize>,
}

impl<'a, T: PartialEq> Sequence<'a, T> {
    pub(super) fn new(items: &'a [T]) -> Self {
        let mut sequence = Self { items, borders: Vec::with_capacity(items.len()) };
        let mut border = 0;
        for (index, item) in items.iter().enumerate() {
            if index > 0 {
                border = sequence.extend(border, item);
            }
            sequence.borders.push(border);
        }
        sequence
    }

    /// True when two occurrences can share items.
    pub(super) fn can_overlap(&self) -> bool {
        self.borders.last().is_some_and(|it| *it > 0)
    }

    /// The starts of all occurrences. An empty sequence occurs nowhere.
    pub(super) fn starts(&self, haystack: &[T]) -> impl Iterator<Item = usize> {
        let mut matched = 0;
        haystack.iter().enumerate().filter_map(move |(at, item)| {
            matched = self.extend(matched, item);
            (matched == self.items.len() && matched > 0).then(|| at + 1 - matched)
        })
    }

    /// How much is matched once one more item has come.
    fn extend(&self, mut matched: usize, item: &T) -> usize {
        loop {
            if self.items.get(matched) == Some(item) {
                return matched + 1;
            }
            match matched.checked_sub(1).and_then(|it| self.borders.get(it)) {
                Some(shorter) => matched = *shorter,
                None => return 0,
            }
        }
    }
}
