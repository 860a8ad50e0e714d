//! Functions of the host that built-in tools call: to ask the user, to start an agent, to search the
//! web.
//!
//! A tool names the function it needs. If the host did not provide it, the tool works without it, or
//! its error names the missing option.

use std::{collections::BTreeMap, fmt, sync::Arc};

use async_trait::async_trait;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio_util::sync::CancellationToken;
use toolwright_base::{ErrorKind, ToolError};

use super::ToolContext;

/// A function that a host may provide in its option `handlers`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum HandlerName {
    /// Asks the user questions.
    AskUser,
    /// Runs a subagent.
    SpawnAgent,
    /// Creates a team of agents.
    TeamCreate,
    /// Sends a message to members of a team.
    TeamSend,
    /// Ends a team.
    TeamDelete,
    /// Searches the web.
    Search,
    /// Answers a prompt about the text of a page.
    Summarize,
    /// Reads a setting.
    ConfigGet,
    /// Changes a setting.
    ConfigSet,
    /// Lists resources of MCP servers.
    McpListResources,
    /// Reads a resource of an MCP server.
    McpReadResource,
}

impl HandlerName {
    /// Every function.
    pub const ALL: [Self; 11] = [
        Self::AskUser,
        Self::SpawnAgent,
        Self::TeamCreate,
        Self::TeamSend,
        Self::TeamDelete,
        Self::Search,
        Self::Summarize,
        Self::ConfigGet,
        Self::ConfigSet,
        Self::McpListResources,
        Self::McpReadResource,
    ];

    /// The path of the function in the option `handlers`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::AskUser => "askUser",
            Self::SpawnAgent => "spawnAgent",
            Self::TeamCreate => "team.create",
            Self::TeamSend => "team.send",
            Self::TeamDelete => "team.delete",
            Self::Search => "search",
            Self::Summarize => "summarize",
            Self::ConfigGet => "config.get",
            Self::ConfigSet => "config.set",
            Self::McpListResources => "mcp.listResources",
            Self::McpReadResource => "mcp.readResource",
        }
    }
}

/// One function of the host.
#[async_trait]
pub trait HostHandler: Send + Sync {
    /// Calls the function and waits for its answer. Dropping the future aborts the signal passed to the
    /// function. `facts` are added to the context, its second argument. An exception of the function
    /// becomes the error.
    async fn call(&self, input: &Value, facts: Value, cx: &ToolContext)
    -> Result<Value, ToolError>;

    /// Like [`Self::call`]. Once `stop` is cancelled, the signal passed to the function is aborted, but
    /// its answer is still awaited.
    async fn call_until_stopped(
        &self,
        input: &Value,
        facts: Value,
        cx: &ToolContext,
        stop: &CancellationToken,
    ) -> Result<Value, ToolError>;
}

/// The functions that the host provided.
#[derive(Clone, Default)]
pub struct Handlers {
    provided: BTreeMap<HandlerName, Arc<dyn HostHandler>>,
}

impl fmt::Debug for Handlers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.provided.keys()).finish()
    }
}

impl Handlers {
    /// Adds a function.
    pub fn insert(&mut self, name: HandlerName, handler: Arc<dyn HostHandler>) {
        self.provided.insert(name, handler);
    }

    /// The function, if the host provided it.
    pub fn get(&self, name: HandlerName) -> Option<&Arc<dyn HostHandler>> {
        self.provided.get(&name)
    }

    /// The function, or an error. Its message says what the model cannot do without it, its details say
    /// which option the host must set.
    pub fn require(
        &self,
        name: HandlerName,
        lack: &str,
    ) -> Result<&Arc<dyn HostHandler>, ToolError> {
        self.get(name).ok_or_else(|| {
            let how =
                format!("a host gives the function `handlers.{}` in its options", name.as_str());
            ToolError::new(ErrorKind::HandlerMissing, lack).allowed_by(&how)
        })
    }

    /// Calls a function of the host and parses its answer.
    pub async fn call<T: DeserializeOwned>(
        handler: &Arc<dyn HostHandler>,
        name: HandlerName,
        input: &Value,
        facts: Value,
        cx: &ToolContext,
    ) -> Result<T, ToolError> {
        let answer = handler.call(input, facts, cx).await?;
        serde_json::from_value(answer).map_err(|cause| {
            let message =
                format!("`handlers.{}` gave an answer of another form: {cause}", name.as_str());
            ToolError::new(ErrorKind::ToolFailed, message)
        })
    }
}
