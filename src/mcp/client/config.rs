//! What a host says of an MCP server, in the form that agents' configuration files have.

use std::{
    collections::{BTreeMap, HashMap},
    path::{Path, PathBuf},
    time::Duration,
};

use http::{HeaderName, HeaderValue};
use schemars::JsonSchema;
use serde::Deserialize;
use url::Url;

use crate::{
    error::{ErrorKind, ToolError},
    process::ServerCommand,
};

/// How long a server may take to start, to agree on a protocol and to list its tools.
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

/// A server as the host describes it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct McpServerConfig {
    /// How it is reached. A server with a `command` is started; one with a `url` is asked over HTTP.
    #[serde(rename = "type")]
    kind: Option<DoorKind>,
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

/// The ways to reach a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum DoorKind {
    Stdio,
    Http,
    /// Another name of the same, which some configuration files have.
    #[serde(rename = "streamable-http")]
    StreamableHttp,
    Sse,
}

/// A server, with everything checked.
#[derive(Debug)]
pub(super) struct ServerSetup {
    pub(super) name: String,
    pub(super) door: Door,
    /// The time limit of one call, if it is not that of the registry.
    pub(super) call_timeout: Option<Duration>,
    pub(super) startup: Duration,
    pub(super) is_disabled: bool,
    allowed_tools: Option<Vec<String>>,
}

/// How a server is reached.
#[derive(Debug)]
pub(super) enum Door {
    /// It is started, and talked to over its standard streams.
    Stdio(ServerCommand),
    /// Over streamable HTTP.
    Http(HttpAddress),
    /// Over HTTP with server-sent events, as before streamable HTTP.
    Sse(HttpAddress),
}

/// Where a server listens, and what every request to it has.
#[derive(Clone, Debug)]
pub(super) struct HttpAddress {
    pub(super) url: Url,
    pub(super) headers: HashMap<HeaderName, HeaderValue>,
}

impl McpServerConfig {
    /// True when the server is to be left alone.
    pub fn is_disabled(&self) -> bool {
        self.disabled
    }

    /// Checks a server's name and the whole of its configuration. Relative directories start at `project`.
    pub(super) fn checked(self, name: &str, project: &Path) -> Result<ServerSetup, ToolError> {
        let wrong = |cause: String| {
            let shown: String = name.chars().take(80).collect();
            ToolError::new(ErrorKind::InvalidOptions, format!("MCP server `{shown}`: {cause}"))
        };
        if name.is_empty() || name.chars().count() > MAX_NAME || name.chars().any(char::is_control)
        {
            return Err(wrong(format!(
                "its name must have 1 to {MAX_NAME} characters that can be seen"
            )));
        }
        let milliseconds = |it: u32| Duration::from_millis(it.into());
        let call_timeout = self.timeout_ms.map(milliseconds);
        let startup = self.startup_timeout_ms.map_or(STARTUP, milliseconds);
        let (is_disabled, allowed_tools) = (self.disabled, self.allowed_tools.clone());
        let door = self.door(project).map_err(wrong)?;
        let name = name.to_owned();
        Ok(ServerSetup { name, door, call_timeout, startup, is_disabled, allowed_tools })
    }

    fn door(self, project: &Path) -> Result<Door, String> {
        let kind = match (self.kind, &self.command, &self.url) {
            (Some(kind), ..) => kind,
            (None, Some(_), None) => DoorKind::Stdio,
            (None, None, Some(_)) => DoorKind::Http,
            (None, Some(_), Some(_)) => {
                return Err("it has a `command` and a `url`; leave one of them out".to_owned());
            }
            (None, None, None) => {
                return Err("it has neither a `command` to start nor a `url`".to_owned());
            }
        };
        let unused = match kind {
            DoorKind::Stdio => [("url", self.url.is_some()), ("headers", !self.headers.is_empty())]
                .into_iter()
                .find(|it| it.1),
            DoorKind::Http | DoorKind::StreamableHttp | DoorKind::Sse => [
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
            return Err(format!("`{field}` means nothing to a server of `type: \"{name}\"`"));
        }
        match kind {
            DoorKind::Stdio => self.command_door(project).map(Door::Stdio),
            DoorKind::Http | DoorKind::StreamableHttp => self.address().map(Door::Http),
            DoorKind::Sse => self.address().map(Door::Sse),
        }
    }

    fn command_door(self, project: &Path) -> Result<ServerCommand, String> {
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
        let url = Url::parse(&text).map_err(|cause| format!("`{text}` is no URL: {cause}"))?;
        if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
            return Err(format!("`{text}` is no URL of `http` or `https`"));
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

impl DoorKind {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Stdio => "stdio",
            Self::Http | Self::StreamableHttp => "http",
            Self::Sse => "sse",
        }
    }
}

impl ServerSetup {
    /// True when the host wants a tool of the server.
    pub(super) fn wants(&self, tool: &str) -> bool {
        let is_named = |it: &String| match it.strip_suffix('*') {
            Some(start) => tool.starts_with(start),
            None => it == tool,
        };
        self.allowed_tools.as_ref().is_none_or(|it| it.iter().any(is_named))
    }

    /// The kind of door, as configurations name it.
    pub(super) fn transport(&self) -> &'static str {
        match self.door {
            Door::Stdio(_) => DoorKind::Stdio.as_str(),
            Door::Http(_) => DoorKind::Http.as_str(),
            Door::Sse(_) => DoorKind::Sse.as_str(),
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
    fn the_kind_of_server_follows_from_what_it_has() {
        let kinds = [
            json!({ "command": "x" }),
            json!({ "type": "stdio", "command": "x" }),
            json!({ "url": "http://127.0.0.1:1/mcp" }),
            json!({ "type": "streamable-http", "url": "https://a/mcp" }),
            json!({ "type": "sse", "url": "http://[::1]:1/sse" }),
        ]
        .map(|it| setup(it).unwrap().transport());
        assert_eq!(kinds, ["stdio", "stdio", "http", "http", "sse"]);
    }

    #[test]
    fn a_relative_directory_is_one_of_the_project() {
        let Door::Stdio(command) =
            setup(json!({ "command": "x", "cwd": "sub", "env": { "A": "b=c" } })).unwrap().door
        else {
            panic!("not started");
        };
        assert_eq!(command.cwd, Path::new("/project/sub"));
        assert_eq!(command.variables, ["A=b=c"]);
    }

    #[test]
    fn what_cannot_work_is_refused_with_its_reason() {
        let cases = [
            (json!({}), "it has neither a `command` to start nor a `url`"),
            (json!({ "command": "" }), "it has no `command` to start"),
            (
                json!({ "command": "x", "url": "http://a" }),
                "it has a `command` and a `url`; leave one of them out",
            ),
            (
                json!({ "type": "sse", "url": "http://a", "args": ["x"] }),
                "`args` means nothing to a server of `type: \"sse\"`",
            ),
            (json!({ "url": "file:///etc" }), "`file:///etc` is no URL of `http` or `https`"),
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
    fn tools_are_wanted_by_name_or_by_their_beginning() {
        let some = setup(json!({ "command": "x", "allowedTools": ["read", "list_*"] })).unwrap();
        let wanted = ["read", "read_all", "list_", "list_all", "write"].map(|it| some.wants(it));
        assert_eq!(wanted, [true, false, true, true, false]);
        assert!(setup(json!({ "command": "x" })).unwrap().wants("anything"));
    }
}
