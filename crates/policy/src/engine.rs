//! The engine: the compiled rules of all layers, with indexes to find the rules that apply to a call.

use std::{collections::HashMap, path::Path, sync::Arc};

use serde_json::Value;
use toolwright_base::{
    Access, Annotations, PermissionMode, Risk, SideEffect, ToolCatalogue, ToolFamily, ToolKind,
};

use super::{
    action::{Action, Layer},
    command_pattern::CommandPattern,
    compile::Compiler,
    config::{PolicyConfig, PolicyError, RiskLevel},
    grant,
    judge::Judge,
    path_pattern::PathIndex,
    places::PolicyPlaces,
    question::{Origin, Question, accesses_of},
    risk,
    rule::Rule,
    rule_text::Subject,
    rule_tools::ToolReach,
    verdict::{Basis, PolicyVerdict},
};

/// The most rules that an engine accepts.
const MAX_RULES: usize = 10_000;

/// What an engine is compiled from.
#[derive(Clone, Debug, Default)]
pub struct PolicySources {
    /// The policies with the layers they come from, in any order.
    pub layers: Vec<(Layer, PolicyConfig)>,
    /// What happens to calls that no rule decides.
    pub mode: PermissionMode,
    /// The directories that rules refer to.
    pub places: PolicyPlaces,
    /// The tools that rules can name.
    pub tools: Arc<ToolCatalogue>,
}

/// Judges calls by compiled rules. An engine never changes; a new policy is a new engine.
#[derive(Debug)]
pub struct PolicyEngine {
    pub(super) sources: PolicySources,
    pub(super) default_action: Option<Action>,
    pub(super) rules: Vec<Rule>,
    pub(super) paths: PathIndex,
    /// Rules for whole calls, by the tool's name in rules.
    pub(super) by_tool: HashMap<String, Vec<usize>>,
    /// Rules for whole calls of every tool of a family.
    pub(super) by_family: HashMap<ToolFamily, Vec<usize>>,
    /// Rules for whole calls, by the start of the tool's name. For `*` it is empty.
    pub(super) by_start: Vec<(String, usize)>,
    /// Rules for commands, by program.
    pub(super) by_program: HashMap<String, Vec<usize>>,
    pub(super) for_commands: Vec<usize>,
    /// Rules for whole command lines, by line.
    pub(super) by_line: HashMap<String, Vec<usize>>,
    /// Every rule that limits commands.
    pub(super) command_limits: Vec<usize>,
    /// Rules for paths, by pattern. Each pattern belongs to one rule.
    pub(super) by_path: HashMap<usize, usize>,
    pub(super) path_limits: Vec<usize>,
    pub(super) for_hosts: Vec<usize>,
    has_path_limits: bool,
}

