//! One rule, compiled.

use std::sync::Arc;

use serde::Serialize;

use super::{
    action::{Action, Layer},
    command_pattern::Match,
    condition::Condition,
    config::RiskLevel,
    facts::Facts,
    rule_text::Subject,
};

/// A rule as people are told of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RuleRef {
    /// Where it comes from.
    pub layer: Layer,
    /// Its place there: `rules[3]`, `deny[0]`.
    pub place: Arc<str>,
    /// What it says: `Bash(git push:*)`, as a person is shown it.
    pub text: Arc<str>,
    /// What it does.
    pub action: Action,
}

impl std::fmt::Display for RuleRef {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { layer, place, text, action } = self;
        write!(f, "{} rule `{text}` ({place} of {})", action.as_str(), layer.as_str())
    }
}

/// A rule ready to be applied.
#[derive(Debug)]
pub(super) struct Rule {
    pub(super) shown: RuleRef,
    pub(super) risk: Option<RiskLevel>,
    pub(super) message: Option<String>,
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

    /// Whether all conditions hold; a permission needs certainty.
    pub(super) fn conditions_hold(&self, facts: &Facts) -> Match {
        let held = self.conditions.iter().map(|it| it.holds(facts, self.action())).min();
        match held.unwrap_or(Match::Certain) {
            Match::Possible if !self.is_limit() => Match::No,
            other => other,
        }
    }
}

/// A rule that speaks about what is judged.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hit<'a> {
    pub(super) rule: &'a Rule,
    pub(super) certainty: Match,
}

/// What the rules say together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settled<'a> {
    /// The rule that decides, if one does.
    pub(super) certain: Option<&'a Rule>,
    /// A limit that may apply as well: at least, somebody is asked.
    pub(super) possible: Option<&'a Rule>,
}

impl<'a> Settled<'a> {
    /// Deny goes before ask, ask before allow, whatever the order of the rules. A rule for `*` steps
    /// back behind a rule for the tool, unless the latter comes from a less trusted layer: a project
    /// cannot lift what the user forbids for everything.
    pub(super) fn of(hits: &[Hit<'a>]) -> Self {
        let is_general = |hit: &Hit| matches!(hit.rule.subject, Subject::AnyTool);
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
            // Of several rules that say the same, the first is named; that changes no decision.
            rules.map(|it| it.rule).rev().max_by_key(|it| it.action())
        };
        Self { certain: with(Match::Certain), possible: with(Match::Possible) }
    }

    /// True when a rule denies or asks, or may.
    pub(super) fn limits(&self) -> bool {
        self.possible.is_some() || self.certain.is_some_and(Rule::is_limit)
    }
}
