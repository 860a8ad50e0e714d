//! A path of a command line, and how much is known of it.

use super::{
    super::{facts::PathFact, places::is_protected_name, programs::Use},
    CallSurroundings,
};
use crate::shell::may_become_name;

/// How much of a path is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::policy) enum PathKnowledge {
    /// It means one of its places.
    Place,
    /// It is written like one of its places but may lead elsewhere, because the line may have put a link
    /// there, or because it was not looked up. A limit on the place still counts.
    Changed,
    /// The same, and there are too many directories from which it may start.
    Partly,
    /// The path is known, but not the directory from which it starts.
    Path,
    Nothing,
}

/// A path of a command line.
pub(in crate::policy) struct TouchedPath {
    /// The places it may mean.
    pub(in crate::policy) places: Vec<PathFact>,
    pub(in crate::policy) known: PathKnowledge,
    pub(in crate::policy) used: Use,
    /// True when everything below it is used as well.
    pub(in crate::policy) below: bool,
    /// True for an unknown word, or a script, that names a protected place: `.git/*`.
    pub(in crate::policy) mentions_protected: bool,
    /// True for an unknown word that may name a protected place: `$d/hooks`, `.gi*`.
    pub(in crate::policy) may_be_protected: bool,
}

impl TouchedPath {
    /// A file of which nothing is known.
    pub(super) fn anything(used: Use) -> Self {
        Self {
            places: Vec::new(),
            known: PathKnowledge::Nothing,
            used,
            below: false,
            mentions_protected: false,
            may_be_protected: false,
        }
    }

    /// A path that is written as an unknown word.
    pub(super) fn unknown(written: &str, used: Use, around: CallSurroundings) -> Self {
        let names = || around.places.protected_names();
        Self {
            mentions_protected: written.split('/').any(is_protected_name),
            may_be_protected: used.changes() && may_become_name(written, names()),
            ..Self::anything(used)
        }
    }

    /// The places, if all of them are known.
    pub(in crate::policy) fn known(&self) -> Option<&[PathFact]> {
        self.is_known().then_some(&*self.places)
    }

    pub(in crate::policy) fn is_known(&self) -> bool {
        self.known == PathKnowledge::Place
    }

    /// True when it may lie in a directory that is not known.
    pub(in crate::policy) fn is_lost(&self) -> bool {
        matches!(self.known, PathKnowledge::Partly | PathKnowledge::Path)
    }

    /// True when a limit on all of its places applies to it.
    pub(in crate::policy) fn is_spelled_out(&self) -> bool {
        matches!(self.known, PathKnowledge::Place | PathKnowledge::Changed | PathKnowledge::Partly)
    }
}
