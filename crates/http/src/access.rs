//! Access control: the token, the host names of the server, and the origins that may send requests.
//!
//! Every page that the user visits can send requests to a server on this machine. `Host` reveals a page
//! whose own name was made to resolve to this machine (DNS rebinding). `Origin` reveals a request across
//! sites. A JSON content type makes browsers send a preflight request first, so no form can post here.
//! These are checked before the token, and everything is checked before a body is read.

use std::borrow::Cow;
use std::net::IpAddr;

use toolwright_base::shortened;

use base64::{Engine as _, prelude::BASE64_URL_SAFE_NO_PAD};
use http::{HeaderMap, HeaderName, Method, StatusCode, header, request::Parts};

use super::{addressed_name::AddressedName, answers::HttpRefusal};

/// What a request has to show before it is answered.
#[derive(Clone, Debug, Default)]
pub struct AccessRules {
    /// The bearer token. Without one, the host has to authenticate the requests itself.
    pub token: Option<String>,
    /// The host names, with or without a port, that requests may address in addition to the loopback
    /// names. Other names are refused, which prevents DNS rebinding.
    pub hosts: Vec<String>,
}

/// The local address that a connection was accepted on. A request may name it as its host. A DNS
/// rebinding page cannot do that: it sends its own name.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReachedAt(pub(super) IpAddr);

/// [`AccessRules`], prepared for checking requests.
#[derive(Debug)]
pub(super) struct AccessGuard {
    tokens: Option<KnownTokens>,
    hosts: Vec<AddressedName>,
}

/// The hashes of the tokens. The time to compare hashes does not reveal where they differ.
#[derive(Debug)]
struct KnownTokens {
    /// Valid for every route.
    whole: blake3::Hash,
    /// Valid for `/mcp` only.
    mcp: blake3::Hash,
}

/// The token that is valid for `/mcp` only, for clients that must not confirm their own calls. It is
/// derived from the server's token, so it stays the same, and the server's token cannot be computed
/// from it.
pub(super) fn mcp_token(token: &str) -> String {
    let key = blake3::derive_key("toolwright 2026-11-17 token for MCP alone", token.as_bytes());
    format!("mcp-{}", BASE64_URL_SAFE_NO_PAD.encode(key))
}

/// True for paths that need no token. They reveal only the version of the registry.
pub(super) fn needs_no_token(path: &str) -> bool {
    matches!(path, "/" | "/health") || path.starts_with("/page/")
}

impl AccessGuard {
    /// Host names that are invalid are ignored.
    pub(super) fn new(rules: &AccessRules) -> Self {
        let hosts = rules.hosts.iter().filter_map(|it| AddressedName::parse(it)).collect();
        let tokens = rules.token.as_ref().map(|token| KnownTokens {
            whole: blake3::hash(token.as_bytes()),
            mcp: blake3::hash(mcp_token(token).as_bytes()),
        });
        Self { tokens, hosts }
    }

    /// Refuses a request that must not be answered.
    pub(super) fn check(&self, request: &Parts) -> Result<(), HttpRefusal> {
        let addressed = self.check_host(request)?;
        check_origin(request, &addressed)?;
        if !needs_no_token(request.uri.path()) {
            self.check_token(request)?;
        }
        check_content(request)
    }

    /// Checks that every name by which the request addresses the server is one of the server's names.
    fn check_host(&self, request: &Parts) -> Result<AddressedName, HttpRefusal> {
        let in_header = single(&request.headers, &header::HOST).map_err(|Repeated| {
            forbidden_host("the request has several `Host` headers; send one")
        })?;
        let in_url = request.uri.authority().map(http::uri::Authority::as_str);
        let mut addressed = None;
        for text in [in_url, in_header].into_iter().flatten() {
            let name = AddressedName::parse(text).filter(|it| self.is_own(it, request));
            addressed = Some(name.ok_or_else(|| {
                forbidden_host(format!(
                    "`{}` is not a name of this server; use `127.0.0.1` or `localhost` with the port, or add \
                     the name to `allowedHosts`",
                    shown(text)
                ))
            })?);
        }
        addressed.ok_or_else(|| {
            forbidden_host("the request has no `Host` header; send the address of the server in it")
        })
    }

    fn is_own(&self, name: &AddressedName, request: &Parts) -> bool {
        let reached_at = request.extensions.get::<ReachedAt>();
        name.is_loopback()
            || reached_at.is_some_and(|it| name.is_address(it.0))
            || self.hosts.iter().any(|it| name.is_allowed_by(it))
    }

