//! The registry as JavaScript holds it.

use std::{
    cell::Cell,
    rc::Rc,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicU64, Ordering},
    },
};

use napi::{
    CleanupEnvHook, Env,
    bindgen_prelude::{ObjectFinalize, PromiseRaw, Result},
    threadsafe_function::ThreadsafeFunctionCallMode,
};
use napi_derive::napi;
use serde_json::{Value, json};

use super::{
    bus::NativeMessageBus,
    callbacks::{HostListener, Listener},
    envelope::{misuse, sealed},
    host_calls::HostCalls,
    host_tool::{HostTool, HostToolSpec},
    listing::{builtin_specs, tool_info},
    mcp::McpLine,
    options::{Built, Options, read},
    policy::PolicySetup,
};
use crate::{
    definition::{Definitions, StructuredContent},
    error::{ErrorKind, ToolError},
    mcp::{Connection, ServedTools, ServerIdentity},
    pipeline::Pipeline,
    process::TaskInfo,
    provider::{DefinitionFormat, Strictness, definitions},
    registry::Snapshot,
};

/// The registry and all that stands behind it.
#[napi(custom_finalize)]
pub struct NativeRegistry {
    pub(super) pipeline: Arc<Pipeline>,
    identity: ServerIdentity,
    pub(super) structured_content: StructuredContent,
    setup: Mutex<PolicySetup>,
    host_calls: Arc<HostCalls>,
    lines: AtomicU64,
    end_with_env: Option<(CleanupEnvHook<Ends>, Ends)>,
}

#[napi]
impl NativeRegistry {
    /// Builds a registry, or throws the text of an error envelope.
    #[napi(constructor, catch_unwind)]
    pub fn new(
        env: Env,
        options: String,
        #[napi(
            ts_arg_type = "(what: \"call\" | \"abort\" | \"letGo\" | \"forget\", key: number, fn: number, input: string, context: string) => void"
        )]
        host: HostListener,
        bus: &NativeMessageBus,
    ) -> Result<Self> {
        let host_calls = Arc::new(HostCalls::new(host));
        let Built { pipeline, identity, structured_content, setup } =
            read::<Options>(&options, "option", ErrorKind::InvalidOptions)
                .and_then(|options| options.build(Arc::clone(&bus.bus), &host_calls))
                .map_err(|error| napi::Error::from_reason(misuse(&error)))?;
        let (pipeline, setup) = (Arc::new(pipeline), Mutex::new(setup));
        // A worker that ends takes nobody's calls back by itself: they run on other threads, and hold
        // what they need.
        let ends: Ends = Rc::new(Cell::new(Arc::downgrade(&pipeline)));
        let end_with_env = env
            .add_env_cleanup_hook(Rc::clone(&ends), |ends| end(&ends))
            .ok()
            .map(|hook| (hook, ends));
        let lines = AtomicU64::new(1);
        Ok(Self { pipeline, identity, structured_content, setup, host_calls, lines, end_with_env })
    }

    /// Registers a host's tool, whose handler is the function of a number. Gives `{ id, name }`.
    #[napi(catch_unwind)]
    pub fn register(&self, spec: String, handler: u32) -> String {
        let handler = self.host_calls.function(handler);
        sealed((|| {
            let spec: HostToolSpec = read(&spec, "field", ErrorKind::InvalidTool)?;
            let (tool, source) = HostTool::from_host(spec, handler)?;
            let name = tool.spec().name.clone();
            let id = self.pipeline.registry.register(tool, source)?;
            Ok(json!({ "id": id, "name": name }).to_string())
        })())
    }

    /// Takes the answer of a host tool's handler; false when nobody waits for it any more.
    #[napi(catch_unwind)]
    pub fn host_answer(&self, key: u32, answer: String) -> bool {
        self.host_calls.answer(key, answer)
    }

    /// Hands on what a host tool's handler tells of its progress.
    #[napi(catch_unwind)]
    pub fn host_progress(&self, key: u32, progress: String) {
        // A handler that reports nonsense is no reason to end its call.
        if let Ok(progress) = serde_json::from_str(&progress) {
            self.host_calls.report(key, progress);
        }
    }

    /// Removes a tool; gives its own name, which may not be the one it was asked by.
    #[napi(catch_unwind)]
    pub fn unregister(&self, name: String) -> Option<String> {
        self.pipeline.registry.unregister(&name)
    }

    /// Removes MCP tools by prefix; gives their names.
    #[napi(catch_unwind)]
    pub fn unregister_mcp_tools(&self, prefix: String) -> Vec<String> {
        self.pipeline.registry.unregister_mcp(&prefix)
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
        let definitions = self.definitions_of(&tools);
        tools.find(&name).map(|it| tool_info(it, &definitions, &self.pipeline).to_string())
    }

    /// Every tool's info as JSON.
    #[napi(catch_unwind)]
    pub fn infos(&self) -> String {
        let tools = self.pipeline.registry.snapshot();
        let definitions = self.definitions_of(&tools);
        let infos = tools.entries().map(|it| tool_info(it, &definitions, &self.pipeline));
        infos.collect::<Value>().to_string()
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
            Ok(definitions(self.definitions_of(&tools).all(), format, strictness).to_string())
        })())
    }

    /// True when policy allows a call of the tool of which nothing more is known.
    #[napi(catch_unwind)]
    pub fn is_allowed(&self, name: String, session_id: Option<String>) -> bool {
        self.pipeline.is_allowed(&name, session_id.as_deref())
    }

    /// True when the tool is switched off.
    #[napi(catch_unwind)]
    pub fn is_disabled(&self, name: String) -> bool {
        self.pipeline.registry.snapshot().is_disabled(&name)
    }

    /// Opens a line for an in-process MCP client; `send` takes the server's messages.
    #[napi(catch_unwind)]
    pub fn open_mcp_line(
        &self,
        #[napi(ts_arg_type = "(message: string) => void")] send: Listener,
    ) -> McpLine {
        let session = format!("mcp-{}", self.lines.fetch_add(1, Ordering::Relaxed));
        let tools = ServedTools::new(Arc::clone(&self.pipeline), session, self.structured_content);
        let identity = tools.introduced(self.identity.clone());
        let outgoing = move |message| {
            // A client whose environment has ended hears nothing more; there is nobody to tell.
            let _ = send.call(message, ThreadsafeFunctionCallMode::NonBlocking);
        };
        let (line, serve) = Connection::open(Arc::new(tools), identity, Arc::new(outgoing));
        napi::bindgen_prelude::spawn(serve);
        McpLine::new(line)
    }

    /// Every task that runs or is remembered, as JSON.
    #[napi(catch_unwind)]
    pub fn tasks(&self) -> String {
        let tasks = self.pipeline.sessions.tasks().list();
        let infos: Vec<TaskInfo> = tasks.iter().map(|it| TaskInfo::of(it)).collect();
        serde_json::to_string(&infos).unwrap_or_else(|_| "[]".to_owned())
    }

    /// How many tasks run.
    #[napi(catch_unwind)]
    pub fn running_tasks(&self) -> u32 {
        u32::try_from(self.pipeline.sessions.tasks().running()).unwrap_or(u32::MAX)
    }

    /// Hands every event of tasks to a listener: those that are kept, then those that come.
    #[napi(catch_unwind)]
    pub fn on_task_event(
        &self,
        #[napi(ts_arg_type = "(event: string) => void")] listener: Listener,
    ) {
        self.pipeline.sessions.tasks().on_event(move |event| {
            if let Ok(text) = serde_json::to_string(event) {
                listener.call(text, ThreadsafeFunctionCallMode::NonBlocking);
            }
        });
    }

    /// Ends every running call; later ones are refused. Kept when every command is gone.
    #[napi(catch_unwind, ts_return_type = "Promise<void>")]
    pub fn close<'env>(&self, env: &'env Env) -> Result<PromiseRaw<'env, ()>> {
        self.pipeline.closed.cancel();
        let tasks = Arc::clone(self.pipeline.sessions.tasks());
        env.spawn_future(async move {
            tasks.shut_down().await;
            Ok(())
        })
    }

    /// Lets go of every function of the host, once every call has ended: none is called after that.
    #[napi(catch_unwind)]
    pub fn release(&self) {
        self.host_calls.release();
    }
}

