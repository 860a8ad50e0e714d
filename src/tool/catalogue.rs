//! The tools that rules can name, as plain values: what an engine that has no registry goes by.

use std::collections::BTreeMap;

use super::{SideEffect, Tool, ToolFamily, ToolKind};

/// What is known of a tool before there is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KnownTool {
    /// The name models call.
    pub name: &'static str,
    /// Other names it answers to.
    pub aliases: &'static [&'static str],
    /// What a call leaves behind.
    pub side_effect: SideEffect,
    /// What kind of tool it is.
    pub kind: ToolKind,
}

impl KnownTool {
    /// What a tool says of itself.
    pub const fn of<T: Tool>() -> Self {
        Self { name: T::NAME, aliases: T::ALIASES, side_effect: T::SIDE_EFFECT, kind: T::KIND }
    }

    /// The name that rules know it by, with the same tool in other sets.
    pub const fn rule_name(&self) -> &'static str {
        match self.kind.twin_of {
            Some(name) => name,
            None => self.name,
        }
    }
}

/// Every tool that rules can name without having met it.
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

    /// The tool of a name or an alias.
    pub fn find(&self, name: &str) -> Option<&KnownTool> {
        self.tools.get(self.aliases.get(name).copied().unwrap_or(name))
    }

    /// True when both are names of one tool.
    pub fn is_same(&self, first: &str, second: &str) -> bool {
        let name = |it| self.find(it).map(|it| it.name);
        first == second || name(first).is_some_and(|it| name(second) == Some(it))
    }

    /// Every tool, by name.
    pub fn tools(&self) -> impl Iterator<Item = &KnownTool> {
        self.tools.values()
    }

    /// Every name and alias.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tools.keys().chain(self.aliases.keys()).map(|it| -> &str { it })
    }

    /// The name that the rules of a family are written with.
    pub fn family_name(&self, family: ToolFamily) -> Option<&'static str> {
        let named = |it: &&KnownTool| it.kind.names_family && it.kind.family == Some(family);
        self.tools().find(named).map(|it| it.name)
    }
}
