//! Tool calls, and what policy decides for them.

use std::sync::Arc;

use axum::{extract::State, response::Response};
use http::{HeaderMap, StatusCode, header};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, value::RawValue};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use toolwright_base::{ErrorKind, ToolError};
use toolwright_core::{ProgressSink, ToolOutput};
use toolwright_host::parsed_input;
use toolwright_pipeline::{CallOptions, ToolCall};

use super::{
    answers::{HttpRefusal, json_answer, json_text_answer},
    bodies::{BodyText, read_body},
    call_events::CallEvents,
    routes::NameInPath,
    service::ServiceState,
};

/// The expected body, for error messages.
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
    /// The id of the call. Without one, an id is generated.
    #[serde(default)]
    tool_use_id: Option<String>,
}

/// The body of an `explain` request.
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
    check_id("sessionId", body.session_id.as_deref())?;
    check_id("toolUseId", body.tool_use_id.as_deref())?;
    // If the tool is removed later, the same error is a result: the tool existed when the call arrived.
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
    // Dropped together with this future or the stream when the client disconnects.
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

/// The maximum length of an id. It is limited because sessions are kept by id.
const MAX_ID_BYTES: usize = 1_024;

fn check_id(field: &str, id: Option<&str>) -> Result<(), HttpRefusal> {
    match id.map(str::len) {
        Some(bytes) if bytes > MAX_ID_BYTES => Err(HttpRefusal::bad_body(format!(
            "`{field}` has {bytes} bytes; at most {MAX_ID_BYTES} are allowed"
        ))),
        _ => Ok(()),
    }
}

/// A call that arrived.
struct AskedCall {
    /// The call, or the error in its input.
    call: Result<ToolCall, ToolError>,
    options: CallOptions,
}

impl AskedCall {
    /// Starts the call in a task. After a cancellation the task still runs until the call has ended, so the
    /// events and records of the call are complete even when the client has disconnected.
    fn start(self, state: &ServiceState, progress: ProgressSink) -> JoinHandle<ToolOutput> {
        let (pipeline, calls) = (Arc::clone(&state.registry.pipeline), Arc::clone(&state.calls));
        let options = CallOptions { progress, ..self.options };
        let call = self.call;
        let turn = Arc::clone(&calls).try_acquire_owned().ok();
        // Registered here and not in the task, so that calls that change files start in the order in which
        // they arrived. A call that must wait for a permit is not registered yet: others would wait for it.
        let arrives = turn.is_some();
        let arrival = call.as_ref().ok().filter(|_| arrives).map(|it| pipeline.arrival(&it.name));
        tokio::spawn(async move {
            let _turn = match turn {
                Some(turn) => Some(turn),
                None => options
                    .cancel
                    .run_until_cancelled(calls.acquire_owned())
                    .await
                    .and_then(Result::ok),
            };
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

/// The result in the form that `registry.call` returns.
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
    check_id("sessionId", body.session_id.as_deref())?;
    let input =
        body.input.map_or_else(|| Ok(Value::Object(Map::new())), |it| parsed_input(it.get()))?;
    let options = CallOptions { session_id: body.session_id, ..CallOptions::default() };
    let pipeline = Arc::clone(&state.registry.pipeline);
    let call = ToolCall { name, input };
    // Blocking, because it reads the file system.
    let explained = tokio::task::spawn_blocking(move || pipeline.explain(call, options));
    let explained = explained.await.unwrap_or_else(|_| {
        let message = "the call cannot be explained; this is a bug, please report it";
        Err(ToolError::new(ErrorKind::Internal, message))
    });
    Ok(json_answer(StatusCode::OK, &explained?))
}

/// True when the client accepts a stream of events.
fn wants_events(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(header::ACCEPT).iter().filter_map(|it| it.to_str().ok());
    accepted.flat_map(|it| it.split(',')).any(|it| {
        let media_type = it.split(';').next().unwrap_or_default().trim();
        media_type.eq_ignore_ascii_case("text/event-stream")
    })
}
