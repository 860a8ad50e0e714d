//! The tools as models and clients are told of them: what each says of itself, where the workspace is, and
//! what data answers carry. Every format and every door takes its words from here.

mod structured;

use std::borrow::Cow;

use serde_json::{Map, Value};

pub use structured::StructuredContent;

use crate::{
    registry::{Entry, Snapshot},
    tool::{ToolFamily, shown_path},
    workspace::Roots,
};

/// How many directories beside the first are named.
const MAX_NAMED: usize = 8;

/// What a model is told of one tool.
pub struct Definition<'a> {
    /// The tool, with what it says of itself.
    pub entry: &'a Entry,
    /// What a model reads of it.
    pub description: Cow<'a, str>,
    /// What its data look like, where answers carry them.
    pub output_schema: Option<Map<String, Value>>,
}

/// The tools of one moment, with what is told of them as a whole.
pub struct Definitions<'a> {
    tools: &'a Snapshot,
    /// The tool whose description names the workspace, and the sentence.
    workspace: Option<(u64, String)>,
    structured_content: StructuredContent,
}

impl<'a> Definitions<'a> {
    /// The definitions of these tools over this workspace.
    pub fn new(tools: &'a Snapshot, roots: &Roots, structured_content: StructuredContent) -> Self {
        let workspace = teller(tools).map(|it| (it.id, workspace_sentence(roots)));
        Self { tools, workspace, structured_content }
    }

    /// Every tool that is not switched off, by name.
    pub fn all(&self) -> impl Iterator<Item = Definition<'a>> {
        self.tools.enabled().map(|it| self.of(it))
    }

    /// One of the tools.
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

    /// Where the workspace is, if one of the tools has to do with it.
    pub fn workspace(&self) -> Option<&str> {
        self.workspace.as_ref().map(|(_, sentence)| sentence.as_str())
    }
}

/// The tool whose description names the workspace. A model reads all of them, so one is enough: the first
/// that takes paths, or else the first that runs commands there.
fn teller(tools: &Snapshot) -> Option<&Entry> {
    let first_of = |families: &[ToolFamily]| {
        tools
            .entries()
            .filter(|it| it.tool.spec().kind.family.is_some_and(|it| families.contains(&it)))
            .find(|it| !tools.is_disabled(&it.tool.spec().name))
    };
    first_of(&[ToolFamily::ReadsFiles, ToolFamily::EditsFiles])
        .or_else(|| first_of(&[ToolFamily::RunsCommands]))
}

/// Tools want absolute paths, and nothing else tells a model what those begin with.
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
