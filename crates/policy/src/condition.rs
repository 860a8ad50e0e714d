//! Compiled conditions of rules.
//!
//! A condition of a limit (deny, ask) holds if anything that the call touches meets it. A condition of a
//! permission holds only if everything does.

use std::path::PathBuf;

use regex::{Regex, RegexBuilder};
use serde_json::Value;
use toolwright_base::{Access, Risk, ToolFamily};
use toolwright_shell::Role;

use super::{
    action::Action,
    command_pattern::{CommandPattern, Match},
    config::{ConditionConfig, Operator, RiskLevel, Values},
    facts::{Facts, PathFact},
    host_pattern::HostPattern,
    path_pattern::{PathPatterns, PatternId, Reach},
    places::PolicyPlaces,
    touched_files::{CommandFact, TouchedPath},
};

/// The size limit of a compiled regular expression. The library's default is ten times higher.
const MAX_REGEX_BYTES: usize = 1 << 20;

/// A condition on a whole call.
#[derive(Clone, Debug)]
pub(super) enum Condition {
    Param(ParamCondition),
    PathWithin(Vec<PathBuf>),
    PathGlob(Vec<PatternId>),
    Command(Vec<CommandPattern>),
    Host(Vec<HostPattern>),
    RiskAtLeast(Risk),
}

/// A condition on one parameter.
#[derive(Clone, Debug)]
pub(super) struct ParamCondition {
    pub(super) name: String,
    pub(super) test: Test,
    /// True when the parameter names what the tool of the rule touches. In another tool set, the parameter may
    /// have another name.
    pub(super) is_input: bool,
}

