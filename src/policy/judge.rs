//! One decision: every part of a call is judged, and the strictest answer counts.
//!
//! For each part the rules are asked first; what they leave open, the mode decides.

use crate::tool::{Access, shown_path};

use super::{
    action::{Action, PermissionMode},
    command::{Direction, is_confusing},
    command_pattern::Match,
    engine::PolicyEngine,
    facts::{CommandFact, Facts, PathFact},
    question::{Origin, Question},
    rule::{Hit, Rule, Settled},
    rule_text::Subject,
    tool_names::{self, Family},
    verdict::{Basis, PartVerdict, Verdict},
};

impl PolicyEngine {
    /// Judges a call by everything it declares.
    pub fn decide(&self, question: &Question) -> Verdict {
        let facts = Facts::of(question, &self.sources.places, &self.paths);
        let mut judge = Judge { engine: self, call: Vec::new(), facts };
        judge.call = judge.rules_for_call();
        judge.verdict()
    }
}

/// One call before the judge.
pub(super) struct Judge<'e, 'q> {
    pub(super) engine: &'e PolicyEngine,
    pub(super) facts: Facts<'q>,
    /// The rules that speak about the call as a whole.
    pub(super) call: Vec<Hit<'e>>,
}

/// A part of a call and what is said of it.
pub(super) struct Part<'e> {
    pub(super) shown: String,
    pub(super) action: Action,
    pub(super) reason: String,
    pub(super) rule: Option<&'e Rule>,
    pub(super) basis: Basis,
}

