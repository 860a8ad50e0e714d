//! Keeps the first few of many in an order, without keeping the rest.

/// The `most` smallest of all items that were added.
#[derive(Debug)]
pub(super) struct Best<T> {
    items: Vec<T>,
    most: usize,
}

impl<T: Ord> Best<T> {
    pub(super) fn new(most: usize) -> Self {
        Self { items: Vec::new(), most }
    }

    pub(super) fn add(&mut self, item: T) {
        if self.most == 0 {
            return;
        }
        self.items.push(item);
        if self.items.len() >= self.most.saturating_add((self.most / 4).max(1_024)) {
            self.items.select_nth_unstable(self.most - 1);
            self.items.truncate(self.most);
        }
    }

    /// The items in order.
    pub(super) fn sorted(mut self) -> Vec<T> {
        // Not the unstable sort: items tend to come in runs that are in order, and this one merges them.
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
        let mut best = Best::new(1_500);
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
