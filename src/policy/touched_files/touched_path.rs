//! A path of a command line, and what is known of it.

use super::{
    super::{facts::PathFact, places::is_protected_name, programs::Use},
    CallSurroundings,
};
use crate::shell::may_become_name;

/// How much of a path is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::policy) enum PathKnowledge {
    /// It means one of the places that are given for it.
    Place,
    /// It is written like one of the places, but may lead elsewhere: the line itself may have put a link
    /// there, or nobody looked. A limit on the place counts all the same.
    Changed,
    /// The same, and where it starts is one of too many directories to follow.
    Partly,
    /// The path is written out, but where it starts is not known.
    Path,
    Nothing,
}

/// A path of a command line.
pub(in crate::policy) struct TouchedPath {
    /// The places it may mean.
    pub(in crate::policy) places: Vec<PathFact>,
    pub(in crate::policy) known: PathKnowledge,
    pub(in crate::policy) used: Use,
    /// True when what lies below is used as well.
    pub(in crate::policy) below: bool,
    /// True for a word that is not known, or a script, and names a protected place all the same: `.git/*`.
    pub(in crate::policy) mentions_protected: bool,
    /// True for a word that is not known and may name one: `$d/hooks`, `.gi*`.
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

    /// A word that only the running shell knows.
    pub(super) fn unknown(written: &str, used: Use, around: CallSurroundings) -> Self {
        let names = || around.places.protected_names();
        Self {
            mentions_protected: written.split('/').any(is_protected_name),
            may_be_protected: used.changes() && may_become_name(written, names()),
            ..Self::anything(used)
        }
    }

    /// The places, where all of them are known.
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

    /// True when a limit on all of the places is one on this.
    pub(in crate::policy) fn is_spelled_out(&self) -> bool {
        matches!(self.known, PathKnowledge::Place | PathKnowledge::Changed | PathKnowledge::Partly)
    }
}
