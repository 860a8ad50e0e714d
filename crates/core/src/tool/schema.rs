//! Input schemas: derived from the types of built-in tools, and checked when hosts and servers provide
//! them.

use std::mem;

use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::{Map, Value, json};

/// The largest schema that is accepted from a host or server, in bytes of JSON.
const MAX_FOREIGN_BYTES: usize = 256 * 1024;
/// The deepest nesting that is accepted, because compiling a schema recurses.
const MAX_FOREIGN_DEPTH: usize = 48;

/// Why a schema from a host or server was refused.
#[derive(Debug, thiserror::Error)]
pub enum SchemaError {
    /// The schema does not describe an object.
    #[error("input schema must be a JSON Schema of `type: \"object\"`, got {0}")]
    NotAnObject(String),
    /// The schema has this many bytes of JSON, which is too large.
    #[error("input schema has {0} bytes of JSON; at most {MAX_FOREIGN_BYTES} are accepted")]
    TooLarge(usize),
    /// The schema is nested too deeply.
    #[error("input schema is nested deeper than {MAX_FOREIGN_DEPTH} levels")]
    TooDeep,
    /// The schema cannot be compiled, for this reason.
    #[error("input schema is not valid JSON Schema: {0}")]
    Invalid(String),
}

/// The schema of an input type, in the simple form that every provider accepts.
pub fn derived_schema<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    simplify(&mut schema, Nulls::MeanAbsent);
    if let Some(root) = schema.as_object_mut() {
        root.entry("properties").or_insert_with(|| json!({}));
    }
    schema
}

/// The schema of a built-in tool's result data, for programs; none for a type without values.
pub(crate) fn derived_output_schema<T: JsonSchema>() -> Option<Value> {
    let settings = SchemaSettings::draft2020_12().for_serialize().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    simplify(&mut schema, Nulls::AreValues);
    // The doc comment of the type is not a description of the tool.
    let root = schema.as_object_mut().filter(|it| !it.contains_key("not"))?;
    root.remove("description");
    root.insert("type".to_owned(), json!("object"));
    Some(schema)
}

/// How to treat `null` in a schema.
#[derive(Clone, Copy)]
enum Nulls {
    /// It means the same as an absent value, so it is not shown.
    MeanAbsent,
    /// It is a value for a required property. An optional property is omitted instead.
    AreValues,
}

/// Removes what Rust types add and readers do not need: titles, number formats, `null` for optional,
/// the line breaks of comments, the default of switches.
fn simplify(schema: &mut Value, nulls: Nulls) {
    let Some(node) = schema.as_object_mut() else { return };
    node.remove("title");
    node.remove("format");
    if let Some(Value::String(text)) = node.get_mut("description") {
        *text = text.replace('\n', " ");
    }
    match nulls {
        Nulls::MeanAbsent => forget_null(node),
        Nulls::AreValues => forget_null_of_optional(node),
    }
    flatten_choices(node);
    // A switch that is not set is off.
    if matches!(node.get("default"), Some(Value::Null | Value::Bool(false))) {
        node.remove("default");
    }
    for key in ["properties", "$defs"] {
        if let Some(Value::Object(children)) = node.get_mut(key) {
            children.values_mut().for_each(|it| simplify(it, nulls));
        }
    }
    for key in ["items", "additionalProperties"] {
        if let Some(child) = node.get_mut(key) {
            simplify(child, nulls);
        }
    }
    for key in ["anyOf", "oneOf", "allOf"] {
        if let Some(Value::Array(children)) = node.get_mut(key) {
            for child in children {
                simplify(child, nulls);
            }
        }
    }
}

fn forget_null_of_optional(node: &mut Map<String, Value>) {
    let required = node.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    let Some(Value::Object(properties)) = node.get_mut("properties") else { return };
    for (name, property) in properties {
        if let (false, Value::Object(property)) = (required.iter().any(|it| it == name), property) {
            forget_null(property);
        }
    }
}

