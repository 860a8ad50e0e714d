//! Finds rules that do not do what they seem to: shadowed, without effect, or too broad.

use std::sync::Arc;

use serde::Serialize;
use toolwright_base::{ToolFamily, visible};
use toolwright_shell::{
    is_never_allowed,
    running_programs::{has_subcommands, running_words, runs_code, wrapper},
    setting_of,
};

use super::{
    action::Action,
    command_pattern::{CommandPattern, PatternPiece},
    engine::PolicyEngine,
    host_pattern::HostPattern,
    lint_conditions,
    path_pattern::PatternId,
    rule::{Rule, RuleRef},
    rule_text::Subject,
    rule_tools::{ToolInRule, ToolReach},
};

/// What is wrong with a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LintKind {
    /// A stricter rule always decides first.
    Shadowed,
    /// Another rule already does the same.
    Redundant,
    /// It can never allow anything.
    WithoutEffect,
    /// It applies to far more than it seems to.
    TooBroad,
    /// It names a tool that does not exist.
    UnknownTool,
}

/// A finding about one rule.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Lint {
    /// The kind of the finding.
    pub kind: LintKind,
    /// The rule.
    pub rule: RuleRef,
    /// Why, and what to write instead.
    pub message: String,
}

/// Programs that look harmless but have options to write files or run programs. Those with words that run the
/// next word are in the table of the shell.
const WRITES_BY_OPTION: [&str; 10] =
    ["cargo", "curl", "dd", "find", "rg", "sort", "tee", "uniq", "wget", "zip"];

/// Options that are followed by code.
const CODE_OPTIONS: [&str; 8] = ["-c", "-e", "-E", "-p", "-r", "-x", "--eval", "--exec"];

impl PolicyEngine {
    /// Finds rules that do not do what they seem to.
    pub fn lint(&self) -> Vec<Lint> {
        self.lint_with_tools(&[])
    }

    /// Like [`Self::lint`], for a registry with these tools.
    pub fn lint_with_tools(&self, registered: &[String]) -> Vec<Lint> {
        let mut found = Vec::new();
        for (place, rule) in self.rules.iter().enumerate() {
            let mut add = |kind, message: String| {
                let message = visible(&message).into_owned();
                let lint = Lint { kind, rule: rule.shown.clone(), message };
                // A rule object with several values was compiled to several rules.
                if found.last() != Some(&lint) {
                    found.push(lint);
                }
            };
            if let Some(message) = self.unknown_tool(rule, registered) {
                add(LintKind::UnknownTool, message);
            }
            for (kind, message) in lint_conditions::findings(rule, &self.sources.tools) {
                add(kind, message);
            }
            if let Some((kind, message)) = breadth(self, rule) {
                add(kind, message);
            }
            let is_other = |it: &Rule| !Arc::ptr_eq(&it.shown.place, &rule.shown.place);
            let others = self.rules.iter().enumerate().filter(|it| is_other(it.1));
            let covering =
                others.filter(|(_, it)| it.conditions.is_empty() && self.covers(it, rule));
            // Of two equal rules only the later one is redundant.
            let decisive = covering.filter(|(at, it)| {
                it.action() > rule.action()
                    || (it.action() == rule.action() && (*at < place || !self.covers(rule, it)))
            });
            if let Some((_, other)) = decisive.max_by_key(|(_, it)| it.action()) {
                if other.action() == rule.action() {
                    add(LintKind::Redundant, format!("the {} already says it", other.shown));
                } else {
                    add(LintKind::Shadowed, format!("the {} decides first", other.shown));
                }
            }
        }
        found
    }
}

impl PolicyEngine {
    /// True when the first rule applies to everything that the second applies to.
    fn covers(&self, first: &Rule, second: &Rule) -> bool {
        match (&first.subject, &second.subject) {
            (Subject::Call, subject) => match (&first.tools.reach, &second.tools.reach) {
                // A rule for `*` yields to other rules.
                (ToolReach::Wildcard, second) => *second == ToolReach::Wildcard,
                (_, ToolReach::Wildcard) => false,
                (ToolReach::Twins, ToolReach::EveryTool) => {
                    // Only this tool runs commands.
                    matches!(subject, Subject::Command(_)) && rule_name(first) == rule_name(second)
                }
                (ToolReach::Twins, ToolReach::Twins) => rule_name(first) == rule_name(second),
                (ToolReach::StartingWith(first), ToolReach::StartingWith(second)) => {
                    second.starts_with(first)
                }
                (ToolReach::StartingWith(start), ToolReach::Twins) => {
                    second.tools.named.as_ref().is_some_and(|it| self.all_start(it, start))
                }
                (ToolReach::Family(family), ToolReach::Twins) => {
                    second.tools.family() == Some(*family)
                }
                (first, second) => *subject == Subject::Call && first == second,
            },
            _ if first.tools.reach != second.tools.reach => false,
            (Subject::Command(first), Subject::Command(second)) => covers_command(first, second),
            (Subject::Host(first), Subject::Host(second)) => match (first, second) {
                (HostPattern::Any, _) => true,
                (HostPattern::Below(_), HostPattern::Exactly(host)) => first.matches(host),
                _ => first == second,
            },
            (Subject::Reading(first), Subject::Reading(second))
            | (Subject::Editing(first), Subject::Editing(second)) => {
                let texts = |patterns: &[PatternId]| -> Vec<Option<&str>> {
                    patterns.iter().map(|it| self.paths.text(*it)).collect()
                };
                texts(first) == texts(second)
            }
            _ => false,
        }
    }

