//! Compiles rules. Rules as text and rules as objects compile to the same: a condition on a path, a command
//! or a host becomes the pattern of the rule, as if it were written in parentheses.

use std::sync::Arc;

use toolwright_base::{ToolCatalogue, ToolFamily, shortened, visible};

use super::{
    action::{Action, Layer},
    condition::{Condition, ConditionForm, command_prefix},
    config::{PolicyConfig, PolicyError, RuleConfig},
    host_pattern::HostPattern,
    path_pattern::{PathPatterns, PatternId, Reach},
    places::PolicyPlaces,
    rule::{Rule, RuleRef},
    rule_text::{Subject, TextReader},
    rule_tools::{RuleTools, ToolReach},
};

/// How many rules one rule object may compile to. Each list of values multiplies their number.
const MAX_COMBINATIONS: usize = 1_000;

/// Rules under construction.
pub(super) struct Compiler<'a> {
    places: &'a PolicyPlaces,
    tools: &'a ToolCatalogue,
    pub(super) patterns: PathPatterns,
    pub(super) rules: Vec<Rule>,
}

/// The kind of thing that a pattern is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PatternTarget {
    Paths,
    Commands,
    Hosts,
}

impl PatternTarget {
    pub(super) const fn of_family(family: ToolFamily) -> Self {
        match family {
            ToolFamily::ReadsFiles | ToolFamily::EditsFiles => Self::Paths,
            ToolFamily::RunsCommands => Self::Commands,
            ToolFamily::Fetches => Self::Hosts,
        }
    }

    pub(super) const fn of_condition(form: &ConditionForm) -> Option<Self> {
        match form {
            ConditionForm::PathWithin(_) | ConditionForm::PathGlob(_) => Some(Self::Paths),
            ConditionForm::CommandPrefix(_) => Some(Self::Commands),
            ConditionForm::UrlHost(_) => Some(Self::Hosts),
            ConditionForm::Param { .. } | ConditionForm::RiskAtLeast(_) => None,
        }
    }

    const fn of_subject(subject: &Subject) -> Option<Self> {
        match subject {
            Subject::Call => None,
            Subject::Reading(_) | Subject::Editing(_) => Some(Self::Paths),
            Subject::Command(_) => Some(Self::Commands),
            Subject::Host(_) => Some(Self::Hosts),
        }
    }
}

impl<'a> Compiler<'a> {
    pub(super) fn new(places: &'a PolicyPlaces, tools: &'a ToolCatalogue) -> Self {
        Self { places, tools, patterns: PathPatterns::new(), rules: Vec::new() }
    }

    /// Adds the rules of a policy. An error names the rule.
    pub(super) fn add(&mut self, layer: Layer, config: &PolicyConfig) -> Result<(), PolicyError> {
        for (index, rule) in config.rules.iter().enumerate() {
            let place = format!("rules[{index}]");
            self.add_object(layer, &place, rule)
                .map_err(|cause| error_at(layer, &place, &rule.tool, cause))?;
        }
        let lists = [
            ("allow", Action::Allow, &config.allow),
            ("ask", Action::Ask, &config.ask),
            ("deny", Action::Deny, &config.deny),
            ("allowedTools", Action::Allow, &config.allowed),
        ];
        for (list, action, texts) in lists {
            for (index, text) in texts.iter().enumerate() {
                let rule = self.text_rule(layer, format!("{list}[{index}]"), text, action)?;
                self.rules.push(rule);
            }
        }
        for (index, text) in config.disallowed.iter().enumerate() {
            let place = format!("disallowedTools[{index}]");
            let mut rule = self.text_rule(layer, place, text, Action::Deny)?;
            rule.tools = only_twins(rule.tools);
            self.rules.push(rule);
        }
        Ok(())
    }

    fn read(&mut self, text: &str, action: Action) -> Result<(RuleTools, Subject), String> {
        let Self { places, tools, patterns, .. } = self;
        TextReader { places, tools, paths: patterns }.read(text, reach(action))
    }

    fn text_rule(
        &mut self,
        layer: Layer,
        place: String,
        text: &str,
        action: Action,
    ) -> Result<Rule, PolicyError> {
        let (tools, subject) =
            self.read(text, action).map_err(|cause| error_at(layer, &place, text, cause))?;
        let shown = RuleRef {
            layer,
            place: place.into(),
            text: visible(text.trim()).into(),
            action,
            conditions: Arc::default(),
        };
        let (risk, message, conditions) = (None, None, Vec::new());
        Ok(Rule { shown, risk, message, tools, subject, conditions })
    }

    fn add_object(&mut self, layer: Layer, place: &str, config: &RuleConfig) -> Result<(), String> {
        let RuleConfig { tool, action, risk, message, conditions } = config;
        let (mut tools, subject) = self.read(tool, *action)?;
        let forms: Vec<ConditionForm> =
            conditions.iter().map(ConditionForm::of).collect::<Result<_, _>>()?;
        let patterned = patterned(&tools, &subject, &forms, *action);
        let (of_pattern, others): (Vec<_>, Vec<_>) = forms
            .into_iter()
            .partition(|it| patterned.is_some() && PatternTarget::of_condition(it) == patterned);
        // A condition on a parameter only applies to the tool that has this parameter.
        if others.iter().any(|it| matches!(it, ConditionForm::Param { .. })) {
            tools = only_twins(tools);
        }
        let (subjects, others) = self.subjects(&tools, subject, of_pattern, others, *action)?;
        let is_own = |it| tools.family().map(PatternTarget::of_family) == Some(it);
        if subjects.first().and_then(PatternTarget::of_subject).is_some_and(is_own) {
            tools.reach = ToolReach::EveryTool;
        }
        let inputs = tools.named.as_ref().and_then(|it| self.tools.find(&it.as_written));
        let inputs = inputs.map_or(&[][..], |it| it.kind.inputs);
        let (places, patterns) = (self.places, &mut self.patterns);
        let compile = |form| Condition::compile(form, inputs, reach(*action), places, patterns);
        let compiled: Vec<Condition> = others.into_iter().map(compile).collect::<Result<_, _>>()?;
        let shown = RuleRef {
            layer,
            place: place.into(),
            text: visible(tool.trim()).into(),
            action: *action,
            conditions: conditions.clone().into(),
        };
        self.rules.extend(subjects.into_iter().map(|subject| Rule {
            shown: shown.clone(),
            risk: *risk,
            message: message.clone(),
            tools: tools.clone(),
            subject,
            conditions: compiled.clone(),
        }));
        Ok(())
    }