    fn check_token(&self, request: &Parts) -> Result<(), HttpRefusal> {
        let Some(known) = &self.tokens else { return Ok(()) };
        let given = single(&request.headers, &header::AUTHORIZATION).ok().flatten();
        let given = given.and_then(bearer_token).map(|it| blake3::hash(it.as_bytes()));
        let is_for_mcp = request.uri.path() == "/mcp";
        let refused =
            |message| Err(HttpRefusal::new(StatusCode::UNAUTHORIZED, "Unauthorized", message));
        match given {
            Some(token) if token == known.whole || (is_for_mcp && token == known.mcp) => Ok(()),
            Some(token) if token == known.mcp => refused(
                "this token is for `/mcp` alone; use the one that the server was opened with",
            ),
            Some(_) => {
                refused("the token is not that of this server; use the one it was opened with")
            }
            None => refused(
                "a token is missing; send the header `Authorization: Bearer …` with the one that the server \
                 was opened with",
            ),
        }
    }
}

fn bearer_token(authorization: &str) -> Option<&str> {
    let (scheme, token) = authorization.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then_some(token.trim())
}

/// Allows only the page that this server served. Programs send no `Origin`.
fn check_origin(request: &Parts, addressed: &AddressedName) -> Result<(), HttpRefusal> {
    let forbidden =
        |message: String| HttpRefusal::new(StatusCode::FORBIDDEN, "ForbiddenOrigin", message);
    let origin = single(&request.headers, &header::ORIGIN).map_err(|Repeated| {
        forbidden("the request has several `Origin` headers; send one or none".to_owned())
    })?;
    let Some(origin) = origin else { return Ok(()) };
    let is_own = origin.split_once("://").is_some_and(|(scheme, authority)| {
        let usual_port = match scheme {
            "http" => 80,
            "https" => 443,
            _ => return false,
        };
        // Only a request through `fetch` has a URL with a scheme.
        let is_other_scheme = request.uri.scheme_str().is_some_and(|it| it != scheme);
        let name = AddressedName::parse(authority);
        !is_other_scheme && name.is_some_and(|it| it.is_same_authority(addressed, usual_port))
    });
    if is_own {
        return Ok(());
    }
    let shown = shown(origin);
    Err(forbidden(format!(
        "pages of `{shown}` may not send requests; only the page of this server may"
    )))
}

/// A body has to be uncompressed JSON. A form of another site cannot send it without a preflight request.
fn check_content(request: &Parts) -> Result<(), HttpRefusal> {
    let unsupported = |message: String| {
        HttpRefusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "UnsupportedMediaType", message)
    };
    if matches!(request.method, Method::GET | Method::HEAD | Method::DELETE | Method::OPTIONS) {
        return Ok(());
    }
    let send_json = "send `content-type: application/json`";
    let content_type = single(&request.headers, &header::CONTENT_TYPE).map_err(|Repeated| {
        unsupported(format!("the request has several content types; {send_json}"))
    })?;
    let Some(content_type) = content_type else {
        return Err(unsupported(format!("the request has no content type; {send_json}")));
    };
    let media_type = content_type.split(';').next().unwrap_or_default().trim();
    if !media_type.eq_ignore_ascii_case("application/json") {
        let shown = shown(content_type);
        return Err(unsupported(format!("`{shown}` is not accepted; {send_json}")));
    }
    if request.headers.contains_key(header::CONTENT_ENCODING) {
        return Err(unsupported(
            "compressed bodies are not accepted; send the JSON uncompressed".to_owned(),
        ));
    }
    Ok(())
}

/// A header that may occur once occurs several times, or is not text.
struct Repeated;

fn single<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Result<Option<&'a str>, Repeated> {
    let mut all = headers.get_all(name).iter();
    let first = all.next();
    if all.next().is_some() {
        return Err(Repeated);
    }
    first.map(|it| it.to_str().map_err(|_| Repeated)).transpose()
}

fn forbidden_host(message: impl Into<String>) -> HttpRefusal {
    HttpRefusal::new(StatusCode::FORBIDDEN, "ForbiddenHost", message)
}

/// The beginning of a header's value, for messages.
fn shown(value: &str) -> Cow<'_, str> {
    shortened(value, 100)
}
