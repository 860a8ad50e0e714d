//! What every built-in tool has to keep to, so that every provider and both agent hosts take it.

use std::collections::HashSet;

use serde_json::{Value, json};
use toolwright::{
    tool::{InputValidator, is_valid_name},
    tools::ToolSet,
};

#[test]
fn every_tool_can_be_told_to_every_provider() {
    let mut names = HashSet::new();
    for tool in ToolSet::ALL.iter().flat_map(|set| set.tools()) {
        let spec = tool.spec();
        let name = &spec.name;
        assert!(is_valid_name(name), "{name}");
        assert!(names.insert(name.clone()), "{name} stands in two sets");
        assert!(
            names.is_disjoint(&tool.aliases().iter().map(|&it| it.to_owned()).collect()),
            "{name}"
        );
        // Claude's hosts cut longer descriptions.
        assert!((1..=4_096).contains(&spec.description.chars().count()), "{name}");
        let schema = &spec.input_schema;
        assert_eq!(schema["type"], "object", "{name}");
        // A schema with a choice at its top makes a tool vanish in the Agent SDK.
        for keyword in ["anyOf", "oneOf", "allOf", "$ref", "$schema", "$defs"] {
            assert!(schema.get(keyword).is_none(), "{name} has {keyword}");
        }
        assert_eq!(schema["additionalProperties"], false, "{name} takes unknown parameters");
        for (parameter, property) in schema["properties"].as_object().unwrap() {
            assert!(property["description"].is_string(), "{name}.{parameter} has no description");
            // A setting has a value of any plain type.
            let is_plain = property["type"].is_string()
                || (name == "Config" && property["type"] == json!(["string", "boolean", "number"]));
            assert!(is_plain, "{name}.{parameter} has no plain type: {property}");
        }
        assert!(InputValidator::new(schema).is_ok(), "{name}");
    }
}

#[test]
fn every_tool_says_what_the_data_of_its_answers_are() {
    for tool in ToolSet::ALL.iter().flat_map(|set| set.tools()) {
        let spec = tool.spec();
        let name = &spec.name;
        let Some(schema) = &spec.output.as_ref().unwrap().schema else {
            assert!(name.starts_with("diagnostic_"), "{name} has no data");
            continue;
        };
        assert_eq!(schema["type"], "object", "{name}");
        // It holds the text over MCP where the data do not say it.
        assert!(schema["properties"].get("text").is_none(), "{name}");
        assert!(!schema.to_string().contains("\"$ref\""), "{name}");
        assert!(InputValidator::new(schema).is_ok(), "{name}");
    }
}

#[test]
fn an_input_without_its_required_parameters_is_refused_by_each_tool() {
    for tool in ToolSet::ALL.iter().flat_map(|set| set.tools()) {
        let validator = InputValidator::new(&tool.spec().input_schema).unwrap();
        let has_required = tool.spec().input_schema.get("required").is_some();
        assert_eq!(validator.accept(Value::Null).is_err(), has_required, "{}", tool.spec().name);
    }
}