/// The forms of a condition.
#[derive(Clone, Copy)]
pub(super) enum ConditionForm<'a> {
    Param { name: &'a str, operator: Operator, value: &'a Values },
    PathWithin(&'a [String]),
    PathGlob(&'a [String]),
    CommandPrefix(&'a [String]),
    UrlHost(&'a [String]),
    RiskAtLeast(RiskLevel),
}

impl<'a> ConditionForm<'a> {
    /// Finds the form of a condition.
    pub(super) fn of(config: &'a ConditionConfig) -> Result<Self, String> {
        const FORMS: &str = "a condition is `param`, `operator` and `value`, or exactly one of \
                             `pathWithin`, `pathGlob`, `commandPrefix`, `urlHost`, `riskAtLeast`";
        let ConditionConfig {
            param,
            operator,
            value,
            path_within,
            path_glob,
            command_prefix,
            url_host,
            risk_at_least,
        } = config;
        let param = match (param, operator, value) {
            (None, None, None) => None,
            (Some(name), Some(operator), Some(value)) => {
                Some(Self::Param { name, operator: *operator, value })
            }
            _ => return Err(FORMS.to_owned()),
        };
        let typed = |values: &'a Option<Values>, form: fn(&'a [String]) -> Self| {
            values.as_ref().map(|it| form(it.as_slice()))
        };
        let forms = [
            param,
            typed(path_within, Self::PathWithin),
            typed(path_glob, Self::PathGlob),
            typed(command_prefix, Self::CommandPrefix),
            typed(url_host, Self::UrlHost),
            risk_at_least.map(Self::RiskAtLeast),
        ];
        let mut given = forms.into_iter().flatten();
        match (given.next(), given.next()) {
            (Some(form), None) if !form.is_empty() => Ok(form),
            _ => Err(FORMS.to_owned()),
        }
    }

    const fn is_empty(&self) -> bool {
        match self {
            Self::PathWithin(values)
            | Self::PathGlob(values)
            | Self::CommandPrefix(values)
            | Self::UrlHost(values) => values.is_empty(),
            Self::Param { .. } | Self::RiskAtLeast(_) => false,
        }
    }
}

/// The commands that begin with these words.
pub(super) fn command_prefix(words: &str, places: &PolicyPlaces) -> Result<CommandPattern, String> {
    let words = words.trim();
    // `git status:*` is accepted too, as in rules as text.
    let words = words.strip_suffix(":*").unwrap_or(words);
    if words.is_empty() {
        return Err(
            "an empty `commandPrefix` matches every command; leave the condition out".to_owned()
        );
    }
    CommandPattern::parse(&format!("{words}:*"), places.home_text())
}

/// A comparison of text.
#[derive(Clone, Debug)]
pub(super) enum Test {
    Equals(Vec<String>),
    Contains(Vec<String>),
    StartsWith(Vec<String>),
    Matches(Vec<Regex>),
}

impl Test {
    fn compile(operator: Operator, values: &Values) -> Result<Self, String> {
        let texts = values.as_slice().to_vec();
        if texts.is_empty() {
            return Err("a condition without a value never holds".to_owned());
        }
        Ok(match operator {
            Operator::Equals => Self::Equals(texts),
            Operator::Contains => Self::Contains(texts),
            Operator::StartsWith => Self::StartsWith(texts),
            Operator::Matches => Self::Matches(
                texts
                    .iter()
                    .map(|text| {
                        RegexBuilder::new(text)
                            .size_limit(MAX_REGEX_BYTES)
                            .dfa_size_limit(MAX_REGEX_BYTES)
                            .nest_limit(64)
                            .build()
                            .map_err(|it| format!("`{text}` is not a regular expression: {it}"))
                    })
                    .collect::<Result<_, _>>()?,
            ),
        })
    }

    fn holds(&self, text: &str) -> bool {
        match self {
            Self::Equals(values) => values.iter().any(|it| it == text),
            Self::Contains(values) => values.iter().any(|it| text.contains(it.as_str())),
            Self::StartsWith(values) => values.iter().any(|it| text.starts_with(it.as_str())),
            Self::Matches(values) => values.iter().any(|it| it.is_match(text)),
        }
    }
}

impl Condition {
    /// Checks and compiles a condition. `inputs` are the parameters that name what the tool of the rule touches.
    pub(super) fn compile(
        form: ConditionForm,
        inputs: &[&str],
        reach: Reach,
        places: &PolicyPlaces,
        paths: &mut PathPatterns,
    ) -> Result<Self, String> {
        Ok(match form {
            ConditionForm::RiskAtLeast(level) => Self::RiskAtLeast(level.risk()),
            ConditionForm::PathWithin(values) => Self::PathWithin(
                values.iter().map(|it| places.directory(it)).collect::<Result<_, _>>()?,
            ),
            ConditionForm::PathGlob(values) => Self::PathGlob(
                values.iter().map(|it| paths.add(it, reach, places)).collect::<Result<_, _>>()?,
            ),
            ConditionForm::CommandPrefix(values) => Self::Command(
                values.iter().map(|it| command_prefix(it, places)).collect::<Result<_, _>>()?,
            ),
            ConditionForm::UrlHost(values) => Self::Host(
                values.iter().map(|it| HostPattern::parse(it)).collect::<Result<_, _>>()?,
            ),
            ConditionForm::Param { name, operator, value } => Self::Param(ParamCondition {
                name: name.to_owned(),
                test: Test::compile(operator, value)?,
                is_input: inputs.contains(&name),
            }),
        })
    }

    /// True for conditions on paths.
    pub(super) const fn is_about_paths(&self) -> bool {
        matches!(self, Self::PathWithin(_) | Self::PathGlob(_))
    }

    /// Whether the condition holds for a rule with this action.
    pub(super) fn holds(&self, facts: &Facts, action: Action) -> Match {
        let permits = action == Action::Allow;
        match self {
            Self::RiskAtLeast(risk) => Match::certain_if(facts.risk >= *risk),
            Self::Param(param) => Match::certain_if(param_holds(param, facts, permits)),
            Self::PathWithin(directories) => paths_hold(facts, permits, &|path| {
                directories.iter().any(|it| path.path.starts_with(it))
            }),
            Self::PathGlob(patterns) => paths_hold(facts, permits, &|path| {
                patterns.iter().any(|it| path.patterns.contains(it))
            }),
            Self::Host(patterns) => hosts_hold(patterns, facts, permits),
            Self::Command(patterns) => commands_hold(patterns, facts, permits),
        }
    }
}

impl RiskLevel {
    /// The level as a risk.
    pub const fn risk(self) -> Risk {
        match self {
            Self::Low => Risk::Low,
            Self::Medium => Risk::Medium,
            Self::High => Risk::High,
            Self::Critical => Risk::Critical,
        }
    }
}

/// For a permission, all have to hold, and there has to be at least one. For a limit, one is enough.
fn quantified(permits: bool, mut each: impl Iterator<Item = bool>) -> bool {
    if !permits {
        return each.any(|it| it);
    }
    let mut count = 0;
    each.inspect(|_| count += 1).all(|it| it) && count > 0
}

fn param_holds(param: &ParamCondition, facts: &Facts, permits: bool) -> bool {
    let question = facts.question;
    let touches_files =
        matches!(question.family(), Some(ToolFamily::ReadsFiles | ToolFamily::EditsFiles));
    // A path is compared by the place it leads to, not by how it is written.
    let leads_there = || {
        let texts = |path: &PathFact| facts.around.places.texts_of(&path.path);
        let fits = |path| texts(path).iter().any(|it| param.test.holds(it));
        quantified(permits, facts.paths.iter().map(fits))
    };
    match question.input.get(&param.name) {
        Some(value) => {
            let as_written = written_holds(value, &param.test, facts, permits);
            let is_path = touches_files
                && question.kind.inputs.contains(&param.name.as_str())
                && !facts.paths.is_empty();
            if is_path && as_written == permits { leads_there() } else { as_written }
        }
        // In another tool set, the parameter may have another name and format.
        None if param.is_input && touches_files => leads_there(),
        None if param.is_input => {
            let values = question.kind.inputs.iter().filter_map(|it| question.input.get(it));
            quantified(permits, values.map(|it| written_holds(it, &param.test, facts, permits)))
        }
        None => false,
    }
}

fn written_holds(value: &Value, test: &Test, facts: &Facts, permits: bool) -> bool {
    if let Value::Array(items) = value {
        return quantified(permits, items.iter().map(|it| test.holds(&text_of(it))))
            || (!permits && test.holds(&text_of(value)));
    }
    let given = text_of(value);
    if !test.holds(&given) {
        return false;
    }
    let is_command = facts.question.accesses.iter().any(|it| *it == Access::Run(given.clone()));
    if !permits || !is_command || matches!(test, Test::Equals(_)) {
        return true;
    }
    // `startsWith: "git "` has to hold for every command of the line, not only for the first.
    facts.commands.iter().all(|run| {
        run.analysis.doubts.is_empty()
            && run.redirected.iter().all(|it| it.is_harmless)
            && run
                .analysis
                .segments
                .iter()
                .all(|it| it.role != Role::Command || test.holds(&it.text))
    })
}

/// Whether the paths of a call meet a test, including those in its command lines.
fn paths_hold(facts: &Facts, permits: bool, fits: &dyn Fn(&PathFact) -> bool) -> Match {
    if permits {
        let commands = facts.commands.iter().all(|it| command_fits(it, fits));
        let is_empty = facts.paths.is_empty() && facts.commands.is_empty();
        return Match::certain_if(!is_empty && commands && facts.paths.iter().all(fits));
    }
    if facts.paths.iter().any(fits) {
        return Match::Certain;
    }
    let judge = |target: &TouchedPath| match target.places.iter().filter(|it| fits(it)).count() {
        0 if target.is_known() => Match::No,
        count if target.is_known() && count == target.places.len() => Match::Certain,
        _ => Match::Possible,
    };
    let mut found = Match::No;
    for command in &facts.commands {
        if !command.analysis.doubts.is_empty() {
            found = found.max(Match::Possible);
        }
        for (_, arguments) in command.segments() {
            found = arguments.iter().map(judge).fold(found, Match::max);
        }
        for file in command.redirected.iter().filter(|it| !it.is_harmless) {
            found = found.max(judge(&file.target));
        }
    }
    found
}

/// True when every command of a line has files as arguments, and all of them are known to meet the test.
fn command_fits(command: &CommandFact, fits: &dyn Fn(&PathFact) -> bool) -> bool {
    let all = |it: &TouchedPath| it.known().is_some_and(|it| it.iter().all(fits));
    command.analysis.doubts.is_empty()
        && command.redirected.iter().all(|it| it.is_harmless || all(&it.target))
        && command.segments().all(|(segment, arguments)| {
            segment.role != Role::Command
                || (!segment.hides_command && !arguments.is_empty() && arguments.iter().all(all))
        })
}

fn hosts_hold(patterns: &[HostPattern], facts: &Facts, permits: bool) -> Match {
    let known = |host: &Option<String>| match host {
        Some(host) if permits => patterns.iter().any(|it| it.matches(host)),
        Some(host) => patterns.iter().any(|it| it.limits(host)),
        None => false,
    };
    if quantified(permits, facts.hosts.iter().map(known)) {
        return Match::Certain;
    }
    let is_possible = !permits && facts.hosts.iter().any(Option::is_none);
    if is_possible { Match::Possible } else { Match::No }
}

fn commands_hold(patterns: &[CommandPattern], facts: &Facts, permits: bool) -> Match {
    let segments = || facts.commands.iter().flat_map(|it| &it.analysis.segments);
    let is_doubtful = facts.commands.iter().any(|it| !it.analysis.doubts.is_empty());
    if permits {
        let fits = segments()
            .filter(|it| it.role == Role::Command)
            .map(|segment| patterns.iter().any(|it| it.permits(segment).is_some()));
        let writes = facts.commands.iter().any(|it| it.redirected.iter().any(|it| !it.is_harmless));
        return Match::certain_if(quantified(permits, fits) && !is_doubtful && !writes);
    }
    let found = segments().flat_map(|segment| patterns.iter().map(|it| it.limits(segment)));
    let found = found.max().unwrap_or(Match::No);
    if is_doubtful { found.max(Match::Possible) } else { found }
}

/// The value of a parameter as text, like JavaScript's `String`, except that objects become JSON.
fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(text_of).collect::<Vec<_>>().join(","),
        other => other.to_string(),
    }
}
