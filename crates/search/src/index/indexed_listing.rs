//! Lists a directory from the index.

use toolwright_walk::{Listing, ListingJudge, ListingRequest, Selection};

use super::{WhyCold, ready_index::ReadyIndex, tree_walk::start_in};

impl ReadyIndex {
    /// The same listing as without the index.
    pub(super) fn list(&self, request: &ListingRequest<'_>) -> Result<Listing, WhyCold> {
        let tree = &self.tree;
        let start = start_in(tree, request.start, &Selection::new(request.hidden))?;
        let mut path = request.start.absolute().to_owned();
        let mut judge = ListingJudge::new(request);
        let mut listing = Listing::default();
        judge.go_to(&path, 0);
        let mut open = vec![tree.entries(start)];
        while let Some(entries) = open.last_mut() {
            let next = entries.next();
            let depth = open.len() - 1;
            let Some(entry) = next else {
                open.pop();
                path.pop();
                judge.go_to(&path, depth.saturating_sub(1));
                continue;
            };
            if !judge.lists(entry.name, entry.kind, |_| entry.is_ignored, &mut listing)
                || !listing.add(request, entry.name, entry.kind, depth)
            {
                continue;
            }
            path.push(entry.name);
            if !tree.knows_all_of(entry.number) {
                return Err(WhyCold::NotInTree { at: path });
            }
            judge.go_to(&path, depth + 1);
            open.push(tree.entries(entry.number));
        }
        Ok(listing)
    }
}
