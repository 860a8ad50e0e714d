//! What policy says of a call, as the pipeline acts on it.

use crate::{
    error::{ErrorKind, ToolError},
    hooks,
    tool::Risk,
};

use super::{Action, Basis, PermissionMode, PolicyEngine, Question, judge::Judge};

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
    /// Why.
    pub reason: String,
    /// The rule's own words.
    pub message: Option<String>,
    /// True when no rule spoke, so that a hook can answer for a person.
    pub hooks_may_allow: bool,
    /// How much harm the call could do.
    pub risk: Risk,
    /// The narrowest rules that would let the call through next time; none where no rule would.
    pub suggested_rules: Vec<String>,
    /// The ways to allow the call when nobody can be asked.
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
                    hooks_may_allow: verdict.basis == Basis::Default,
                    suggested_rules: engine.helping_rules(question, verdict.basis),
                    ways_to_allow: engine.ways_to_allow(question, &verdict),
                    reason: verdict.reason,
                    message: verdict.message,
                    risk: verdict.risk,
                }))
            }
            Action::Deny => {
                let verdict = ruling.verdict();
                let words = verdict.message.map(|it| format!(": {it}")).unwrap_or_default();
                let message = format!("`{}` is denied: {}{words}", question.tool, verdict.reason);
                Self::Deny(ToolError::new(ErrorKind::PolicyDenied, message))
            }
        }
    }

    /// The decision once hooks have spoken. They can ask where policy would allow, and allow where no
    /// rule asks; neither reaches over a rule.
    #[must_use]
    pub fn after_hooks(
        self,
        said: hooks::Verdict,
        engine: &PolicyEngine,
        question: &Question,
    ) -> Self {
        match (self, said) {
            (Self::Allow, hooks::Verdict::Ask(reason)) => {
                let reason = format!("a hook asks: {reason}");
                if engine.mode() == PermissionMode::DontAsk {
                    let message = format!("{reason}, and mode `dontAsk` denies what would ask");
                    return Self::Deny(ToolError::new(ErrorKind::PolicyDenied, message));
                }
                Self::Ask(Box::new(Asking {
                    reason,
                    message: None,
                    hooks_may_allow: false,
                    risk: question.side_effect.risk(),
                    suggested_rules: Vec::new(),
                    ways_to_allow:
                        "only the hook, or whoever answers confirmation requests, can allow it"
                            .to_owned(),
                }))
            }
            (Self::Ask(asking), hooks::Verdict::Allow(_)) if asking.hooks_may_allow => Self::Allow,
            (decision, _) => decision,
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
