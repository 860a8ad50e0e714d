//! What `createToolRegistry` is given, after the facade took its callbacks out.

use std::{path::PathBuf, sync::Arc};

use schemars::JsonSchema;
use serde::{Deserialize, de::DeserializeOwned};

use super::envelope::{parsed, plain_cause};
use crate::{
    error::{ErrorKind, ToolError},
    mcp::ServerIdentity,
    pipeline::{Limits, Pipeline},
    registry::ToolSource,
    session::Sessions,
    tool::{InputValidator, derived_schema},
    tools::{AUTO_ALLOWED, AUTO_ALLOWED_KIN, ToolSet},
    workspace::Roots,
};

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Options {
    project_path: PathBuf,
    #[serde(default)]
    additional_directories: Vec<PathBuf>,
    #[serde(default)]
    toolsets: Vec<String>,
    #[schemars(length(min = 1))]
    server_name: String,
    version: String,
    #[serde(default)]
    instructions: Option<String>,
    #[serde(default)]
    allowed_tools: Vec<String>,
    #[serde(default)]
    disallowed_tools: Vec<String>,
    #[serde(default)]
    limits: Limits,
}

/// Parses what a host gave, with messages that name the field at fault.
pub(super) fn read<T: DeserializeOwned + JsonSchema>(
    json: &str,
    noun: &'static str,
    kind: ErrorKind,
) -> Result<T, ToolError> {
    let wrong = |message| ToolError::new(kind, message);
    let validator = InputValidator::new(&derived_schema::<T>())
        .map_err(|err| ToolError::new(ErrorKind::Internal, err.to_string()))?;
    let value = parsed(json, kind)?;
    let value = validator.naming(noun).accept(value).map_err(|err| wrong(err.message))?;
    serde_json::from_value(value).map_err(|err| wrong(plain_cause(&err)))
}

impl Options {
    pub(super) fn build(self) -> Result<(Pipeline, ServerIdentity), ToolError> {
        let roots = Roots::new(&self.project_path, &self.additional_directories)?;
        let pipeline = Pipeline::new(Sessions::new(Arc::new(roots)), self.limits);
        for name in &self.toolsets {
            let set: ToolSet = name
                .parse()
                .map_err(|err: String| ToolError::new(ErrorKind::InvalidOptions, err))?;
            for tool in set.tools() {
                pipeline.registry.register(tool, ToolSource::Builtin(set.as_str()))?;
            }
        }
        let auto_allowed = AUTO_ALLOWED.iter().chain(&AUTO_ALLOWED_KIN).map(|it| (*it).to_owned());
        pipeline.registry.allow(auto_allowed.chain(self.allowed_tools));
        pipeline.registry.disable(self.disallowed_tools);
        let identity = ServerIdentity {
            name: self.server_name,
            version: self.version,
            instructions: self.instructions,
        };
        Ok((pipeline, identity))
    }
}
