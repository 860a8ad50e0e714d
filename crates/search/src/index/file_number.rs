//! The numbers by which the parts of an index refer to files.

/// The number of a file in an index. The number of a removed file may be reused later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct EntryNumber(pub(super) u32);

impl EntryNumber {
    /// The file with this number in a plan of the index.
    pub(crate) fn of_plan(number: u32) -> Self {
        Self(number)
    }
}

/// The version of a file's content. It changes whenever the file may have changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct EntryVersion(pub(super) u32);

#[cfg(test)]
impl EntryNumber {
    pub(crate) fn of_test(number: u32) -> Self {
        Self(number)
    }
}
