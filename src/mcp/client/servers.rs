//! The MCP servers of a registry.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use futures_util::future::join_all;

use super::{
    config::McpServerConfig,
    connector::ClientSurroundings,
    keep_connected::keep_connected,
    server_link::ServerLink,
    status::{McpServerState, McpServerStatus},
};
use crate::{
    error::{ErrorKind, ToolError},
    net::WebSettings,
    pipeline::Pipeline,
};

/// How many servers a registry may have.
const MAX_SERVERS: usize = 256;
/// How long disconnecting waits, besides the time that a program has to end.
const TIME_TO_END: Duration = Duration::from_secs(6);

/// The servers that the host has named. Dropping it disconnects them all.
pub struct McpServers {
    links: Mutex<BTreeMap<String, Arc<ServerLink>>>,
    web: WebSettings,
}

impl McpServers {
    /// No servers yet. Those over HTTP are asked with these settings.
    pub fn new(web: WebSettings) -> Self {
        Self { links: Mutex::default(), web }
    }

    /// Connects servers, all at once. One that has been added before is left as it is, except that it is tried
    /// now if it waits. Returns what each is at, once it is connected or has failed.
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

    /// Checks configurations without connecting anything.
    pub fn check(
        project: &std::path::Path,
        configs: &BTreeMap<String, McpServerConfig>,
    ) -> Result<(), ToolError> {
        for (name, config) in configs {
            config.clone().checked(name, project)?;
        }
        Ok(())
    }

    /// Connects a server, in place of one of the same name. Returns once it is connected, or the first attempt
    /// has failed: it is then tried again in the background.
    pub async fn connect(
        &self,
        pipeline: &Arc<Pipeline>,
        name: &str,
        config: McpServerConfig,
    ) -> Result<McpServerStatus, ToolError> {
        pipeline.refuse_when_closed()?;
        let project = pipeline.sessions.roots().first();
        // A configuration that is wrong leaves the server of the name as it is.
        config.clone().checked(name, project)?;
        let link = loop {
            self.disconnect(name).await;
            let (link, is_new) = self.begin(pipeline, config.clone().checked(name, project)?)?;
            // Somebody else may connect a server of the name at the same time. The last one stays.
            if is_new {
                break link;
            }
        };
        link.settled().await;
        Ok(link.status())
    }

    /// Disconnects a server and removes its tools; false when there is none of the name. Returns once its
    /// program is gone.
    pub async fn disconnect(&self, name: &str) -> bool {
        let Some(link) = self.lock().remove(name) else { return false };
        link.stop.cancel();
        let _ = tokio::time::timeout(TIME_TO_END, link.over()).await;
        true
    }

    /// Waits until every server of a closed registry is gone.
    pub async fn ended(&self) {
        let all = self.all();
        let over = join_all(all.iter().map(|it| it.over()));
        let _ = tokio::time::timeout(TIME_TO_END, over).await;
    }

    /// What every server is at, by name.
    pub fn status(&self) -> Vec<McpServerStatus> {
        self.all().iter().map(|it| it.status()).collect()
    }

    pub(super) fn all(&self) -> Vec<Arc<ServerLink>> {
        self.lock().values().cloned().collect()
    }

    pub(super) fn find(&self, name: &str) -> Option<Arc<ServerLink>> {
        self.lock().get(name).cloned()
    }

    /// Begins to connect a server. If there is one of the name, that one, and false.
    fn begin(
        &self,
        pipeline: &Arc<Pipeline>,
        setup: super::config::ServerSetup,
    ) -> Result<(Arc<ServerLink>, bool), ToolError> {
        let link = Arc::new(ServerLink::new(setup, pipeline.closing()));
        let mut links = self.lock();
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
        let around = ClientSurroundings {
            tasks: Arc::clone(pipeline.sessions.tasks()),
            roots: pipeline.sessions.roots().all().to_vec(),
            handlers: Arc::clone(&pipeline.handlers),
            web: self.web.clone(),
            sandbox: pipeline.server_sandbox(),
        };
        let keeping = keep_connected(Arc::clone(&link), around, Arc::downgrade(pipeline));
        tokio::spawn(keeping);
        Ok((link, true))
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Arc<ServerLink>>> {
        self.links.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for McpServers {
    fn drop(&mut self) {
        for link in self.lock().values() {
            link.stop.cancel();
        }
    }
}
