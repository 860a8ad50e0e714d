//! The answer of policy, with its reasons.

use schemars::JsonSchema;
use serde::Serialize;
use toolwright_base::Risk;

use super::{action::Action, rule::RuleRef};

/// What a verdict is based on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    /// No rule applies, so the default action or the permission mode decides.
    Default,
    /// No rule applies, and what the command line runs is not certain.
    Doubt,
    /// A rule that applies.
    Rule,
    /// A limit that may apply, depending on what is only known while the call runs.
    PossibleRule,
    /// A place that other programs run or trust.
    ProtectedPlace,
    /// The mode forbids it, even if a rule allows it.
    Mode,
}

/// The verdict of policy on a call, with its reasons.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PolicyVerdict {
    /// What happens to the call.
    pub action: Action,
    /// The reason, for a person.
    pub reason: String,
    /// The reason, for the model. It names no rules, modes or settings.
    #[serde(skip)]
    pub reason_for_model: String,
    /// What the action is based on.
    pub basis: Basis,
    /// What a rule would have to override so that the call runs: the basis, or, if mode `dontAsk` turned a
    /// question into a denial, the basis of the question.
    #[serde(skip)]
    pub basis_to_lift: Basis,
    /// The rule that decided, if one did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<RuleRef>,
    /// How much harm the call could do.
    pub risk: Risk,
    /// The message of the rule, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The verdicts on each command, redirection, path and host, if there are several.
    pub parts: Vec<PartVerdict>,
    /// The narrowest rules that would allow the call. Empty if no rule can, or if they were not requested.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub suggested_rules: Vec<String>,
}

impl PolicyVerdict {
    /// The verdict on a call that is denied for this other reason. If the call is denied already, its reason
    /// stays.
    #[must_use]
    pub fn denied(self, reason: String) -> Self {
        if self.action == Action::Deny {
            return self;
        }
        let (action, basis) = (Action::Deny, Basis::Rule);
        let (parts, suggested_rules) = (Vec::new(), Vec::new());
        Self { action, reason, basis, rule: None, message: None, parts, suggested_rules, ..self }
    }
}

/// The verdict on a part of a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PartVerdict {
    /// The command, path or host.
    pub part: String,
    /// What happens to the part.
    pub action: Action,
    /// The reason, for a person.
    pub reason: String,
    /// What the action is based on.
    pub basis: Basis,
    /// The rule that decided, if one did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<RuleRef>,
}
