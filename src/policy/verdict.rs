//! The answer of policy, with its reasons.

use schemars::JsonSchema;
use serde::Serialize;

use crate::tool::Risk;

use super::{action::Action, rule::RuleRef};

/// What a verdict is based on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    /// The default action or the permission mode, because no rule applies.
    Default,
    /// No rule applies, and what the command line runs is not certain.
    Doubt,
    /// A rule that applies.
    Rule,
    /// A limit that may apply to what is only known while the call runs.
    PossibleRule,
    /// A place that other programs run or trust.
    ProtectedPlace,
    /// The mode forbids it, also where a rule allows it.
    Mode,
}

/// The verdict of policy on a call, with its reasons.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PolicyVerdict {
    /// What is to be done.
    pub action: Action,
    /// The reason, for a person.
    pub reason: String,
    /// The reason, for a model: it names no rules, modes or settings.
    #[serde(skip)]
    pub told_to_model: String,
    /// What the action rests on.
    pub basis: Basis,
    /// What a rule would have to lift so that the call runs: the basis, or the basis of the question that a
    /// mode turned into a denial.
    #[serde(skip)]
    pub to_be_lifted: Basis,
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
    /// The narrowest rules that would allow the call. Empty if no rule can, or if nobody asked for them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub suggested_rules: Vec<String>,
}

impl PolicyVerdict {
    /// The verdict on a call that is denied for another reason. If a rule denies it as well, that stays the
    /// reason.
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
    /// What is to be done.
    pub action: Action,
    /// The reason, for a person.
    pub reason: String,
    /// What the action rests on.
    pub basis: Basis,
    /// The rule that decided, if one did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<RuleRef>,
}
