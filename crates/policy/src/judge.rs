//! Judges a call. Every part of it is judged, and the strictest answer counts.
//!
//! For each part the rules decide first. If no rule applies, the mode decides.

use std::{cell::RefCell, collections::HashMap, slice};

use toolwright_base::{Access, InPlanMode, PermissionMode, ToolFamily};
use toolwright_shell::Direction;

use super::{
    action::Action,
    command_pattern::Match,
    engine::PolicyEngine,
    facts::{Facts, PathFact},
    question::Question,
    risk,
    rule::{RuleHit, SettledRules},
    rule_text::Subject,
    rule_tools::AskedTool,
    ruling::{Bound, JudgedPart, Ruling, ShownPart, Why},
    verdict::PolicyVerdict,
};

impl PolicyEngine {
    /// Judges a call by everything it declares.
    pub fn decide(&self, question: &Question) -> PolicyVerdict {
        Judge::of(self, question).ruling().verdict()
    }

    /// Like [`Self::decide`], with the rules that would allow the call.
    pub fn explain(&self, question: &Question) -> PolicyVerdict {
        let verdict = self.decide(question);
        if verdict.action == Action::Allow {
            return verdict;
        }
        let suggested_rules = self.helping_rules(question, verdict.basis_to_lift);
        PolicyVerdict { suggested_rules, ..verdict }
    }
}

/// A call that is being judged.
pub(super) struct Judge<'e, 'q> {
    pub(super) engine: &'e PolicyEngine,
    pub(super) facts: Facts<'q>,
    tool: AskedTool<'q>,
    /// The rules that apply to the call as a whole.
    pub(super) call: Vec<RuleHit<'e>>,
    /// Whether the conditions of a rule hold, by the index of the rule. A cache: conditions depend on the whole
    /// call but are needed for each part of it.
    held: RefCell<HashMap<usize, Match>>,
}

