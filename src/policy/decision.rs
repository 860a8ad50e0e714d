//! The decision of policy about a call, in the form that the pipeline acts on.

use crate::{
    error::{ErrorKind, ToolError},
    tool::Risk,
};

use super::{Action, Basis, PolicyEngine, PolicyVerdict, Question, judge::Judge, ruling::Ruling};

/// What happens to a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It may run.
    Allow,
    /// A person has to agree first.
    Ask(Box<Asking>),
    /// It must not run.
    Deny(ToolError),
}

/// Everything needed to ask a person, or to refuse the call if nobody can be asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asking {
    /// The reason, for a person.
    pub reason: String,
    /// The reason, for the model, if nobody answers.
    pub told_to_model: String,
    /// The message of the rule, if it has one.
    pub message: Option<String>,
    /// True when only the default asks, and not a rule, a mode, a protected place or a doubt about a
    /// command line. Then a hook may answer instead of a person.
    pub by_default_alone: bool,
    /// How much harm the call could do.
    pub risk: Risk,
    /// The narrowest rules that would allow the call next time; empty if no rule would.
    pub suggested_rules: Vec<String>,
    /// What a person or the host can do when nobody can be asked.
    pub ways_to_allow: String,
}

impl Decision {
    /// Judges a call and puts the reasons into words where they are needed.
    pub fn of(engine: &PolicyEngine, question: &Question) -> Self {
        let judge = Judge::of(engine, question);
        Self::by(&judge.ruling(), engine, question)
    }

    /// As [`Self::of`], with the reason for a person also where the call is allowed.
    pub fn with_reason(engine: &PolicyEngine, question: &Question) -> (Self, String) {
        let judge = Judge::of(engine, question);
        let ruling = judge.ruling();
        (Self::by(&ruling, engine, question), ruling.verdict().reason)
    }

    fn by(ruling: &Ruling<'_>, engine: &PolicyEngine, question: &Question) -> Self {
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

    /// What it is.
    pub const fn action(&self) -> Action {
        match self {
            Self::Allow => Action::Allow,
            Self::Ask(_) => Action::Ask,
            Self::Deny(_) => Action::Deny,
        }
    }

    /// Its name in answers.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask(_) => "ask",
            Self::Deny(_) => "deny",
        }
    }
}

/// The error of a denied call. Its message tells the model what is denied and what to do instead; its
/// details tell a person which rule or mode denies it.
fn denial(engine: &PolicyEngine, question: &Question, verdict: &PolicyVerdict) -> ToolError {
    let tool = question.tool;
    let next_step = match (&verdict.message, verdict.basis) {
        // The message of the rule says what to do instead.
        (Some(words), _) => format!(": {words}"),
        (None, Basis::Mode) if engine.mode().is_plan() => "; finish the plan first".to_owned(),
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