impl PolicyEngine {
    /// Compiles policies. An invalid rule is an error here and never while judging.
    pub fn new(sources: PolicySources) -> Result<Self, PolicyError> {
        let mut compiler = Compiler::new(&sources.places, &sources.tools);
        for (layer, config) in &sources.layers {
            compiler.add(*layer, config)?;
        }
        let Compiler { patterns, rules, .. } = compiler;
        let whole = |cause: String| PolicyError {
            layer: sources.layers.first().map_or(Layer::Defaults, |it| it.0),
            place: "rules".to_owned(),
            cause,
        };
        if rules.len() > MAX_RULES {
            return Err(whole(format!("there are more than {MAX_RULES} rules")));
        }
        let paths = patterns.build().map_err(whole)?;
        // The strictest default applies, so that no layer can relax the default of another.
        let default_action = sources.layers.iter().filter_map(|it| it.1.default_action).max();
        let mut engine = Self {
            sources,
            default_action,
            rules,
            paths,
            by_tool: HashMap::new(),
            by_family: HashMap::new(),
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
                Subject::Call => match &rule.tools.reach {
                    ToolReach::EveryTool | ToolReach::Wildcard => {
                        self.by_start.push((String::new(), place));
                    }
                    ToolReach::StartingWith(start) => self.by_start.push((start.clone(), place)),
                    ToolReach::Family(family) => {
                        self.by_family.entry(*family).or_default().push(place);
                    }
                    ToolReach::Twins => {
                        let name = rule.tools.named.iter().map(|it| it.rule_name.clone());
                        name.for_each(|it| self.by_tool.entry(it).or_default().push(place));
                    }
                },
                Subject::Reading(patterns) | Subject::Editing(patterns) => {
                    self.by_path.extend(patterns.iter().map(|it| (*it, place)));
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
        self.has_path_limits = self.rules.iter().any(|it| it.is_limit() && it.is_about_paths());
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

    /// What the engine was compiled from.
    pub const fn sources(&self) -> &PolicySources {
        &self.sources
    }

    /// The permission mode.
    pub const fn mode(&self) -> PermissionMode {
        self.sources.mode
    }

    /// Judges a call by the name of its tool and its parameters alone. What a built-in tool would touch is
    /// derived from the parameters.
    pub fn evaluate(&self, tool: &str, params: &Value) -> PolicyVerdict {
        let project = &self.sources.places.project;
        let known = self.sources.tools.find(tool);
        let origin = known.map_or_else(|| Origin::of_name(tool), |_| Origin::Builtin);
        let accesses = known.map(|it| accesses_of(it, &self.sources.tools, params, project));
        self.decide(&Question {
            tool: known.map_or(tool, |it| it.name),
            origin,
            side_effect: known.map_or_else(|| risk::side_effect_by_name(tool), |it| it.side_effect),
            kind: known.map_or(&ToolKind::PLAIN, |it| &it.kind),
            annotations: &Annotations::default(),
            input: params,
            accesses: &accesses.unwrap_or_default(),
            directory: project,
            follow_links: None,
        })
    }

    /// The risk of a tool as low, medium or high: from its rules, or else from its side effect.
    pub fn risk_level(&self, tool: &str) -> Risk {
        let known = self.sources.tools.find(tool);
        let rule_name: &str = known.map_or(tool, |it| it.rule_name());
        let names =
            |rule: &&Rule| rule.tools.named.as_ref().is_some_and(|it| it.rule_name == rule_name);
        let said = self.rules.iter().filter(names).filter_map(|it| it.risk).max();
        let own = || known.map_or_else(|| risk::side_effect_by_name(tool), |it| it.side_effect);
        risk::three_levels(said.map_or_else(|| own().risk(), RiskLevel::risk))
    }

    /// The narrowest rules that would allow this call next time; `None` if no rule can.
    pub fn narrowest_rules(&self, question: &Question) -> Option<Vec<String>> {
        grant::narrowest(question, &self.sources)
    }

    /// What a person or the host can do to allow a call that asks or is denied.
    pub fn ways_to_allow(&self, question: &Question, verdict: &PolicyVerdict) -> String {
        grant::ways_to_allow(question, &self.sources, verdict)
    }

    /// The narrowest rules, if a rule can allow a call that asks or is denied on this basis.
    pub(super) fn helping_rules(&self, question: &Question, basis: Basis) -> Vec<String> {
        grant::helping(question, &self.sources, basis)
    }

    /// True when there are limits on paths, so a walk over files has to check every path.
    pub const fn has_path_limits(&self) -> bool {
        self.has_path_limits
    }

    /// True when a tool must skip the path while it walks over files, because a rule denies the path or asks
    /// about it. This is for paths below the path that the call names; that path is judged with the call.
    pub fn hides(&self, tool: &str, kind: &ToolKind, path: &Path) -> bool {
        let accesses = [Access::Read(path.to_owned())];
        let question =
            Question::about_accesses(tool, kind, SideEffect::None, &accesses, &self.sources.places);
        Judge::of(self, &question).hides_paths()
    }
}
