//! The three answers, and who may give them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is to be done with a call. Ordered by strictness.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// It may run.
    Allow,
    /// Somebody has to agree first.
    Ask,
    /// It must not run.
    Deny,
}

impl Action {
    /// The word for it in rules and answers.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

/// Where a rule comes from. Ordered by trust: what a repository brings along counts least.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Layer {
    /// Built in.
    Defaults,
    /// The project's own file.
    Project,
    /// The user's file.
    User,
    /// The host's options.
    Options,
    /// Granted by a person while the session runs.
    Session,
}

impl Layer {
    /// How it is named in reasons.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Defaults => "the defaults",
            Self::Project => "the project's policy",
            Self::User => "the user's policy",
            Self::Options => "the host's options",
            Self::Session => "this session's grants",
        }
    }
}

/// What happens to calls that no rule decides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum PermissionMode {
    /// Tools that only look run; everything else asks.
    #[default]
    Default,
    /// Edits inside the workspace run as well.
    AcceptEdits,
    /// Nothing is changed: commands ask, edits are denied, whatever is allowed otherwise.
    Plan,
    /// Whatever would ask is denied.
    DontAsk,
    /// Whatever would ask by default is allowed; deny rules and ask rules hold.
    BypassPermissions,
}

impl PermissionMode {
    /// Every mode.
    pub const ALL: [Self; 5] =
        [Self::Default, Self::AcceptEdits, Self::Plan, Self::DontAsk, Self::BypassPermissions];

    /// The word for it in options.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::AcceptEdits => "acceptEdits",
            Self::Plan => "plan",
            Self::DontAsk => "dontAsk",
            Self::BypassPermissions => "bypassPermissions",
        }
    }
}
