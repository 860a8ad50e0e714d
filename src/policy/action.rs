//! The three answers of policy, and the layers that rules come from.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What happens to a call. Ordered by strictness.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// It may run.
    Allow,
    /// A person has to agree first.
    Ask,
    /// It must not run.
    Deny,
}

impl Action {
    /// Its name in rules and answers.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

/// Where a rule comes from. Ordered by trust: the files of a project count least.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Layer {
    /// The built-in defaults.
    Defaults,
    /// The policy file of the project.
    Project,
    /// The policy file of the user.
    User,
    /// Granted by a person in an earlier session, and kept. Below the options: a tool of the host that has
    /// the name of a built-in one is not what the person agreed to.
    Kept,
    /// The options that the host gave to the registry.
    Options,
    /// Granted by a person while the session runs.
    Session,
}

impl Layer {
    /// Its name in the reasons that people are shown.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Defaults => "the defaults",
            Self::Project => "the project's policy",
            Self::User => "the user's policy",
            Self::Options => "the host's options",
            Self::Kept => "the grants that are kept",
            Self::Session => "this session's grants",
        }
    }
}
