//! The calls of a registry, as JavaScript makes them.

use std::sync::Arc;

use napi::{
    Env,
    bindgen_prelude::{PromiseRaw, Result},
    threadsafe_function::ThreadsafeFunctionCallMode,
};
use napi_derive::napi;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    callbacks::Listener,
    cancel::CancelHandle,
    envelope::{misuse, parsed, plain_cause, sealed},
    registry::NativeRegistry,
    wire::{invocation_wire, result_wire},
};
use crate::{
    error::{ErrorKind, ToolError},
    pipeline::{CallOptions, ToolCall},
    policy::Decision,
    provider::{ResultFormat, result_json},
    tool::{Access, ProgressSink, ToolOutput},
};

#[napi]
impl NativeRegistry {
    /// Runs a call; promises MCP's result as JSON, or `llmContent` and `returnDisplay` for an invocation.
    #[napi(catch_unwind, ts_return_type = "Promise<string>")]
    pub fn call<'env>(
        &self,
        env: &'env Env,
        name: String,
        input: String,
        is_invocation: bool,
        facts: Option<String>,
        cancel: Option<&CancelHandle>,
        #[napi(ts_arg_type = "((news: string) => void) | undefined | null")] progress: Option<
            Listener,
        >,
    ) -> Result<PromiseRaw<'env, String>> {
        let pipeline = Arc::clone(&self.pipeline);
        let watcher = Watcher::new(progress);
        let options = call_options(facts.as_deref(), cancel, &watcher);
        env.spawn_future(async move {
            let _watcher = watcher;
            let options = match options {
                Ok(options) => options,
                Err(error) => return Ok(misuse(&error)),
            };
            if pipeline.closed.is_cancelled() {
                return Ok(misuse(&closed()));
            }
            let cancel = options.cancel.clone();
            let output = match serde_json::from_str(&input) {
                Ok(input) => pipeline.call(ToolCall { name, input }, options).await,
                Err(err) => {
                    ToolOutput::failure(ToolError::new(ErrorKind::Validation, plain_cause(&err)))
                }
            };
            Ok(match &output.error {
                Some(error) if error.kind == ErrorKind::Cancelled && cancel.is_cancelled() => {
                    misuse(error)
                }
                _ if is_invocation => invocation_wire(&output),
                _ => result_wire(&output),
            })
        })
    }

    /// Runs the calls of one model turn; promises their results as a JSON array.
    #[napi(catch_unwind, ts_return_type = "Promise<string>")]
    pub fn call_all<'env>(
        &self,
        env: &'env Env,
        calls: String,
        format: String,
        options: Option<String>,
        cancel: Option<&CancelHandle>,
        #[napi(ts_arg_type = "((news: string) => void) | undefined | null")] progress: Option<
            Listener,
        >,
    ) -> Result<PromiseRaw<'env, String>> {
        let pipeline = Arc::clone(&self.pipeline);
        let watcher = Watcher::new(progress);
        let prepared = (|| {
            let calls: Vec<BatchCall> = parsed(&calls, ErrorKind::Validation)?;
            let format: ResultFormat = format
                .parse()
                .map_err(|err: String| ToolError::new(ErrorKind::InvalidOptions, err))?;
            Ok((calls, format, call_options(options.as_deref(), cancel, &watcher)?))
        })();
        env.spawn_future(async move {
            let _watcher = watcher;
            let (calls, format, options) = match prepared {
                Ok(prepared) => prepared,
                Err(error) => return Ok(misuse(&error)),
            };
            if pipeline.closed.is_cancelled() {
                return Ok(misuse(&closed()));
            }
            let asked: Vec<(String, String)> =
                calls.iter().map(|call| (call.id.clone(), call.name.clone())).collect();
            let calls = calls.into_iter().map(BatchCall::read).collect();
            let outputs = pipeline.call_all(calls, options).await;
            let results: Vec<String> = outputs
                .iter()
                .zip(&asked)
                .map(|(output, (id, name))| result_json(output, id, name, format))
                .collect();
            Ok(format!("[{}]", results.join(",")))
        })
    }

    /// What a call would do: `{ description, locations, decision, … }`, or the error it would end in.
    #[napi(catch_unwind)]
    pub fn preview(&self, name: String, input: String, facts: Option<String>) -> String {
        sealed((|| {
            if self.pipeline.closed.is_cancelled() {
                return Err(closed());
            }
            let options = call_options(facts.as_deref(), None, &Watcher::new(None))?;
            let tools = self.pipeline.registry.snapshot();
            let judged = parsed::<Value>(&input, ErrorKind::Validation).and_then(|input| {
                self.pipeline.preview(ToolCall { name: name.clone(), input }, options)
            });
            let Some(entry) = tools.find_called(&name) else {
                return Err(judged.err().unwrap_or_else(closed));
            };
            let spec = entry.tool.spec();
            let (description, locations, decision, error) = match &judged {
                Ok(Some((prepared, decision))) => (
                    prepared.description(),
                    prepared.accesses().iter().map(Access::location).collect(),
                    decision.as_str(),
                    None,
                ),
                Ok(None) => (spec.title.clone(), Vec::new(), Decision::Allow.as_str(), None),
                Err(error) => (spec.title.clone(), Vec::new(), "deny", Some(error)),
            };
            Ok(json!({
                "name": spec.name,
                "risk": spec.side_effect.risk(),
                "description": description,
                "locations": locations,
                "decision": decision,
                "error": error,
            })
            .to_string())
        })())
    }
}

