//! Rules that do not do what they look like: shadowed, without effect, or too broad.

use serde::Serialize;

use super::{
    action::Action,
    command::{has_subcommands, is_never_allowed, setting_of},
    command_pattern::{CommandPattern, Piece},
    engine::PolicyEngine,
    host_pattern::HostPattern,
    programs::is_listed,
    rule::{Rule, RuleRef},
    rule_text::Subject,
};

/// What is wrong with a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LintKind {
    /// A stricter rule always decides first.
    Shadowed,
    /// Another rule already says it.
    Redundant,
    /// It can never allow anything.
    WithoutEffect,
    /// It allows far more than it looks like.
    TooBroad,
}

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Lint {
    /// What is wrong.
    pub kind: LintKind,
    /// The rule.
    pub rule: RuleRef,
    /// Why, and what to write instead.
    pub message: String,
}

/// Programs that only run another, which is judged by itself.
const WRAPPERS: &str = "\
    builtin command env eval exec nice nohup setsid stdbuf timeout xargs sudo";

/// Programs that run whatever their arguments say.
const RUNS_ANYTHING: &str = "\
    awk bash bun bunx cargo dash deno docker ed emacs ex gawk gdb lua make mawk node npx perl \
    php pnpx podman python python3 ruby sh ssh vi vim";

/// Programs that look harmless and can write files or run programs by option.
const WRITES_BY_OPTION: &str =
    "curl dd find git man npm rg rsync sed sort tar tee uniq wget yarn zip";

/// Options after which anything can be run.
const CODE_OPTIONS: &str = "-c -e -E -p -r -x --eval --exec";

impl PolicyEngine {
    /// Looks for rules that do not do what they look like.
    pub fn lint(&self) -> Vec<Lint> {
        let mut found = Vec::new();
        for (place, rule) in self.rules.iter().enumerate() {
            let mut add = |kind, message: String| {
                found.push(Lint { kind, rule: rule.shown.clone(), message });
            };
            if let Some((kind, message)) = breadth(rule) {
                add(kind, message);
            }
            let others = self.rules.iter().enumerate().filter(|it| it.0 != place);
            let covering = others.filter(|(_, it)| it.conditions.is_empty() && covers(it, rule));
            // Of two equal rules only the later one is redundant.
            let decisive = covering.filter(|(at, it)| {
                it.action() > rule.action()
                    || (it.action() == rule.action() && (*at < place || !covers(rule, it)))
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

/// True when everything the second rule is about, the first is about as well.
fn covers(first: &Rule, second: &Rule) -> bool {
    match (&first.subject, &second.subject) {
        // A rule for `*` steps back behind the others.
        (Subject::AnyTool, other) => *other == Subject::AnyTool,
        (Subject::Tools(first), Subject::Tools(second)) => {
            second.iter().all(|it| first.contains(it))
        }
        (Subject::ToolsLike(start), Subject::Tools(names)) => {
            names.iter().all(|it| it.starts_with(start))
        }
        (Subject::ToolsLike(first), Subject::ToolsLike(second)) => second.starts_with(first),
        (Subject::Tools(names), Subject::Command(_)) => names.iter().any(|it| it == "Bash"),
        (Subject::Command(first), Subject::Command(second)) => covers_command(first, second),
        (Subject::Host(first), Subject::Host(second)) => match (first, second) {
            (HostPattern::Any, _) => true,
            (HostPattern::Below(_), HostPattern::Exactly(host)) => first.matches(host),
            _ => first == second,
        },
        (Subject::Reading(_), Subject::Reading(_)) | (Subject::Editing(_), Subject::Editing(_)) => {
            first.shown.text == second.shown.text
        }
        _ => false,
    }
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

fn breadth(rule: &Rule) -> Option<(LintKind, String)> {
    if rule.action() != Action::Allow || !rule.conditions.is_empty() {
        return None;
    }
    let broad = |text: &str| Some((LintKind::TooBroad, text.to_owned()));
    match &rule.subject {
        Subject::AnyTool => broad("it allows every tool; name the tools"),
        Subject::ToolsLike(start) if matches!(start.as_str(), "mcp__" | "m" | "mcp_") => {
            broad("it allows every tool of every MCP server; name the server")
        }
        Subject::Tools(names) if names.iter().any(|it| it == "Bash" || it == "shell") => {
            broad("it allows every command; name the commands, as `Bash(npm test:*)`")
        }
        Subject::Host(HostPattern::Any) => broad("it allows every host; name the hosts"),
        Subject::Editing(_) => {
            let (_, pattern) = rule.shown.text.split_once('(')?;
            let everything = ["//)", "//**)", "//*)", "~)", "~/)", "~/**)", "/**)"];
            everything.contains(&pattern).then(|| {
                (LintKind::TooBroad, "it allows changing every file; name a directory".to_owned())
            })
        }
        Subject::Command(CommandPattern::Prefix(words)) => {
            prefix_breadth(&words.iter().map(String::as_str).collect::<Vec<_>>())
        }
        Subject::Command(CommandPattern::Wildcard(pieces)) => match pieces.as_slice() {
            [Piece::Glob(_) | Piece::Words | Piece::Rest, ..] => {
                broad("it allows programs by part of their name")
            }
            // `git *` is `git:*`.
            [named @ .., Piece::Rest] => {
                let words: Option<Vec<&str>> = named.iter().map(Piece::word).collect();
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
                "`{program}` runs what its arguments say or changes what later commands mean, so no start \
                 of its command allows it; write the whole command"
            ),
        ));
    }
    // `git -c:*` and `python -c:*` name nothing yet.
    if !rest.is_empty() && rest.iter().any(|it| !is_listed(CODE_OPTIONS, it)) {
        return None;
    }
    if is_listed(WRAPPERS, program) {
        return Some((
            LintKind::TooBroad,
            format!(
                "`{program}` runs other commands; those are judged by themselves, so allow them instead"
            ),
        ));
    }
    if has_subcommands(program) {
        return Some((
            LintKind::TooBroad,
            format!(
                "it allows all those of `{program}`'s subcommands that run nothing their arguments name, and no \
                 others; name the subcommand, as `{program} ps:*`"
            ),
        ));
    }
    if is_listed(RUNS_ANYTHING, program) {
        return Some((
            LintKind::TooBroad,
            format!("`{program}` runs whatever its arguments say; name them, as `{program} x:*`"),
        ));
    }
    is_listed(WRITES_BY_OPTION, program).then(|| {
        (
            LintKind::TooBroad,
            format!("`{program}` can write files or run programs by its options; name a subcommand or the options"),
        )
    })
}
