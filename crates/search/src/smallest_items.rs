//! Keeps the smallest of many items without storing the others.

/// The `most` smallest of all items that were added.
#[derive(Debug)]
pub(crate) struct SmallestItems<T> {
    items: Vec<T>,
    most: usize,
}

impl<T: Ord> SmallestItems<T> {
    /// None yet.
    pub(crate) fn new(most: usize) -> Self {
        Self { items: Vec::new(), most }
    }

    /// Adds an item.
    pub(crate) fn add(&mut self, item: T) {
        if self.most == 0 {
            return;
        }
        self.items.push(item);
        if self.items.len() >= self.most.saturating_add((self.most / 4).max(1_024)) {
            self.items.select_nth_unstable(self.most - 1);
            self.items.truncate(self.most);
        }
    }

    /// The items kept, in ascending order.
    pub(crate) fn sorted(mut self) -> Vec<T> {
        // Items tend to arrive in ascending runs, which the stable sort merges quickly.
        self.items.sort();
        self.items.truncate(self.most);
        self.items
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_smallest_of_many_and_no_more_than_twice_as_many() {
        let mut best = SmallestItems::new(1_500);
        for item in 0..100_000_u64 {
            best.add(item.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 44);
            assert!(best.items.len() < 3_000);
        }
        let mut all: Vec<u64> =
            (0..100_000_u64).map(|item| item.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 44).collect();
        all.sort_unstable();
        all.truncate(1_500);
        assert_eq!(best.sorted(), all);
    }
}
