//! A registry together with its policy sources, plugins, MCP servers and event log.

use std::{
    future::Future,
    pin::Pin,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU64, Ordering},
    },
};

use parking_lot::Mutex;
use serde_json::{Value, json};
use toolwright_base::{ErrorKind, PermissionMode, ToolError};
use toolwright_core::{MCP_SESSION, Snapshot};
use toolwright_mcp::{
    Connection, HttpEndpoint, ServedTools, ServerIdentity, StdioLine, serve_stdio,
};
use toolwright_pipeline::{Definitions, Pipeline, SharedBus, StructuredContent};
use toolwright_plugins::PluginError;
use toolwright_policy::TooManyModes;

use super::{
    EventLog, HostFunction, HostOptions, HostToolSpec, IndexStatusInfo,
    host_plugins::HostPlugins,
    host_tool::HostTool,
    mcp_servers::HostMcpServers,
    options::Assembled,
    policy_setup::{PolicySetup, permission_mode, refused},
    registry_events::RegistryEvents,
};

/// A registry of a host.
pub struct HostRegistry {
    /// Every call passes through it.
    pub pipeline: Arc<Pipeline>,
    /// Whether answers over MCP contain structured data.
    pub structured_content: StructuredContent,
    identity: ServerIdentity,
    setup: Mutex<PolicySetup>,
    /// The number of MCP clients so far.
    mcp_clients: Arc<AtomicU64>,
    mcp_endpoint: OnceLock<HttpEndpoint>,
    plugins: HostPlugins,
    pub(super) mcp_servers: HostMcpServers,
    /// The event log. Recording starts with its first use.
    events: OnceLock<RegistryEvents>,
}

/// A tool that was registered.
pub struct RegisteredTool {
    /// The id of the registration.
    pub id: u64,
    /// The name of the tool. For tools of MCP servers it differs from the given one.
    pub name: String,
}

impl HostRegistry {
    /// Builds a registry. `function` returns the host's function with a number, for hooks.
    pub fn new(
        options: HostOptions,
        bus: SharedBus,
        function: &dyn Fn(u32) -> Arc<dyn HostFunction>,
    ) -> Result<Self, ToolError> {
        let Assembled { pipeline, identity, structured_content, setup, plugins, mcp_servers } =
            options.assemble(bus, function)?;
        Ok(Self {
            pipeline: Arc::new(pipeline),
            structured_content,
            identity,
            setup: Mutex::new(setup),
            mcp_clients: Arc::default(),
            mcp_endpoint: OnceLock::new(),
            plugins,
            mcp_servers,
            events: OnceLock::new(),
        })
    }

    /// The event log. Recording starts with the first call of this function.
    pub fn events(&self) -> &Arc<EventLog> {
        &self.events.get_or_init(|| RegistryEvents::of(&self.pipeline)).log
    }

    /// Starts to build the indexes that the host wants eagerly.
    pub fn begin_indexing(&self) {
        self.pipeline.sessions.shared().files.indexes.begin();
    }

    /// The status of each root's index.
    pub fn index_status(&self) -> Vec<IndexStatusInfo> {
        let status = self.pipeline.sessions.shared().files.indexes.status();
        status.into_iter().map(IndexStatusInfo::of).collect()
    }

    /// Registers a tool of the host.
    pub fn register(
        &self,
        spec: HostToolSpec,
        handler: Arc<dyn HostFunction>,
    ) -> Result<RegisteredTool, ToolError> {
        let (tool, source) = HostTool::from_host(spec, handler)?;
        let name = tool.spec().name.clone();
        let id = self.pipeline.registry.register(tool, source)?;
        Ok(RegisteredTool { id, name })
    }

