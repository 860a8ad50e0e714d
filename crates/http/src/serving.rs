//! Opens a server with the options of the host.

use std::{io, net::IpAddr, sync::Arc};

use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolwright_base::{ErrorKind, ToolError};
use toolwright_host::HostRegistry;

use super::{
    AccessRules, HttpServer, HttpService, ServerAddress, access::mcp_token,
    addressed_name::AddressedName,
};

/// The options of `registry.serve`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ServeOptions {
    #[serde(default)]
    host: Option<String>,
    #[serde(default)]
    port: u16,
    #[serde(default)]
    token: Option<String>,
    #[serde(default)]
    allowed_hosts: Vec<String>,
}

/// The options of `registry.fetch`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FetchOptions {
    #[serde(default)]
    token: Option<String>,
    #[serde(default)]
    allowed_hosts: Vec<String>,
}

impl FetchOptions {
    /// The access rules of these options.
    pub fn access(self) -> Result<AccessRules, ToolError> {
        if let Some(token) = &self.token {
            check_token(token)?;
        }
        check_names(&self.allowed_hosts)?;
        Ok(AccessRules { token: self.token, hosts: self.allowed_hosts })
    }
}

/// An open server and how to reach it.
pub struct OpenServer {
    /// The server.
    pub server: HttpServer,
    /// The facts that the host gets.
    pub facts: ServerFacts,
}

/// The address of a server, and the tokens for its requests.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ServerFacts {
    /// The URL for a browser. The page reads the token from the fragment, which is never sent.
    pub url: String,
    /// The URL without the token.
    pub origin: String,
    /// The address that the socket is bound to.
    pub host: String,
    /// The port of the socket.
    pub port: u16,
    /// The bearer token.
    pub token: String,
    /// The bearer token that is valid for MCP only.
    pub mcp_token: String,
}

impl OpenServer {
    /// Opens a server for a registry.
    pub async fn open(
        registry: Arc<HostRegistry>,
        options: ServeOptions,
    ) -> Result<Self, ToolError> {
        registry.pipeline.refuse_when_closed()?;
        let ServeOptions { host, port, token, allowed_hosts: mut hosts } = options;
        check_names(&hosts)?;
        let host = plain_host(host.as_deref().unwrap_or("127.0.0.1"))?;
        if !is_loopback(&host) {
            check_public(&host, token.as_deref())?;
            hosts.push(host.clone());
        }
        let token = match token {
            Some(token) => {
                check_token(&token)?;
                token
            }
            None => new_token()?,
        };
        let service = HttpService::new(registry, AccessRules { token: Some(token.clone()), hosts });
        let at = ServerAddress { host, port };
        let server =
            HttpServer::open(service, &at).await.map_err(|error| not_opened(&at, &error))?;
        let address = server.address();
        let origin = server.url();
        let facts = ServerFacts {
            url: format!("{origin}/#token={}", in_fragment(&token)),
            origin,
            host: address.ip().to_string(),
            port: address.port(),
            mcp_token: mcp_token(&token),
            token,
        };
        Ok(Self { server, facts })
    }
}

/// The host without the brackets of an IPv6 address.
fn plain_host(host: &str) -> Result<String, ToolError> {
    let bare = host.strip_prefix('[').and_then(|it| it.strip_suffix(']')).unwrap_or(host);
    if bare.is_empty() {
        return Err(invalid(
            "`host` is empty; give an address of this machine such as `127.0.0.1`",
        ));
    }
    Ok(bare.to_owned())
}

fn is_loopback(host: &str) -> bool {
    host.eq_ignore_ascii_case("localhost")
        || host.parse::<IpAddr>().is_ok_and(|it| it.to_canonical().is_loopback())
}

/// A server that other machines can reach needs a token that the host chose, so that it can be given to
/// clients there.
fn check_public(host: &str, token: Option<&str>) -> Result<(), ToolError> {
    match token {
        None => Err(invalid(format!(
            "`{host}` can be reached by other machines, so a token has to be given: pass `token`, or leave out \
             `host` to serve this machine alone"
        ))),
        Some(token) if token.len() < MIN_PUBLIC_TOKEN => Err(invalid(format!(
            "`{host}` can be reached by other machines, so `token` needs at least {MIN_PUBLIC_TOKEN} characters, \
             got {}",
            token.len()
        ))),
        Some(_) => Ok(()),
    }
}

/// The minimum length of a token that other machines can try to guess.
const MIN_PUBLIC_TOKEN: usize = 16;

/// The maximum length of a token. It is sent in a header of each request.
const MAX_TOKEN: usize = 4_096;

/// A token must survive in a header, where spaces and non-ASCII characters do not.
fn check_token(token: &str) -> Result<(), ToolError> {
    if token.is_empty() {
        return Err(invalid("`token` is empty; leave it out to have one generated"));
    }
    if token.len() > MAX_TOKEN {
        return Err(invalid(format!(
            "`token` has {} characters; at most {MAX_TOKEN} are allowed",
            token.len()
        )));
    }
    if !token.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(invalid(
            "`token` has a character that cannot be sent; use letters, digits and ASCII punctuation",
        ));
    }
    Ok(())
}

/// 32 random bytes as text.
fn new_token() -> Result<String, ToolError> {
    let mut bytes = [0_u8; 32];
    rustls::crypto::ring::default_provider().secure_random.fill(&mut bytes).map_err(|_| {
        failed("no token could be generated: this machine has no source of random bytes")
    })?;
    Ok(BASE64_URL_SAFE_NO_PAD.encode(bytes))
}

/// Refuses invalid host names. They would never match, and the mistake would go unnoticed.
fn check_names(names: &[String]) -> Result<(), ToolError> {
    match names.iter().find(|it| AddressedName::parse(it).is_none()) {
        None => Ok(()),
        Some(name) => Err(invalid(format!(
            "`{name}` in `allowedHosts` is not a host; give a name or an address, with a port or without: \
             `tools.example.com`, `192.168.1.5:8080`"
        ))),
    }
}

/// The token, escaped for the fragment of a URL.
fn in_fragment(token: &str) -> String {
    url::form_urlencoded::byte_serialize(token.as_bytes()).collect()
}

fn not_opened(at: &ServerAddress, error: &io::Error) -> ToolError {
    let ServerAddress { host, port } = at;
    failed(match error.kind() {
        io::ErrorKind::AddrInUse => format!(
            "port {port} of `{host}` is in use; stop the program that uses it, choose another port, or pass 0 \
             for any free port"
        ),
        io::ErrorKind::PermissionDenied => {
            format!(
                "port {port} of `{host}` may not be opened by this user; choose one from 1024 on"
            )
        }
        io::ErrorKind::AddrNotAvailable => {
            format!(
                "`{host}` is not an address of this machine; leave out `host` to serve `127.0.0.1`"
            )
        }
        _ => format!("`{host}` port {port} cannot be opened: {error}"),
    })
}

fn invalid(message: impl Into<String>) -> ToolError {
    ToolError::new(ErrorKind::InvalidOptions, message)
}

fn failed(message: impl Into<String>) -> ToolError {
    ToolError::new(ErrorKind::Serve, message)
}
