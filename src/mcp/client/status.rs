//! What a host is told of an MCP server.

use serde::Serialize;

/// What a server is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum McpServerState {
    /// It is being connected for the first time.
    Connecting,
    /// Its tools can be called.
    Connected,
    /// The connection was lost and is being made again. Calls fail until then.
    Reconnecting,
    /// It could not be connected. It has no tools, and is tried again after a while.
    Failed,
    /// The host wants it left alone.
    Disabled,
}

/// One server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct McpServerStatus {
    /// The name that the host gave it.
    pub name: String,
    /// How it is reached: `stdio`, `http` or `sse`.
    #[serde(rename = "type")]
    pub transport: &'static str,
    /// What it is at.
    pub state: McpServerState,
    /// When that began, in milliseconds since 1970.
    pub since: u64,
    /// The names of its tools in the registry.
    pub tools: Vec<String>,
    /// Why it is not connected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What is wrong with it although it is connected, such as tools that were left out.
    pub warnings: Vec<String>,
    /// The end of what it wrote to its standard error.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub stderr: String,
    /// The version of the protocol that was agreed on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol_version: Option<String>,
    /// What the server says it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_info: Option<ServerIdentification>,
    /// What the server says about its use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
}

/// What a server says it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ServerIdentification {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
}
