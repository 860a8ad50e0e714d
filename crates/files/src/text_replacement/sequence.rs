//! Finds all occurrences of a sequence in another one, including overlapping ones, in linear time. This is
//! the algorithm of Knuth, Morris and Pratt.

/// A sequence to look for.
pub(super) struct Sequence<'a, T> {
    items: &'a [T],
    /// For each prefix, the length of its longest proper prefix that is also a suffix.
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

    /// Whether two occurrences can overlap.
    pub(super) fn can_overlap(&self) -> bool {
        self.borders.last().is_some_and(|it| *it > 0)
    }

    /// The starts of all occurrences. An empty sequence has none.
    pub(super) fn starts(&self, haystack: &[T]) -> impl Iterator<Item = usize> {
        let mut matched = 0;
        haystack.iter().enumerate().filter_map(move |(at, item)| {
            matched = self.extend(matched, item);
            (matched == self.items.len() && matched > 0).then(|| at + 1 - matched)
        })
    }

    /// The length of the matched prefix after one more item.
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
