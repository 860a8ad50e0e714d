//! The MCP servers of a host: those in its options, and those that it connects later.

use std::{collections::BTreeMap, future::Future, path::Path, sync::Arc};

use serde_json::{Value, json};
use toolwright_base::ToolError;
use toolwright_core::{HandlerName, Handlers};
use toolwright_mcp::{
    McpServerConfig, McpServerState, McpServerStatus, McpServers, ResourceLister, ResourceReader,
};
use toolwright_web::WebSettings;

use super::HostRegistry;

/// The servers of a registry, and the configurations in its options.
pub(super) struct HostMcpServers {
    servers: Arc<McpServers>,
    configured: BTreeMap<String, McpServerConfig>,
}

impl HostMcpServers {
    pub(super) fn new(
        configured: BTreeMap<String, McpServerConfig>,
        project: &Path,
        web: WebSettings,
    ) -> Result<Self, ToolError> {
        McpServers::check(project, &configured)?;
        Ok(Self { servers: Arc::new(McpServers::new(web)), configured })
    }

    /// Replaces the host's handlers for resources with ours, which also know the servers.
    pub(super) fn with_resources(&self, mut handlers: Handlers) -> Handlers {
        let servers = || Arc::clone(&self.servers);
        let of_host = handlers.get(HandlerName::McpListResources).cloned();
        let lister = ResourceLister { servers: servers(), of_host };
        handlers.insert(HandlerName::McpListResources, Arc::new(lister));
        let of_host = handlers.get(HandlerName::McpReadResource).cloned();
        let reader = ResourceReader { servers: servers(), of_host };
        handlers.insert(HandlerName::McpReadResource, Arc::new(reader));
        handlers
    }

    /// Waits until every server of a closed registry has ended.
    pub(super) fn ended(&self) -> impl Future<Output = ()> + Send + 'static {
        let servers = Arc::clone(&self.servers);
        async move { servers.ended().await }
    }
}

impl HostRegistry {
    /// Connects the servers of the options concurrently, and waits until each is connected or has failed. Returns
    /// the problems, in the form of the other errors of `initialize`.
    pub fn connect_configured_mcp_servers(
        &self,
    ) -> impl Future<Output = Result<Vec<Value>, ToolError>> + Send + 'static {
        let servers = Arc::clone(&self.mcp_servers.servers);
        let configured = self.mcp_servers.configured.clone();
        let pipeline = Arc::clone(&self.pipeline);
        async move {
            let connected = servers.connect_all(&pipeline, configured).await?;
            Ok(connected.iter().flat_map(problems_of).collect())
        }
    }

    /// Connects a server and replaces one of the same name.
    pub fn connect_mcp_server(
        &self,
        name: String,
        config: McpServerConfig,
    ) -> impl Future<Output = Result<McpServerStatus, ToolError>> + Send + 'static {
        let (servers, pipeline) =
            (Arc::clone(&self.mcp_servers.servers), Arc::clone(&self.pipeline));
        async move { servers.connect(&pipeline, &name, config).await }
    }

    /// Disconnects a server and removes its tools. Returns false if there is no server of this name.
    pub fn disconnect_mcp_server(
        &self,
        name: String,
    ) -> impl Future<Output = bool> + Send + 'static {
        let servers = Arc::clone(&self.mcp_servers.servers);
        async move { servers.disconnect(&name).await }
    }

    /// The status of every server.
    pub fn mcp_server_status(&self) -> Vec<McpServerStatus> {
        self.mcp_servers.servers.status()
    }
}

/// The problems of a server, in the form of the other errors of `initialize`.
fn problems_of(status: &McpServerStatus) -> Vec<Value> {
    let source = format!("mcpServers.{}", status.name);
    let failure = status.error.iter().filter(|_| status.state != McpServerState::Connected);
    let failure = failure.map(|it| format!("the server is not connected: {it}"));
    let all = failure.chain(status.warnings.iter().cloned());
    all.map(|message| json!({ "source": source, "message": message })).collect()
}
