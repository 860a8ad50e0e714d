//! Calls of tools, and what policy says of them.

use std::sync::Arc;

use axum::{extract::State, response::Response};
use http::{HeaderMap, StatusCode, header};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, value::RawValue};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::{
    answers::{HttpRefusal, json_answer, json_text_answer},
    bodies::{BodyText, read_body},
    call_events::CallEvents,
    routes::NameInPath,
    service::ServiceState,
};
use crate::{
    error::{ErrorKind, ToolError},
    host::parsed_input,
    pipeline::{CallOptions, ToolCall},
    tool::{ProgressSink, ToolOutput},
};

/// What to send, for errors.
const BODY_FORM: &str = r#"`{ "input": { … } }` with the tool's input inside"#;

/// The body of a call.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(
    rename_all = "camelCase",
    deny_unknown_fields,
    expecting = "an object with the tool's input as `input`"
)]
pub(super) struct CallBody<'a> {
    /// The input of the tool.
    #[serde(borrow, default)]
    #[schemars(with = "Map<String, Value>")]
    input: Option<&'a RawValue>,
    /// The conversation that the call belongs to.
    #[serde(default)]
    session_id: Option<String>,
    /// The id of the call. Without one, an id is made.
    #[serde(default)]
    tool_use_id: Option<String>,
}

/// The body of a question about a call.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(
    rename_all = "camelCase",
    deny_unknown_fields,
    expecting = "an object with the tool's input as `input`"
)]
pub(super) struct ExplainBody<'a> {
    /// The input of the tool.
    #[serde(borrow, default)]
    #[schemars(with = "Map<String, Value>")]
    input: Option<&'a RawValue>,
    /// The conversation that the call would belong to.
    #[serde(default)]
    session_id: Option<String>,
}

pub(super) async fn call(
    State(state): State<ServiceState>,
    NameInPath(name): NameInPath,
    headers: HeaderMap,
    BodyText(body): BodyText,
) -> Result<Response, HttpRefusal> {
    let pipeline = &state.registry.pipeline;
    pipeline.refuse_when_closed()?;
    let body: CallBody<'_> = read_body(&body, BODY_FORM)?;
    // Other errors of the same kind are results: the tool was there when the call came in.
    let is_known = pipeline.registry.snapshot().find_called(&name).is_some();
    let input = body.input.map_or(Ok(Value::Null), |it| parsed_input(it.get()));
    let cancel = CancellationToken::new();
    let asked = AskedCall {
        call: input.map(|input| ToolCall { name, input }),
        options: CallOptions {
            tool_use_id: body.tool_use_id,
            session_id: body.session_id,
            cancel: cancel.clone(),
            ..CallOptions::default()
        },
    };
    // Dropped with this future or with the stream, which is when the client has gone.
    let client_gone = cancel.drop_guard();
    if is_known && wants_events(&headers) {
        return Ok(CallEvents::of(client_gone, |progress| asked.start(&state, progress)).answer());
    }
    let output = ended(asked.start(&state, ProgressSink::default()).await);
    drop(client_gone);
    match &output.error {
        Some(error) if !is_known && error.kind == ErrorKind::UnknownTool => {
            Err(error.clone().into())
        }
        _ => Ok(json_text_answer(StatusCode::OK, result_json(&output))),
    }
}

/// A call that came in.
struct AskedCall {
    /// The call, or what is wrong with its input.
    call: Result<ToolCall, ToolError>,
    options: CallOptions,
}

impl AskedCall {
    /// Starts the call. It runs to its end by itself, and ends soon after it is cancelled: nothing that is
    /// told of calls is lost because a client has gone.
    fn start(self, state: &ServiceState, progress: ProgressSink) -> JoinHandle<ToolOutput> {
        let (pipeline, calls) = (Arc::clone(&state.registry.pipeline), Arc::clone(&state.calls));
        let options = CallOptions { progress, ..self.options };
        // Now and not in the task: calls that change files begin in the order in which they came in.
        let arrival = self.call.as_ref().map(|it| pipeline.arrival(&it.name)).ok();
        let call = self.call;
        tokio::spawn(async move {
            let _turn = calls.acquire_owned().await;
            match (call, arrival) {
                (Ok(call), Some(arrival)) => pipeline.call_arrived(arrival, call, options).await,
                (Ok(call), None) => pipeline.call(call, options).await,
                (Err(error), _) => ToolOutput::failure(error),
            }
        })
    }
}

/// The output of a task that may have panicked.
pub(super) fn ended(joined: Result<ToolOutput, tokio::task::JoinError>) -> ToolOutput {
    joined.unwrap_or_else(|_| {
        let message = "the call ended without a result; this is a bug, please report it";
        ToolOutput::failure(ToolError::new(ErrorKind::Internal, message))
    })
}

/// The result as `registry.call` gives it.
pub(super) fn result_json(output: &ToolOutput) -> String {
    serde_json::to_string(&output.result_view()).unwrap_or_else(|err| {
        let message = format!("the result cannot be written as JSON: {err}");
        let failure = ToolOutput::failure(ToolError::new(ErrorKind::Internal, message));
        serde_json::json!(failure.result_view()).to_string()
    })
}

pub(super) async fn explain(
    State(state): State<ServiceState>,
    NameInPath(name): NameInPath,
    BodyText(body): BodyText,
) -> Result<Response, HttpRefusal> {
    let body: ExplainBody<'_> = read_body(&body, BODY_FORM)?;
    let input =
        body.input.map_or_else(|| Ok(Value::Object(Map::new())), |it| parsed_input(it.get()))?;
    let options = CallOptions { session_id: body.session_id, ..CallOptions::default() };
    let pipeline = Arc::clone(&state.registry.pipeline);
    let call = ToolCall { name, input };
    // It looks at files.
    let explained = tokio::task::spawn_blocking(move || pipeline.explain(call, options));
    let explained = explained.await.unwrap_or_else(|_| {
        let message = "the call cannot be explained; this is a bug, please report it";
        Err(ToolError::new(ErrorKind::Internal, message))
    });
    Ok(json_answer(StatusCode::OK, &explained?))
}

/// True when the client takes a stream of events.
fn wants_events(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(header::ACCEPT).iter().filter_map(|it| it.to_str().ok());
    accepted.flat_map(|it| it.split(',')).any(|it| {
        let media_type = it.split(';').next().unwrap_or_default().trim();
        media_type.eq_ignore_ascii_case("text/event-stream")
    })
}
