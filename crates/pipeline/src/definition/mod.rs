//! The tool definitions for models and clients.
//!
//! A definition is the tool's description, the path of the workspace, and the schema of its structured
//! data. Every provider format and MCP use the definitions of this module, so that they all agree.

mod structured;

use std::borrow::Cow;

use serde_json::{Map, Value};
use toolwright_base::{ToolFamily, shown_path};
use toolwright_core::{Entry, Snapshot};
use toolwright_files::Roots;

pub use structured::StructuredContent;

/// How many workspace directories are named in addition to the first.
const MAX_NAMED: usize = 8;

/// The definition of one tool.
pub struct Definition<'a> {
    /// The registered tool.
    pub entry: &'a Entry,
    /// The description for models.
    pub description: Cow<'a, str>,
    /// The schema of its structured data, if results include data.
    pub output_schema: Option<Map<String, Value>>,
}

/// The definitions of all tools in a snapshot of a registry.
pub struct Definitions<'a> {
    tools: &'a Snapshot,
    /// The id of the tool whose description names the workspace, with that sentence.
    workspace: Option<(u64, String)>,
    structured_content: StructuredContent,
}

impl<'a> Definitions<'a> {
    /// The definitions of a snapshot's tools, for a workspace.
    pub fn new(tools: &'a Snapshot, roots: &Roots, structured_content: StructuredContent) -> Self {
        let workspace = workspace_tool(tools).map(|it| (it.id, workspace_sentence(roots)));
        Self { tools, workspace, structured_content }
    }

    /// The definitions of all enabled tools, ordered by name.
    pub fn all(&self) -> impl Iterator<Item = Definition<'a>> {
        self.tools.enabled().map(|it| self.of(it))
    }

    /// The definition of one of the tools.
    pub fn of(&self, entry: &'a Entry) -> Definition<'a> {
        let spec = entry.tool.spec();
        let description = match &self.workspace {
            Some((id, sentence)) if *id == entry.id => {
                Cow::Owned(format!("{}\n\n{sentence}", spec.description))
            }
            _ => Cow::Borrowed(spec.description.as_str()),
        };
        Definition { entry, description, output_schema: self.structured_content.schema(spec) }
    }

    /// The sentence that says where the workspace is, if a tool works with it.
    pub fn workspace(&self) -> Option<&str> {
        self.workspace.as_ref().map(|(_, sentence)| sentence.as_str())
    }
}

/// The tool whose description names the workspace: the first that takes paths, or else the first that
/// runs commands. One is enough, because a model reads all descriptions.
fn workspace_tool(tools: &Snapshot) -> Option<&Entry> {
    let first_of = |families: &[ToolFamily]| {
        tools
            .entries()
            .filter(|it| it.tool.spec().kind.family.is_some_and(|it| families.contains(&it)))
            .find(|it| !tools.is_disabled(&it.tool.spec().name))
    };
    first_of(&[ToolFamily::ReadsFiles, ToolFamily::EditsFiles])
        .or_else(|| first_of(&[ToolFamily::RunsCommands]))
}

/// A sentence with the path of the workspace. Tools need absolute paths, and a model learns their
/// prefix only from here.
fn workspace_sentence(roots: &Roots) -> String {
    let in_backticks = |it: &std::path::PathBuf| format!("`{}`", shown_path(it));
    let first = format!("The workspace is `{}`", shown_path(roots.first()));
    let others = roots.all().get(1..).unwrap_or_default();
    if others.is_empty() {
        return format!("{first}; absolute paths begin with it.");
    }
    let names: Vec<String> = others.iter().take(MAX_NAMED).map(in_backticks).collect();
    let more = match others.len().saturating_sub(MAX_NAMED) {
        0 => String::new(),
        count => format!(" and {count} more"),
    };
    format!("{first}, with {}{more}; absolute paths begin with one of these.", names.join(", "))
}
