//! The index of a workspace: what its files contain, so that a search reads only files that may match.

mod candidates;
mod file_number;
mod gram_formula;
mod grams;
mod learner;
mod need;
mod needed_grams;
mod signatures;
mod slice_block;
mod slices;
mod texts;

pub(crate) use candidates::{Candidates, SearchedPart};
pub(crate) use file_number::{EntryVersion, FileNumber};
pub(crate) use learner::{Committed, FileToLearn, LearnSource, Learner};
pub(crate) use need::Need;
pub(crate) use signatures::{Kept, SignatureCounts, Signatures};
pub(crate) use texts::LearnedFile;