    /// A closure that reads the plugin files and replaces the plugin tools in one step. It blocks, and returns the
    /// errors in the files.
    pub fn plugin_loading(&self) -> impl FnOnce() -> Vec<PluginError> + Send + 'static {
        self.plugins.loading(&self.pipeline)
    }

    /// The names of all tools, in order.
    pub fn names(&self) -> Vec<String> {
        let tools = self.pipeline.registry.snapshot();
        tools.entries().map(|entry| entry.tool.spec().name.clone()).collect()
    }

    /// The definitions of the tools for models and clients.
    pub fn definitions<'a>(&self, tools: &'a Snapshot) -> Definitions<'a> {
        Definitions::new(tools, self.pipeline.sessions.roots(), self.structured_content)
    }

    /// Connects an MCP client in the same process. Its calls belong to the given session, or to a new one. The
    /// returned future serves the client; the caller must run it.
    pub fn connect(
        &self,
        session_id: Option<String>,
        outgoing: Arc<dyn Fn(String) + Send + Sync>,
    ) -> (Connection, Pin<Box<dyn Future<Output = ()> + Send>>) {
        let session = session_id.unwrap_or_else(|| next_session(&self.mcp_clients));
        let tools = self.served_tools(session);
        Connection::open(tools, outgoing)
    }

    /// Answers MCP clients over HTTP. Each MCP session is a session of the registry; all other clients share one.
    pub fn mcp_endpoint(&self) -> &HttpEndpoint {
        self.mcp_endpoint.get_or_init(|| {
            let tools = self.served_tools(next_session(&self.mcp_clients));
            let clients = Arc::clone(&self.mcp_clients);
            let names = Box::new(move || next_session(&clients));
            HttpEndpoint::open(tools, names, self.pipeline.closing())
        })
    }

    /// Serves an MCP client over a pair of pipes until one of them ends, or the registry is closed.
    pub fn serve_stdio(
        &self,
        line: StdioLine,
    ) -> impl Future<Output = std::io::Result<()>> + Send + 'static {
        let tools = self.served_tools(next_session(&self.mcp_clients));
        serve_stdio(tools, line, self.pipeline.closing())
    }

    fn served_tools(&self, session: String) -> ServedTools {
        let (pipeline, identity) = (Arc::clone(&self.pipeline), self.identity.clone());
        ServedTools::new(pipeline, identity, session, self.structured_content)
    }

    /// Replaces the host's policy. An invalid policy is refused and changes nothing.
    pub fn set_policy(&self, policy: Option<Value>) -> Result<(), ToolError> {
        self.change_policy(|setup| {
            setup.policy = policy;
            Ok(())
        })
    }

    /// Reads the policy files again.
    pub fn reload_policy(&self) -> Result<(), ToolError> {
        self.change_policy(PolicySetup::read_files)
    }

    /// Adds rules that allow calls.
    pub fn allow(&self, rules: Vec<String>) -> Result<(), ToolError> {
        self.change_policy(|setup| {
            setup.allowed.extend(rules);
            Ok(())
        })
    }

    /// Sets the permission mode, which decides calls that match no rule.
    pub fn set_permission_mode(&self, mode: &str) -> Result<(), ToolError> {
        let mode = permission_mode(Some(mode))?;
        self.pipeline.policy.change(|sources| sources.mode = mode).map_err(refused)
    }

    /// Sets the permission mode of one session. Without a mode, it follows the registry again, or the session that
    /// started its agent.
    pub fn set_session_mode(&self, session_id: &str, mode: Option<&str>) -> Result<(), ToolError> {
        let mode = mode.map(|it| permission_mode(Some(it))).transpose()?;
        self.pipeline.check_session(session_id)?;
        self.pipeline.policy.set_session_mode(session_id, mode).map_err(too_many)
    }

    /// The permission mode of a session, or of the registry.
    pub fn permission_mode(&self, session_id: Option<&str>) -> PermissionMode {
        let policy = &self.pipeline.policy;
        session_id.map_or_else(|| policy.get(), |it| policy.of_session(it)).mode()
    }

    /// Limits a session to these tools from now on.
    pub fn limit_tools(&self, session_id: &str, names: &[String]) -> Result<(), ToolError> {
        let tools = self.pipeline.registry.snapshot();
        let known = names.iter().map(|name| {
            let entry = tools.find(name).ok_or_else(|| {
                let message =
                    format!("a session cannot be limited to `{name}`: no tool has this name");
                ToolError::new(ErrorKind::InvalidOptions, message)
            })?;
            Ok(entry.tool.spec().name.clone())
        });
        let known = known.collect::<Result<_, ToolError>>()?;
        self.pipeline.check_session(session_id)?;
        self.pipeline.policy.limit_tools(session_id, known).map_err(too_many)
    }

    /// Rules that do not do what they seem to do.
    pub fn lint_policy(&self) -> Value {
        json!(self.pipeline.policy.get().lint_with_tools(&self.names()))
    }

    /// Rules whose tool does not exist.
    pub fn unknown_tools(&self) -> Value {
        json!(self.pipeline.policy.get().unknown_tools(&self.names()))
    }

    /// Enables tools, including those that `disallowedTools` names.
    pub fn enable(&self, names: &[String]) -> Result<(), ToolError> {
        self.pipeline.registry.enable(names)?;
        let engine = self.pipeline.policy.get();
        let tools = &engine.sources().tools;
        self.change_policy(|setup| {
            // `mcp__server` means `mcp__server__*`.
            let plain = |it: &str| it.trim().trim_end_matches("__*").to_owned();
            let is_named = |it: &str| names.iter().any(|name| tools.is_same(it, &plain(name)));
            setup.disallowed.retain(|it| !is_named(&plain(it)));
            Ok(())
        })
    }

    /// Ends every running call, and refuses later ones.
    pub fn close(&self) {
        self.plugins.stop_watching();
        self.pipeline.close();
    }

    /// Waits until every call of a closed registry has ended, every command has exited and the store is closed.
    pub fn ended(&self) -> impl Future<Output = ()> + Send + 'static {
        let pipeline = Arc::clone(&self.pipeline);
        let servers_ended = self.mcp_servers.ended();
        async move {
            // Servers get time to exit by themselves before every command is stopped.
            let commands_ended = async {
                servers_ended.await;
                pipeline.sessions.tasks().shut_down().await;
            };
            tokio::join!(pipeline.calls_ended(), commands_ended);
            pipeline.sessions.store().close().await;
        }
    }

    fn change_policy(
        &self,
        change: impl FnOnce(&mut PolicySetup) -> Result<(), ToolError>,
    ) -> Result<(), ToolError> {
        let mut kept = self.setup.lock();
        let mut setup = kept.clone();
        change(&mut setup)?;
        let layers = setup.layers()?;
        self.pipeline.policy.change(|sources| sources.layers = layers).map_err(refused)?;
        *kept = setup;
        Ok(())
    }
}

/// The session id of the next MCP client.
fn next_session(clients: &AtomicU64) -> String {
    format!("{MCP_SESSION}{}", clients.fetch_add(1, Ordering::Relaxed) + 1)
}

#[expect(clippy::needless_pass_by_value, reason = "used as an argument of map_err")]
fn too_many(error: TooManyModes) -> ToolError {
    ToolError::new(ErrorKind::InvalidOptions, error.to_string())
}
