//! The decision of policy about a call, in the form that the pipeline acts on.

use toolwright_base::{ErrorKind, Risk, ToolError};

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

/// Everything needed to ask a person, or to refuse the call if there is no one to ask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asking {
    /// The reason, for a person.
    pub reason: String,
    /// The reason, for the model, if no person answers.
    pub reason_for_model: String,
    /// The message of the rule, if it has one.
    pub message: Option<String>,
    /// True when only the default asks: no rule, no mode, no protected place and no doubt about a command
    /// line. Then a hook may answer instead of a person.
    pub by_default_alone: bool,
    /// How much harm the call could do.
    pub risk: Risk,
    /// The narrowest rules that would allow the call next time; empty if no rule would.
    pub suggested_rules: Vec<String>,
    /// What the host can do to allow the call when there is no one to ask.
    pub ways_to_allow: String,
}

impl Decision {
    /// Judges a call. Reasons are only written out where they are needed.
    pub fn of(engine: &PolicyEngine, question: &Question) -> Self {
        let judge = Judge::of(engine, question);
        Self::by(&judge.ruling(), engine, question)
    }

    /// Like [`Self::of`], but also returns the reason for a person, even if the call is allowed.
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
                    suggested_rules: engine.helping_rules(question, verdict.basis_to_lift),
                    ways_to_allow: engine.ways_to_allow(question, &verdict),
                    reason: verdict.reason,
                    reason_for_model: verdict.reason_for_model,
                    message: verdict.message,
                    risk: verdict.risk,
                }))
            }
            Action::Deny => Self::Deny(denial(engine, question, &ruling.verdict())),
        }
    }

    /// The decision without its reasons.
    pub const fn action(&self) -> Action {
        match self {
            Self::Allow => Action::Allow,
            Self::Ask(_) => Action::Ask,
            Self::Deny(_) => Action::Deny,
        }
    }

    /// The name in answers.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask(_) => "ask",
            Self::Deny(_) => "deny",
        }
    }
}

/// The error of a denied call. Its message is for the model: what is denied, and what to do instead. Its
/// details are for a person: which rule or mode denies the call.
fn denial(engine: &PolicyEngine, question: &Question, verdict: &PolicyVerdict) -> ToolError {
    let tool = question.tool;
    let next_step = match (&verdict.message, verdict.basis) {
        // The message of the rule says what to do instead.
        (Some(words), _) => format!(": {words}"),
        (None, Basis::Mode) if engine.mode().is_plan() => "; finish the plan first".to_owned(),
        (None, _) => "; do it in another way, or ask the user".to_owned(),
    };
    let message = format!("`{tool}` is denied: {}{next_step}", verdict.reason_for_model);
    let words = verdict.message.as_ref().map(|it| format!(": {it}")).unwrap_or_default();
    ToolError::new(ErrorKind::PolicyDenied, message).with_details(
        &format!("`{tool}` is denied: {}{words}", verdict.reason),
        &engine.ways_to_allow(question, verdict),
        engine.helping_rules(question, verdict.basis_to_lift),
    )
}