impl<'e: 'q, 'q> Judge<'e, 'q> {
    pub(super) fn of(engine: &'e PolicyEngine, question: &'q Question) -> Self {
        let facts = Facts::of(question, &engine.sources.places, &engine.paths);
        let tool = AskedTool::of(question, &engine.sources.tools);
        let held = RefCell::default();
        let mut judge = Self { engine, tool, call: Vec::new(), facts, held };
        judge.call = judge.rules_for_call();
        judge
    }

    fn rules_for_call(&self) -> Vec<RuleHit<'e>> {
        let engine = self.engine;
        let AskedTool { name, rule_name, family, .. } = self.tool;
        let named = engine.by_tool.get(rule_name).into_iter().flatten();
        let of_family = family.and_then(|it| engine.by_family.get(&it)).into_iter().flatten();
        let by_start = engine.by_start.iter().filter(|it| name.starts_with(&it.0)).map(|it| &it.1);
        named.chain(of_family).chain(by_start).filter_map(|place| self.hit(*place)).collect()
    }

    /// The rule at an index, if it applies to the tool and its conditions hold.
    pub(super) fn hit(&self, place: usize) -> Option<RuleHit<'e>> {
        let rule = self.engine.rules.get(place).filter(|it| it.is_about(&self.tool))?;
        let certainty = if rule.conditions.is_empty() {
            Match::Certain
        } else {
            let known = self.held.borrow().get(&place).copied();
            let certainty = known.unwrap_or_else(|| rule.conditions_hold(&self.facts));
            self.held.borrow_mut().insert(place, certainty);
            certainty
        };
        (certainty != Match::No).then_some(RuleHit { rule, certainty })
    }

    /// Judges every part of the call; the mode may then restrict the result.
    pub(super) fn ruling(&self) -> Ruling<'_> {
        let mut parts = Vec::new();
        for path in &self.facts.paths {
            let shown = ShownPart::Path(&path.path);
            let hits = [self.call.clone(), self.rules_for_path(path, path.direction)].concat();
            parts.push(self.path_part(shown, Some(slice::from_ref(path)), path.direction, &hits));
        }
        self.host_parts(&mut parts);
        for command in &self.facts.commands {
            self.command_parts(command, &mut parts);
        }
        if parts.is_empty() {
            let tool = ShownPart::Text(self.facts.question.tool);
            parts.push(self.part(tool, &self.call, Fallback::Call));
        }
        let mut ruling = Ruling { parts, bound: None, risk: self.facts.risk };
        ruling.bound = self.bound_by_mode(ruling.unbound_action());
        ruling
    }

    /// True when a rule about paths denies or asks about a path of the call. Rules about the whole call were
    /// applied when it started.
    pub(super) fn hides_paths(&self) -> bool {
        self.facts.paths.iter().any(|path| {
            let call =
                self.call.iter().filter(|it| !it.rule.is_limit() || it.rule.is_about_paths());
            let mut hits: Vec<RuleHit> = call.copied().collect();
            hits.extend(self.rules_for_path(path, path.direction));
            SettledRules::of(&hits).limits()
        })
    }

    fn bound_by_mode(&self, action: Action) -> Option<Bound> {
        let mode = self.engine.mode();
        let in_plan = self.facts.question.in_plan_mode();
        let bound = if action == Action::Deny {
            None
        } else if in_plan == InPlanMode::LeadsOut {
            Some(Bound::PersonDecides)
        } else if mode.is_plan() && !self.only_looks() {
            let runs = !self.facts.commands.is_empty() || !self.facts.hosts.is_empty();
            let writes = self.facts.paths.iter().any(|it| it.direction == Direction::Writes);
            let asks = runs && !writes || in_plan == InPlanMode::Asked;
            Some(if asks { Bound::PlanAsks } else { Bound::PlanDenies })
        } else {
            None
        };
        match bound {
            Some(Bound::PlanAsks | Bound::PersonDecides) if mode.never_asks() => {
                Some(Bound::DontAsk)
            }
            None if mode.never_asks() && action == Action::Ask => Some(Bound::DontAsk),
            bound => bound,
        }
    }

    fn only_looks(&self) -> bool {
        let question = self.facts.question;
        risk::believed_side_effect(question).is_read_only() || question.runs_unasked()
    }

    /// Judges a part by the rules that apply to it.
    pub(super) fn part<'a>(
        &'a self,
        shown: ShownPart<'a>,
        hits: &[RuleHit<'e>],
        fallback: Fallback,
    ) -> JudgedPart<'a> {
        let settled = SettledRules::of(hits);
        let (action, why) = match settled.certain {
            Some(rule) => (rule.action(), Why::Rule(rule)),
            None => self.without_rules(fallback),
        };
        let (action, why) = match settled.possible {
            // Replaces the default as the reason: a hook may answer for the default, but not for a rule.
            Some(rule)
                if action == Action::Allow
                    || (action == Action::Ask && settled.certain.is_none()) =>
            {
                (Action::Ask, Why::Possible(rule))
            }
            _ => (action, why),
        };
        JudgedPart { shown, action, why, doubt: None }
    }

    /// What happens if no rule applies.
    fn without_rules(&self, fallback: Fallback) -> (Action, Why<'e>) {
        let mode = self.engine.mode();
        let question = self.facts.question;
        let by_mode = match (mode, fallback) {
            (PermissionMode::BypassPermissions, _)
            | (PermissionMode::AcceptEdits, Fallback::Edit) => Some(mode.as_str()),
            _ => None,
        };
        match (self.engine.default_action, by_mode) {
            (Some(action @ (Action::Deny | Action::Allow)), _) => {
                (action, Why::DefaultAction(action))
            }
            (_, Some(mode)) => (Action::Allow, Why::Mode(mode)),
            (Some(Action::Ask), None) => (Action::Ask, Why::NoRule),
            (None, None) => {
                if question.runs_unasked() || fallback == Fallback::Look {
                    (Action::Allow, Why::OnlyLooks)
                } else {
                    (Action::Ask, Why::NoRule)
                }
            }
        }
    }

    /// Judges a path by its possible places and the rules that match them. `places` is `None` if they are not
    /// known.
    pub(super) fn path_part<'a>(
        &'a self,
        shown: ShownPart<'a>,
        places: Option<&[PathFact]>,
        direction: Direction,
        hits: &[RuleHit<'e>],
    ) -> JudgedPart<'a> {
        let inside = |it: &PathFact| self.engine.sources.places.contains(&it.path);
        let is_inside = places.is_some_and(|it| it.iter().all(inside));
        let family = self.facts.question.family();
        let fallback = match direction {
            Direction::Reads if is_inside && family.is_some() => Fallback::Look,
            Direction::Writes if is_inside && family.is_some() => Fallback::Edit,
            Direction::Reads | Direction::Writes => Fallback::Call,
        };
        let mut part = self.part(shown, hits, fallback);
        let is_protected = places.is_some_and(|it| it.iter().any(|it| it.is_protected));
        if direction == Direction::Writes && is_protected && !self.names_protected(hits) {
            part.guard(Why::Protected);
        }
        part
    }

    /// The first of these rules that is for the tool, as a rule that may apply.
    pub(super) fn possible(&self, limits: &[usize]) -> Option<RuleHit<'e>> {
        let mut rules = limits.iter().filter_map(|it| self.engine.rules.get(*it));
        let rule = rules.find(|it| it.is_about(&self.tool))?;
        Some(RuleHit { rule, certainty: Match::Possible })
    }

    pub(super) fn rules_for_path(&self, path: &PathFact, direction: Direction) -> Vec<RuleHit<'e>> {
        let engine = self.engine;
        let family = self.facts.question.family();
        let mut hits = Vec::new();
        for place in path.patterns.iter().filter_map(|it| engine.by_path.get(it)) {
            let Some(hit) = self.hit(*place) else { continue };
            let writes = direction == Direction::Writes;
            let (Subject::Reading(patterns) | Subject::Editing(patterns)) = &hit.rule.subject
            else {
                continue;
            };
            let applies = match (&hit.rule.subject, hit.rule.is_limit()) {
                // A file that must not be read must not be overwritten either.
                (Subject::Reading(_), true) => true,
                (_, true) => writes,
                (Subject::Reading(_), false) => {
                    !writes && family.is_some_and(|it| it != ToolFamily::Fetches)
                }
                (_, false) => {
                    family == Some(ToolFamily::EditsFiles)
                        || (writes && family == Some(ToolFamily::RunsCommands))
                }
            };
            if applies && patterns.iter().all(|it| path.patterns.contains(it)) {
                hits.push(hit);
            }
        }
        hits
    }

    /// True when a permission names a protected place, and does not merely cover it with a wildcard.
    pub(super) fn names_protected(&self, hits: &[RuleHit]) -> bool {
        let places = &self.engine.sources.places;
        hits.iter().any(|hit| match &hit.rule.subject {
            Subject::Editing(patterns) if !hit.rule.is_limit() => {
                let mut bases = patterns.iter().filter_map(|it| self.engine.paths.base(*it));
                bases.any(|it| places.is_protected(it))
            }
            _ => false,
        })
    }

    fn host_parts<'a>(&'a self, parts: &mut Vec<JudgedPart<'a>>) {
        let urls = self.facts.question.accesses.iter().filter_map(|it| match it {
            Access::Connect(url) => Some(url),
            Access::Read(_) | Access::Write(_) | Access::Run(_) => None,
        });
        for (url, host) in urls.zip(&self.facts.hosts) {
            let hits = [self.call.clone(), self.rules_for_host(host.as_deref())].concat();
            parts.push(self.part(ShownPart::Text(url), &hits, Fallback::Call));
        }
    }

    /// The rules about a host. `host` is `None` if it is not known.
    pub(super) fn rules_for_host(&self, host: Option<&str>) -> Vec<RuleHit<'e>> {
        let fetches = self.facts.question.family() == Some(ToolFamily::Fetches);
        let mut hits = Vec::new();
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
        hits
    }
}

/// The kind of a part. The mode decides by it if no rule does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fallback {
    /// A call or a command.
    Call,
    /// A change of a file inside the workspace.
    Edit,
    /// Reading a file inside the workspace.
    Look,
}
