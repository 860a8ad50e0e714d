//! The status of an MCP server, for the host.

use serde::Serialize;

/// The state of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum McpServerState {
    /// It is being connected for the first time.
    Connecting,
    /// Its tools can be called.
    Connected,
    /// The connection was lost and is being restored. Calls fail until then.
    Reconnecting,
    /// It could not be connected. It has no tools, and is retried after a pause.
    Failed,
    /// The host has disabled it.
    Disabled,
}

/// The status of one server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct McpServerStatus {
    /// The name that the host gave it.
    pub name: String,
    /// How it is reached: `stdio`, `http` or `sse`.
    #[serde(rename = "type")]
    pub transport: &'static str,
    /// Its state.
    pub state: McpServerState,
    /// Since when, in milliseconds since 1970.
    pub since: u64,
    /// The names of its tools in the registry.
    pub tools: Vec<String>,
    /// Why it is not connected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Problems of a connected server, such as tools that were left out.
    pub warnings: Vec<String>,
    /// The end of its standard error.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub stderr: String,
    /// The negotiated version of the protocol.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol_version: Option<String>,
    /// How the server identifies itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_info: Option<ServerIdentification>,
    /// The server's instructions for its use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
}

/// How a server identifies itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ServerIdentification {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
}
