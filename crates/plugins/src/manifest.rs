//! Checks plugin files. Every error is reported, and the valid tools of a file can be used regardless.

use serde_json::{Map, Value, json};
use toolwright_base::{NAME_RULE, SHOWN_NAME, is_valid_name, shortened};
use toolwright_core::{
    InputValidator, check_foreign_schema, closed_schema, derived_schema, kind_of,
};
use toolwright_tools::catalogue;

use super::{
    command_template::CommandTemplate,
    definition::{
        FileReadHandlerConfig, HandlerConfig, HttpHandlerConfig, PluginConfigFile,
        PluginToolDefinition, ShellHandlerConfig,
    },
    file_handler::FileHandler,
    http_handler::HttpHandler,
    parameter::Parameters,
    plugin_tool::{PluginHandler, PluginTool},
    shell_handler::ShellHandler,
};

/// A file whose top-level fields are valid.
pub struct CheckedFile {
    /// The name of its tools as a whole.
    pub name: String,
    /// Its version.
    pub version: Option<String>,
    pub(super) tools: Vec<Result<PluginTool, ToolProblems>>,
}

/// The errors in one tool of a file.
#[derive(Clone, Debug)]
pub(super) struct ToolProblems {
    /// Its name, if it has one.
    pub(super) name: Option<String>,
    pub(super) problems: Vec<String>,
}

impl CheckedFile {
    /// Every error in the file's tools, with the tool's index and name.
    pub fn problems(&self) -> Vec<String> {
        let mut all = Vec::new();
        for (index, tool) in self.tools.iter().enumerate() {
            let Err(wrong) = tool else { continue };
            let name = wrong.name.as_ref().map(|it| format!(" (`{it}`)")).unwrap_or_default();
            all.extend(wrong.problems.iter().map(|it| format!("tools[{index}]{name}: {it}")));
        }
        let mut names = Vec::new();
        for tool in self.tools.iter().flatten() {
            let name = &tool.definition().name;
            if names.contains(&name) {
                all.push(format!("two tools are named `{name}`; rename one"));
            }
            names.push(name);
        }
        all
    }

    /// The parsed file, if everything in it is valid.
    pub fn config(&self) -> Option<PluginConfigFile> {
        let tools = self.tools.iter().map(|it| Some(it.as_ref().ok()?.definition().clone()));
        Some(PluginConfigFile {
            schema: None,
            name: self.name.clone(),
            version: self.version.clone(),
            tools: tools.collect::<Option<_>>()?,
        })
    }
}

/// Checks a whole file. Fails if its top-level fields are invalid.
pub fn check_file(value: &Value) -> Result<CheckedFile, String> {
    ManifestCheck::new()?.file(value)
}

/// Checks the definition of one tool. The error lists every problem.
pub fn check_tool(value: &Value) -> Result<(), Vec<String>> {
    let check = ManifestCheck::new().map_err(|it| vec![it])?;
    check.tool(value).map(|_| ()).map_err(|it| it.problems)
}

/// The compiled schemas that files are checked against.
pub(super) struct ManifestCheck {
    file: InputValidator,
    tool: InputValidator,
    shell: InputValidator,
    http: InputValidator,
    file_read: InputValidator,
    builtin: Vec<String>,
}

impl ManifestCheck {
    pub(super) fn new() -> Result<Self, String> {
        let compiled = |schema: &Value| {
            InputValidator::new(schema).map(|it| it.naming("field")).map_err(|err| err.to_string())
        };
        // Nested parts are checked separately, so that an error in one does not hide errors in the others.
        let mut file = derived_schema::<PluginConfigFile>();
        open(&mut file, "tools", &json!({ "type": "array", "maxItems": 200 }));
        let mut tool = derived_schema::<PluginToolDefinition>();
        for (part, schema) in [
            ("inputSchema", json!({ "type": "object" })),
            ("handler", json!({ "type": "object" })),
            ("name", json!({ "type": "string", "minLength": 1 })),
        ] {
            open(&mut tool, part, &schema);
        }
        Ok(Self {
            file: compiled(&file)?,
            tool: compiled(&tool)?,
            shell: compiled(&derived_schema::<ShellHandlerConfig>())?,
            http: compiled(&derived_schema::<HttpHandlerConfig>())?,
            file_read: compiled(&derived_schema::<FileReadHandlerConfig>())?,
            builtin: catalogue().names().map(str::to_owned).collect(),
        })
    }

    pub(super) fn file(&self, value: &Value) -> Result<CheckedFile, String> {
        let accepted = self.file.accept(checked_object(value)?).map_err(|err| err.message)?;
        let text = |key: &str| accepted.get(key).and_then(Value::as_str).map(str::to_owned);
        let tools = accepted.get("tools").and_then(Value::as_array);
        Ok(CheckedFile {
            name: text("name").unwrap_or_default(),
            version: text("version"),
            tools: tools.into_iter().flatten().map(|it| self.tool(it)).collect(),
        })
    }