fn closed() -> ToolError {
    ToolError::new(ErrorKind::RegistryClosed, "the registry is closed; create a new one")
}

/// One call of a turn. Its input is JSON text of its own, so that what is wrong with it fails it alone.
#[derive(Deserialize)]
struct BatchCall {
    id: String,
    name: String,
    #[serde(default)]
    input: String,
    /// What the facade already found wrong.
    #[serde(default)]
    problem: Option<String>,
}

impl BatchCall {
    fn read(self) -> (Option<String>, std::result::Result<ToolCall, ToolError>) {
        let Self { id, name, input, problem } = self;
        let call = match problem {
            Some(problem) => Err(ToolError::new(ErrorKind::Validation, problem)),
            None => parsed(&input, ErrorKind::Validation).map(|input| ToolCall { name, input }),
        };
        (Some(id), call)
    }
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct CallFacts {
    tool_use_id: Option<String>,
    session_id: Option<String>,
    registration: Option<u64>,
}

fn call_options(
    facts: Option<&str>,
    cancel: Option<&CancelHandle>,
    progress: &Watcher,
) -> std::result::Result<CallOptions, ToolError> {
    let facts: CallFacts = facts
        .map_or_else(|| Ok(CallFacts::default()), |it| parsed(it, ErrorKind::InvalidOptions))?;
    Ok(CallOptions {
        tool_use_id: facts.tool_use_id,
        session_id: facts.session_id,
        registration: facts.registration,
        cancel: cancel.map(|it| it.0.clone()).unwrap_or_default(),
        progress: progress.sink(),
    })
}

/// Whoever listens to a call. Dropped when the call is over, it says the last word, an empty text: the
/// facade waits for it, because news and result come over separate queues.
struct Watcher(Option<Arc<Listener>>);

impl Watcher {
    fn new(listener: Option<Listener>) -> Self {
        Self(listener.map(Arc::new))
    }

    fn sink(&self) -> ProgressSink {
        self.0.clone().map_or_else(ProgressSink::default, |listener| {
            ProgressSink::new(move |news| {
                if let Ok(text) = serde_json::to_string(&news) {
                    listener.call(text, ThreadsafeFunctionCallMode::NonBlocking);
                }
            })
        })
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        if let Some(listener) = &self.0 {
            listener.call(String::new(), ThreadsafeFunctionCallMode::NonBlocking);
        }
    }
}
