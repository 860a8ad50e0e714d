//! What an answer has to say of directories and rules that are not as they should be.

use std::path::PathBuf;

use crate::workspace::walk::{Noticed, UnheldRules};

/// How many of each kind an answer names.
pub(super) const MAX_EXAMPLES: usize = 5;

/// What was noticed on the way.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Notices {
    /// How many files and directories could not be read.
    pub unreadable: u64,
    /// Some of those, with the cause.
    pub examples: Vec<(PathBuf, String)>,
    /// How many files of rules do not hold, or not all of them.
    pub unheld: u64,
    /// Some of those.
    pub unheld_examples: Vec<UnheldRules>,
}

impl Notices {
    /// Adds what comes next by path.
    pub(super) fn add(&mut self, noticed: Noticed) {
        if let Some((path, cause)) = noticed.unreadable {
            self.unreadable += 1;
            if self.examples.len() < MAX_EXAMPLES {
                self.examples.push((path, cause.to_string()));
            }
        }
        self.unheld += noticed.unheld.len() as u64;
        let room = MAX_EXAMPLES.saturating_sub(self.unheld_examples.len());
        self.unheld_examples.extend(noticed.unheld.into_iter().take(room));
    }
}

/// About how many bytes a notice takes.
pub(super) fn weight(noticed: &Noticed) -> usize {
    let unreadable = noticed.unreadable.iter().map(|(path, _)| 128 + path.as_os_str().len());
    let unheld = noticed.unheld.iter().map(|it| 128 + it.file.as_os_str().len());
    128 + unreadable.chain(unheld).sum::<usize>()
}
