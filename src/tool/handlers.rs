//! Functions of the host that built-in tools call: to ask the user, to start an agent, to search the web.
//!
//! A tool names the function it needs. Where the host gave none, the tool does without it, or says in its
//! error which option is missing.

use std::{collections::BTreeMap, fmt, sync::Arc};

use async_trait::async_trait;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::ToolContext;
use crate::error::{ErrorKind, ToolError};

/// A function that a host may give in its option `handlers`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum HandlerName {
    /// Puts questions to the user.
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

/// One function of the host, as tools call it.
#[async_trait]
pub trait HostHandler: Send + Sync {
    /// Calls the function and waits for its answer; dropping the future aborts the signal that the function
    /// got. `facts` are added to the context, its second argument. What the function throws is the error.
    async fn call(&self, input: &Value, facts: Value, cx: &ToolContext)
    -> Result<Value, ToolError>;

    /// As [`Self::call`]. Once `stop` is cancelled the signal that the function got is aborted, and its answer
    /// is still waited for.
    async fn call_until_stopped(
        &self,
        input: &Value,
        facts: Value,
        cx: &ToolContext,
        stop: &CancellationToken,
    ) -> Result<Value, ToolError>;
}

/// The functions that the host gave.
#[derive(Clone, Default)]
pub struct Handlers {
    given: BTreeMap<HandlerName, Arc<dyn HostHandler>>,
}

impl fmt::Debug for Handlers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.given.keys()).finish()
    }
}

impl Handlers {
    /// Adds a function.
    pub fn insert(&mut self, name: HandlerName, handler: Arc<dyn HostHandler>) {
        self.given.insert(name, handler);
    }

    /// The function, if the host gave it.
    pub fn get(&self, name: HandlerName) -> Option<&Arc<dyn HostHandler>> {
        self.given.get(&name)
    }

    /// The function, or an error. The model is told what cannot be done without it, and the host which option
    /// is missing.
    pub(crate) fn require(
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

    /// Calls a function that the host gave, and reads its answer.
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
