//! The position of a piece of work in the tree, by which work is ordered.

use std::{cmp::Ordering, sync::Arc};

/// The index among its siblings at each level. It is linked to the position above instead of being a
/// list of indexes, because in a deep tree with many directories these lists would take much memory.
#[derive(Debug, Default)]
pub(super) struct TreePosition {
    above: Option<Arc<TreePosition>>,
    index: u64,
    depth: usize,
}

impl TreePosition {
    /// The first position below this one.
    pub(super) fn first_child(self: &Arc<Self>) -> Arc<Self> {
        Arc::new(Self { above: Some(Arc::clone(self)), index: 0, depth: self.depth + 1 })
    }

    /// The next sibling of this position.
    pub(super) fn next(&self) -> Arc<Self> {
        Arc::new(Self { above: self.above.clone(), index: self.index + 1, depth: self.depth })
    }

    fn ancestor(&self, depth: usize) -> &Self {
        let mut place = self;
        while place.depth > depth
            && let Some(above) = &place.above
        {
            place = above;
        }
        place
    }
}

impl Ord for TreePosition {
    /// A position comes before those below it, and these before its next sibling.
    fn cmp(&self, other: &Self) -> Ordering {
        let depth = self.depth.min(other.depth);
        let (mut one, mut two) = (self.ancestor(depth), other.ancestor(depth));
        let mut order = self.depth.cmp(&other.depth);
        loop {
            if std::ptr::eq(one, two) {
                return order;
            }
            order = one.index.cmp(&two.index).then(order);
            // Most positions that are compared are siblings, which have the same position above.
            match (&one.above, &two.above) {
                (Some(above), Some(other_above)) => (one, two) = (above, other_above),
                _ => return order,
            }
        }
    }
}

impl PartialOrd for TreePosition {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for TreePosition {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for TreePosition {}

impl Drop for TreePosition {
    fn drop(&mut self) {
        // A loop instead of recursion, because a tree may have any number of levels.
        let mut above = self.above.take();
        while let Some(mut last) = above.and_then(Arc::into_inner) {
            above = last.above.take();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_in_the_order_of_a_tree() {
        let root = Arc::new(TreePosition::default());
        let first = root.first_child();
        let below = first.first_child();
        let below_second = below.next();
        let deep = below.first_child().next();
        let second = first.next();
        let below_next = second.first_child();
        let order = [&root, &first, &below, &deep, &below_second, &second, &below_next];
        for (index, one) in order.iter().enumerate() {
            for (other_index, other) in order.iter().enumerate() {
                assert_eq!(one.cmp(other), index.cmp(&other_index), "{index} {other_index}");
            }
        }
    }

    #[test]
    fn a_very_deep_place_goes_without_recursion() {
        let mut place = Arc::new(TreePosition::default());
        for _ in 0..1_000_000 {
            place = place.first_child();
        }
        drop(place);
    }
}
