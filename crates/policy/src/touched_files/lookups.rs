//! Looks up paths on the disk for one line: each path once, and a limited number of them.

use std::{
    cell::{Cell, RefCell},
    collections::HashMap,
    path::{Path, PathBuf},
};

use super::super::{places::normal, question::Question};

/// How many path components are looked up for one line. Each costs a microsecond or two.
const MAX_NAMES: usize = 4_096;

/// How many places are computed for one line. Each word may mean a place in every directory in which its
/// command may run.
const MAX_PLACES: usize = 4_096;

/// The lookups for one line.
pub(super) struct Lookups<'q> {
    question: &'q Question<'q>,
    found: RefCell<HashMap<PathBuf, Option<PathBuf>>>,
    names_left: Cell<usize>,
    places_left: Cell<usize>,
    ran_out: Cell<bool>,
}

/// The result of a lookup.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Leads {
    /// The path leads to this place.
    To(PathBuf),
    /// The path leads to a place that is not known.
    Somewhere,
    /// The path was not looked up, because the line names too many.
    Unseen,
}

impl<'q> Lookups<'q> {
    pub(super) fn new(question: &'q Question<'q>) -> Self {
        Self {
            question,
            found: RefCell::default(),
            names_left: Cell::new(MAX_NAMES),
            places_left: Cell::new(MAX_PLACES),
            ran_out: Cell::new(false),
        }
    }

    /// Counts places that are about to be computed; false if there are too many.
    pub(super) fn take_places(&self, count: usize) -> bool {
        let left = self.places_left.get().checked_sub(count);
        self.places_left.set(left.unwrap_or(0));
        self.ran_out.set(self.ran_out.get() || left.is_none());
        left.is_some()
    }

    /// True when the line names more paths than were looked up.
    pub(super) fn ran_out(&self) -> bool {
        self.ran_out.get()
    }

    /// Looks up where an absolute path leads.
    pub(super) fn place_of(&self, path: &Path) -> Leads {
        let leads = |it: Option<PathBuf>| it.map_or(Leads::Somewhere, Leads::To);
        if self.question.follow_links.is_none() {
            return leads(self.question.place_of(path));
        }
        if let Some(found) = self.found.borrow().get(path) {
            return leads(found.clone());
        }
        let names = path.components().count();
        let Some(left) = self.names_left.get().checked_sub(names) else {
            self.ran_out.set(true);
            return Leads::Unseen;
        };
        self.names_left.set(left);
        let place = self.question.place_of(path);
        self.found.borrow_mut().insert(path.to_owned(), place.clone());
        leads(place)
    }
}

/// True for paths through links that differ for each process, such as `/proc/self/cwd` and `/dev/fd/3`. For the
/// command they lead to another place than for this process.
pub(super) fn is_per_process(path: &Path) -> bool {
    let path = normal(path);
    let below = |it: &str| path.strip_prefix(it).ok().and_then(|it| it.iter().next()?.to_str());
    let is_process = below("/proc").is_some_and(|it| {
        matches!(it, "self" | "thread-self" | "fd") || it.bytes().all(|it| it.is_ascii_digit())
    });
    is_process || below("/dev/fd").is_some()
}
