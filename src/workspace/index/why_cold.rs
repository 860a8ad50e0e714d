//! Why an index does not answer, so that directories are walked instead.

use std::path::PathBuf;

/// Why a search goes without the index. The text is for people.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum WhyCold {
    /// It is being built, or has not been asked for.
    #[error("the index is not built yet")]
    NotBuiltYet,
    /// Only Linux tells of every change before the system call that made it returns.
    #[cfg(not(target_os = "linux"))]
    #[error("the index needs Linux")]
    NotLinux,
    /// The file system may be changed without this machine's kernel knowing.
    #[error(
        "the root is on a file system of the kind `{number:#x}`, which does not tell of all changes"
    )]
    ForeignFileSystem {
        /// The number of the kind of file system, as `statfs` gives it.
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
    /// There are more entries than an index holds.
    #[error("there are more than {most} entries below the root")]
    TooManyEntries {
        /// The limit.
        most: usize,
    },
    /// There were more changes than the kernel keeps. The tree is read again.
    #[error("more changed at once than the kernel tells; the tree is being read again")]
    QueueOverflow,
    /// Something is mounted on a file below the root, so its changes are not told.
    #[error("something is mounted on the file `{}`", at.display())]
    Mount {
        /// The file.
        at: PathBuf,
    },
    /// The root was moved, removed or replaced.
    #[error("the root is not the directory that it was")]
    RootMoved,
    /// The system refused something that the index needs.
    #[error("the tree cannot be followed: {cause}")]
    Failed {
        /// What the system said.
        cause: String,
    },
    /// The index would take more memory than it may.
    #[error("the index would take more memory than it may")]
    OverBudget,
    /// The pattern says nothing about what a file must contain.
    #[error("the pattern can match in any file")]
    NoNeed,
    /// The search starts in, or spells out, a directory of which the index does not know what is in it.
    #[error("`{}` is not in the index", at.display())]
    NotInTree {
        /// The directory.
        at: PathBuf,
    },
    /// The search names a directory, so that rules do not apply that the index has applied.
    #[error("other rules hold in a directory that is named")]
    NamedFolder,
    /// Ignore files could not be applied, which a walk has to tell.
    #[error("some ignore files cannot be applied")]
    UnappliedRules,
}

impl WhyCold {
    /// What the system said when it refused something.
    pub(crate) fn failed(cause: &std::io::Error) -> Self {
        Self::Failed { cause: cause.to_string() }
    }

    /// The same for whoever may not see every file: without the names of files.
    pub(crate) fn without_names(&self) -> String {
        match self {
            Self::Mount { .. } => "something is mounted on a file below the root".to_owned(),
            _ => self.to_string(),
        }
    }

    /// Whether somebody can do something about it, or should know.
    pub(crate) fn is_worth_telling(&self) -> bool {
        match self {
            Self::ForeignFileSystem { .. }
            | Self::TooManyWatches { .. }
            | Self::NoInstance { .. }
            | Self::TooManyEntries { .. }
            | Self::QueueOverflow
            | Self::Mount { .. }
            | Self::RootMoved
            | Self::Failed { .. }
            | Self::OverBudget => true,
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
