//! The MCP servers of a registry.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use futures_util::future::join_all;
use parking_lot::Mutex;
use toolwright_base::{ErrorKind, ToolError};
use toolwright_pipeline::Pipeline;
use toolwright_web::WebSettings;

use super::{
    config::McpServerConfig,
    connector::ClientContext,
    keep_connected::keep_connected,
    server_link::ServerLink,
    status::{McpServerState, McpServerStatus},
};

/// The maximum number of servers of a registry.
const MAX_SERVERS: usize = 256;
/// How long to wait for the end of a connection and its program.
const TIME_TO_END: Duration = Duration::from_secs(6);

/// The servers that the host has configured. Dropping it disconnects them all.
pub struct McpServers {
    links: Mutex<BTreeMap<String, Arc<ServerLink>>>,
    web: WebSettings,
}

impl McpServers {
    /// Without servers. The settings apply to servers over HTTP.
    pub fn new(web: WebSettings) -> Self {
        Self { links: Mutex::default(), web }
    }

    /// Connects servers concurrently. A server that was added before keeps its configuration, and if it waits for
    /// its next attempt, it is tried now. Returns the status of each, once it is connected or has failed.
    pub async fn connect_all(
        &self,
        pipeline: &Arc<Pipeline>,
        configs: BTreeMap<String, McpServerConfig>,
    ) -> Result<Vec<McpServerStatus>, ToolError> {
        pipeline.refuse_when_closed()?;
        let project = pipeline.sessions.roots().first();
        let mut links = Vec::new();
        for (name, config) in configs {
            links.push(match self.find(&name) {
                Some(known) => {
                    let attempts = known.attempts();
                    known.retry.notify_one();
                    (known, attempts)
                }
                None => (self.begin(pipeline, config.checked(&name, project)?)?.0, 0),
            });
        }
        let settled = links.iter().map(|(link, attempts)| async {
            if link.phase() != McpServerState::Connected {
                link.attempted_after(*attempts).await;
            }
            link.status()
        });
        Ok(join_all(settled).await)
    }

    /// Validates configurations without connecting.
    pub fn check(
        project: &std::path::Path,
        configs: &BTreeMap<String, McpServerConfig>,
    ) -> Result<(), ToolError> {
        for (name, config) in configs {
            config.clone().checked(name, project)?;
        }
        Ok(())
    }

    /// Connects a server and replaces one of the same name. Returns once it is connected or the first attempt has
    /// failed. After a failure it is retried in the background.
    pub async fn connect(
        &self,
        pipeline: &Arc<Pipeline>,
        name: &str,
        config: McpServerConfig,
    ) -> Result<McpServerStatus, ToolError> {
        pipeline.refuse_when_closed()?;
        let project = pipeline.sessions.roots().first();
        // An invalid configuration must not disconnect the existing server.
        config.clone().checked(name, project)?;
        let link = loop {
            self.disconnect(name).await;
            let (link, is_new) = self.begin(pipeline, config.clone().checked(name, project)?)?;
            // Another call may connect a server of the same name concurrently. The last one wins.
            if is_new {
                break link;
            }
        };
        link.settled().await;
        Ok(link.status())
    }

    /// Disconnects a server and removes its tools, and waits until its program has exited. Returns false if there
    /// is no server of this name.
    pub async fn disconnect(&self, name: &str) -> bool {
        let Some(link) = self.links.lock().remove(name) else { return false };
        link.stop.cancel();
        let _ = tokio::time::timeout(TIME_TO_END, link.over()).await;
        true
    }

    /// Waits until every server of a closed registry has ended.
    pub async fn ended(&self) {
        let all = self.all();
        let over = join_all(all.iter().map(|it| it.over()));
        let _ = tokio::time::timeout(TIME_TO_END, over).await;
    }

    /// The status of every server, by name.
    pub fn status(&self) -> Vec<McpServerStatus> {
        self.all().iter().map(|it| it.status()).collect()
    }

    pub(super) fn all(&self) -> Vec<Arc<ServerLink>> {
        self.links.lock().values().cloned().collect()
    }

    pub(super) fn find(&self, name: &str) -> Option<Arc<ServerLink>> {
        self.links.lock().get(name).cloned()
    }

    /// Starts to connect a server. If there is already one of this name, returns it and false.
    fn begin(
        &self,
        pipeline: &Arc<Pipeline>,
        setup: super::config::ServerSetup,
    ) -> Result<(Arc<ServerLink>, bool), ToolError> {
        let link = Arc::new(ServerLink::new(setup, pipeline.closing()));
        let mut links = self.links.lock();
        if let Some(known) = links.get(link.name()) {
            return Ok((Arc::clone(known), false));
        }
        if links.len() >= MAX_SERVERS {
            let message = format!("a registry has at most {MAX_SERVERS} MCP servers");
            return Err(ToolError::new(ErrorKind::InvalidOptions, message));
        }
        links.insert(link.name().to_owned(), Arc::clone(&link));
        drop(links);
        if link.phase() == McpServerState::Disabled {
            link.note_end();
            return Ok((link, true));
        }
        let context = ClientContext {
            tasks: Arc::clone(pipeline.sessions.tasks()),
            roots: pipeline.sessions.roots().all().to_vec(),
            handlers: Arc::clone(&pipeline.handlers),
            web: self.web.clone(),
            sandbox: pipeline.server_sandbox(),
        };
        let keeping = keep_connected(Arc::clone(&link), context, Arc::downgrade(pipeline));
        tokio::spawn(keeping);
        Ok((link, true))
    }
}

impl Drop for McpServers {
    fn drop(&mut self) {
        for link in self.links.lock().values() {
            link.stop.cancel();
        }
    }
}
