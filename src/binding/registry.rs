//! The registry as JavaScript holds it.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use napi::{
    Env,
    bindgen_prelude::{PromiseRaw, Result},
    threadsafe_function::ThreadsafeFunctionCallMode,
};
use napi_derive::napi;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    callbacks::{Aborter, Handler, Listener},
    cancel::CancelHandle,
    envelope::{misuse, parsed, plain_cause, sealed},
    host_tool::{HostCalls, HostTool, HostToolSpec},
    listing::{builtin_specs, tool_info},
    mcp::McpLine,
    options::{Options, read},
    wire::{invocation_wire, result_wire},
};
use crate::{
    error::{ErrorKind, ToolError},
    mcp::{Connection, McpServer, ServerIdentity},
    pipeline::{CallOptions, Pipeline, ToolCall},
    policy::Decision,
    provider::{DefinitionFormat, ResultFormat, Strictness, definitions, result_json},
    tool::{Access, ProgressSink, ToolOutput},
};

/// The registry and all that stands behind it.
#[napi]
pub struct NativeRegistry {
    pipeline: Arc<Pipeline>,
    identity: ServerIdentity,
    host_calls: Arc<HostCalls>,
    lines: AtomicU64,
}

/// Which shape the answer of a call takes.
#[derive(Clone, Copy)]
enum View {
    Result,
    Invocation,
}

#[napi]
impl NativeRegistry {
    /// Builds a registry, or throws the text of an error envelope.
    #[napi(constructor, catch_unwind)]
    pub fn new(
        options: String,
        #[napi(ts_arg_type = "(key: number) => void")] aborter: Aborter,
    ) -> Result<Self> {
        let (pipeline, identity) = read::<Options>(&options, "option", ErrorKind::InvalidOptions)
            .and_then(Options::build)
            .map_err(|error| napi::Error::from_reason(misuse(&error)))?;
        Ok(Self {
            pipeline: Arc::new(pipeline),
            identity,
            host_calls: Arc::new(HostCalls::new(aborter)),
            lines: AtomicU64::new(1),
        })
    }

    /// Registers a host's tool. Gives `{ id, name }`.
    #[napi(catch_unwind)]
    pub fn register(
        &self,
        spec: String,
        #[napi(ts_arg_type = "(key: number, input: string, context: string) => void")]
        handler: Handler,
    ) -> String {
        sealed((|| {
            let spec: HostToolSpec = read(&spec, "field", ErrorKind::InvalidTool)?;
            let (tool, source) = HostTool::from_host(spec, handler, Arc::clone(&self.host_calls))?;
            let name = tool.spec().name.clone();
            let id = self.pipeline.registry.register(tool, source)?;
            Ok(json!({ "id": id, "name": name }).to_string())
        })())
    }

    /// Takes the answer of a host tool's handler.
    #[napi(catch_unwind)]
    pub fn host_answer(&self, key: u32, answer: String) {
        self.host_calls.answer(key, answer);
    }

    /// Hands on what a host tool's handler tells of its progress.
    #[napi(catch_unwind)]
    pub fn host_progress(&self, key: u32, progress: String) {
        // A handler that reports nonsense is no reason to end its call.
        if let Ok(progress) = serde_json::from_str(&progress) {
            self.host_calls.report(key, progress);
        }
    }

    /// Removes a tool; false when there was none.
    #[napi(catch_unwind)]
    pub fn unregister(&self, name: String) -> bool {
        self.pipeline.registry.unregister(&name)
    }

    /// Removes MCP tools by prefix; gives how many there were.
    #[napi(catch_unwind)]
    pub fn unregister_mcp_tools(&self, prefix: String) -> u32 {
        u32::try_from(self.pipeline.registry.unregister_mcp(&prefix).len()).unwrap_or(u32::MAX)
    }