impl ObjectFinalize for NativeRegistry {
    /// The facade keeps the registry for as long as a call, a client or an iterator needs it. So nobody
    /// does any more, and whoever dropped it without closing it leaves nothing behind.
    fn finalize(mut self, env: Env) -> Result<()> {
        self.host_calls.release();
        if let Some((hook, ends)) = self.end_with_env.take() {
            if !self.pipeline.closed.is_cancelled() {
                end(&ends);
            }
            // The hook itself is never freed; what it refers to can be.
            ends.take();
            env.remove_env_cleanup_hook(hook)?;
        }
        Ok(())
    }
}

/// What ends with an environment.
type Ends = Rc<Cell<Weak<Pipeline>>>;

/// Ends every call and every command of a registry whose environment ends.
fn end(ends: &Ends) {
    if let Some(pipeline) = ends.take().upgrade() {
        pipeline.closed.cancel();
        pipeline.sessions.tasks().abandon();
    }
}

impl NativeRegistry {
    fn definitions_of<'a>(&self, tools: &'a Snapshot) -> Definitions<'a> {
        Definitions::new(tools, self.pipeline.sessions.roots(), self.structured_content)
    }

    pub(super) fn setup(&self) -> MutexGuard<'_, PolicySetup> {
        self.setup.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Every tool that comes with the package, as JSON: what types and snapshots are made from.
#[napi(catch_unwind)]
pub fn tool_specs() -> String {
    builtin_specs().to_string()
}

/// The version of this addon; it works with the facade of the very same version alone.
#[napi(catch_unwind)]
pub fn addon_version() -> String {
    env!("CARGO_PKG_VERSION").to_owned()
}

/// Every error type there is.
#[napi(catch_unwind)]
pub fn error_types() -> Vec<String> {
    ErrorKind::ALL.iter().map(|kind| kind.as_str().to_owned()).collect()
}
