//! The result of judging the parts of a call. Reasons are only written out when they are needed, because most
//! calls are allowed, and walks over files judge every file.

use std::{
    fmt::{self, Display, Formatter},
    path::Path,
};

use toolwright_base::{Risk, shortened, shown_path, visible};
use toolwright_shell::Direction;

use super::{
    action::Action,
    config::RiskLevel,
    rule::Rule,
    verdict::{Basis, PartVerdict, PolicyVerdict},
};

/// A part of a call and the result for it.
pub(super) struct JudgedPart<'a> {
    pub(super) shown: ShownPart<'a>,
    pub(super) action: Action,
    pub(super) why: Why<'a>,
    /// The doubt about the command line, if it is the better reason.
    pub(super) doubt: Option<&'a str>,
}

/// A part as it is shown to people.
#[derive(Clone, Copy)]
pub(super) enum ShownPart<'a> {
    Text(&'a str),
    Path(&'a Path),
    Command(&'a str),
    Redirection(Direction, &'a str),
}

/// The reason for an action.
#[derive(Clone, Copy)]
pub(super) enum Why<'a> {
    /// A rule that applies.
    Rule(&'a Rule),
    /// A limit that may apply.
    Possible(&'a Rule),
    /// A limit that may apply to an unread part of the line, and why the part was not read.
    Unread(&'a Rule, &'static str),
    /// It writes to a place that other programs run or trust.
    Protected,
    /// It writes to an unknown place, which may be protected.
    MaybeProtected,
    DefaultAction(Action),
    /// The mode that allows it.
    Mode(&'static str),
    OnlyLooks,
    NoRule,
}

/// A restriction by the mode, which applies even if a rule allows the call.
#[derive(Clone, Copy)]
pub(super) enum Bound {
    PlanAsks,
    PlanDenies,
    /// A person has to decide, even if a rule allows it.
    PersonDecides,
    DontAsk,
}

/// The result for a whole call.
pub(super) struct Ruling<'a> {
    pub(super) parts: Vec<JudgedPart<'a>>,
    pub(super) bound: Option<Bound>,
    pub(super) risk: Risk,
}

impl Ruling<'_> {
    /// The part that decides. Of the parts that ask, those that only a person may allow come first.
    fn strictest(&self) -> Option<&JudgedPart<'_>> {
        self.parts.iter().rev().max_by_key(|it| (it.action, it.basis() != Basis::Default))
    }

    /// The action before a mode restricts it.
    pub(super) fn unbound_action(&self) -> Action {
        self.parts.iter().map(|it| it.action).max().unwrap_or(Action::Ask)
    }

    /// The action for the call.
    pub(super) fn action(&self) -> Action {
        match self.bound {
            Some(Bound::PlanAsks | Bound::PersonDecides) => Action::Ask,
            Some(Bound::PlanDenies | Bound::DontAsk) => Action::Deny,
            None => self.unbound_action(),
        }
    }

    /// The verdict with its reasons written out.
    pub(super) fn verdict(&self) -> PolicyVerdict {
        let strictest = self.strictest();
        let rule = strictest.and_then(|it| it.why.rule());
        let reason = strictest.map(JudgedPart::reason).unwrap_or_default();
        let for_model = strictest.map(JudgedPart::reason_for_model).unwrap_or_default();
        let unbound = strictest.map_or(Basis::Default, JudgedPart::basis);
        let (reason, reason_for_model, basis) = match self.bound {
            None => (reason, for_model, unbound),
            Some(bound) => (bound.reason(reason), bound.reason_for_model(for_model), Basis::Mode),
        };
        let basis_to_lift =
            if matches!(self.bound, Some(Bound::DontAsk)) { unbound } else { basis };
        let in_words = |it: &JudgedPart| PartVerdict {
            part: it.shown.to_string(),
            action: it.action,
            reason: it.reason(),
            basis: it.basis(),
            rule: it.why.rule().map(|it| it.shown.clone()),
        };
        PolicyVerdict {
            action: self.action(),
            reason,
            reason_for_model,
            basis,
            basis_to_lift,
            rule: rule.map(|it| it.shown.clone()),
            risk: rule.and_then(|it| it.risk).map_or(self.risk, RiskLevel::risk),
            message: rule.and_then(|it| it.message.as_deref()).map(|it| visible(it).into_owned()),
            parts: self.parts.iter().map(in_words).collect(),
            suggested_rules: Vec::new(),
        }
    }
}

impl<'a> JudgedPart<'a> {
    /// Raises the action to at least ask, because the part writes to a place that is or may be protected. If
    /// only the default asks so far, this reason replaces it: what overrides the default does not override this.
    pub(super) fn guard(&mut self, why: Why<'a>) {
        let is_default = self.action == Action::Ask && self.basis() == Basis::Default;
        if self.action == Action::Allow || is_default {
            self.action = Action::Ask;
            self.why = why;
        }
    }

    fn basis(&self) -> Basis {
        match self.why {
            Why::Rule(_) | Why::Unread(..) => Basis::Rule,
            Why::Possible(_) => Basis::PossibleRule,
            Why::Protected | Why::MaybeProtected => Basis::ProtectedPlace,
            _ if self.doubt.is_some() => Basis::Doubt,
            Why::DefaultAction(_) | Why::Mode(_) | Why::OnlyLooks | Why::NoRule => Basis::Default,
        }
    }

    fn reason(&self) -> String {
        let shown = &self.shown;
        if let Some(doubt) = self.doubt {
            let doubt = visible(doubt);
            return format!("the command line {doubt}, so what it runs is not certain");
        }
        match self.why {
            Why::Rule(rule) => format!("`{shown}` is decided by the {}", rule.shown),
            Why::Possible(rule) => format!("the {} may apply to `{shown}`", rule.shown),
            Why::Unread(rule, why) => format!(
                "the command line {why}, and the {} may apply to a part of it; make the line shorter, or \
                 put it into a script file",
                rule.shown
            ),
            Why::Protected => format!(
                "`{shown}` is run or trusted by other programs; only a rule that names it allows this"
            ),
            Why::MaybeProtected => format!(
                "where `{shown}` writes is not known, and it may be a place that other programs run or \
                 trust"
            ),
            Why::DefaultAction(Action::Allow) => "the default is to allow".to_owned(),
            Why::DefaultAction(Action::Deny) => {
                format!("no rule allows `{shown}`, and the default is to deny")
            }
            Why::Mode(mode) => format!("mode `{mode}` allows it"),
            Why::OnlyLooks => "it only looks at the workspace".to_owned(),
            Why::NoRule | Why::DefaultAction(Action::Ask) => format!("no rule allows `{shown}`"),
        }
    }

    /// The reason for the model. It names what is not allowed, but no setting that would allow it.
    fn reason_for_model(&self) -> String {
        let shown = &self.shown;
        if let Some(doubt) = self.doubt {
            let doubt = visible(doubt);
            return format!("the command line {doubt}, so what it runs is not certain");
        }
        match self.why {
            Why::Rule(rule) if rule.action() == Action::Deny => {
                format!("`{shown}` is not allowed here")
            }
            Why::Rule(_) => format!("the user wants to be asked about `{shown}`"),
            Why::Possible(_) => {
                format!("`{shown}` may touch something that the user has limited")
            }
            Why::Unread(_, why) => format!(
                "the command line {why}, so what the user has limited may be in it; make the line shorter, \
                 or put it into a script file"
            ),
            Why::Protected => format!("`{shown}` is run or trusted by other programs"),
            Why::MaybeProtected => format!(
                "where `{shown}` writes is not known, and it may be a place that other programs run or \
                 trust"
            ),
            Why::DefaultAction(_) | Why::Mode(_) | Why::OnlyLooks | Why::NoRule => {
                format!("`{shown}` has not been allowed")
            }
        }
    }
}

impl<'a> Why<'a> {
    pub(super) const fn rule(&self) -> Option<&'a Rule> {
        match self {
            Self::Rule(rule) | Self::Possible(rule) | Self::Unread(rule, _) => Some(rule),
            _ => None,
        }
    }
}

impl Bound {
    fn reason(self, unbound: String) -> String {
        match self {
            Self::PlanAsks => {
                "in mode `plan`, commands, fetches and agents have to be confirmed".to_owned()
            }
            Self::PersonDecides => "a person decides whether to leave mode `plan`".to_owned(),
            Self::PlanDenies => {
                "in mode `plan`, nothing is changed; finish the plan first".to_owned()
            }
            Self::DontAsk => unbound + ", and mode `dontAsk` denies what would ask",
        }
    }

    fn reason_for_model(self, unbound: String) -> String {
        match self {
            Self::PlanAsks => {
                "while a plan is made, the user is asked about commands, fetches and agents"
                    .to_owned()
            }
            Self::PersonDecides => "the user decides about the plan".to_owned(),
            Self::PlanDenies => "while a plan is made, nothing is changed".to_owned(),
            Self::DontAsk => unbound,
        }
    }
}

impl Display for ShownPart<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(&visible(text)),
            Self::Path(path) => f.write_str(&shown_path(path)),
            Self::Command(line) => f.write_str(&in_reason(line)),
            Self::Redirection(Direction::Reads, file) => write!(f, "< {}", visible(file)),
            Self::Redirection(Direction::Writes, file) => write!(f, "> {}", visible(file)),
        }
    }
}

/// A line, shortened to fit into a reason.
fn in_reason(line: &str) -> String {
    visible(&shortened(line, 200)).replace(['\n', '\t'], " ")
}
