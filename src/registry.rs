//! The registry, for JavaScript.

use std::{
    cell::Cell,
    rc::Rc,
    sync::{Arc, Weak},
};

use napi::{
    CleanupEnvHook, Env,
    bindgen_prelude::{ObjectFinalize, PromiseRaw, Result, spawn_blocking},
    threadsafe_function::ThreadsafeFunctionCallMode,
};
use napi_derive::napi;
use serde_json::json;
use toolwright_base::{ErrorKind, ToolError};
use toolwright_host::{HostOptions, HostRegistry, HostToolSpec, RegisteredTool, validated};
use toolwright_pipeline::{DefinitionFormat, Pipeline, Strictness, definitions};
use toolwright_process::TaskInfo;

use crate::{
    bus::NativeMessageBus,
    callbacks::{HostListener, Listener},
    envelope::{misuse, sealed},
    host_calls::HostCalls,
    indexes::NativeIndexPool,
    mcp::McpLine,
};

/// The native side of a `ToolRegistry`.
#[napi(custom_finalize)]
pub struct NativeRegistry {
    pub(super) host: Arc<HostRegistry>,
    host_calls: Arc<HostCalls>,
    end_with_env: Option<(CleanupEnvHook<PipelineToEnd>, PipelineToEnd)>,
}

#[napi]
impl NativeRegistry {
    /// Builds a registry. Throws the text of an error envelope.
    #[napi(constructor, catch_unwind)]
    pub fn new(
        env: Env,
        options: String,
        #[napi(
            ts_arg_type = "(what: \"call\" | \"abort\" | \"release\" | \"forget\", key: number, fn: number, input: string, context: string) => void"
        )]
        host: HostListener,
        bus: &NativeMessageBus,
        indexes: &NativeIndexPool,
    ) -> Result<Self> {
        let host_calls = Arc::new(HostCalls::new(host));
        let functions = Arc::clone(&host_calls);
        let function = move |number| functions.function(number);
        let host = validated::<HostOptions>(&options, "option", ErrorKind::InvalidOptions)
            .map(|options| options.sharing(&indexes.pool))
            .and_then(|options| HostRegistry::new(options, Arc::clone(&bus.bus), &function))
            .map(Arc::new)
            .map_err(|error| napi::Error::from_reason(misuse(&error)))?;
        // Calls run on other threads and own what they need. Without this hook they would continue
        // after the worker that made them has ended.
        let pipeline: PipelineToEnd = Rc::new(Cell::new(Arc::downgrade(&host.pipeline)));
        let end_with_env = env
            .add_env_cleanup_hook(Rc::clone(&pipeline), |pipeline| end(&pipeline))
            .ok()
            .map(|hook| (hook, pipeline));
        Ok(Self { host, host_calls, end_with_env })
    }

    /// Registers a tool of the host, whose handler is the function with this number. Returns
    /// `{ id, name }` as JSON.
    #[napi(catch_unwind)]
    pub fn register(&self, spec: String, handler: u32) -> String {
        let handler = self.host_calls.function(handler);
        sealed((|| {
            let spec: HostToolSpec = validated(&spec, "field", ErrorKind::InvalidTool)?;
            let RegisteredTool { id, name } = self.host.register(spec, handler)?;
            Ok(json!({ "id": id, "name": name }).to_string())
        })())
    }

    /// Takes the answer of a host tool's handler. Returns false if its call has ended already.
    #[napi(catch_unwind)]
    pub fn host_answer(&self, key: u32, answer: String) -> bool {
        self.host_calls.answer(key, answer)
    }

    /// Forwards the progress that a host tool's handler reports.
    #[napi(catch_unwind)]
    pub fn host_progress(&self, key: u32, progress: String) {
        // Invalid progress is ignored; it is no reason to end the call.
        if let Ok(progress) = serde_json::from_str(&progress) {
            self.host_calls.report(key, progress);
        }
    }

    /// Reads the plugin files and replaces the plugin tools in one step. Resolves with the errors as
    /// JSON.
    #[napi(catch_unwind, ts_return_type = "Promise<string>")]
    pub fn load_plugins<'env>(&self, env: &'env Env) -> Result<PromiseRaw<'env, String>> {
        let load = self.host.plugin_loading();
        env.spawn_future(async move {
            let errors = spawn_blocking(load)
                .await
                .map_err(|err| napi::Error::from_reason(err.to_string()))?;
            Ok(json!(errors).to_string())
        })
    }

    /// Removes a tool by its name or an alias. Returns its name.
    #[napi(catch_unwind)]
    pub fn unregister(&self, name: String) -> Option<String> {
        self.host.pipeline.registry.unregister(&name)
    }

    /// Removes MCP tools by prefix. Returns their names.
    #[napi(catch_unwind)]
    pub fn unregister_mcp_tools(&self, prefix: String) -> Vec<String> {
        self.host.pipeline.registry.unregister_mcp(&prefix)
    }

    /// The id of the registration with this name or alias.
    #[napi(catch_unwind)]
    pub fn lookup(&self, name: String) -> Option<f64> {
        #[expect(clippy::cast_precision_loss, reason = "a process makes no 2^53 registrations")]
        self.host.pipeline.registry.snapshot().find(&name).map(|entry| entry.id as f64)
    }

    /// Every tool name, in order.
    #[napi(catch_unwind)]
    pub fn names(&self) -> Vec<String> {
        self.host.names()
    }

    /// The number of tools.
    #[napi(catch_unwind)]
    pub fn count(&self) -> u32 {
        u32::try_from(self.host.pipeline.registry.snapshot().len()).unwrap_or(u32::MAX)
    }

    /// One tool's info as JSON.
    #[napi(catch_unwind)]
    pub fn info(&self, name: String) -> Option<String> {
        self.host.tool_info(&name).map(|it| it.to_string())
    }

    /// Every tool's info as JSON.
    #[napi(catch_unwind)]
    pub fn infos(&self) -> String {
        json!(self.host.tool_infos()).to_string()
    }

    /// The enabled tools, in a provider's format.
    #[napi(catch_unwind)]
    pub fn definitions(&self, format: String, strict: bool) -> String {
        sealed((|| {
            let format: DefinitionFormat = format
                .parse()
                .map_err(|err: String| ToolError::new(ErrorKind::InvalidOptions, err))?;
            let strictness = if strict { Strictness::Strict } else { Strictness::Guided };
            let tools = self.host.pipeline.registry.snapshot();
            Ok(definitions(self.host.definitions(&tools).all(), format, strictness).to_string())
        })())
    }

    /// True when policy allows a call of this tool before its input is known.
    #[napi(catch_unwind)]
    pub fn is_allowed(&self, name: String, session_id: Option<String>) -> bool {
        self.host.pipeline.is_allowed(&name, session_id.as_deref())
    }

    /// True when the tool is disabled.
    #[napi(catch_unwind)]
    pub fn is_disabled(&self, name: String) -> bool {
        self.host.pipeline.registry.snapshot().is_disabled(&name)
    }

    /// Connects an in-process MCP client; `send` takes the server's messages. Its calls belong to the
    /// given session, or to a new one.
    #[napi(catch_unwind)]
    pub fn open_mcp_line(
        &self,
        #[napi(ts_arg_type = "(message: string) => void")] send: Listener,
        session_id: Option<String>,
    ) -> McpLine {
        let outgoing = move |message| {
            // A client whose environment has ended needs no more messages.
            let _ = send.call(message, ThreadsafeFunctionCallMode::NonBlocking);
        };
        let (line, serve) = self.host.connect(session_id, Arc::new(outgoing));
        napi::bindgen_prelude::spawn(serve);
        McpLine::new(line)
    }

    /// Every task that runs or is kept after its end, as JSON.
    #[napi(catch_unwind)]
    pub fn tasks(&self) -> String {
        let tasks = self.host.pipeline.sessions.tasks().list();
        let infos: Vec<TaskInfo> = tasks.iter().map(|it| TaskInfo::of(it)).collect();
        serde_json::to_string(&infos).unwrap_or_else(|_| "[]".to_owned())
    }

    /// The number of running tasks.
    #[napi(catch_unwind)]
    pub fn running_tasks(&self) -> u32 {
        u32::try_from(self.host.pipeline.sessions.tasks().running()).unwrap_or(u32::MAX)
    }

    /// Passes every task event to a listener: first the kept ones, then the new ones.
    #[napi(catch_unwind)]
    pub fn on_task_event(
        &self,
        #[napi(ts_arg_type = "(event: string) => void")] listener: Listener,
    ) {
        self.host.pipeline.sessions.tasks().on_event(move |event| {
            if let Ok(text) = serde_json::to_string(event) {
                listener.call(text, ThreadsafeFunctionCallMode::NonBlocking);
            }
        });
    }

    /// Ends every running call and refuses later ones. Resolves once every command has exited.
    #[napi(catch_unwind, ts_return_type = "Promise<void>")]
    pub fn close<'env>(&self, env: &'env Env) -> Result<PromiseRaw<'env, ()>> {
        self.host.close();
        let ended = self.host.ended();
        env.spawn_future(async move {
            ended.await;
            Ok(())
        })
    }

    /// Releases every function of the host, once every call has ended. None is called after that.
    #[napi(catch_unwind)]
    pub fn release(&self) {
        self.host.pipeline.sessions.shared().stored.events.clear();
        self.host_calls.release();
    }
}

