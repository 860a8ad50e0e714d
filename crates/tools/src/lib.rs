//! The built-in tools, with one file per tool and one table per set.
//!
//! A tool is a schema and the wording of its answers. The work is done by the crates `files`, `search`,
//! `documents`, `process` and `web`, which know neither. This crate must not know policy, the pipeline or a
//! provider's format.
//!
//! The invariant: every answer is bounded, and says what was left out.
//!
//! Start at [`ToolSet`], then read one tool, such as `classic/read_file.rs`.

mod agent_answer;
mod agent_run;
mod builtin_specs;
mod classic;
mod claude;
mod command_answer;
mod command_text;
mod commands;
mod diagnostic;
mod editing;
mod failures;
mod fetching;
mod git_asking;
mod listing;
mod mcp_resources;
mod project;
mod questions;
mod reading;
mod replacing;
mod sandbox_answer;
mod searching;
mod set_names;
mod task_reading;
mod task_stopping;
mod team_agents;
mod team_sending;
mod web_searching;
mod writing;

use std::{str::FromStr, sync::Arc};

use toolwright_base::{KnownTool, ToolCatalogue};
use toolwright_core::{DynTool, Tool, Typed, Words, known_tool};

use set_names::SetNames;

pub use builtin_specs::builtin_specs;
pub use commands::{FixedCommand, run_fixed};
pub use failures::FailedState;

/// An entry in the table of a set.
struct BuiltinTool {
    known: KnownTool,
    make: fn(Words<'_>) -> Arc<dyn DynTool>,
    /// The experiment that a host must enable to get the tool.
    experiment: Option<Experiment>,
}

/// Groups of tools that a host must enable explicitly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Experiment {
    /// Teams of agents.
    AgentTeams,
}

impl BuiltinTool {
    const fn of<T: Tool + Default>() -> Self {
        Self {
            known: known_tool::<T>(),
            make: |words| Typed::worded(T::default(), words),
            experiment: None,
        }
    }

    const fn behind(self, experiment: Experiment) -> Self {
        Self { experiment: Some(experiment), ..self }
    }
}

/// A group of tools that a host selects by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ToolSet {
    /// The names and inputs of Claude Code.
    Claude,
    /// `snake_case` names, relative paths.
    Classic,
    /// Kebab-case names: facts about a project and its changes.
    Project,
    /// Tools to check a host's integration: they answer, wait or fail on demand.
    Diagnostic,
}

impl ToolSet {
    /// All sets, in the order in which an error lists them.
    pub const ALL: [Self; 4] = [Self::Claude, Self::Classic, Self::Project, Self::Diagnostic];

    /// The name by which a host selects the set.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Classic => "classic",
            Self::Project => "project",
            Self::Diagnostic => "diagnostic",
        }
    }

    const fn table(self) -> &'static [BuiltinTool] {
        match self {
            Self::Claude => claude::TOOLS,
            Self::Classic => classic::TOOLS,
            Self::Project => project::TOOLS,
            Self::Diagnostic => diagnostic::TOOLS,
        }
    }

    /// Creates all tools of the set.
    pub fn tools(self) -> Vec<Arc<dyn DynTool>> {
        self.made(|_| true)
    }

    /// Creates the tools of the set for a host that has enabled these experiments.
    pub fn tools_with(self, experiments: &[Experiment]) -> Vec<Arc<dyn DynTool>> {
        self.made(|it| it.experiment.is_none_or(|needed| experiments.contains(&needed)))
    }

    fn made(self, is_wanted: impl Fn(&BuiltinTool) -> bool) -> Vec<Arc<dyn DynTool>> {
        let names = SetNames::of(self.table());
        let wanted = self.table().iter().filter(|it| is_wanted(it));
        wanted.map(|it| (it.make)(&|text| names.in_words(text))).collect()
    }
}

/// Every tool that policy rules can name: the tools of all sets.
pub fn catalogue() -> ToolCatalogue {
    let here = ToolSet::ALL.iter().flat_map(|set| set.table()).map(|it| it.known);
    ToolCatalogue::new(here)
}

impl FromStr for ToolSet {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|set| set.as_str() == name).ok_or_else(|| {
            let known: Vec<_> = Self::ALL.iter().map(|set| format!("`{}`", set.as_str())).collect();
            format!("no tool set is named `{name}`; there are {}", known.join(", "))
        })
    }
}

mod git;
