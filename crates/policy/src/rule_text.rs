//! Rules as one line of text: `Bash(git status:*)`, `Edit(src/**)`, `mcp__server__*`.

use toolwright_base::{ToolCatalogue, ToolFamily};

use super::{
    command_pattern::CommandPattern,
    host_pattern::HostPattern,
    path_pattern::{PathPatterns, PatternId, Reach},
    places::PolicyPlaces,
    rule_tools::{RuleTools, ToolInRule, ToolReach},
};

/// What a rule applies to in a call of one of its tools.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Subject {
    /// The call as a whole.
    Call,
    /// Reading a path that all of these patterns match.
    Reading(Vec<PatternId>),
    /// Changing a path that all of these patterns match.
    Editing(Vec<PatternId>),
    /// Running these commands.
    Command(CommandPattern),
    /// Fetching from these hosts.
    Host(HostPattern),
}

/// Reads the text of rules.
pub(super) struct TextReader<'a> {
    pub(super) places: &'a PolicyPlaces,
    pub(super) tools: &'a ToolCatalogue,
    pub(super) paths: &'a mut PathPatterns,
}

impl TextReader<'_> {
    /// Returns the tools that the rule applies to, and what it applies to in their calls.
    pub(super) fn read(
        &mut self,
        text: &str,
        reach: Reach,
    ) -> Result<(RuleTools, Subject), String> {
        let text = text.trim();
        let (name, pattern) = match text.split_once('(') {
            None => (text, None),
            Some((name, rest)) => {
                let pattern = rest.strip_suffix(')').ok_or("the closing `)` is missing")?;
                (name.trim(), Some(pattern))
            }
        };
        if name == "*" && pattern.is_none() {
            return Ok((RuleTools::general(ToolReach::Wildcard), Subject::Call));
        }
        if let Some(start) = name.strip_suffix('*').filter(|_| pattern.is_none()) {
            return if is_name(start) {
                let reach = ToolReach::StartingWith(start.to_owned());
                Ok((RuleTools::general(reach), Subject::Call))
            } else {
                Err(format!("`{name}` is not the start of a tool's name"))
            };
        }
        if !is_name(name) {
            return Err(format!("`{name}` is not a tool's name"));
        }
        match pattern {
            Some(pattern) => self.with_pattern(name, pattern, reach),
            None => Ok((self.bare(name, reach), Subject::Call)),
        }
    }

    /// The tools of a rule that is a name without a pattern.
    fn bare(&self, name: &str, reach: Reach) -> RuleTools {
        if name.strip_prefix("mcp__").is_some_and(|it| !it.contains("__")) {
            return RuleTools::general(ToolReach::StartingWith(format!("{name}__")));
        }
        let tool = ToolInRule::of(name, self.tools);
        let closed = tool.family.filter(|family| {
            reach == Reach::Wide
                && family.is_closed_by_its_name()
                && self.tools.family_name(*family) == Some(&tool.rule_name)
        });
        RuleTools::named(tool, closed.map_or(ToolReach::Twins, ToolReach::Family))
    }

    fn with_pattern(
        &mut self,
        name: &str,
        pattern: &str,
        reach: Reach,
    ) -> Result<(RuleTools, Subject), String> {
        let tool = ToolInRule::of(name, self.tools);
        let subject = match tool.family {
            Some(ToolFamily::ReadsFiles) => {
                Subject::Reading(vec![self.paths.add(pattern, reach, self.places)?])
            }
            Some(ToolFamily::EditsFiles) => {
                Subject::Editing(vec![self.paths.add(pattern, reach, self.places)?])
            }
            Some(ToolFamily::RunsCommands) => {
                match CommandPattern::parse(pattern, self.places.home_text())? {
                    CommandPattern::Any => return Ok((self.bare(name, reach), Subject::Call)),
                    pattern => Subject::Command(pattern),
                }
            }
            Some(ToolFamily::Fetches) => match pattern.strip_prefix("domain:") {
                Some(host) => Subject::Host(HostPattern::parse(host)?),
                None => {
                    return Err(format!("`{pattern}` is not understood; write `domain:docs.rs`"));
                }
            },
            None => return Err(format!("`{name}` takes no pattern; write `{name}` alone")),
        };
        Ok((RuleTools::named(tool, ToolReach::EveryTool), subject))
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text.bytes().all(|it| it.is_ascii_alphanumeric() || matches!(it, b'_' | b'-' | b'.'))
}
