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
    /// The name in rules and answers.
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
    /// Granted by a person in an earlier session, and stored. Below the options, because the person agreed to
    /// the built-in tool and not to a tool of the host with the same name.
    Kept,
    /// The options that the host gave to the registry.
    Options,
    /// Granted by a person while the session runs.
    Session,
}

impl Layer {
    /// The name in reasons for people.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Defaults => "the defaults",
            Self::Project => "the project's policy",
            Self::User => "the user's policy",
            Self::Options => "the host's options",
            Self::Kept => "the kept grants",
            Self::Session => "this session's grants",
        }
    }
}
