//! Why a search goes the cold way.

/// Why the index of a root cannot answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum WhyCold {
    /// No search has been slow enough, or it is being built.
    #[error("the index is not built yet")]
    NotBuiltYet,
    /// Another system.
    #[error("indexes need Linux")]
    NotLinux,
}

impl WhyCold {
    /// Whether somebody can do something about it, or should know.
    pub(crate) fn is_worth_telling(&self) -> bool {
        match self {
            Self::NotBuiltYet | Self::NotLinux => false,
        }
    }
}
