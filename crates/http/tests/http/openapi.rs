//! `/openapi.json` matches the routes and their answers.

#![expect(clippy::indexing_slicing, reason = "tests")]

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::http_bed::HttpBed;

/// Every reference in a document.
fn references(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                match value.as_str() {
                    Some(target) if key == "$ref" => drop(found.insert(target.to_owned())),
                    _ => references(value, found),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|it| references(it, found)),
        _ => {}
    }
}

fn operations(document: &Value) -> Vec<(String, String, Value)> {
    let mut all = Vec::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            all.push((method.to_uppercase(), path.clone(), operation.clone()));
        }
    }
    all
}

#[tokio::test]
async fn every_operation_is_a_route() {
    let bed = HttpBed::new().await;
    let document = bed.get("/openapi.json").await.json();
    assert_eq!(document["openapi"], "3.1.0");
    let operations = operations(&document);
    assert!(operations.len() >= 7, "{operations:?}");
    let mut ids = BTreeSet::new();
    for (method, path, operation) in operations {
        assert!(ids.insert(operation["operationId"].to_string()), "{operation}");
        let names: Vec<&str> =
            path.split('/').filter_map(|it| it.strip_prefix('{')?.strip_suffix('}')).collect();
        let parameters: Vec<&Value> = operation["parameters"].as_array().unwrap().iter().collect();
        let in_path =
            parameters.iter().filter(|it| it["in"] == "path").map(|it| it["name"].clone());
        assert_eq!(in_path.collect::<Vec<_>>(), names, "{path}");
        // A POST without a JSON body is refused.
        let body = operation.pointer("/requestBody/content/application~1json");
        assert_eq!(body.is_some(), method == "POST", "{path}");
        // A wrong method would be answered with 405, and an unknown path with `NotFound`.
        if path == "/mcp" {
            continue;
        }
        let asked = names
            .iter()
            .fold(path.clone(), |it, name| it.replace(&format!("{{{name}}}"), "unknown"));
        let mut headers = bed.usual_headers();
        headers.push(("content-type", "application/json".to_owned()));
        if method == "GET"
            && operation["responses"]["200"]["content"].get("text/event-stream").is_some()
        {
            continue;
        }
        let reply = bed.ask(&method, &asked, &headers, "{}").await;
        assert_ne!(reply.status, 405, "{method} {path}");
        let is_nowhere = reply.status == 404 && reply.body.contains("nothing at this path");
        assert!(!is_nowhere, "{method} {path}");
    }
}

#[tokio::test]
async fn every_reference_has_a_target_and_the_schemas_are_usable() {
    let bed = HttpBed::new().await;
    let document = bed.get("/openapi.json").await.json();
    let mut found = BTreeSet::new();
    references(&document, &mut found);
    assert!(found.len() > 5, "{found:?}");
    for target in found {
        let pointer = target.strip_prefix('#').unwrap();
        assert!(document.pointer(pointer).is_some(), "{target}");
    }
    let names = &document["components"]["schemas"]["ToolName"]["enum"];
    assert_eq!(*names, json!(bed.registry.names()));
    let open: Vec<String> = operations(&document)
        .into_iter()
        .filter(|(_, _, operation)| operation.get("security").is_some())
        .map(|(_, path, _)| path)
        .collect();
    assert!(open.contains(&"/health".to_owned()) && !open.contains(&"/api/tools".to_owned()));
}

/// Checks a value against the response schema of an operation.
fn check_answer(document: &Value, path: &str, method: &str, value: &Value) {
    let pointer = format!("/paths/{}/{method}/responses/200/content", path.replace('/', "~1"));
    let mut schema = document.pointer(&pointer).unwrap()["application/json"]["schema"].clone();
    schema["components"] = document["components"].clone();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let problems: Vec<String> = validator.iter_errors(value).map(|it| it.to_string()).collect();
    assert_eq!(problems, Vec::<String>::new(), "{method} {path}: {value}");
}

#[tokio::test]
async fn answers_match_their_schemas() {
    let bed = HttpBed::new().await;
    bed.write("plugins/broken.json", "{");
    bed.registry.set_policy(Some(json!({ "deny": ["Bash(rm *)"] }))).unwrap();
    let document = bed.get("/openapi.json").await.json();
    for path in ["/health", "/api/tools"] {
        check_answer(&document, path, "get", &bed.get(path).await.json());
    }
    let one = bed.get("/api/tools/Read").await.json();
    check_answer(&document, "/api/tools/{name}", "get", &one);
    let reloaded = bed.post("/api/tools/reload", &json!({})).await.json();
    check_answer(&document, "/api/tools/reload", "post", &reloaded);
    let path = bed.write("project/a.txt", "one");
    for (tool, input) in [
        ("Read", json!({ "file_path": path })),
        ("Read", json!({})),
        ("Bash", json!({ "command": "rm x" })),
        ("Grep", json!({ "pattern": "one" })),
    ] {
        let body = json!({ "input": input });
        let result = bed.post(&format!("/api/tools/{tool}/call"), &body).await.json();
        check_answer(&document, "/api/tools/{name}/call", "post", &result);
    }
    for command in ["rm x", "ls; rm y", "ls"] {
        let body = json!({ "input": { "command": command } });
        let verdict = bed.post("/api/tools/Bash/explain", &body).await.json();
        check_answer(&document, "/api/tools/{name}/explain", "post", &verdict);
    }
    let explained = document.pointer("/components/schemas/ExplainedCall/properties").unwrap();
    assert!(explained.get("suggestedRules").is_some() && explained.get("action").is_some());
    // A schema that accepts everything would prove nothing.
    let result = document.pointer("/components/schemas/ResultView").unwrap();
    assert_eq!(result["required"], json!(["content"]), "{result}");
}