impl ObjectFinalize for NativeRegistry {
    /// Runs when the facade has dropped the registry, which it keeps while a call, a client or an
    /// iterator needs it. If `close()` was not called, this ends its calls and commands.
    fn finalize(mut self, env: Env) -> Result<()> {
        self.host_calls.release();
        if let Some((hook, pipeline)) = self.end_with_env.take() {
            if !self.host.pipeline.is_closed() {
                end(&pipeline);
            }
            // napi never frees the hook itself, but its content can be freed.
            pipeline.take();
            env.remove_env_cleanup_hook(hook)?;
        }
        Ok(())
    }
}

/// The pipeline to end together with its JavaScript environment.
type PipelineToEnd = Rc<Cell<Weak<Pipeline>>>;

/// Ends every call and every command of a registry.
fn end(pipeline: &PipelineToEnd) {
    if let Some(pipeline) = pipeline.take().upgrade() {
        pipeline.abandon();
    }
}

/// Every built-in tool, as JSON. Types and snapshots are generated from it.
#[napi(catch_unwind)]
pub fn tool_specs() -> String {
    toolwright_tools::builtin_specs().to_string()
}

/// The version of this addon. It works only with a facade of the same version.
#[napi(catch_unwind)]
pub fn addon_version() -> String {
    env!("CARGO_PKG_VERSION").to_owned()
}

/// Every error type.
#[napi(catch_unwind)]
pub fn error_types() -> Vec<String> {
    ErrorKind::ALL.iter().map(|kind| kind.as_str().to_owned()).collect()
}
