//! What policy says of a call, as the pipeline acts on it.

use crate::{
    error::{ErrorKind, ToolError},
    tool::Risk,
};

use super::{Action, Basis, PermissionMode, PolicyEngine, PolicyVerdict, Question, judge::Judge};

/// What is to be done with a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It may run.
    Allow,
    /// Somebody has to agree first.
    Ask(Box<Asking>),
    /// It must not run.
    Deny(ToolError),
}

/// What somebody who is asked, or is not there to be asked, has to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asking {
    /// Why, for a person.
    pub reason: String,
    /// Why, for a model that cannot be let through because nobody answers.
    pub told_to_model: String,
    /// The rule's own words.
    pub message: Option<String>,
    /// True when the default alone asks: no rule, no mode, no protected place, and no doubt about a
    /// command line. Then somebody else may answer for a person.
    pub by_default_alone: bool,
    /// How much harm the call could do.
    pub risk: Risk,
    /// The narrowest rules that would let the call through next time; none where no rule would.
    pub suggested_rules: Vec<String>,
    /// What a person or the host can do when nobody can be asked.
    pub ways_to_allow: String,
}

impl Decision {
    /// Judges a call.
    pub fn of(engine: &PolicyEngine, question: &Question) -> Self {
        let judge = Judge::of(engine, question);
        let ruling = judge.ruling();
        match ruling.action() {
            Action::Allow => Self::Allow,
            Action::Ask => {
                let verdict = ruling.verdict();
                Self::Ask(Box::new(Asking {
                    by_default_alone: verdict.basis == Basis::Default,
                    suggested_rules: engine.helping_rules(question, verdict.to_be_lifted),
                    ways_to_allow: engine.ways_to_allow(question, &verdict),
                    reason: verdict.reason,
                    told_to_model: verdict.told_to_model,
                    message: verdict.message,
                    risk: verdict.risk,
                }))
            }
            Action::Deny => Self::Deny(denial(engine, question, &ruling.verdict())),
        }
    }

    /// The word for it.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask(_) => "ask",
            Self::Deny(_) => "deny",
        }
    }
}

/// The model learns what is denied and what to do instead, a person which rule or mode denies it.
fn denial(engine: &PolicyEngine, question: &Question, verdict: &PolicyVerdict) -> ToolError {
    let tool = question.tool;
    let next_step = match (&verdict.message, verdict.basis) {
        // Whoever wrote the rule says what to do instead.
        (Some(words), _) => format!(": {words}"),
        (None, Basis::Mode) if engine.mode() == PermissionMode::Plan => {
            "; finish the plan first".to_owned()
        }
        (None, _) => "; do it in another way, or ask the user".to_owned(),
    };
    let message = format!("`{tool}` is denied: {}{next_step}", verdict.told_to_model);
    let words = verdict.message.as_ref().map(|it| format!(": {it}")).unwrap_or_default();
    ToolError::new(ErrorKind::PolicyDenied, message).with_details(
        &format!("`{tool}` is denied: {}{words}", verdict.reason),
        &engine.ways_to_allow(question, verdict),
        engine.helping_rules(question, verdict.to_be_lifted),
    )
}
