//! How the files of an index are named by its parts.

/// The number of a file in an index. The number of a file that is gone may be given to another one later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct EntryNumber(pub(super) u32);

impl EntryNumber {
    /// The file that a plan of the index knows by this number.
    pub(crate) fn of_plan(number: u32) -> Self {
        Self(number)
    }
}

/// What a file was when somebody last looked. It becomes another one whenever the file may have changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct EntryVersion(pub(super) u32);

#[cfg(test)]
impl EntryNumber {
    pub(crate) fn of_test(number: u32) -> Self {
        Self(number)
    }
}
