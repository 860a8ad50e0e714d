//! One rule, compiled.
//!
//! The order of rules does not matter. A rule for `*` yields to a rule for the tool. `Bash` also means the
//! same tool in other sets, `Edit(src/**)` applies to every tool that edits, and `Read(.env)` as a limit
//! applies to every way to read the file. Rule objects mean the same as rules as text: a condition on paths,
//! commands or hosts is the pattern of the rule.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

use super::{
    action::{Action, Layer},
    command_pattern::Match,
    condition::Condition,
    config::{ConditionConfig, RiskLevel},
    facts::Facts,
    rule_text::Subject,
    rule_tools::{AskedTool, RuleTools, ToolReach},
};

/// A rule as it is shown to people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RuleRef {
    /// The layer that it comes from.
    pub layer: Layer,
    /// Its place in the policy: `rules[3]`, `deny[0]`.
    pub place: Arc<str>,
    /// Its text, such as `Bash(git push:*)`.
    pub text: Arc<str>,
    /// What happens to matching calls.
    pub action: Action,
    /// The conditions of a rule object, as they are written.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub conditions: Arc<[ConditionConfig]>,
}

impl std::fmt::Display for RuleRef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { layer, place, text, action, conditions } = self;
        let conditions = if conditions.is_empty() { "" } else { " with its conditions" };
        let (action, layer) = (action.as_str(), layer.as_str());
        write!(f, "{action} rule `{text}`{conditions} ({place} of {layer})")
    }
}

/// A compiled rule: its tools, what it applies to in their calls, and its action.
#[derive(Debug)]
pub(super) struct Rule {
    pub(super) shown: RuleRef,
    pub(super) risk: Option<RiskLevel>,
    pub(super) message: Option<String>,
    pub(super) tools: RuleTools,
    pub(super) subject: Subject,
    pub(super) conditions: Vec<Condition>,
}

impl Rule {
    pub(super) const fn action(&self) -> Action {
        self.shown.action
    }

    /// True for a rule that denies or asks.
    pub(super) fn is_limit(&self) -> bool {
        self.action() != Action::Allow
    }

    /// True when the rule applies to calls of the tool.
    pub(super) fn is_about(&self, tool: &AskedTool) -> bool {
        self.tools.include(tool, self.is_limit(), self.shown.layer)
    }

    /// True when the rule depends on the paths that a call touches.
    pub(super) fn is_about_paths(&self) -> bool {
        matches!(self.subject, Subject::Reading(_) | Subject::Editing(_))
            || self.conditions.iter().any(Condition::is_about_paths)
    }

    /// Whether all conditions hold. For a permission they must certainly hold.
    pub(super) fn conditions_hold(&self, facts: &Facts) -> Match {
        let held = self.conditions.iter().map(|it| it.holds(facts, self.action())).min();
        match held.unwrap_or(Match::Certain) {
            Match::Possible if !self.is_limit() => Match::No,
            other => other,
        }
    }
}

/// A rule that applies to what is judged, or may apply.
#[derive(Clone, Copy, Debug)]
pub(super) struct RuleHit<'a> {
    pub(super) rule: &'a Rule,
    pub(super) certainty: Match,
}

/// The combined result of several rules.
#[derive(Clone, Copy, Debug)]
pub(super) struct SettledRules<'a> {
    /// The rule that decides, if one does.
    pub(super) certain: Option<&'a Rule>,
    /// A limit that may also apply, so the action is at least ask.
    pub(super) possible: Option<&'a Rule>,
}

impl<'a> SettledRules<'a> {
    /// Combines rules: deny overrides ask, and ask overrides allow, whatever the order of the rules. A rule
    /// for `*` yields to a rule for the tool, unless that rule comes from a less trusted layer: a project cannot
    /// allow what the user denies for all tools.
    pub(super) fn of(hits: &[RuleHit<'a>]) -> Self {
        let is_general = |hit: &RuleHit| hit.rule.tools.reach == ToolReach::Wildcard;
        let specific = hits
            .iter()
            .filter(|it| !is_general(it) && it.certainty == Match::Certain)
            .map(|it| it.rule.shown.layer)
            .max();
        let remaining = hits.iter().filter(|it| {
            !is_general(it) || specific.is_none_or(|layer| it.rule.shown.layer > layer)
        });
        let with = |certainty: Match| {
            let rules = remaining.clone().filter(move |it| it.certainty == certainty);
            // Of several rules with the same action, the first is reported. The decision is the same.
            rules.map(|it| it.rule).rev().max_by_key(|it| it.action())
        };
        Self { certain: with(Match::Certain), possible: with(Match::Possible) }
    }

    /// True when a rule denies or asks, or may do so.
    pub(super) fn limits(&self) -> bool {
        self.possible.is_some() || self.certain.is_some_and(Rule::is_limit)
    }
}
