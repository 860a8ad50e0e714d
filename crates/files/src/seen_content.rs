//! The part of a file that a caller has read, for the read ledger.

use crate::atomic::Glimpse;

/// The part of a file that was read, to find out later whether it has changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SeenContent {
    /// The whole file, by the hash of its bytes.
    Whole(blake3::Hash),
    /// The beginning of the file.
    Beginning(Glimpse),
}