    fn tool(&self, value: &Value) -> Result<PluginTool, ToolProblems> {
        let shown_name = |it: &str| shortened(it, SHOWN_NAME).into_owned();
        let name = value.get("name").and_then(Value::as_str).map(shown_name);
        let wrong = |problems: Vec<String>| ToolProblems { name: name.clone(), problems };
        let value = checked_object(value).map_err(|it| wrong(vec![it]))?;
        let value = self.tool.accept(value).map_err(|err| wrong(vec![err.message]))?;
        let field = |key: &str| value.get(key).cloned().unwrap_or_default();
        let text = |key: &str| field(key).as_str().unwrap_or_default().to_owned();
        let (name, schema) = (text("name"), field("inputSchema"));
        let mut problems = Vec::from_iter(self.name_problem(&name));
        let checked_schema = check_schema(&schema);
        let parameters = Parameters::of_schema(&schema);
        let handler = self.handler(&field("handler"), &parameters);
        match (checked_schema, handler) {
            (Ok(validator), Ok((config, handler))) if problems.is_empty() => {
                let description = text("description");
                let definition = PluginToolDefinition {
                    name,
                    description,
                    input_schema: schema,
                    handler: config,
                };
                Ok(PluginTool::new(definition, validator, parameters, handler))
            }
            (schema, handler) => {
                problems.extend(schema.err());
                problems.extend(handler.err());
                Err(wrong(problems))
            }
        }
    }

    fn name_problem(&self, name: &str) -> Option<String> {
        let shown = shortened(name, SHOWN_NAME);
        if !is_valid_name(name) {
            Some(format!("field `name`: `{shown}` cannot be a tool's name; use {NAME_RULE}"))
        } else if self.builtin.iter().any(|it| it == name) {
            Some(format!("field `name`: a built-in tool is named `{shown}`; choose another name"))
        } else if name.starts_with("mcp__") {
            Some(format!(
                "field `name`: `{shown}` begins like the tools of MCP servers; choose another name"
            ))
        } else {
            None
        }
    }

    fn handler(
        &self,
        value: &Value,
        parameters: &Parameters,
    ) -> Result<(HandlerConfig, PluginHandler), String> {
        let kinds = "`shell`, `http` or `file-read`";
        let mut fields = value.as_object().cloned().unwrap_or_default();
        let kind = match fields.shift_remove("type") {
            None => return Err(format!("missing required field `handler.type`, expected {kinds}")),
            Some(Value::String(kind)) => kind,
            Some(other) => {
                return Err(format!(
                    "field `handler.type`: expected {kinds}, got {}",
                    kind_of(&other)
                ));
            }
        };
        let in_handler = |err: String| format!("handler: {err}");
        let checked = match kind.as_str() {
            "shell" => {
                let config: ShellHandlerConfig = read(&self.shell, fields)?;
                let command = CommandTemplate::read(&config.command, parameters)
                    .map_err(|err| format!("field `handler.command`: {err}"))?;
                let handler = PluginHandler::Shell(ShellHandler::new(&config, command));
                (HandlerConfig::Shell(config), handler)
            }
            "http" => {
                let config: HttpHandlerConfig = read(&self.http, fields)?;
                let handler = HttpHandler::new(&config, parameters).map_err(in_handler)?;
                (HandlerConfig::Http(config), PluginHandler::Http(handler))
            }
            "file-read" => {
                let config: FileReadHandlerConfig = read(&self.file_read, fields)?;
                let handler = FileHandler::new(&config, parameters).map_err(in_handler)?;
                (HandlerConfig::FileRead(config), PluginHandler::FileRead(handler))
            }
            other => {
                let shown = shortened(other, 60);
                return Err(format!(
                    "field `handler.type`: expected {kinds}, got the string `{shown}`"
                ));
            }
        };
        Ok(checked)
    }
}

fn read<T: serde::de::DeserializeOwned>(
    validator: &InputValidator,
    fields: Map<String, Value>,
) -> Result<T, String> {
    let accepted = validator
        .accept(Value::Object(fields))
        .map_err(|err| format!("handler: {}", err.message))?;
    serde_json::from_value(accepted).map_err(|err| format!("handler: {err}"))
}

/// Compiles an input schema and checks its defaults against it.
fn check_schema(schema: &Value) -> Result<InputValidator, String> {
    let in_field = |err: String| format!("field `inputSchema`: {err}");
    check_foreign_schema(schema).map_err(|err| in_field(err.to_string()))?;
    let closed = closed_schema(schema);
    let validator = InputValidator::new(&closed).map_err(|err| in_field(err.to_string()))?;
    let mut lenient = closed;
    if let Some(root) = lenient.as_object_mut() {
        root.remove("required");
    }
    let lenient = InputValidator::new(&lenient).map_err(|err| in_field(err.to_string()))?;
    for (name, default) in Parameters::of_schema(schema).defaults() {
        let alone = Map::from_iter([(name.clone(), default.clone())]);
        lenient.accept(Value::Object(alone)).map_err(|err| {
            in_field(format!("the default of `{name}` does not fit: {}", err.message))
        })?;
    }
    Ok(validator)
}

/// Replaces the schema of a part, because the part is checked separately.
fn open(schema: &mut Value, part: &str, by: &Value) {
    if let Some(place) = schema.get_mut("properties").and_then(|it| it.get_mut(part)) {
        *place = by.clone();
    }
}

fn checked_object(value: &Value) -> Result<Value, String> {
    if value.is_object() {
        Ok(value.clone())
    } else {
        Err(format!("expected an object, got {}", kind_of(value)))
    }
}