impl<'e> Judge<'e, '_> {
    fn rules_for_call(&self) -> Vec<Hit<'e>> {
        let engine = self.engine;
        let tool = self.facts.question.tool;
        let named = engine.by_tool.get(tool).into_iter().flatten();
        let like = engine.by_start.iter().filter(|it| tool.starts_with(&it.0)).map(|it| &it.1);
        named.chain(like).filter_map(|place| self.hit(*place)).collect()
    }

    /// The rule at that place, if its conditions hold.
    pub(super) fn hit(&self, place: usize) -> Option<Hit<'e>> {
        let rule = self.engine.rules.get(place)?;
        let certainty = rule.conditions_hold(&self.facts);
        (certainty != Match::No).then_some(Hit { rule, certainty })
    }

    fn verdict(self) -> Verdict {
        let mut parts = Vec::new();
        for path in &self.facts.paths {
            let shown = shown_path(&path.path);
            parts.push(self.path_part(shown, Some(path), path.direction, self.call.clone()));
        }
        parts.extend(self.host_parts());
        for command in &self.facts.commands {
            self.command_parts(command, &mut parts);
        }
        if parts.is_empty() {
            let tool = self.facts.question.tool;
            parts.push(self.part(tool.to_owned(), &self.call, Fallback::Call));
        }
        self.summed_up(parts)
    }

    fn summed_up(&self, parts: Vec<Part>) -> Verdict {
        // Of parts that ask, those that nothing but a person may let through are named first.
        let strictest = parts.iter().rev().max_by_key(|it| (it.action, it.basis != Basis::Default));
        let mut verdict = Verdict {
            action: strictest.map_or(Action::Ask, |it| it.action),
            reason: strictest.map(|it| it.reason.clone()).unwrap_or_default(),
            basis: strictest.map_or(Basis::Default, |it| it.basis),
            rule: strictest.and_then(|it| it.rule).map(|it| it.shown.clone()),
            risk: self.facts.risk,
            message: strictest.and_then(|it| it.rule).and_then(|it| it.message.clone()),
            parts: Vec::new(),
        };
        if let Some(risk) = strictest.and_then(|it| it.rule).and_then(|it| it.risk) {
            verdict.risk = risk.risk();
        }
        verdict.parts = parts
            .into_iter()
            .map(|it| PartVerdict {
                part: it.shown,
                action: it.action,
                reason: it.reason,
                basis: it.basis,
                rule: it.rule.map(|it| it.shown.clone()),
            })
            .collect();
        self.bound_by_mode(&mut verdict);
        verdict
    }

    /// What a mode takes away, whatever the rules allow.
    fn bound_by_mode(&self, verdict: &mut Verdict) {
        match self.engine.mode() {
            PermissionMode::Plan if !self.only_looks() && verdict.action != Action::Deny => {
                verdict.basis = Basis::Mode;
                let runs = !self.facts.commands.is_empty() || !self.facts.hosts.is_empty();
                let writes = self.facts.paths.iter().any(|it| it.direction == Direction::Writes);
                if runs && !writes {
                    verdict.action = Action::Ask;
                    verdict.reason = "in mode `plan`, commands and fetches are asked for".into();
                } else {
                    verdict.action = Action::Deny;
                    verdict.reason =
                        "in mode `plan`, nothing is changed; finish the plan first".into();
                }
            }
            PermissionMode::DontAsk if verdict.action == Action::Ask => {
                verdict.action = Action::Deny;
                verdict.basis = Basis::Mode;
                verdict.reason =
                    format!("{}, and mode `dontAsk` denies what would ask", verdict.reason);
            }
            _ => {}
        }
    }

    fn only_looks(&self) -> bool {
        let question = self.facts.question;
        match question.origin {
            Origin::Mcp => question.annotations.read_only_hint == Some(true),
            Origin::Builtin | Origin::Host => question.side_effect.is_read_only(),
        }
    }

    /// Judges a part by the rules that speak about it.
    pub(super) fn part(&self, shown: String, hits: &[Hit<'e>], fallback: Fallback) -> Part<'e> {
        let settled = Settled::of(hits);
        let (action, reason) = match settled.certain {
            Some(rule) => (rule.action(), format!("`{shown}` is decided by the {}", rule.shown)),
            None => self.without_rules(&shown, fallback),
        };
        match settled.possible {
            // Also where the default asks: a hook may lift that, but not this.
            Some(rule)
                if action == Action::Allow
                    || (action == Action::Ask && settled.certain.is_none()) =>
            {
                let reason = format!("`{shown}` may be what the {} is about", rule.shown);
                Part {
                    shown,
                    action: Action::Ask,
                    reason,
                    rule: Some(rule),
                    basis: Basis::PossibleRule,
                }
            }
            _ => {
                let rule = settled.certain;
                let basis = if rule.is_some() { Basis::Rule } else { Basis::Default };
                Part { shown, action, reason, rule, basis }
            }
        }
    }

    /// What happens where no rule speaks.
    fn without_rules(&self, shown: &str, fallback: Fallback) -> (Action, String) {
        let mode = self.engine.mode();
        let question = self.facts.question;
        let by_mode = match (mode, fallback) {
            (PermissionMode::BypassPermissions, _) => Some("bypassPermissions"),
            (PermissionMode::AcceptEdits, Fallback::Edit) => Some("acceptEdits"),
            _ => None,
        };
        match (self.engine.default_action, by_mode) {
            (Some(Action::Deny), _) => {
                (Action::Deny, format!("no rule allows `{shown}`, and the default is to deny"))
            }
            (Some(Action::Allow), _) => (Action::Allow, "the default is to allow".to_owned()),
            (_, Some(mode)) => (Action::Allow, format!("mode `{mode}` allows it")),
            (Some(Action::Ask), None) => (Action::Ask, format!("no rule allows `{shown}`")),
            (None, None) => {
                let looks = question.origin == Origin::Builtin
                    && tool_names::is_auto_allowed(question.tool);
                if looks || fallback == Fallback::Look {
                    (Action::Allow, "it only looks at the workspace".to_owned())
                } else {
                    (Action::Ask, format!("no rule allows `{shown}`"))
                }
            }
        }
    }

    /// Judges a path; `None` is one that cannot be known.
    pub(super) fn path_part(
        &self,
        shown: String,
        path: Option<&PathFact>,
        direction: Direction,
        mut hits: Vec<Hit<'e>>,
    ) -> Part<'e> {
        let Some(path) = path else {
            hits.extend(self.possible(&self.engine.path_limits));
            return self.part(shown, &hits, Fallback::Call);
        };
        hits.extend(self.rules_for_path(path, direction));
        let places = &self.engine.sources.places;
        let is_inside = places.contains(&path.path);
        let family = self.facts.question.family();
        let fallback = match direction {
            Direction::Reads if is_inside && family.is_some() => Fallback::Look,
            Direction::Writes if is_inside && family.is_some() => Fallback::Edit,
            Direction::Reads | Direction::Writes => Fallback::Call,
        };
        let mut part = self.part(shown, &hits, fallback);
        if direction == Direction::Writes && path.is_protected && !self.names_protected(&hits) {
            part.guard();
        }
        part
    }

    /// The first of some rules as one that may apply.
    pub(super) fn possible(&self, limits: &[usize]) -> Option<Hit<'e>> {
        let rule = self.engine.rules.get(*limits.first()?)?;
        Some(Hit { rule, certainty: Match::Possible })
    }

    pub(super) fn rules_for_path(&self, path: &PathFact, direction: Direction) -> Vec<Hit<'e>> {
        let engine = self.engine;
        let family = self.facts.question.family();
        let mut hits = Vec::new();
        for place in path.patterns.iter().filter_map(|it| engine.by_path.get(it)) {
            let Some(hit) = self.hit(*place) else { continue };
            let writes = direction == Direction::Writes;
            let applies = match (&hit.rule.subject, hit.rule.is_limit()) {
                // What must not be read must not be overwritten unread either.
                (Subject::Reading(_), true) => true,
                (Subject::Editing(_), true) => writes,
                (Subject::Reading(_), false) => {
                    !writes
                        && matches!(family, Some(Family::Reading | Family::Editing | Family::Shell))
                }
                (Subject::Editing(_), false) => {
                    family == Some(Family::Editing) || (writes && family == Some(Family::Shell))
                }
                _ => false,
            };
            if applies {
                hits.push(hit);
            }
        }
        hits
    }

    /// True when a permission is about a protected place and not merely broad enough to cover it.
    fn names_protected(&self, hits: &[Hit]) -> bool {
        let places = &self.engine.sources.places;
        hits.iter().any(|hit| match &hit.rule.subject {
            Subject::Editing(pattern) if !hit.rule.is_limit() => {
                self.engine.paths.base(*pattern).is_some_and(|it| places.is_protected(it))
            }
            _ => false,
        })
    }

    fn host_parts(&self) -> Vec<Part<'e>> {
        let urls = self.facts.question.accesses.iter().filter_map(|it| match it {
            Access::Connect(url) => Some(url),
            Access::Read(_) | Access::Write(_) | Access::Run(_) => None,
        });
        let fetches = self.facts.question.family() == Some(Family::Fetching);
        urls.zip(&self.facts.hosts)
            .map(|(url, host)| {
                let mut hits = self.call.clone();
                for place in &self.engine.for_hosts {
                    let Some(mut hit) = self.hit(*place) else { continue };
                    let Subject::Host(pattern) = &hit.rule.subject else { continue };
                    let certainty = match (host, hit.rule.is_limit()) {
                        (Some(host), true) => Match::certain_if(pattern.limits(host)),
                        (Some(host), false) => Match::certain_if(fetches && pattern.matches(host)),
                        (None, true) => Match::Possible,
                        (None, false) => Match::No,
                    };
                    hit.certainty = hit.certainty.min(certainty);
                    if hit.certainty != Match::No {
                        hits.push(hit);
                    }
                }
                self.part(url.clone(), &hits, Fallback::Call)
            })
            .collect()
    }

    fn command_parts(&self, command: &CommandFact, parts: &mut Vec<Part<'e>>) {
        let line = command.line.trim();
        let before = parts.len();
        let mut hits = self.call.clone();
        hits.extend(self.rules_for_line(line));
        if let Some(doubt) = command.analysis.doubts.first() {
            let mut doubtful = hits.clone();
            let limits = [&self.engine.command_limits, &self.engine.path_limits];
            doubtful.extend(limits.into_iter().filter_map(|it| self.possible(it)));
            let mut part = self.part(shortened(line), &doubtful, Fallback::Call);
            if part.action == Action::Ask && part.basis != Basis::Rule {
                part.reason = format!("the command line {doubt}, so what it runs is not certain");
            }
            parts.push(part);
        }
        for segment in &command.analysis.segments {
            parts.extend(self.segment_part(command, segment, &hits));
        }
        for file in command.redirected.iter().filter(|it| !it.is_harmless) {
            let shown = match file.direction {
                Direction::Reads => format!("< {}", file.shown),
                Direction::Writes => format!("> {}", file.shown),
            };
            parts.push(self.path_part(shown, file.path.as_ref(), file.direction, hits.clone()));
        }
        if parts.len() == before {
            parts.push(self.part(shortened(line), &hits, Fallback::Call));
        }
    }
}

impl Part<'_> {
    /// Asks at least, because other programs run or believe what is written there.
    pub(super) fn guard(&mut self) {
        if self.action == Action::Allow {
            self.action = Action::Ask;
            self.basis = Basis::ProtectedPlace;
            self.rule = None;
            self.reason = format!(
                "`{}` is run or trusted by other programs; only a rule that names it allows this",
                self.shown
            );
        }
    }
}

/// What a part is, for the mode that decides where no rule does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fallback {
    /// A call or command.
    Call,
    /// A change of a file inside the workspace.
    Edit,
    /// A look at a file inside the workspace.
    Look,
}

/// A line as it fits into a reason, with nothing in it that a terminal or an eye would take for
/// something else.
pub(super) fn shortened(line: &str) -> String {
    const SHOWN: usize = 200;
    let mut shown = String::new();
    for character in line.chars().take(SHOWN) {
        match character {
            '\n' | '\t' => shown.push(' '),
            it if is_confusing(it) => shown.extend(it.escape_unicode()),
            it => shown.push(it),
        }
    }
    if line.chars().nth(SHOWN).is_some() {
        shown.push('…');
    }
    shown
}