    /// The subjects of a rule with these patterns, one per value, and the remaining conditions.
    fn subjects<'c>(
        &mut self,
        tools: &RuleTools,
        subject: Subject,
        of_pattern: Vec<ConditionForm<'c>>,
        mut others: Vec<ConditionForm<'c>>,
        action: Action,
    ) -> Result<(Vec<Subject>, Vec<ConditionForm<'c>>), String> {
        let mut forms = of_pattern.into_iter();
        let subjects = match (forms.next(), subject) {
            (None, subject) => vec![subject],
            (Some(ConditionForm::CommandPrefix(values)), _) => values
                .iter()
                .map(|it| command_prefix(it, self.places).map(Subject::Command))
                .collect::<Result<_, _>>()?,
            (Some(ConditionForm::UrlHost(values)), _) => values
                .iter()
                .map(|it| HostPattern::parse(it).map(Subject::Host))
                .collect::<Result<_, _>>()?,
            (Some(first), subject) => {
                let paths: Vec<_> = std::iter::once(first).chain(forms.by_ref()).collect();
                return Ok((self.path_subjects(tools, &subject, &paths, action)?, others));
            }
        };
        // A command or a host can only have one pattern; the others stay conditions on the whole call.
        others.extend(forms);
        Ok((subjects, others))
    }

    /// One subject for each combination of values. A path has to match all patterns of a combination.
    fn path_subjects(
        &mut self,
        tools: &RuleTools,
        subject: &Subject,
        forms: &[ConditionForm],
        action: Action,
    ) -> Result<Vec<Subject>, String> {
        let mut combinations: Vec<Vec<(&ConditionForm, &String)>> = vec![Vec::new()];
        for form in forms {
            let (ConditionForm::PathWithin(values) | ConditionForm::PathGlob(values)) = form else {
                continue;
            };
            let with = |chosen: &Vec<(_, _)>, value| {
                chosen.iter().copied().chain([(form, value)]).collect::<Vec<_>>()
            };
            combinations = combinations
                .iter()
                .flat_map(|chosen| values.iter().map(move |value| with(chosen, value)))
                .take(MAX_COMBINATIONS + 1)
                .collect();
            if combinations.len() > MAX_COMBINATIONS {
                return Err(format!(
                    "its lists of paths have more than {MAX_COMBINATIONS} combinations"
                ));
            }
        }
        let edits = matches!(subject, Subject::Editing(_))
            || tools.family() == Some(ToolFamily::EditsFiles);
        let written: &[PatternId] = match subject {
            Subject::Reading(patterns) | Subject::Editing(patterns) => patterns,
            Subject::Call | Subject::Command(_) | Subject::Host(_) => &[],
        };
        let mut subjects = Vec::new();
        for combination in combinations {
            let mut patterns = written.to_vec();
            for (form, value) in combination {
                patterns.push(match form {
                    ConditionForm::PathWithin(_) => {
                        let directory = self.places.directory(value)?;
                        self.patterns.add_directory(&directory, reach(action))?
                    }
                    _ => self.patterns.add(value, reach(action), self.places)?,
                });
            }
            subjects.push(if edits {
                Subject::Editing(patterns)
            } else {
                Subject::Reading(patterns)
            });
        }
        Ok(subjects)
    }
}

/// Finds the kind of conditions that become the pattern of a rule: conditions on what its tool touches. For
/// other tools, a limit takes the kind of its first condition, and a permission takes none: its conditions stay
/// on the whole call, because everything in the call has to meet them. A rule with a condition on a parameter
/// has no such pattern either.
fn patterned(
    tools: &RuleTools,
    subject: &Subject,
    forms: &[ConditionForm],
    action: Action,
) -> Option<PatternTarget> {
    if forms.iter().any(|it| matches!(it, ConditionForm::Param { .. })) {
        return None;
    }
    let mut named = forms.iter().filter_map(PatternTarget::of_condition);
    match (PatternTarget::of_subject(subject), tools.family().map(PatternTarget::of_family)) {
        // A rule with a pattern in its text can only have further patterns if they are patterns of paths.
        (Some(written), _) => named.find(|it| *it == written && written == PatternTarget::Paths),
        (None, Some(own)) if named.clone().any(|it| it == own) => Some(own),
        (None, _) if action != Action::Allow => named.next(),
        (None, _) => None,
    }
}

/// The same tools without the rest of their family.
fn only_twins(tools: RuleTools) -> RuleTools {
    match tools.reach {
        ToolReach::Family(_) => RuleTools { reach: ToolReach::Twins, ..tools },
        _ => tools,
    }
}

fn error_at(layer: Layer, place: &str, text: &str, cause: String) -> PolicyError {
    let text = shortened(text, 120);
    PolicyError { layer, place: format!("{place} (`{text}`)"), cause }
}

/// Limits match more than permissions.
const fn reach(action: Action) -> Reach {
    match action {
        Action::Allow => Reach::Narrow,
        Action::Ask | Action::Deny => Reach::Wide,
    }
}