fn forget_null(node: &mut Map<String, Value>) {
    if let Some(Value::Array(types)) = node.get_mut("type") {
        types.retain(|it| it != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            node.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(values)) = node.get_mut("enum") {
        values.retain(|it| !it.is_null());
    }
    if let Some(Value::Array(choices)) = node.get_mut("anyOf") {
        choices.retain(|it| it != &json!({ "type": "null" }));
        if choices.len() == 1
            && let Some(Value::Object(only)) = choices.pop()
        {
            node.remove("anyOf");
            // The description of the field overrides that of its type.
            for (key, value) in only {
                node.entry(key).or_insert(value);
            }
        }
    }
}

/// schemars derives a choice of constants from a documented enum. Models and providers understand `enum`
/// better, so the constants are put into one, and their documentation into the description.
fn flatten_choices(node: &mut Map<String, Value>) {
    let Some(choices) = node.get("oneOf").and_then(Value::as_array) else { return };
    let constants: Option<Vec<Value>> = choices.iter().map(|it| it.get("const").cloned()).collect();
    let Some(constants) = constants.filter(|it| it.iter().all(Value::is_string)) else { return };
    let mut sentences: Vec<String> =
        node.get("description").and_then(Value::as_str).map(str::to_owned).into_iter().collect();
    for choice in choices {
        if let (Some(value), Some(said)) = (
            choice.get("const").and_then(Value::as_str),
            choice.get("description").and_then(Value::as_str),
        ) {
            sentences.push(format!("`{value}`: {said}"));
        }
    }
    node.remove("oneOf");
    node.insert("type".to_owned(), json!("string"));
    node.insert("enum".to_owned(), Value::Array(constants));
    node.insert("description".to_owned(), json!(sentences.join(" ")));
}

/// The largest safe integer of JavaScript. As a bound it only says that a number is an integer, which
/// its type already says.
const LARGEST_SAFE_INTEGER: i64 = 9_007_199_254_740_991;

/// Adapts a text for models: it may name other tools, which have different names in different sets.
pub type Words<'w> = &'w dyn Fn(&str) -> String;

/// The schema for models, with its texts adapted by `words`. Bounds that only reflect how numbers are
/// stored are left out; inputs are still validated against them.
pub fn shown_schema(schema: &Value, words: Words<'_>) -> Value {
    let mut shown = schema.clone();
    show(&mut shown, words);
    shown
}

fn show(schema: &mut Value, words: Words<'_>) {
    match schema {
        Value::Object(node) => {
            node.retain(|key, value| {
                let is_bound = key.ends_with("imum") || key.ends_with("Maximum");
                let bound = value.as_i64().filter(|_| is_bound);
                bound.is_none_or(|it| it.unsigned_abs() < LARGEST_SAFE_INTEGER.unsigned_abs())
            });
            if let Some(Value::String(text)) = node.get_mut("description") {
                *text = words(text);
            }
            // The values below these keys are data and must not be changed.
            let data = ["default", "const", "enum", "examples"];
            for (_, part) in node.iter_mut().filter(|(key, _)| !data.contains(&key.as_str())) {
                show(part, words);
            }
        }
        Value::Array(parts) => parts.iter_mut().for_each(|it| show(it, words)),
        _ => {}
    }
}

/// Refuses a schema that could not be shown to a model or would endanger the host.
pub fn check_foreign_schema(schema: &Value) -> Result<(), SchemaError> {
    let Some(root) = schema.as_object() else {
        return Err(SchemaError::NotAnObject(super::input::kind_of(schema).to_owned()));
    };
    match root.get("type") {
        Some(Value::String(kind)) if kind == "object" => {}
        Some(other) => return Err(SchemaError::NotAnObject(format!("`type: {other}`"))),
        None => return Err(SchemaError::NotAnObject("no `type`".to_owned())),
    }
    let bytes = schema.to_string().len();
    if bytes > MAX_FOREIGN_BYTES {
        return Err(SchemaError::TooLarge(bytes));
    }
    if depth_exceeds(schema, MAX_FOREIGN_DEPTH) {
        return Err(SchemaError::TooDeep);
    }
    Ok(())
}

/// The schema, with unknown parameters refused at the top level, unless the schema already handles
/// them.
pub fn closed_schema(schema: &Value) -> Value {
    let says = ["additionalProperties", "unevaluatedProperties", "patternProperties", "$ref"];
    let combines = ["allOf", "anyOf", "oneOf", "if", "dependentSchemas"];
    let mut schema = schema.clone();
    if let Some(root) = schema.as_object_mut()
        // `{ type: "object" }` alone accepts any object.
        && root.get("properties").and_then(Value::as_object).is_some_and(|it| !it.is_empty())
        && !says.iter().chain(&combines).any(|key| root.contains_key(*key))
    {
        root.insert("additionalProperties".to_owned(), Value::Bool(false));
    }
    schema
}

/// True for a schema that refers to parts of itself. This can expand a small schema into a large one,
/// so that validation is slow.
pub fn has_references(schema: &Value) -> bool {
    match schema {
        Value::Object(fields) => fields.iter().any(|(key, value)| {
            ["$ref", "$dynamicRef", "$recursiveRef"].contains(&key.as_str())
                || has_references(value)
        }),
        Value::Array(items) => items.iter().any(has_references),
        _ => false,
    }
}

fn depth_exceeds(value: &Value, levels: usize) -> bool {
    let Some(below) = levels.checked_sub(1) else { return true };
    match value {
        Value::Array(items) => items.iter().any(|it| depth_exceeds(it, below)),
        Value::Object(fields) => fields.values().any(|it| depth_exceeds(it, below)),
        _ => false,
    }
}

/// The schema in the form that providers require for strict mode: every property is required, optional
/// ones may be `null`, and no others are allowed. Input validation treats such a `null` as absent.
pub fn strict_schema(schema: &Value) -> Value {
    let mut strict = schema.clone();
    make_strict(&mut strict);
    strict
}

fn make_strict(schema: &mut Value) {
    let Some(node) = schema.as_object_mut() else { return };
    if let Some(items) = node.get_mut("items") {
        make_strict(items);
    }
    if let Some(Value::Object(definitions)) = node.get_mut("$defs") {
        definitions.values_mut().for_each(make_strict);
    }
    for key in ["anyOf", "oneOf", "allOf"] {
        if let Some(Value::Array(children)) = node.get_mut(key) {
            children.iter_mut().for_each(make_strict);
        }
    }
    if node.get("type").and_then(Value::as_str) != Some("object") {
        return;
    }
    let required: Vec<Value> =
        node.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    let properties = node.entry("properties").or_insert_with(|| json!({}));
    let mut names = Vec::new();
    if let Some(properties) = properties.as_object_mut() {
        for (name, property) in properties {
            make_strict(property);
            if let Some(property) = property.as_object_mut() {
                property.remove("default");
            }
            if !required.iter().any(|it| it == name) {
                make_nullable(property);
            }
            names.push(Value::String(name.clone()));
        }
    }
    node.insert("required".to_owned(), Value::Array(names));
    node.insert("additionalProperties".to_owned(), Value::Bool(false));
}

fn make_nullable(property: &mut Value) {
    let Some(node) = property.as_object_mut() else { return };
    match node.get_mut("type") {
        Some(Value::String(kind)) => {
            let kind = mem::take(kind);
            node.insert("type".to_owned(), json!([kind, "null"]));
        }
        Some(Value::Array(kinds)) if !kinds.iter().any(|it| it == "null") => {
            kinds.push(json!("null"));
        }
        Some(_) => {}
        None => {
            let whole = Value::Object(mem::replace(node, Map::new()));
            node.insert("anyOf".to_owned(), json!([whole, { "type": "null" }]));
        }
    }
    if let Some(Value::Array(values)) = node.get_mut("enum")
        && !values.contains(&Value::Null)
    {
        values.push(Value::Null);
    }
}
