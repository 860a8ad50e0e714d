//! Answers requests of servers: for the roots of the workspace, and for the user's input (elicitation). Requests
//! for a model's output (sampling) are refused, because the registry has no model.
#![expect(deprecated, reason = "servers of the older era still request roots and sampling")]

use std::{
    path::PathBuf,
    sync::{Arc, Weak},
};

use rmcp::{
    ClientHandler, RoleClient,
    model::{
        ClientCapabilities, ClientConfig, CreateMessageRequestParams, CreateMessageResult,
        ElicitRequestParams, ElicitResult, ElicitationAction, ErrorCode, ErrorData, Implementation,
        ListRootsResult, ProtocolVersion, Root,
    },
    service::RequestContext,
};
use serde_json::{Map, Value, json};
use toolwright_core::{HandlerName, Handlers, for_display};
use url::Url;

use super::{
    connector::ClientContext,
    server_link::{ServerLink, one_line},
};

/// The option that every question has.
const DECLINE: &str = "Decline";
/// The maximum number of options of a question, including [`DECLINE`].
const MAX_OPTIONS: usize = 4;
/// The maximum number of questions in one form.
const MAX_QUESTIONS: usize = 4;
/// The maximum length of an option's label, in characters.
const MAX_LABEL: usize = 100;

/// Answers the requests of one server.
pub(super) struct ServerRequests {
    link: Weak<ServerLink>,
    roots: Vec<PathBuf>,
    handlers: Arc<Handlers>,
}

impl ServerRequests {
    pub(super) fn new(link: &Arc<ServerLink>, context: &ClientContext) -> Self {
        Self {
            link: Arc::downgrade(link),
            roots: context.roots.clone(),
            handlers: Arc::clone(&context.handlers),
        }
    }

    /// Asks the user the questions of a form, if each has a few options to choose from. Returns `None` if the
    /// host cannot ask, or the form is not that simple.
    async fn ask(&self, message: &str, schema: &Value) -> Option<ElicitResult> {
        let link = self.link.upgrade()?;
        let cx = link.last_call()?;
        let form = ChoiceForm::of(link.name(), message, schema)?;
        let handler = self.handlers.get(HandlerName::AskUser)?;
        let questions = form.questions();
        let asked = handler.call(&questions, Value::Null, &cx);
        let answered = tokio::select! {
            answered = tokio::time::timeout(cx.question_timeout, asked) => answered.ok()?,
            () = cx.cancel.cancelled() => return None,
        };
        form.result(answered.ok()?.get("answers")?.as_object()?)
    }
}

impl ClientHandler for ServerRequests {
    fn get_info(&self) -> ClientConfig {
        let capabilities = ClientCapabilities::builder().enable_roots();
        let can_ask = self.handlers.get(HandlerName::AskUser).is_some();
        let capabilities =
            if can_ask { capabilities.enable_elicitation().build() } else { capabilities.build() };
        let me = Implementation::new("toolwright", env!("CARGO_PKG_VERSION"));
        let mut config = ClientConfig::new(capabilities, me);
        config.protocol_version = ProtocolVersion::LATEST_WITH_INITIALIZE;
        config
    }

    async fn list_roots(
        &self,
        _context: RequestContext<RoleClient>,
    ) -> Result<ListRootsResult, ErrorData> {
        let urls = self.roots.iter().filter_map(|it| Url::from_directory_path(it).ok());
        // Without the trailing slash, as is usual for clients.
        let roots = urls.map(|it| Root::new(it.as_str().trim_end_matches('/')));
        Ok(ListRootsResult::new(roots.collect()))
    }

    async fn create_message(
        &self,
        _params: CreateMessageRequestParams,
        _context: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        let message = "sampling is not offered: the registry has no model";
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, message, None))
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let declined = || ElicitResult::new(ElicitationAction::Decline);
        let ElicitRequestParams::FormElicitationParams { message, requested_schema, .. } = request
        else {
            return Ok(declined());
        };
        let schema = serde_json::to_value(&requested_schema).unwrap_or_default();
        let answered = tokio::select! {
            answered = self.ask(&message, &schema) => answered,
            // The server has cancelled the question, or the connection has ended.
            () = context.ct.cancelled() => None,
        };
        Ok(answered.unwrap_or_else(declined))
    }
}

/// A form in which every field has a few values to choose from.
struct ChoiceForm {
    fields: Vec<ChoiceField>,
}

struct ChoiceField {
    /// The name of the field. `None` for a form without fields, which only asks for acceptance.
    name: Option<String>,
    question: String,
    /// The labels that the user can choose, with their values.
    choices: Vec<(String, Value)>,
}

impl ChoiceForm {
    fn of(server: &str, message: &str, schema: &Value) -> Option<Self> {
        let intro = format!("MCP server {server} asks: {}", one_line(message));
        let properties = schema.get("properties").and_then(Value::as_object);
        let properties: Vec<(&String, &Value)> = properties.into_iter().flatten().collect();
        if properties.is_empty() {
            let choices = vec![("Accept".to_owned(), Value::Null)];
            let field = ChoiceField { name: None, question: intro, choices };
            return Some(Self { fields: vec![field] });
        }
        let field = |(name, property): (&String, &Value)| {
            let title = property.get("description").or_else(|| property.get("title"));
            let title = title.and_then(Value::as_str).unwrap_or(name);
            Some(ChoiceField {
                name: Some(name.clone()),
                question: format!("{intro} ({}: {})", one_line(name), one_line(title)),
                choices: choices_of(property)?,
            })
        };
        let fields = properties.into_iter().map(field).collect::<Option<Vec<_>>>()?;
        (fields.len() <= MAX_QUESTIONS).then_some(Self { fields })
    }

