//! The format of plugin files, as types. The schema for editors is generated from them.

use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, generate::SchemaSettings, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The longest template of a command or URL, in bytes.
pub(super) const MAX_TEMPLATE_BYTES: usize = 16 * 1024;

/// A plugin file: tools for toolwright, each with a description for the model and a handler that does the work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PluginConfigFile {
    /// The schema of this file, for editors.
    #[serde(rename = "$schema", default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<String>,
    /// The name of the tools as a whole, such as `my-tools`.
    #[schemars(length(min = 1, max = 100))]
    pub name: String,
    /// The version of the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 100))]
    pub version: Option<String>,
    /// The tools.
    #[schemars(length(max = 200))]
    pub tools: Vec<PluginToolDefinition>,
}

/// One tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PluginToolDefinition {
    /// The name by which models call the tool. No other tool may have it.
    #[schemars(regex(pattern = "^[a-zA-Z0-9_-]{1,64}$"))]
    pub name: String,
    /// What the tool does and when to call it. Models read it.
    #[schemars(length(min = 1, max = 20_000))]
    pub description: String,
    /// JSON Schema of the parameters. A `default` is used where a call leaves the parameter out.
    #[schemars(schema_with = "object_schema")]
    pub input_schema: Value,
    /// How the tool does its work.
    pub handler: HandlerConfig,
}

/// How a tool does its work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "kebab-case")]
pub enum HandlerConfig {
    /// Runs a command.
    Shell(ShellHandlerConfig),
    /// Sends a request.
    Http(HttpHandlerConfig),
    /// Reads a file.
    FileRead(FileReadHandlerConfig),
}

/// Runs a command. Its output is the answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ShellHandlerConfig {
    /// The command. `{{name}}` stands for a parameter, whose value is always a single argument and never read
    /// by a shell. An argument whose parameter is missing is left out.
    #[schemars(length(min = 1, max = MAX_TEMPLATE_BYTES))]
    pub command: String,
    /// How long it may run, in milliseconds. Default: 30000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 600_000))]
    pub timeout: Option<u32>,
    /// The directory to run it in, absolute, from home (`~/…`) or relative to the workspace. Default: the
    /// workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 4_096))]
    pub cwd: Option<String>,
}

/// The method of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
pub enum HttpMethod {
    /// Without a body.
    Get,
    /// With a JSON body of the parameters that the URL does not use.
    #[default]
    Post,
    /// With a JSON body of the parameters that the URL does not use.
    Put,
}

/// Sends a request. The body of the response is the answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct HttpHandlerConfig {
    /// The address, `http` or `https`. `{{name}}` stands for a parameter, which is encoded for its place. At the
    /// very beginning it stands for a URL.
    #[schemars(length(min = 1, max = MAX_TEMPLATE_BYTES))]
    pub url: String,
    /// Default: POST. Parameters that the URL does not use are the JSON body of POST and PUT.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<HttpMethod>,
    /// Headers to send. They are fixed: placeholders are not replaced in them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// How long it may take, in milliseconds. Default: 10000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 600_000))]
    pub timeout: Option<u32>,
}

/// Reads the file that the parameter `path` names.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FileReadHandlerConfig {
    /// The directory that the file has to be in, absolute, from home (`~/…`) or relative to the workspace.
    #[schemars(length(min = 1, max = 4_096))]
    pub base_path: String,
    /// The largest file that is read, in bytes. Default: 1048576.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 67_108_864))]
    pub max_size: Option<u32>,
}

/// The schema of an input schema: only what holds for every input schema.
fn object_schema(_generator: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "properties": { "type": { "const": "object" }, "properties": { "type": "object" } },
        "required": ["type"]
    })
}

/// The schema of plugin files for editors. It is draft 7, which editors support best.
pub fn plugin_file_schema() -> Value {
    let generator = SchemaSettings::draft07().into_generator();
    generator.into_root_schema_for::<PluginConfigFile>().to_value()
}
