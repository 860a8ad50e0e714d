//! The built-in tools that rules can name, as plain values. Policy uses them, because it has no
//! registry.

use std::collections::BTreeMap;

use crate::{
    kind::{ToolFamily, ToolKind},
    spec::SideEffect,
};

/// The facts about a built-in tool that are known before it is registered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownTool {
    /// The name by which models call it.
    pub name: &'static str,
    /// Other names by which it can be called.
    pub aliases: &'static [&'static str],
    /// The kind of effect that a call has.
    pub side_effect: SideEffect,
    /// The kind of tool, from which rules and risk follow.
    pub kind: ToolKind,
}

impl KnownTool {
    /// The name of the tool in rules. It is shared with the same tool in other sets.
    pub const fn rule_name(&self) -> &'static str {
        match self.kind.twin_of {
            Some(name) => name,
            None => self.name,
        }
    }
}

/// All tools that rules can name, whether or not they are registered.
#[derive(Clone, Debug, Default)]
pub struct ToolCatalogue {
    tools: BTreeMap<&'static str, KnownTool>,
    aliases: BTreeMap<&'static str, &'static str>,
}

impl ToolCatalogue {
    /// A catalogue of these tools.
    pub fn new(tools: impl IntoIterator<Item = KnownTool>) -> Self {
        let mut catalogue = Self::default();
        for tool in tools {
            catalogue.aliases.extend(tool.aliases.iter().map(|alias| (*alias, tool.name)));
            catalogue.tools.insert(tool.name, tool);
        }
        catalogue
    }

    /// The tool with a name or an alias.
    pub fn find(&self, name: &str) -> Option<&KnownTool> {
        self.tools.get(self.aliases.get(name).copied().unwrap_or(name))
    }

    /// True when both names belong to one tool.
    pub fn is_same(&self, first: &str, second: &str) -> bool {
        let name = |it| self.find(it).map(|it| it.name);
        first == second || name(first).is_some_and(|it| name(second) == Some(it))
    }

    /// All tools, ordered by name.
    pub fn tools(&self) -> impl Iterator<Item = &KnownTool> {
        self.tools.values()
    }

    /// The names and aliases of all tools.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tools.keys().chain(self.aliases.keys()).map(|it| -> &str { it })
    }

    /// The tool name that rules for this family use.
    pub fn family_name(&self, family: ToolFamily) -> Option<&'static str> {
        let named = |it: &&KnownTool| it.kind.names_family && it.kind.family == Some(family);
        self.tools().find(named).map(|it| it.name)
    }
}
