//! `/openapi.json`: the table of routes as `OpenAPI` 3.1, with the schemas of the routes' types.

use axum::{extract::State, response::Response};
use http::{Method, StatusCode};
use schemars::{SchemaGenerator, generate::SchemaSettings};
use serde_json::{Map, Value, json};

use super::{
    access::needs_no_token,
    answers::{HttpRefusal, json_answer},
    routes::{ApiRoute, table},
    service::ServiceState,
};

pub(super) async fn document(State(state): State<ServiceState>) -> Response {
    json_answer(StatusCode::OK, &described(&table(), &state.registry.names()))
}

/// The schemas of the types. Requests and answers are separate, because a field with a default is
/// optional in a request but always present in an answer.
struct Schemas {
    of_requests: SchemaGenerator,
    of_answers: SchemaGenerator,
}

impl Default for Schemas {
    fn default() -> Self {
        let settings = SchemaSettings::draft2020_12()
            .with(|it| it.definitions_path = "/components/schemas".into());
        Self {
            of_requests: settings.clone().for_deserialize().into_generator(),
            of_answers: settings.for_serialize().into_generator(),
        }
    }
}

/// The document of a table of routes. `tool_names` are the names of the current tools.
fn described(routes: &[ApiRoute], tool_names: &[String]) -> Value {
    let mut schemas = Schemas::default();
    let refusal = schemas.of_answers.subschema_for::<HttpRefusal>();
    let mut paths: Map<String, Value> = Map::new();
    for route in routes {
        let path = route.path.replace("{*", "{");
        let described = operation(route, &path, &mut schemas);
        let methods = paths.entry(path).or_insert_with(|| json!({}));
        if let Some(methods) = methods.as_object_mut() {
            methods.insert(route.method.as_str().to_lowercase(), described);
        }
    }
    let mut definitions = schemas.of_answers.take_definitions(true);
    definitions.extend(schemas.of_requests.take_definitions(true));
    definitions.insert("ToolName".to_owned(), json!({ "type": "string", "enum": tool_names }));
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "toolwright",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "The tools of a registry: the list, calls, and what policy decides for them.",
        },
        "security": [{ "token": [] }],
        "paths": paths,
        "components": {
            "schemas": definitions,
            "responses": {
                "Refused": {
                    "description": "Why the request was refused or failed.",
                    "content": { "application/json": { "schema": refusal } },
                },
            },
            "securitySchemes": { "token": { "type": "http", "scheme": "bearer" } },
        },
    })
}

fn operation(route: &ApiRoute, path: &str, schemas: &mut Schemas) -> Value {
    let mut content = Map::new();
    if let Some(answer) = route.answer {
        content.insert(
            "application/json".to_owned(),
            json!({ "schema": answer(&mut schemas.of_answers) }),
        );
    }
    if route.is_stream {
        let text = json!({ "schema": { "type": "string" } });
        content.insert("text/event-stream".to_owned(), text);
    }
    let mut answered = json!({ "description": "The answer." });
    if let Some(answered) = answered.as_object_mut()
        && !content.is_empty()
    {
        answered.insert("content".to_owned(), content.into());
    }
    let mut operation = json!({
        "operationId": operation_id(route, path),
        "summary": route.summary,
        "parameters": parameters(route, path),
        "responses": { "200": answered, "default": { "$ref": "#/components/responses/Refused" } },
    });
    let mut also = |key: &str, value: Value| {
        if let Some(operation) = operation.as_object_mut() {
            operation.insert(key.to_owned(), value);
        }
    };
    if route.method == Method::POST {
        // Every POST must have this content type, so that no form of another site can send it.
        let schema = route.request.map_or_else(
            || json!({ "type": "object", "description": "The content is ignored; send `{}`." }),
            |request| request(&mut schemas.of_requests).to_value(),
        );
        let content = json!({ "application/json": { "schema": schema } });
        also("requestBody", json!({ "required": true, "content": content }));
    }
    if needs_no_token(path) {
        also("security", json!([]));
    }
    operation
}

/// The names in the path and in the query.
fn parameters(route: &ApiRoute, path: &str) -> Vec<Value> {
    let in_path = names_in(path).map(|name| {
        let is_tool = path.starts_with("/api/tools/") && name == "name";
        let schema = if is_tool {
            json!({ "$ref": "#/components/schemas/ToolName" })
        } else {
            json!({ "type": "string" })
        };
        json!({ "name": name, "in": "path", "required": true, "schema": schema })
    });
    let in_query = route.query.iter().map(|(name, meaning)| {
        json!({ "name": name, "in": "query", "description": meaning, "schema": { "type": "string" } })
    });
    in_path.chain(in_query).collect()
}

fn names_in(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter_map(|it| it.strip_prefix('{')?.strip_suffix('}'))
}

/// `postApiToolsNameCall` for `POST /api/tools/{name}/call`.
fn operation_id(route: &ApiRoute, path: &str) -> String {
    let mut id = route.method.as_str().to_lowercase();
    let words = path.split(|it: char| !it.is_ascii_alphanumeric()).filter(|it| !it.is_empty());
    for word in words {
        let (first, rest) = word.split_at(1);
        id.push_str(&first.to_uppercase());
        id.push_str(rest);
    }
    id
}