    /// The questions in the format of `handlers.askUser`.
    fn questions(&self) -> Value {
        let question = |field: &ChoiceField| {
            let labels = field.choices.iter().map(|it| it.0.as_str()).chain([DECLINE]);
            let options: Vec<Value> =
                labels.map(|it| json!({ "label": it, "description": "" })).collect();
            json!({
                "question": field.question,
                "header": "MCP server",
                "options": options,
                "multiSelect": false,
            })
        };
        self.fields.iter().map(question).collect()
    }

    fn result(&self, answers: &Map<String, Value>) -> Option<ElicitResult> {
        let mut content = Map::new();
        for field in &self.fields {
            let answer = answers.get(&field.question)?.as_str()?;
            // Other text that the user typed is not a value of the form.
            let (_, value) = field.choices.iter().find(|it| it.0 == answer)?;
            if let Some(name) = &field.name {
                content.insert(name.clone(), value.clone());
            }
        }
        let accepted = ElicitResult::new(ElicitationAction::Accept);
        Some(accepted.with_content(Value::Object(content)))
    }
}

/// The values of a field, if they are few and their labels are distinct.
fn choices_of(property: &Value) -> Option<Vec<(String, Value)>> {
    if property.get("type").and_then(Value::as_str) == Some("boolean") {
        return Some(vec![("Yes".to_owned(), json!(true)), ("No".to_owned(), json!(false))]);
    }
    let titled = property.get("oneOf").and_then(Value::as_array);
    let choices: Vec<(String, Value)> = match (property.get("enum"), titled) {
        (Some(Value::Array(values)), _) => {
            values.iter().filter_map(|it| Some((it.as_str()?.to_owned(), it.clone()))).collect()
        }
        (_, Some(values)) => {
            let choice = |it: &Value| {
                let value = it.get("const")?;
                let label = it.get("title").unwrap_or(value).as_str()?;
                Some((label.to_owned(), value.clone()))
            };
            values.iter().filter_map(choice).collect()
        }
        _ => return None,
    };
    let is_few = (1..MAX_OPTIONS).contains(&choices.len());
    (is_few && are_distinct(&choices)).then_some(choices)
}

/// True if a person can distinguish the labels from each other and from [`DECLINE`]. A server must not be able to
/// disguise a value as a refusal.
fn are_distinct(choices: &[(String, Value)]) -> bool {
    let mut seen = vec![DECLINE.to_lowercase()];
    choices.iter().all(|(label, _)| {
        let words = one_line(label).to_lowercase();
        let is_plain = !words.is_empty()
            && label.chars().count() <= MAX_LABEL
            && for_display(label) == *label
            && !label.contains(char::is_control);
        let is_new = !seen.contains(&words);
        seen.push(words);
        is_plain && is_new
    })
}

#[cfg(test)]
#[expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn a_form_of_choices_becomes_questions_and_answers_become_its_values() {
        let schema = json!({ "type": "object", "properties": {
            "sure": { "type": "boolean", "description": "Really?" },
            "size": { "type": "string", "enum": ["s", "m"] },
        } });
        let form = ChoiceForm::of("shop", "Order?", &schema).unwrap();
        let questions = form.questions();
        assert_eq!(questions[0]["question"], "MCP server shop asks: Order? (sure: Really?)");
        let labels: Vec<&Value> =
            questions[1]["options"].as_array().unwrap().iter().map(|it| &it["label"]).collect();
        assert_eq!(labels, ["s", "m", DECLINE]);
        let answers = json!({
            "MCP server shop asks: Order? (sure: Really?)": "No",
            "MCP server shop asks: Order? (size: size)": "m",
        });
        let result = form.result(answers.as_object().unwrap()).unwrap();
        assert_eq!(result.content, Some(json!({ "sure": false, "size": "m" })));
    }

    #[test]
    fn forms_without_distinct_choices_are_not_asked_and_other_answers_are_refused() {
        let text = json!({ "properties": { "name": { "type": "string" } } });
        assert!(ChoiceForm::of("s", "m", &text).is_none());
        let many = json!({ "properties": { "x": { "enum": ["1", "2", "3", "4"] } } });
        assert!(ChoiceForm::of("s", "m", &many).is_none());
        for trick in ["Decline", " decline", "Yes", "", "De\u{200b}cline", "a\nb", &"x".repeat(101)]
        {
            let values =
                json!([{ "const": "yes", "title": "Yes" }, { "const": "all", "title": trick }]);
            let form = json!({ "properties": { "x": { "oneOf": values } } });
            assert!(ChoiceForm::of("s", "m", &form).is_none(), "{trick:?}");
        }
        let form = ChoiceForm::of("s", "m", &json!({})).unwrap();
        let answer = |it: &str| json!({ "MCP server s asks: m": it });
        assert!(form.result(answer(DECLINE).as_object().unwrap()).is_none());
        assert!(form.result(answer("Accept").as_object().unwrap()).is_some());
    }
}