    /// The registration's id of a name or alias.
    #[napi(catch_unwind)]
    pub fn lookup(&self, name: String) -> Option<f64> {
        #[expect(clippy::cast_precision_loss, reason = "a process makes no 2^53 registrations")]
        self.pipeline.registry.snapshot().find(&name).map(|entry| entry.id as f64)
    }

    /// Every name, in order.
    #[napi(catch_unwind)]
    pub fn names(&self) -> Vec<String> {
        let tools = self.pipeline.registry.snapshot();
        tools.entries().map(|entry| entry.tool.spec().name.clone()).collect()
    }

    /// How many tools there are.
    #[napi(catch_unwind)]
    pub fn count(&self) -> u32 {
        u32::try_from(self.pipeline.registry.snapshot().len()).unwrap_or(u32::MAX)
    }

    /// One tool's info as JSON.
    #[napi(catch_unwind)]
    pub fn info(&self, name: String) -> Option<String> {
        let tools = self.pipeline.registry.snapshot();
        tools.find(&name).map(|entry| tool_info(entry, &tools).to_string())
    }

    /// Every tool's info as JSON.
    #[napi(catch_unwind)]
    pub fn infos(&self) -> String {
        let tools = self.pipeline.registry.snapshot();
        tools.entries().map(|entry| tool_info(entry, &tools)).collect::<Value>().to_string()
    }

    /// The tools that are not disabled, in a provider's format.
    #[napi(catch_unwind)]
    pub fn definitions(&self, format: String, strict: bool) -> String {
        sealed((|| {
            let format: DefinitionFormat = format
                .parse()
                .map_err(|err: String| ToolError::new(ErrorKind::InvalidOptions, err))?;
            let strictness = if strict { Strictness::Strict } else { Strictness::Guided };
            let tools = self.pipeline.registry.snapshot();
            Ok(definitions(tools.enabled(), format, strictness).to_string())
        })())
    }

    /// True when the tool runs without asking.
    #[napi(catch_unwind)]
    pub fn is_allowed(&self, name: String) -> bool {
        self.pipeline.registry.snapshot().is_allowed(&name)
    }

    /// True when the tool is switched off.
    #[napi(catch_unwind)]
    pub fn is_disabled(&self, name: String) -> bool {
        self.pipeline.registry.snapshot().is_disabled(&name)
    }

    /// Lets tools run without asking.
    #[napi(catch_unwind)]
    pub fn allow(&self, names: Vec<String>) {
        self.pipeline.registry.allow(names);
    }

