//! Why an index does not answer, so that directories are walked instead.

use std::path::PathBuf;

/// Why a search does not use the index. The text is shown to users.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WhyCold {
    /// It is being built, or has not been requested.
    #[error("the index is not built yet")]
    NotBuiltYet,
    /// Only Linux reports every change before the system call returns.
    #[cfg(not(target_os = "linux"))]
    #[error("the index needs Linux")]
    NotLinux,
    /// The file system may be changed without this machine's kernel noticing, for example over a
    /// network.
    #[error(
        "the root is on a file system of the kind `{number:#x}`, which does not report all changes"
    )]
    ForeignFileSystem {
        /// The type of the file system, as reported by `statfs`.
        number: u64,
    },
    /// There are more directories than may be watched.
    #[error(
        "only {watched} directories can be watched; raise `/proc/sys/fs/inotify/max_user_watches`"
    )]
    TooManyWatches {
        /// How many were watched when the limit was reached.
        watched: usize,
    },
    /// The user has too many instances of inotify.
    #[error("no changes can be watched: {cause}; raise `/proc/sys/fs/inotify/max_user_instances`")]
    NoInstance {
        /// What the system said.
        cause: String,
    },
    /// There are more entries than an index can hold.
    #[error("there are more than {most} entries below the root")]
    TooManyEntries {
        /// The limit.
        most: usize,
    },
    /// The kernel's queue of changes overflowed. The tree is read again.
    #[error("the kernel's queue of changes overflowed; the tree is being read again")]
    QueueOverflow,
    /// Something is mounted on a file below the root, so changes of that file are not reported.
    #[error("something is mounted on the file `{}`", at.display())]
    Mount {
        /// The file.
        at: PathBuf,
    },
    /// The root was moved, removed or replaced.
    #[error("the root was moved, removed or replaced")]
    RootMoved,
    /// The system refused something that the index needs.
    #[error("the tree cannot be watched: {cause}")]
    Failed {
        /// What the system said.
        cause: String,
    },
    /// The index would exceed its memory limit.
    #[error("the index would exceed its memory limit")]
    OverBudget,
    /// No file below the root could be read.
    #[error("none of the files can be read")]
    NothingReadable,
    /// The pattern does not require any text in a file.
    #[error("the pattern can match in any file")]
    NoNeed,
    /// The search starts in, or names, a directory whose content is not in the index.
    #[error("`{}` is not in the index", at.display())]
    NotInTree {
        /// The directory.
        at: PathBuf,
    },
    /// The search names a directory, so rules that the index has applied do not apply to it.
    #[error("different ignore rules apply to a directory that the search names")]
    NamedFolder,
    /// Ignore files could not be applied, which a walk has to report.
    #[error("some ignore files cannot be applied")]
    UnappliedRules,
}

impl WhyCold {
    /// The reason for an error of the system.
    pub(crate) fn failed(cause: &std::io::Error) -> Self {
        Self::Failed { cause: cause.to_string() }
    }

    /// The text without file names, for a caller that may not see every file.
    pub fn without_names(&self) -> String {
        match self {
            Self::Mount { .. } => "something is mounted on a file below the root".to_owned(),
            _ => self.to_string(),
        }
    }

    /// Whether the user should know about it, or can do something about it.
    pub fn is_worth_reporting(&self) -> bool {
        match self {
            Self::ForeignFileSystem { .. }
            | Self::TooManyWatches { .. }
            | Self::NoInstance { .. }
            | Self::TooManyEntries { .. }
            | Self::QueueOverflow
            | Self::Mount { .. }
            | Self::RootMoved
            | Self::Failed { .. }
            | Self::OverBudget
            | Self::NothingReadable => true,
            #[cfg(not(target_os = "linux"))]
            Self::NotLinux => false,
            Self::NotBuiltYet
            | Self::NoNeed
            | Self::NotInTree { .. }
            | Self::NamedFolder
            | Self::UnappliedRules => false,
        }
    }
}
