//! What the specification of every built-in tool has to fulfil, so that every provider and both agent hosts
//! accept it.

use std::collections::HashSet;

use serde_json::{Value, json};
use toolwright_base::is_valid_name;
use toolwright_core::InputValidator;
use toolwright_tools::ToolSet;

#[test]
fn every_provider_accepts_every_tool() {
    let mut names = HashSet::new();
    for tool in ToolSet::ALL.iter().flat_map(|set| set.tools()) {
        let spec = tool.spec();
        let name = &spec.name;
        assert!(is_valid_name(name), "{name}");
        assert!(names.insert(name.clone()), "{name} is in two sets");
        assert!(
            names.is_disjoint(&tool.aliases().iter().map(|&it| it.to_owned()).collect()),
            "{name}"
        );
        // Claude's hosts truncate longer descriptions.
        assert!((1..=4_096).contains(&spec.description.chars().count()), "{name}");
        let schema = &spec.input_schema;
        assert_eq!(schema["type"], "object", "{name}");
        // The Agent SDK drops a tool whose schema has one of these at the top level.
        for keyword in ["anyOf", "oneOf", "allOf", "$ref", "$schema", "$defs"] {
            assert!(schema.get(keyword).is_none(), "{name} has {keyword}");
        }
        assert_eq!(schema["additionalProperties"], false, "{name} accepts unknown parameters");
        for (parameter, property) in schema["properties"].as_object().unwrap() {
            assert!(property["description"].is_string(), "{name}.{parameter} has no description");
            // The value of a setting has one of three types.
            let is_plain = property["type"].is_string()
                || (name == "Config" && property["type"] == json!(["string", "boolean", "number"]));
            assert!(is_plain, "{name}.{parameter} has no plain type: {property}");
        }
        assert!(InputValidator::new(schema).is_ok(), "{name}");
    }
}

#[test]
fn every_tool_has_an_output_schema() {
    for tool in ToolSet::ALL.iter().flat_map(|set| set.tools()) {
        let spec = tool.spec();
        let name = &spec.name;
        let Some(schema) = &spec.output.as_ref().unwrap().schema else {
            assert!(name.starts_with("diagnostic_"), "{name} has no data");
            continue;
        };
        assert_eq!(schema["type"], "object", "{name}");
        // Over MCP, `text` is added to the data if they do not contain the text of the answer.
        assert!(schema["properties"].get("text").is_none(), "{name}");
        assert!(!schema.to_string().contains("\"$ref\""), "{name}");
        assert!(InputValidator::new(schema).is_ok(), "{name}");
    }
}

#[test]
fn every_tool_refuses_an_input_without_required_parameters() {
    for tool in ToolSet::ALL.iter().flat_map(|set| set.tools()) {
        let validator = InputValidator::new(&tool.spec().input_schema).unwrap();
        let has_required = tool.spec().input_schema.get("required").is_some();
        assert_eq!(validator.accept(Value::Null).is_err(), has_required, "{}", tool.spec().name);
    }
}
