//! The permission modes: what happens to calls that no rule decides.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What happens to calls that no rule decides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum PermissionMode {
    /// Tools that only read run; everything else asks.
    #[default]
    Default,
    /// Edits inside the workspace run as well.
    AcceptEdits,
    /// Nothing is changed: commands ask and edits are denied, also where a rule allows them.
    Plan,
    /// What would ask is denied.
    DontAsk,
    /// What would ask by default is allowed; rules that deny or ask still hold.
    BypassPermissions,
    /// Plan mode in which calls that would ask are denied. It cannot be set. An agent gets it when the
    /// agent is in one of these modes and the conversation that started it is in the other.
    #[serde(skip)]
    PlanDontAsk,
}

impl PermissionMode {
    /// Every mode that can be set.
    pub const ALL: [Self; 5] =
        [Self::Default, Self::AcceptEdits, Self::Plan, Self::DontAsk, Self::BypassPermissions];

    /// Its name in options.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::AcceptEdits => "acceptEdits",
            Self::Plan | Self::PlanDontAsk => "plan",
            Self::DontAsk => "dontAsk",
            Self::BypassPermissions => "bypassPermissions",
        }
    }

    /// True in a mode in which nothing may be changed.
    pub const fn is_plan(self) -> bool {
        matches!(self, Self::Plan | Self::PlanDontAsk)
    }

    /// True in a mode that never asks a person.
    pub const fn never_asks(self) -> bool {
        matches!(self, Self::DontAsk | Self::PlanDontAsk)
    }

    /// The mode that allows what both modes allow, and nothing else.
    ///
    /// `default`, `acceptEdits` and `bypassPermissions` each allow more than the one before. `dontAsk`
    /// and `plan` allow less than `default`, but neither includes the other: `dontAsk` denies commands
    /// that a person may confirm in `plan`, and `plan` denies edits that a rule allows in `dontAsk`.
    #[must_use]
    pub const fn strictest(self, other: Self) -> Self {
        if self.is_plan() || other.is_plan() {
            let never_asks = self.never_asks() || other.never_asks();
            return if never_asks { Self::PlanDontAsk } else { Self::Plan };
        }
        match (self, other) {
            (Self::DontAsk, _) | (_, Self::DontAsk) => Self::DontAsk,
            (Self::BypassPermissions, it) | (it, Self::BypassPermissions) => it,
            (Self::AcceptEdits, Self::AcceptEdits) => Self::AcceptEdits,
            _ => Self::Default,
        }
    }
}

/// Whether a conversation is in plan mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlanMode {
    /// It is not in plan mode.
    Off,
    /// It is in plan mode, and may leave it.
    Own,
    /// The conversation that started the agent is in plan mode, so the agent cannot leave it.
    OfParent,
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVERY: [PermissionMode; 6] = [
        PermissionMode::Default,
        PermissionMode::AcceptEdits,
        PermissionMode::Plan,
        PermissionMode::DontAsk,
        PermissionMode::BypassPermissions,
        PermissionMode::PlanDontAsk,
    ];

    #[test]
    fn the_strictest_of_modes_does_not_depend_on_their_order() {
        for one in EVERY {
            assert_eq!(one.strictest(one), one);
            for two in EVERY {
                assert_eq!(one.strictest(two), two.strictest(one), "{one:?} {two:?}");
                for three in EVERY {
                    let left = one.strictest(two).strictest(three);
                    assert_eq!(left, one.strictest(two.strictest(three)));
                }
            }
        }
    }

    #[test]
    fn the_strictest_mode_has_the_limits_of_both() {
        use PermissionMode::{AcceptEdits, BypassPermissions, Default, DontAsk, Plan, PlanDontAsk};
        for (one, two, both) in [
            (BypassPermissions, Default, Default),
            (BypassPermissions, AcceptEdits, AcceptEdits),
            (AcceptEdits, Default, Default),
            (AcceptEdits, DontAsk, DontAsk),
            (Plan, BypassPermissions, Plan),
            (Plan, DontAsk, PlanDontAsk),
        ] {
            assert_eq!(one.strictest(two), both);
        }
    }
}