    /// Runs a call; promises the result as JSON.
    #[napi(catch_unwind, ts_return_type = "Promise<string>")]
    pub fn call<'env>(
        &self,
        env: &'env Env,
        name: String,
        input: String,
        options: Option<String>,
        cancel: Option<&CancelHandle>,
        #[napi(ts_arg_type = "((news: string) => void) | undefined | null")] progress: Option<
            Listener,
        >,
    ) -> Result<PromiseRaw<'env, String>> {
        self.start(env, name, input, options, cancel, progress, View::Result)
    }

    /// Runs a call; promises `llmContent` and `returnDisplay` as JSON.
    #[napi(catch_unwind, ts_return_type = "Promise<string>")]
    pub fn execute<'env>(
        &self,
        env: &'env Env,
        name: String,
        input: String,
        options: Option<String>,
        cancel: Option<&CancelHandle>,
        #[napi(ts_arg_type = "((news: string) => void) | undefined | null")] progress: Option<
            Listener,
        >,
    ) -> Result<PromiseRaw<'env, String>> {
        self.start(env, name, input, options, cancel, progress, View::Invocation)
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
            let ids: Vec<String> = calls.iter().map(|call| call.id.clone()).collect();
            let calls = calls.into_iter().map(BatchCall::read).collect();
            let outputs = pipeline.call_all(calls, options).await;
            let results: Vec<String> = outputs
                .iter()
                .zip(&ids)
                .map(|(output, id)| result_json(output, id, format))
                .collect();
            Ok(format!("[{}]", results.join(",")))
        })
    }

    /// What a call would do: `{ description, locations, decision, … }`, or the error it would end in.
    #[napi(catch_unwind)]
    pub fn preview(&self, name: String, input: String) -> String {
        sealed((|| {
            if self.pipeline.closed.is_cancelled() {
                return Err(closed());
            }
            let tools = self.pipeline.registry.snapshot();
            let Some(entry) = tools.find(&name) else {
                // The same words a call would be answered with.
                let call = ToolCall { name, input: Value::Null };
                return match self.pipeline.preview(call, CallOptions::default()) {
                    Err(error) => Err(error),
                    Ok(_) => Err(ToolError::new(
                        ErrorKind::UnknownTool,
                        "the tool was just registered; try again",
                    )),
                };
            };
            let spec = entry.tool.spec();
            let judged = parsed::<Value>(&input, ErrorKind::Validation).and_then(|input| {
                self.pipeline.preview(ToolCall { name, input }, CallOptions::default())
            });
            let risk = spec.side_effect.risk();
            let shown = match judged {
                Ok((prepared, decision)) => json!({
                    "name": spec.name,
                    "risk": risk,
                    "description": prepared.description(),
                    "locations": prepared.accesses().iter().map(Access::location).collect::<Vec<_>>(),
                    "decision": match &decision {
                        Decision::Allow => "allow",
                        Decision::Ask { .. } => "ask",
                        Decision::Deny(_) => "deny",
                    },
                }),
                Err(error) => json!({
                    "name": spec.name,
                    "risk": risk,
                    "description": spec.title,
                    "locations": [],
                    "error": error,
                }),
            };
            Ok(shown.to_string())
        })())
    }

    /// Opens a line for an in-process MCP client; `send` takes the server's messages.
    #[napi(catch_unwind)]
    pub fn open_mcp_line(
        &self,
        #[napi(ts_arg_type = "(message: string) => void")] send: Listener,
    ) -> McpLine {
        let session = format!("mcp-{}", self.lines.fetch_add(1, Ordering::Relaxed));
        let (pipeline, identity) = (Arc::clone(&self.pipeline), self.identity.clone());
        let (line, serve) = Connection::open(
            |gone| McpServer::new(pipeline, identity, session, gone),
            move |message| {
                // A client whose environment has ended hears nothing more; there is nobody to tell.
                let _ = send.call(message, ThreadsafeFunctionCallMode::NonBlocking);
            },
        );
        napi::bindgen_prelude::spawn(serve);
        McpLine(line)
    }

    /// Ends every running call; later ones are refused.
    #[napi(catch_unwind)]
    pub fn close(&self) {
        self.pipeline.closed.cancel();
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "they are the arguments of the two exports above"
    )]
    fn start<'env>(
        &self,
        env: &'env Env,
        name: String,
        input: String,
        options: Option<String>,
        cancel: Option<&CancelHandle>,
        progress: Option<Listener>,
        view: View,
    ) -> Result<PromiseRaw<'env, String>> {
        let pipeline = Arc::clone(&self.pipeline);
        let watcher = Watcher::new(progress);
        let options = call_options(options.as_deref(), cancel, &watcher);
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
            match &output.error {
                Some(error) if error.kind == ErrorKind::Cancelled && cancel.is_cancelled() => {
                    Ok(misuse(error))
                }
                _ => Ok(match view {
                    View::Result => result_wire(&output),
                    View::Invocation => invocation_wire(&output),
                }),
            }
        })
    }
}

/// Every tool that comes with the package, as JSON: what types and snapshots are made from.
#[napi(catch_unwind)]
pub fn tool_specs() -> String {
    builtin_specs().to_string()
}

/// Every error type there is.
#[napi(catch_unwind)]
pub fn error_types() -> Vec<String> {
    ErrorKind::ALL.iter().map(|kind| kind.as_str().to_owned()).collect()
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