    /// True when every name of the tool starts with this.
    fn all_start(&self, tool: &ToolInRule, start: &str) -> bool {
        let known = self.sources.tools.tools().filter(|it| it.rule_name() == tool.rule_name);
        tool.as_written.starts_with(start)
            && known.map(|it| it.name).all(|it| it.starts_with(start))
    }
}

fn rule_name(rule: &Rule) -> Option<&str> {
    rule.tools.named.as_ref().map(|it| it.rule_name.as_str())
}

fn covers_command(first: &CommandPattern, second: &CommandPattern) -> bool {
    match (first, second) {
        (
            CommandPattern::Prefix(first),
            CommandPattern::Prefix(words) | CommandPattern::Exact { words, .. },
        ) => words.starts_with(first),
        _ => first == second,
    }
}

fn breadth(engine: &PolicyEngine, rule: &Rule) -> Option<(LintKind, String)> {
    if rule.action() != Action::Allow || !rule.conditions.is_empty() {
        return None;
    }
    let broad = |text: &str| Some((LintKind::TooBroad, text.to_owned()));
    match (&rule.subject, &rule.tools.reach) {
        (Subject::Call, ToolReach::Wildcard) => broad("it allows every tool; name the tools"),
        (Subject::Call, ToolReach::StartingWith(start))
            if matches!(start.as_str(), "mcp__" | "m" | "mcp_") =>
        {
            broad("it allows every tool of every MCP server; name the server")
        }
        (Subject::Call, _) if rule.tools.family() == Some(ToolFamily::RunsCommands) => {
            let name = &rule.shown.text;
            broad(&format!("it allows every command; name the commands, as `{name}(npm test:*)`"))
        }
        (Subject::Host(HostPattern::Any), _) => broad("it allows every host; name the hosts"),
        (Subject::Editing(patterns), _) => {
            let pattern = rule.shown.text.split_once('(').map(|(_, pattern)| pattern);
            let everything = ["//)", "//**)", "//*)", "~)", "~/)", "~/**)", "/**)"];
            let is_all = pattern.is_some_and(|it| everything.contains(&it))
                || patterns.iter().all(|it| engine.paths.text(*it) == Some("/**"));
            is_all.then(|| {
                (LintKind::TooBroad, "it allows changing every file; name a directory".to_owned())
            })
        }
        (Subject::Command(CommandPattern::Prefix(words)), _) => {
            prefix_breadth(&words.iter().map(String::as_str).collect::<Vec<_>>())
        }
        (Subject::Command(CommandPattern::Wildcard(pieces)), _) => match pieces.as_slice() {
            [PatternPiece::Glob(_) | PatternPiece::Words | PatternPiece::Rest, ..] => {
                broad("it allows programs by part of their name")
            }
            // `git *` means the same as `git:*`.
            [named @ .., PatternPiece::Rest] => {
                let words: Option<Vec<&str>> = named.iter().map(PatternPiece::word).collect();
                prefix_breadth(&words?)
            }
            _ => None,
        },
        _ => None,
    }
}

fn prefix_breadth(words: &[&str]) -> Option<(LintKind, String)> {
    let settings = words.iter().take_while(|it| setting_of(it).is_some()).count();
    let words = words.get(settings..)?;
    let (program, rest) = words.split_first()?;
    let program = program.rsplit('/').next().unwrap_or(program);
    if is_never_allowed(words) {
        return Some((
            LintKind::WithoutEffect,
            format!(
                "`{program}` runs what its arguments say or changes what later commands mean, so no \
                 prefix allows it; write the whole command"
            ),
        ));
    }
    // `git -c:*` and `python -c:*` are as broad as the program itself.
    if !rest.is_empty() && rest.iter().any(|it| !CODE_OPTIONS.contains(it)) {
        return None;
    }
    if wrapper(program).is_some() {
        return Some((
            LintKind::TooBroad,
            format!(
                "`{program}` runs other commands, which are judged separately; allow those instead"
            ),
        ));
    }
    if has_subcommands(program) {
        return Some((
            LintKind::TooBroad,
            format!(
                "it allows only the subcommands of `{program}` that run no other program; name the \
                 subcommand, as `{program} ps:*`"
            ),
        ));
    }
    if runs_code(program) {
        return Some((
            LintKind::TooBroad,
            format!("`{program}` runs whatever its arguments say; name them, as `{program} x:*`"),
        ));
    }
    let has_options =
        WRITES_BY_OPTION.contains(&program) || running_words(program).next().is_some();
    has_options.then(|| {
        (
            LintKind::TooBroad,
            format!("`{program}` can write files or run programs by its options; name a subcommand or the options"),
        )
    })
}
