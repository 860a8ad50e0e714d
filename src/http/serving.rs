//! Opens a server as a host asks for it.

use std::{io, net::IpAddr, sync::Arc};

use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    AccessRules, HttpServer, HttpService, ServerAddress, access::mcp_token,
    addressed_name::AddressedName,
};
use crate::{
    error::{ErrorKind, ToolError},
    host::HostRegistry,
};

/// What a host says when it opens a server.
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

/// What a host says when it hands a request over.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FetchOptions {
    #[serde(default)]
    token: Option<String>,
    #[serde(default)]
    allowed_hosts: Vec<String>,
}

impl FetchOptions {
    /// The rules that the options mean.
    pub fn access(self) -> Result<AccessRules, ToolError> {
        if let Some(token) = &self.token {
            check_token(token)?;
        }
        check_names(&self.allowed_hosts)?;
        Ok(AccessRules { token: self.token, hosts: self.allowed_hosts })
    }
}

/// A server that is open, and how it is reached.
pub struct OpenServer {
    /// Takes the requests.
    pub server: HttpServer,
    /// What its host is told.
    pub facts: ServerFacts,
}

/// Where a server is, and the token that its requests have to carry.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ServerFacts {
    /// The address for a person's browser. The page takes the token from the fragment, which is sent nowhere.
    pub url: String,
    /// The address alone.
    pub origin: String,
    /// The address that the socket is bound to.
    pub host: String,
    /// The port of the socket.
    pub port: u16,
    /// The bearer token.
    pub token: String,
    /// The bearer token that opens MCP alone.
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

/// A host as sockets take it: an IPv6 address without its brackets.
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

/// Beyond this machine, only a token that somebody chose and handed out on purpose makes sense.
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

/// How short a token may be where other machines can guess at it.
const MIN_PUBLIC_TOKEN: usize = 16;

/// How long a token may be: it is one line in the head of each request.
const MAX_TOKEN: usize = 4_096;

/// A token has to fit into a header, where spaces and characters beyond ASCII get lost.
fn check_token(token: &str) -> Result<(), ToolError> {
    if token.is_empty() {
        return Err(invalid("`token` is empty; leave it out to have one made"));
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
    rustls::crypto::ring::default_provider()
        .secure_random
        .fill(&mut bytes)
        .map_err(|_| failed("no token could be made: this machine gives no random bytes"))?;
    Ok(BASE64_URL_SAFE_NO_PAD.encode(bytes))
}

/// A name that no request can have would allow nothing, and its host would wonder why.
fn check_names(names: &[String]) -> Result<(), ToolError> {
    match names.iter().find(|it| AddressedName::parse(it).is_none()) {
        None => Ok(()),
        Some(name) => Err(invalid(format!(
            "`{name}` in `allowedHosts` is not a host; give a name or an address, with a port or without: \
             `tools.example.com`, `192.168.1.5:8080`"
        ))),
    }
}

/// A token as part of an address. What a browser would take for something else is escaped.
fn in_fragment(token: &str) -> String {
    url::form_urlencoded::byte_serialize(token.as_bytes()).collect()
}

fn not_opened(at: &ServerAddress, error: &io::Error) -> ToolError {
    let ServerAddress { host, port } = at;
    failed(match error.kind() {
        io::ErrorKind::AddrInUse => format!(
            "port {port} of `{host}` is in use; end the program that has it, choose another port, or pass 0 for \
             any that is free"
        ),
        io::ErrorKind::PermissionDenied => {
            format!(
                "port {port} of `{host}` may not be opened by this user; choose one from 1024 on"
            )
        }
        io::ErrorKind::AddrNotAvailable => {
            format!("`{host}` is no address of this machine; leave out `host` to serve `127.0.0.1`")
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
