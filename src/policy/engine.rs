//! The engine: rules of all layers, compiled once and found quickly.

use std::{collections::HashMap, path::Path};

use serde_json::Value;

use crate::{
    terminal::visible,
    tool::{Access, Annotations, Risk, SideEffect},
};

use super::{
    action::{Action, Layer, PermissionMode},
    command_pattern::CommandPattern,
    condition::Condition,
    config::{PolicyConfig, PolicyError, RuleConfig},
    grant,
    judge::Judge,
    path_pattern::{PathIndex, PathPatterns, Reach},
    places::Places,
    question::{Origin, Question, accesses_of},
    risk,
    rule::{Rule, RuleRef},
    rule_text::{self, Naming, Subject},
    tool_names,
    verdict::{Basis, Verdict},
};

/// More rules than this are a mistake.
const MAX_RULES: usize = 10_000;

/// The policies of one host, with where each comes from.
#[derive(Clone, Debug, Default)]
pub struct PolicySources {
    /// The policies, in any order.
    pub layers: Vec<(Layer, PolicyConfig)>,
    /// What happens to calls that no rule decides.
    pub mode: PermissionMode,
    /// The surroundings that rules speak about.
    pub places: Places,
}

/// Judges calls by compiled rules. Never changes: a new policy is a new engine.
#[derive(Debug)]
pub struct PolicyEngine {
    pub(super) sources: PolicySources,
    pub(super) default_action: Option<Action>,
    pub(super) rules: Vec<Rule>,
    pub(super) paths: PathIndex,
    /// Rules by the tool they name.
    pub(super) by_tool: HashMap<String, Vec<usize>>,
    /// Rules for the start of a name, and for `*`.
    pub(super) by_start: Vec<(String, usize)>,
    /// Rules for commands by program, and those for no single one.
    pub(super) by_program: HashMap<String, Vec<usize>>,
    pub(super) for_commands: Vec<usize>,
    /// Rules for whole lines.
    pub(super) by_line: HashMap<String, Vec<usize>>,
    /// Every rule that limits commands.
    pub(super) command_limits: Vec<usize>,
    /// Rules for paths, by the pattern they own.
    pub(super) by_path: HashMap<usize, usize>,
    pub(super) path_limits: Vec<usize>,
    pub(super) for_hosts: Vec<usize>,
    has_path_limits: bool,
}

impl PolicyEngine {
    /// Compiles policies. A bad rule fails here, never while judging.
    pub fn new(sources: PolicySources) -> Result<Self, PolicyError> {
        let mut patterns = PathPatterns::new();
        let mut rules = Vec::new();
        for (layer, config) in &sources.layers {
            compile(*layer, config, &sources.places, &mut patterns, &mut rules)?;
        }
        let whole = |cause: String| PolicyError {
            layer: sources.layers.first().map_or(Layer::Defaults, |it| it.0),
            place: "rules".to_owned(),
            cause,
        };
        if rules.len() > MAX_RULES {
            return Err(whole(format!("there are more than {MAX_RULES} rules")));
        }
        let paths = patterns.build().map_err(whole)?;
        // The strictest default counts, so that no layer widens what another narrowed.
        let default_action = sources.layers.iter().filter_map(|it| it.1.default_action).max();
        let mut engine = Self {
            sources,
            default_action,
            rules,
            paths,
            by_tool: HashMap::new(),
            by_start: Vec::new(),
            by_program: HashMap::new(),
            for_commands: Vec::new(),
            by_line: HashMap::new(),
            command_limits: Vec::new(),
            by_path: HashMap::new(),
            path_limits: Vec::new(),
            for_hosts: Vec::new(),
            has_path_limits: false,
        };
        engine.index();
        Ok(engine)
    }

    fn index(&mut self) {
        for (place, rule) in self.rules.iter().enumerate() {
            match &rule.subject {
                Subject::AnyTool => self.by_start.push((String::new(), place)),
                Subject::ToolsLike(start) => self.by_start.push((start.clone(), place)),
                Subject::Tools(names) => {
                    for name in names {
                        self.by_tool.entry(name.clone()).or_default().push(place);
                    }
                }
                Subject::Reading(pattern) | Subject::Editing(pattern) => {
                    self.by_path.insert(*pattern, place);
                    if rule.is_limit() {
                        self.path_limits.push(place);
                    }
                }
                Subject::Command(pattern) => {
                    if rule.is_limit() {
                        self.command_limits.push(place);
                    }
                    for line in pattern.lines() {
                        self.by_line.entry(line.clone()).or_default().push(place);
                    }
                    match pattern {
                        CommandPattern::Line(_) => {}
                        _ => match pattern.program() {
                            Some(program) => {
                                self.by_program.entry(program.to_owned()).or_default().push(place);
                            }
                            None => self.for_commands.push(place),
                        },
                    }
                }
                Subject::Host(_) => self.for_hosts.push(place),
            }
        }
        let is_about_paths =
            |rule: &Rule| rule.is_limit() && rule.conditions.iter().any(Condition::is_about_paths);
        self.has_path_limits =
            !self.path_limits.is_empty() || self.rules.iter().any(is_about_paths);
    }

    /// The same engine with more rules, such as a person's grant.
    pub fn with_layer(&self, layer: Layer, config: PolicyConfig) -> Result<Self, PolicyError> {
        let mut sources = self.sources.clone();
        sources.layers.push((layer, config));
        Self::new(sources)
    }

    /// The same engine in another mode.
    pub fn with_mode(&self, mode: PermissionMode) -> Result<Self, PolicyError> {
        Self::new(PolicySources { mode, ..self.sources.clone() })
    }

