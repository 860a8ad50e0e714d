//! The status of an index, for hosts and users.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

/// What an index can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexPhase {
    /// The host turned it off.
    Off,
    /// There is none, or it cannot be trusted: searches read every file.
    Cold,
    /// The files are being listed, or learned for the first time.
    Building,
    /// Every file that can be learned has been learned.
    Warm,
}

/// The status of the index of one root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexStatus {
    /// The root.
    pub root: PathBuf,
    /// What the index can do.
    pub phase: IndexPhase,
    /// How many files it knows.
    pub files: usize,
    /// How many of them have been learned.
    pub learned: usize,
    /// How many bytes of memory it takes.
    pub memory_bytes: usize,
    /// How long it took to list and learn all files.
    pub last_build: Option<Duration>,
    /// Why searches are cold.
    pub why_cold: Option<String>,
    /// Directories in which searches are cold, and why.
    pub cold_subtrees: Vec<(PathBuf, String)>,
}

impl IndexStatus {
    /// The status of a root whose index is turned off.
    pub(super) fn off(root: &Path) -> Self {
        Self { phase: IndexPhase::Off, ..Self::cold(root, None) }
    }

    /// The status of a root without an index.
    pub(super) fn cold(root: &Path, why_cold: Option<String>) -> Self {
        Self {
            root: root.to_owned(),
            phase: IndexPhase::Cold,
            files: 0,
            learned: 0,
            memory_bytes: 0,
            last_build: None,
            why_cold,
            cold_subtrees: Vec::new(),
        }
    }
}
