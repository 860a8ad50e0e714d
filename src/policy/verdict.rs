//! The answer of policy, with its reasons.

use serde::Serialize;

use crate::tool::Risk;

use super::{action::Action, rule::RuleRef};

/// What a verdict rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Basis {
    /// The default action or the permission mode, because no rule spoke.
    Default,
    /// No rule spoke, and what the command line runs is not certain.
    Doubt,
    /// A rule that applies.
    Rule,
    /// A limit that may apply to what is only known while the call runs.
    PossibleRule,
    /// A place that other programs run or trust.
    ProtectedPlace,
    /// What the mode takes away, whatever is allowed.
    Mode,
}

/// What policy says of a call, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PolicyVerdict {
    /// What is to be done.
    pub action: Action,
    /// Why, in words for a person.
    pub reason: String,
    /// Why, in words for a model: without rules, modes and settings.
    #[serde(skip)]
    pub told_to_model: String,
    /// What the action rests on.
    pub basis: Basis,
    /// What a rule would have to lift so that the call runs: the basis, or what a mode that does not ask
    /// would have asked for.
    #[serde(skip)]
    pub to_be_lifted: Basis,
    /// The rule that decided, if one did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<RuleRef>,
    /// How much harm the call could do.
    pub risk: Risk,
    /// The rule's own words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The same for each command, redirection, path or host, where there are several.
    pub parts: Vec<PartVerdict>,
}

impl PolicyVerdict {
    /// The verdict on a tool that is denied before any rule is asked; a rule that denies it as well stays.
    #[must_use]
    pub fn denied(self, reason: String) -> Self {
        if self.action == Action::Deny {
            return self;
        }
        let (action, basis) = (Action::Deny, Basis::Rule);
        Self { action, reason, basis, rule: None, message: None, parts: Vec::new(), ..self }
    }
}

/// What policy says of a part of a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PartVerdict {
    /// The command, path or host.
    pub part: String,
    /// What is to be done.
    pub action: Action,
    /// Why.
    pub reason: String,
    /// What the action rests on.
    pub basis: Basis,
    /// The rule that decided, if one did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<RuleRef>,
}