    /// What the engine was made from.
    pub const fn sources(&self) -> &PolicySources {
        &self.sources
    }

    /// The mode that decides where no rule does.
    pub const fn mode(&self) -> PermissionMode {
        self.sources.mode
    }

    /// Judges a call of which only name and parameters are known; what a built-in tool would touch
    /// is taken from its parameters.
    pub fn evaluate(&self, tool: &str, params: &Value) -> Verdict {
        let tool = tool_names::canonical(tool);
        let project = &self.sources.places.project;
        let accesses = accesses_of(tool, params, project);
        let origin = if tool.starts_with("mcp__") { Origin::Mcp } else { Origin::Builtin };
        self.decide(&Question {
            tool,
            origin,
            side_effect: tool_names::side_effect(tool).unwrap_or(SideEffect::Mutating),
            annotations: &Annotations::default(),
            input: params,
            accesses: &accesses,
            directory: project,
            follow_links: None,
        })
    }

    /// The risk of a tool as low, medium or high: what its rules say, or what its name tells.
    pub fn risk_level(&self, tool: &str) -> Risk {
        let tool = tool_names::canonical(tool);
        let said = self
            .by_tool
            .get(tool)
            .into_iter()
            .flatten()
            .filter_map(|it| self.rules.get(*it)?.risk)
            .max();
        said.map_or_else(|| risk::of_name(tool), |it| risk::three_levels(it.risk()))
    }

    /// The narrowest rules that would let this call through next time; `None` when no rule could.
    pub fn narrowest_rules(&self, question: &Question) -> Option<Vec<String>> {
        grant::narrowest(question, &self.sources.places)
    }

    /// What a person or the host can do so that a call runs which asks or is denied.
    pub fn ways_to_allow(&self, question: &Question, verdict: &Verdict) -> String {
        grant::ways_to_allow(question, &self.sources.places, self.mode(), verdict)
    }

    /// The narrowest rules, where a rule can let a call through that asks.
    pub(super) fn helping_rules(&self, question: &Question, basis: Basis) -> Vec<String> {
        grant::helping(question, &self.sources.places, basis)
    }

    /// True when rules say anything about paths, so that walkers have to ask for each.
    pub const fn has_path_limits(&self) -> bool {
        self.has_path_limits
    }

    /// True when the built-in tool must not see the path while it walks over files: what a rule denies
    /// is neither opened nor listed, and what a rule asks for was not asked for. For paths below the
    /// one that the call named, which is judged with the call.
    pub fn hides(&self, tool: &str, path: &Path) -> bool {
        let accesses = [Access::Read(path.to_owned())];
        let question = Question {
            tool: tool_names::canonical(tool),
            origin: Origin::Builtin,
            side_effect: SideEffect::None,
            annotations: &Annotations::default(),
            input: &Value::Null,
            accesses: &accesses,
            directory: &self.sources.places.project,
            follow_links: None,
        };
        let mut judge = Judge::of(self, &question);
        // A rule that asks for every call of the tool was answered with the call.
        judge.call.retain(|it| !it.rule.is_limit() || !it.rule.conditions.is_empty());
        let ruling = judge.ruling();
        ruling.action() != Action::Allow && ruling.has_rule()
    }
}

fn compile(
    layer: Layer,
    config: &PolicyConfig,
    places: &Places,
    patterns: &mut PathPatterns,
    rules: &mut Vec<Rule>,
) -> Result<(), PolicyError> {
    for (index, rule) in config.rules.iter().enumerate() {
        let place = format!("rules[{index}]");
        rules.push(compile_object(layer, &place, rule, places, patterns)?);
    }
    let lists = [
        ("allow", Action::Allow, &config.allow),
        ("ask", Action::Ask, &config.ask),
        ("deny", Action::Deny, &config.deny),
    ];
    for (list, action, texts) in lists {
        for (index, text) in texts.iter().enumerate() {
            let place = format!("{list}[{index}]");
            let subject =
                rule_text::parse(text, Naming::WithTwins, reach(action), places, patterns)
                    .map_err(|cause| error_at(layer, &place, text, cause))?;
            rules.push(Rule {
                shown: shown(layer, &place, text, action),
                risk: None,
                message: None,
                subject,
                conditions: Vec::new(),
            });
        }
    }
    Ok(())
}

fn compile_object(
    layer: Layer,
    place: &str,
    config: &RuleConfig,
    places: &Places,
    patterns: &mut PathPatterns,
) -> Result<Rule, PolicyError> {
    let RuleConfig { tool, action, risk, message, conditions } = config;
    let error = |cause| error_at(layer, place, tool, cause);
    let reach = reach(*action);
    let subject =
        rule_text::parse(tool, Naming::OneTool, reach, places, patterns).map_err(error)?;
    let conditions = conditions
        .iter()
        .map(|it| Condition::compile(it, reach, places, patterns))
        .collect::<Result<_, _>>()
        .map_err(error)?;
    Ok(Rule {
        shown: shown(layer, place, tool, *action),
        risk: *risk,
        message: message.clone(),
        subject,
        conditions,
    })
}

fn shown(layer: Layer, place: &str, text: &str, action: Action) -> RuleRef {
    RuleRef { layer, place: place.into(), text: visible(text.trim()).into(), action }
}

fn error_at(layer: Layer, place: &str, text: &str, cause: String) -> PolicyError {
    let text: String = text.chars().take(120).collect();
    PolicyError { layer, place: format!("{place} (`{text}`)"), cause }
}

/// Limits reach further than permissions.
const fn reach(action: Action) -> Reach {
    match action {
        Action::Allow => Reach::Narrow,
        Action::Ask | Action::Deny => Reach::Wide,
    }
}
