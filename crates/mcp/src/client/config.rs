//! The configuration of an MCP server, in the format of agents' configuration files.

use std::{
    collections::{BTreeMap, HashMap},
    path::{Path, PathBuf},
    time::Duration,
};

use http::{HeaderName, HeaderValue};
use schemars::JsonSchema;
use serde::Deserialize;
use toolwright_base::{ErrorKind, SHOWN_NAME, ToolError, shortened};
use toolwright_process::ServerCommand;
use url::Url;

/// How long a server may take to start, to negotiate the protocol and to list its tools.
const STARTUP: Duration = Duration::from_secs(10);
/// The longest name of a server, in characters.
const MAX_NAME: usize = 128;
/// Headers that the transport sets itself.
const OWN_HEADERS: [&str; 8] = [
    "accept",
    "connection",
    "content-length",
    "content-type",
    "host",
    "last-event-id",
    "mcp-protocol-version",
    "mcp-session-id",
];

/// A server as the host configures it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct McpServerConfig {
    /// The transport. A server with a `command` is started; a server with a `url` is reached over HTTP.
    #[serde(rename = "type")]
    kind: Option<TransportKind>,
    command: Option<String>,
    args: Vec<String>,
    env: BTreeMap<String, String>,
    cwd: Option<PathBuf>,
    url: Option<String>,
    headers: BTreeMap<String, String>,
    #[schemars(range(min = 1, max = 2_147_483_647))]
    timeout_ms: Option<u32>,
    #[schemars(range(min = 1, max = 600_000))]
    startup_timeout_ms: Option<u32>,
    disabled: bool,
    allowed_tools: Option<Vec<String>>,
}

/// The kinds of transport.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum TransportKind {
    Stdio,
    Http,
    /// An alias of `http`, which some configuration files use.
    #[serde(rename = "streamable-http")]
    StreamableHttp,
    Sse,
}

/// A validated configuration.
#[derive(Debug)]
pub(super) struct ServerSetup {
    pub(super) name: String,
    pub(super) transport: ServerTransport,
    /// The time limit of one call, if it differs from the registry's.
    pub(super) call_timeout: Option<Duration>,
    pub(super) startup: Duration,
    pub(super) is_disabled: bool,
    allowed_tools: Option<Vec<String>>,
}

/// How a server is reached.
#[derive(Debug)]
pub(super) enum ServerTransport {
    /// A program that is started, over its standard streams.
    Stdio(ServerCommand),
    /// Streamable HTTP.
    Http(HttpAddress),
    /// HTTP with server-sent events, the predecessor of streamable HTTP.
    Sse(HttpAddress),
}

/// The URL of a server, and the headers of every request to it.
#[derive(Clone, Debug)]
pub(super) struct HttpAddress {
    pub(super) url: Url,
    pub(super) headers: HashMap<HeaderName, HeaderValue>,
}

impl McpServerConfig {
    /// True when the server must not be connected.
    pub fn is_disabled(&self) -> bool {
        self.disabled
    }

    /// Validates a server's name and configuration. Relative directories are resolved against `project`.
    pub(super) fn checked(self, name: &str, project: &Path) -> Result<ServerSetup, ToolError> {
        let wrong = |cause: String| {
            let shown = shortened(name, SHOWN_NAME);
            ToolError::new(ErrorKind::InvalidOptions, format!("MCP server `{shown}`: {cause}"))
        };
        if name.is_empty() || name.chars().count() > MAX_NAME || name.chars().any(char::is_control)
        {
            return Err(wrong(format!(
                "its name must have 1 to {MAX_NAME} characters, and no control characters"
            )));
        }
        let milliseconds = |it: u32| Duration::from_millis(it.into());
        let call_timeout = self.timeout_ms.map(milliseconds);
        let startup = self.startup_timeout_ms.map_or(STARTUP, milliseconds);
        let (is_disabled, allowed_tools) = (self.disabled, self.allowed_tools.clone());
        let transport = self.transport(project).map_err(wrong)?;
        let name = name.to_owned();
        Ok(ServerSetup { name, transport, call_timeout, startup, is_disabled, allowed_tools })
    }

    fn transport(self, project: &Path) -> Result<ServerTransport, String> {
        let kind = match (self.kind, &self.command, &self.url) {
            (Some(kind), ..) => kind,
            (None, Some(_), None) => TransportKind::Stdio,
            (None, None, Some(_)) => TransportKind::Http,
            (None, Some(_), Some(_)) => {
                return Err("it has a `command` and a `url`; leave one of them out".to_owned());
            }
            (None, None, None) => {
                return Err("it has neither a `command` to start nor a `url`".to_owned());
            }
        };
        let unused = match kind {
            TransportKind::Stdio => {
                [("url", self.url.is_some()), ("headers", !self.headers.is_empty())]
                    .into_iter()
                    .find(|it| it.1)
            }
            TransportKind::Http | TransportKind::StreamableHttp | TransportKind::Sse => [
                ("command", self.command.is_some()),
                ("args", !self.args.is_empty()),
                ("env", !self.env.is_empty()),
                ("cwd", self.cwd.is_some()),
            ]
            .into_iter()
            .find(|it| it.1),
        };
        if let Some((field, _)) = unused {
            let name = kind.as_str();
            return Err(format!("`{field}` has no effect on a server of `type: \"{name}\"`"));
        }
        match kind {
            TransportKind::Stdio => self.server_command(project).map(ServerTransport::Stdio),
            TransportKind::Http | TransportKind::StreamableHttp => {
                self.address().map(ServerTransport::Http)
            }
            TransportKind::Sse => self.address().map(ServerTransport::Sse),
        }
    }

