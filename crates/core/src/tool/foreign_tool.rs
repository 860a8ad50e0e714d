//! A tool that a host or an MCP server declares.

use serde_json::Value;
use toolwright_base::{Annotations, HintsFrom, OutputSpec, SideEffect, ToolKind, ToolSpec};

use super::{ForeignInput, SchemaError, shown_schema};

/// The declaration of a tool.
pub struct ForeignTool {
    /// The name under which it is registered.
    pub name: String,
    /// Its title. By default it is the title of the annotations, or the name.
    pub title: Option<String>,
    /// What it does, for the model.
    pub description: String,
    /// The schema of its input.
    pub input_schema: Value,
    /// Hints on what it does.
    pub annotations: Annotations,
    /// Which party gives the hints: a server is trusted less than the host.
    pub hints_from: HintsFrom,
    /// What it changes. By default the hints decide.
    pub side_effect: Option<SideEffect>,
    /// The data of its answers, if it declares them.
    pub output: Option<OutputSpec>,
    /// Whether a model sees it from the start.
    pub always_load: Option<bool>,
}

impl ForeignTool {
    /// The specification, and the validator of the input. Fails if the schema cannot be used.
    pub fn build(self) -> Result<(ToolSpec, ForeignInput), SchemaError> {
        let input = ForeignInput::new(&self.input_schema)?;
        let by_hints = || self.annotations.side_effect(self.hints_from);
        let side_effect = self.side_effect.unwrap_or_else(by_hints);
        let title = self.title.or_else(|| self.annotations.title.clone());
        let spec = ToolSpec {
            title: title.unwrap_or_else(|| self.name.clone()),
            name: self.name,
            description: self.description,
            input_schema: shown_schema(&self.input_schema, &str::to_owned),
            output: self.output,
            side_effect,
            kind: ToolKind::PLAIN,
            annotations: self.annotations,
            always_load: self.always_load,
        };
        Ok((spec, input))
    }
}
