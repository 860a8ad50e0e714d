//! Tool calls from JavaScript.

use std::sync::Arc;

use napi::{
    Env, Status,
    bindgen_prelude::{PromiseRaw, Result},
    threadsafe_function::ThreadsafeFunctionCallMode,
};
use napi_derive::napi;
use serde::Deserialize;
use serde_json::json;
use toolwright_base::{ErrorKind, ToolError};
use toolwright_core::{Backlog, Progress, ProgressSink};
use toolwright_host::{TextCall, TextTurnCall, parsed};
use toolwright_pipeline::{CallOptions, Description, ResultFormat, TurnOrder, result_json};

use crate::{
    bus::NativeMessageBus,
    callbacks::Listener,
    cancel::CancelHandle,
    envelope::{misuse, sealed},
    registry::NativeRegistry,
    wire::{invocation_wire, result_wire},
};

/// The form of a call's answer.
#[napi]
pub enum AnswerView {
    /// MCP's result with our own fields.
    Result,
    /// `llmContent` and `returnDisplay`.
    Invocation,
    /// MCP's result. `structuredContent` is included only if the host's options ask for it.
    Handler,
}

#[napi]
impl NativeRegistry {
    /// Runs a call. Resolves with its answer as JSON.
    #[napi(catch_unwind, ts_return_type = "Promise<string>")]
    pub fn call<'env>(
        &self,
        env: &'env Env,
        name: String,
        input: String,
        view: AnswerView,
        facts: Option<String>,
        cancel: Option<&CancelHandle>,
        #[napi(ts_arg_type = "((news: string) => void) | undefined | null")] progress: Option<
            Listener,
        >,
        bus: Option<&NativeMessageBus>,
    ) -> Result<PromiseRaw<'env, String>> {
        let pipeline = Arc::clone(&self.host.pipeline);
        let structured_content = self.host.structured_content;
        let watcher = Watcher::new(progress);
        let bus = bus.map(|it| Arc::clone(&it.bus));
        // Checked here and not in the future: this thread sees calls and `close()` in the order in
        // which JavaScript made them, so a call made before `close()` is not refused.
        let options = pipeline
            .refuse_when_closed()
            .and_then(|()| call_options(facts.as_deref(), cancel, &watcher))
            .map(|options| CallOptions { bus, ..options });
        let arrival = pipeline.arrival(&name);
        let call = TextCall { name, input };
        env.spawn_future(async move {
            let _watcher = watcher;
            let options = match options {
                Ok(options) => options,
                Err(error) => return Ok(misuse(&error)),
            };
            // Boxed, because spawning copies the future several times, also on JavaScript's thread.
            let output = Box::pin(call.run(&pipeline, arrival, options)).await;
            Ok(sealed(output.map(|output| match view {
                AnswerView::Result => result_wire(&output),
                AnswerView::Invocation => invocation_wire(&output),
                AnswerView::Handler => {
                    let tools = pipeline.registry.snapshot();
                    result_wire(&structured_content.sent(output, &tools, &call.name))
                }
            })))
        })
    }

    /// Runs the calls of one model turn. Resolves with their results as a JSON array.
    #[napi(catch_unwind, ts_return_type = "Promise<string>")]
    pub fn call_all<'env>(
        &self,
        env: &'env Env,
        calls: String,
        format: String,
        parallel_reads: bool,
        options: Option<String>,
        cancel: Option<&CancelHandle>,
        #[napi(ts_arg_type = "((news: string) => void) | undefined | null")] progress: Option<
            Listener,
        >,
    ) -> Result<PromiseRaw<'env, String>> {
        let pipeline = Arc::clone(&self.host.pipeline);
        let watcher = Watcher::new(progress);
        let prepared = (|| {
            pipeline.refuse_when_closed()?;
            let calls: Vec<TextTurnCall> = parsed(&calls, ErrorKind::Validation)?;
            let first = pipeline.arrival(calls.first().map_or("", |it| it.name.as_str()));
            let format: ResultFormat = format
                .parse()
                .map_err(|err: String| ToolError::new(ErrorKind::InvalidOptions, err))?;
            Ok((first, calls, format, call_options(options.as_deref(), cancel, &watcher)?))
        })();
        env.spawn_future(async move {
            let _watcher = watcher;
            let (first, calls, format, options) = match prepared {
                Ok(prepared) => prepared,
                Err(error) => return Ok(misuse(&error)),
            };
            let asked: Vec<(String, String)> =
                calls.iter().map(|call| (call.id.clone(), call.name.clone())).collect();
            let calls = calls.into_iter().map(TextTurnCall::parsed).collect();
            let order = if parallel_reads { TurnOrder::ReadsInParallel } else { TurnOrder::Serial };
            let outputs = pipeline.call_all(first, calls, options, order).await;
            let results: Vec<String> = outputs
                .iter()
                .zip(&asked)
                .map(|(output, (id, name))| result_json(output, id, name, format))
                .collect();
            Ok(format!("[{}]", results.join(",")))
        })
    }

    /// Undoes the file changes of a call. Resolves with `[{ path, action }]` as JSON.
    #[napi(catch_unwind, ts_return_type = "Promise<string>")]
    pub fn undo<'env>(
        &self,
        env: &'env Env,
        tool_use_id: String,
        session_id: Option<String>,
    ) -> Result<PromiseRaw<'env, String>> {
        let pipeline = Arc::clone(&self.host.pipeline);
        env.spawn_future(async move {
            let undone = pipeline.undo(tool_use_id, session_id).await;
            Ok(sealed(undone.map(|it| json!(it).to_string())))
        })
    }

    /// Describes what a call would do, without checking policy: `{ description, locations }` as JSON.
    #[napi(catch_unwind)]
    pub fn describe(&self, name: String, input: String, facts: Option<String>) -> String {
        sealed((|| {
            let options = call_options(facts.as_deref(), None, &Watcher::new(None))?;
            let Description { text, locations } =
                TextCall { name, input }.describe(&self.host.pipeline, options)?;
            Ok(json!({ "description": text, "locations": locations }).to_string())
        })())
    }

    /// The confirmation that a call would need. Resolves with `{ details }` as JSON, without details
    /// if the call needs no confirmation, or with the error of a call that is denied.
    #[napi(catch_unwind, ts_return_type = "Promise<string>")]
    pub fn question<'env>(
        &self,
        env: &'env Env,
        name: String,
        input: String,
        facts: Option<String>,
        cancel: Option<&CancelHandle>,
    ) -> Result<PromiseRaw<'env, String>> {
        let pipeline = Arc::clone(&self.host.pipeline);
        let options = call_options(facts.as_deref(), cancel, &Watcher::new(None));
        env.spawn_future(async move {
            let call = TextCall { name, input };
            let question = async { call.question(&pipeline, options?).await };
            let question = Box::pin(question).await;
            Ok(sealed(question.map(|it| json!({ "details": it }).to_string())))
        })
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
        bus: None,
        cancel: cancel.map(|it| it.0.clone()).unwrap_or_default(),
        progress: progress.sink(),
    })
}

/// Forwards a call's progress to JavaScript. On drop it sends an empty string as the end marker. The
/// facade waits for the marker, because progress and result arrive over separate queues.
struct Watcher(Option<Arc<Listener>>);

impl Watcher {
    fn new(listener: Option<Listener>) -> Self {
        Self(listener.map(Arc::new))
    }

    fn sink(&self) -> ProgressSink {
        self.0.clone().map_or_else(ProgressSink::default, |listener| {
            let backlog = Arc::new(Backlog::default());
            let pending = Arc::clone(&backlog);
            let send = move |news: Progress| {
                let Ok(text) = serde_json::to_string(&news) else { return };
                let handled = Arc::clone(&pending);
                pending.sent();
                let status = listener.call_with_return_value(
                    text,
                    ThreadsafeFunctionCallMode::NonBlocking,
                    move |_, _| {
                        handled.handled();
                        Ok(())
                    },
                );
                // The JavaScript environment has ended.
                if status != Status::Ok {
                    pending.gone();
                }
            };
            ProgressSink::queued(send, backlog)
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
