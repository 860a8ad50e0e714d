//! Looks at the disk for a line: each path once, and no more of them than a person would write.

use std::{
    cell::{Cell, RefCell},
    collections::HashMap,
    path::{Path, PathBuf},
};

use super::super::{places::normal, question::Question};

/// How many names of paths are looked up for one line. A look costs a microsecond or two for each name.
const MAX_NAMES: usize = 4_096;

/// How many places are worked out for one line. Each word may mean one in every directory that the line
/// may have gone to.
const MAX_PLACES: usize = 4_096;

/// The looks at the disk that one line takes.
pub(super) struct Lookups<'q> {
    question: &'q Question<'q>,
    found: RefCell<HashMap<PathBuf, Option<PathBuf>>>,
    names_left: Cell<usize>,
    places_left: Cell<usize>,
    ran_out: Cell<bool>,
}

/// Where a path leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Leads {
    /// To this place.
    To(PathBuf),
    /// That cannot be told.
    Somewhere,
    /// Nobody looked: the line names too many paths.
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

    /// Counts places that are about to be worked out; false when that is too many.
    pub(super) fn take_places(&self, count: usize) -> bool {
        let left = self.places_left.get().checked_sub(count);
        self.places_left.set(left.unwrap_or(0));
        self.ran_out.set(self.ran_out.get() || left.is_none());
        left.is_some()
    }

    /// True when the line names more than was looked at.
    pub(super) fn ran_out(&self) -> bool {
        self.ran_out.get()
    }

    /// Where an absolute path leads.
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

/// True below the links that the system makes up for each process: `/proc/self/cwd`, `/dev/fd/3`. What
/// they mean for the command is not what they mean here.
pub(super) fn is_made_up(path: &Path) -> bool {
    let path = normal(path);
    let below = |it: &str| path.strip_prefix(it).ok().and_then(|it| it.iter().next()?.to_str());
    let is_process = below("/proc").is_some_and(|it| {
        matches!(it, "self" | "thread-self" | "fd") || it.bytes().all(|it| it.is_ascii_digit())
    });
    is_process || below("/dev/fd").is_some()
}
