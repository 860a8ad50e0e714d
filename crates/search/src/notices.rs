//! Problems on the way that an answer reports: unreadable files, and ignore rules that could not be
//! applied.

use std::path::PathBuf;

use toolwright_walk::{Noticed, UnappliedRules};

/// How many examples of each kind an answer names.
pub(super) const MAX_EXAMPLES: usize = 5;

/// The problems of one walk.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Notices {
    /// How many files and directories could not be read.
    pub unreadable: u64,
    /// Some of those files and directories, with the cause.
    pub examples: Vec<(PathBuf, String)>,
    /// How many ignore files could not be applied completely.
    pub unapplied: u64,
    /// Some of those ignore files, with the cause.
    pub unapplied_examples: Vec<UnappliedRules>,
}

impl Notices {
    /// Adds problems. They must be added in path order.
    pub(super) fn add(&mut self, noticed: Noticed) {
        if let Some((path, cause)) = noticed.unreadable {
            self.unreadable += 1;
            if self.examples.len() < MAX_EXAMPLES {
                self.examples.push((path, cause.to_string()));
            }
        }
        self.unapplied += noticed.unapplied.len() as u64;
        let room = MAX_EXAMPLES.saturating_sub(self.unapplied_examples.len());
        self.unapplied_examples.extend(noticed.unapplied.into_iter().take(room));
    }
}

/// An estimate of the memory that a notice takes.
pub(super) fn weight(noticed: &Noticed) -> usize {
    let unreadable = noticed.unreadable.iter().map(|(path, _)| 128 + path.as_os_str().len());
    let unapplied = noticed.unapplied.iter().map(|it| 128 + it.file.as_os_str().len());
    128 + unreadable.chain(unapplied).sum::<usize>()
}