    fn server_command(self, project: &Path) -> Result<ServerCommand, String> {
        let program = self.command.filter(|it| !it.is_empty());
        let program = program.ok_or("it has no `command` to start")?;
        let texts = [&program].into_iter().chain(&self.args).chain(self.env.values());
        if texts.chain(self.env.keys()).any(|it| it.contains('\0')) {
            return Err("`command`, `args` and `env` cannot have NUL characters".to_owned());
        }
        if let Some(name) = self.env.keys().find(|it| it.is_empty() || it.contains('=')) {
            return Err(format!("`{name}` cannot be the name of a variable in `env`"));
        }
        Ok(ServerCommand {
            program,
            arguments: self.args,
            variables: self.env.iter().map(|(name, value)| format!("{name}={value}")).collect(),
            cwd: project.join(self.cwd.unwrap_or_default()),
        })
    }

    fn address(self) -> Result<HttpAddress, String> {
        let text = self.url.ok_or("it has no `url`")?;
        let url = Url::parse(&text).map_err(|cause| format!("`{text}` is not a URL: {cause}"))?;
        if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
            return Err(format!("`{text}` is not an `http` or `https` URL"));
        }
        let mut headers = HashMap::new();
        for (name, value) in &self.headers {
            // The value may be a secret, so it is not shown.
            let unusable = || format!("the header `{name}` cannot be sent");
            let name: HeaderName = name.parse().map_err(|_| unusable())?;
            if OWN_HEADERS.contains(&name.as_str()) {
                return Err(format!("the header `{name}` is set by the connection itself"));
            }
            let mut value: HeaderValue = value.parse().map_err(|_| unusable())?;
            value.set_sensitive(true);
            headers.insert(name, value);
        }
        Ok(HttpAddress { url, headers })
    }
}

impl TransportKind {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Stdio => "stdio",
            Self::Http | Self::StreamableHttp => "http",
            Self::Sse => "sse",
        }
    }
}

impl ServerSetup {
    /// True when the configuration allows a tool of the server.
    pub(super) fn wants(&self, tool: &str) -> bool {
        let is_named = |it: &String| match it.strip_suffix('*') {
            Some(start) => tool.starts_with(start),
            None => it == tool,
        };
        self.allowed_tools.as_ref().is_none_or(|it| it.iter().any(is_named))
    }

    /// The kind of transport, as in configuration files.
    pub(super) fn transport_name(&self) -> &'static str {
        match self.transport {
            ServerTransport::Stdio(_) => TransportKind::Stdio.as_str(),
            ServerTransport::Http(_) => TransportKind::Http.as_str(),
            ServerTransport::Sse(_) => TransportKind::Sse.as_str(),
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, clippy::panic, reason = "tests")]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::{Value, json};

    use super::*;

    fn setup(config: Value) -> Result<ServerSetup, String> {
        let config: McpServerConfig = serde_json::from_value(config).unwrap();
        config.checked("docs", Path::new("/project")).map_err(|it| it.message)
    }

    #[test]
    fn the_transport_follows_from_the_fields() {
        let kinds = [
            json!({ "command": "x" }),
            json!({ "type": "stdio", "command": "x" }),
            json!({ "url": "http://127.0.0.1:1/mcp" }),
            json!({ "type": "streamable-http", "url": "https://a/mcp" }),
            json!({ "type": "sse", "url": "http://[::1]:1/sse" }),
        ]
        .map(|it| setup(it).unwrap().transport_name());
        assert_eq!(kinds, ["stdio", "stdio", "http", "http", "sse"]);
    }

    #[test]
    fn a_relative_directory_is_resolved_against_the_project() {
        let config = json!({ "command": "x", "cwd": "sub", "env": { "A": "b=c" } });
        let ServerTransport::Stdio(command) = setup(config).unwrap().transport else {
            panic!("not started");
        };
        assert_eq!(command.cwd, Path::new("/project/sub"));
        assert_eq!(command.variables, ["A=b=c"]);
    }

    #[test]
    fn an_invalid_configuration_is_refused_with_a_reason() {
        let cases = [
            (json!({}), "it has neither a `command` to start nor a `url`"),
            (json!({ "command": "" }), "it has no `command` to start"),
            (
                json!({ "command": "x", "url": "http://a" }),
                "it has a `command` and a `url`; leave one of them out",
            ),
            (
                json!({ "type": "sse", "url": "http://a", "args": ["x"] }),
                "`args` has no effect on a server of `type: \"sse\"`",
            ),
            (json!({ "url": "file:///etc" }), "`file:///etc` is not an `http` or `https` URL"),
            (
                json!({ "url": "http://a", "headers": { "Mcp-Session-Id": "x" } }),
                "the header `mcp-session-id` is set by the connection itself",
            ),
            (
                json!({ "url": "http://a", "headers": { "X-Key": "secret\n" } }),
                "the header `X-Key` cannot be sent",
            ),
            (
                json!({ "command": "x", "env": { "A=B": "" } }),
                "`A=B` cannot be the name of a variable in `env`",
            ),
        ];
        for (config, cause) in cases {
            assert_eq!(setup(config).unwrap_err(), format!("MCP server `docs`: {cause}"));
        }
    }

    #[test]
    fn tools_are_allowed_by_name_or_by_prefix() {
        let some = setup(json!({ "command": "x", "allowedTools": ["read", "list_*"] })).unwrap();
        let wanted = ["read", "read_all", "list_", "list_all", "write"].map(|it| some.wants(it));
        assert_eq!(wanted, [true, false, true, true, false]);
        assert!(setup(json!({ "command": "x" })).unwrap().wants("anything"));
    }
}
