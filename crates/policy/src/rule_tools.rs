//! Which tools a rule applies to. There is no list of tools here: a tool declares its family, and the rules of
//! the family apply to it.

use toolwright_base::{ToolCatalogue, ToolFamily};

use super::{
    action::Layer,
    question::{Origin, Question},
};

/// The tools of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RuleTools {
    /// The tool that the rule names, if it names one.
    pub(super) named: Option<ToolInRule>,
    pub(super) reach: ToolReach,
}

/// A tool as a rule names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ToolInRule {
    pub(super) as_written: String,
    /// The name in rules, which the same tool in other tool sets shares.
    pub(super) rule_name: String,
    pub(super) family: Option<ToolFamily>,
    pub(super) is_known: bool,
}

/// Which tools a rule covers besides the one it names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ToolReach {
    /// Every tool that touches what the pattern matches.
    EveryTool,
    /// Every tool, because the rule says `*`. Rules that name a tool override it.
    Wildcard,
    /// Every tool whose name starts with this.
    StartingWith(String),
    /// The same tool in all tool sets.
    Twins,
    /// Every tool of the family.
    Family(ToolFamily),
}

impl ToolInRule {
    /// Looks up a name or an alias.
    pub(super) fn of(name: &str, tools: &ToolCatalogue) -> Self {
        let known = tools.find(name);
        Self {
            as_written: name.to_owned(),
            rule_name: known.map_or(name, |it| it.rule_name()).to_owned(),
            family: known.and_then(|it| it.kind.family),
            is_known: known.is_some(),
        }
    }
}

impl RuleTools {
    pub(super) const fn general(reach: ToolReach) -> Self {
        Self { named: None, reach }
    }

    pub(super) const fn named(tool: ToolInRule, reach: ToolReach) -> Self {
        Self { named: Some(tool), reach }
    }

    /// The family of the tool that the rule names.
    pub(super) fn family(&self) -> Option<ToolFamily> {
        self.named.as_ref()?.family
    }

    /// True when a rule with these tools applies to the tool.
    ///
    /// Limits also apply to a host's tool with the name of a built-in tool. Permissions do not: a policy file
    /// that allows `Read` was written for the built-in tool. Only the host, which knows what it has registered,
    /// can allow its tool, and only by its exact name.
    pub(super) fn include(&self, tool: &AskedTool, is_limit: bool, layer: Layer) -> bool {
        let is_meant = || !tool.borrows_name || layer >= Layer::Options;
        match (&self.reach, &self.named) {
            (ToolReach::EveryTool | ToolReach::Wildcard, _) => true,
            (ToolReach::StartingWith(start), _) => {
                tool.name.starts_with(start) && (is_limit || is_meant())
            }
            (ToolReach::Family(family), _) => tool.family == Some(*family),
            (ToolReach::Twins, Some(named)) => {
                named.rule_name == tool.rule_name
                    && (is_limit
                        || !tool.borrows_name
                        || (named.as_written == tool.name && is_meant()))
            }
            (ToolReach::Twins, None) => false,
        }
    }
}

/// The tool of a call, as rules refer to it.
#[derive(Clone, Copy, Debug)]
pub(super) struct AskedTool<'a> {
    pub(super) name: &'a str,
    pub(super) rule_name: &'a str,
    /// The family whose limits apply to it.
    pub(super) family: Option<ToolFamily>,
    /// True for a tool of a host or a server with the name of a built-in tool.
    borrows_name: bool,
}

impl<'a> AskedTool<'a> {
    pub(super) fn of(question: &Question<'a>, tools: &ToolCatalogue) -> Self {
        let name = question.tool;
        if question.origin == Origin::Builtin {
            let rule_name = question.kind.twin_of.unwrap_or(name);
            let family = question.kind.family;
            return Self { name, rule_name, family, borrows_name: false };
        }
        match tools.find(name) {
            None => Self { name, rule_name: name, family: None, borrows_name: false },
            Some(known) => Self {
                name,
                rule_name: known.rule_name(),
                family: known.kind.family,
                borrows_name: true,
            },
        }
    }
}
