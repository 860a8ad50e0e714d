//! A path of a command line, and how much is known about it.

use toolwright_shell::may_become_name;

use super::{
    super::{facts::PathFact, places::is_protected_name, programs::Use},
    CallSurroundings,
};

/// How much is known about a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PathKnowledge {
    /// It certainly leads to one of its places.
    Place,
    /// It is written like one of its places but may lead elsewhere, because the line may have created a link
    /// there, or because it was not looked up. A limit on the place still applies.
    Changed,
    /// Like `Changed`, because there are too many directories from which it may start.
    Partly,
    /// The path is known, but not the directory from which it starts.
    Path,
    Nothing,
}

/// A path of a command line.
pub(crate) struct TouchedPath {
    /// The places it may mean.
    pub(crate) places: Vec<PathFact>,
    pub(crate) known: PathKnowledge,
    pub(crate) used: Use,
    /// True when everything below it is used as well.
    pub(crate) below: bool,
    /// True for an unknown word, or a script, that names a protected place: `.git/*`.
    pub(crate) mentions_protected: bool,
    /// True for an unknown word that may name a protected place: `$d/hooks`, `.gi*`.
    pub(crate) may_be_protected: bool,
}

impl TouchedPath {
    /// A file about which nothing is known.
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
    pub(crate) fn known(&self) -> Option<&[PathFact]> {
        self.is_known().then_some(&*self.places)
    }

    pub(crate) fn is_known(&self) -> bool {
        self.known == PathKnowledge::Place
    }

    /// True when it may be in an unknown directory.
    pub(crate) fn is_lost(&self) -> bool {
        matches!(self.known, PathKnowledge::Partly | PathKnowledge::Path)
    }

    /// True when a limit on all of its places applies to it, even if it may lead elsewhere.
    pub(crate) fn is_spelled_out(&self) -> bool {
        matches!(self.known, PathKnowledge::Place | PathKnowledge::Changed | PathKnowledge::Partly)
    }
}
