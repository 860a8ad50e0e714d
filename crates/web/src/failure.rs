//! Why a fetch failed.
//!
//! The text of an error is for a model, so it contains no option names and no addresses that a name resolved
//! to. [`FetchError::for_people`] contains these.

use std::{fmt, net::IpAddr, time::Duration};

use super::AddressClass;

/// What a fetch was doing when its time ran out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimedPhase {
    /// It waited for other fetches.
    Turn,
    /// It looked up the name, connected, or agreed on TLS.
    Connect,
    /// It waited for the response headers.
    Headers,
    /// It read the body.
    Body,
}

impl fmt::Display for TimedPhase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Turn => "other fetches were still running",
            Self::Connect => "no connection was made",
            Self::Headers => "the server did not begin to answer",
            Self::Body => "the server did not finish its answer",
        })
    }
}

/// Why a fetch failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FetchError {
    /// A URL that cannot be fetched.
    #[error("`{url}` cannot be fetched: {cause}")]
    BadUrl {
        /// The URL, without its password.
        url: String,
        /// What is wrong with it.
        cause: String,
    },
    /// The address is not on the public internet, and the host has not allowed it.
    #[error(
        "`{host}` {}, which web tools do not connect to; use a public address",
        blocked_words(host, *address, *class)
    )]
    BlockedAddress {
        /// The host as the URL has it.
        host: String,
        /// The address; `None` if the name itself is refused.
        address: Option<IpAddr>,
        /// The class of the address.
        class: AddressClass,
    },
    /// A port of a service other than the web.
    #[error("port {port} of `{host}` is not a web server's; web tools do not connect to it")]
    BlockedPort {
        /// The host.
        host: String,
        /// The port.
        port: u16,
    },
    /// The name could not be looked up.
    #[error("`{host}` could not be found: {cause}; check the name")]
    Dns {
        /// The name.
        host: String,
        /// Why.
        cause: String,
    },
    /// No connection was made.
    #[error("no connection to `{host}`: {cause}")]
    Connect {
        /// The host.
        host: String,
        /// Why.
        cause: String,
    },
    /// The proxy could not be used.
    #[error("`{host}` could not be reached through the proxy: {cause}")]
    Proxy {
        /// The host of the URL.
        host: String,
        /// Why.
        cause: String,
        /// The proxy, without its password.
        proxy: String,
    },
    /// TLS failed.
    #[error("no secure connection to `{host}`: {cause}")]
    Tls {
        /// The host.
        host: String,
        /// Why.
        cause: String,
        /// What a person can do about it.
        advice: String,
    },
    /// It took too long.
    #[error(
        "`{host}` took too long: {phase} within {} ms; try again later",
        limit.as_millis()
    )]
    Timeout {
        /// The host.
        host: String,
        /// What it was doing.
        phase: TimedPhase,
        /// The time limit.
        limit: Duration,
    },
    /// The response is too large.
    #[error("{what} from `{host}` is larger than {limit} bytes, which is the limit")]
    TooLarge {
        /// The host.
        host: String,
        /// What was too large.
        what: &'static str,
        /// The limit.
        limit: usize,
    },
    /// There were too many redirects.
    #[error("`{url}` redirects more than {limit} times; the last was to `{last}`")]
    TooManyRedirects {
        /// The URL that was asked for.
        url: String,
        /// The target of the last redirect.
        last: String,
        /// The limit on redirects.
        limit: usize,
    },
    /// A redirect leads back to a URL of the same fetch.
    #[error("`{url}` redirects in a circle: back to `{back_to}`")]
    RedirectLoop {
        /// The URL that was asked for.
        url: String,
        /// The repeated URL.
        back_to: String,
    },
    /// The target of a redirect may not be fetched.
    #[error("`{from}` redirects to a URL that may not be fetched: {refusal}")]
    RefusedRedirect {
        /// The URL that answered with it.
        from: String,
        /// Why the target is refused.
        refusal: Box<FetchError>,
    },
    /// A redirect has no usable target.
    #[error("`{url}` redirects with status {status}, but {cause}")]
    BadRedirect {
        /// The URL that answered with it.
        url: String,
        /// The status.
        status: u16,
        /// What is wrong with its target.
        cause: String,
    },
    /// The server answered with an error.
    #[error("HTTP {status}{} from `{url}`{}", spaced(reason), retry_words(retry_after.as_deref()))]
    Http {
        /// The URL that answered.
        url: String,
        /// The status.
        status: u16,
        /// The reason phrase; empty if the status is unknown.
        reason: String,
        /// The header `Retry-After`.
        retry_after: Option<String>,
        /// The beginning of the body's text.
        excerpt: String,
    },
    /// The server violated HTTP.
    #[error("`{host}` sent an answer that cannot be read: {cause}")]
    Protocol {
        /// The host.
        host: String,
        /// What was wrong.
        cause: String,
    },
    /// The body could not be decompressed.
    #[error("the answer of `{host}` cannot be unpacked: {cause}")]
    Decompress {
        /// The host.
        host: String,
        /// What was wrong.
        cause: String,
    },
    /// The caller gave up.
    #[error("the fetch was cancelled")]
    Cancelled,
    /// The client was closed.
    #[error("the web client is closed")]
    Closed,
}

impl FetchError {
    /// For an error that a person can remedy: the reason, with details that models do not get, and what to
    /// do.
    pub fn for_people(&self) -> Option<(String, String)> {
        match self {
            Self::BlockedAddress { host, address, class } => {
                let reason = address.map_or_else(
                    || format!("`{host}` is a name of {}", class.words()),
                    |it| format!("`{host}` leads to `{it}`, {}", class.words()),
                );
                let opened = match address {
                    Some(it) if !class.is_opened_by_name() => it.to_string(),
                    _ => host.clone(),
                };
                Some((reason, format!("add `{opened}` to the option `web.allow`")))
            }
            Self::BlockedPort { host, port } => {
                let how = format!("add `{host}:{port}` to the option `web.allow`");
                Some((self.to_string(), how))
            }
            Self::Proxy { proxy, .. } => {
                Some((format!("{self} (`{proxy}`)"), "check the proxy's variables".to_owned()))
            }
            Self::RefusedRedirect { from, refusal } => {
                let (reason, how) = refusal.for_people()?;
                Some((format!("`{from}` redirects; {reason}"), how))
            }
            Self::Tls { advice, .. } if !advice.is_empty() => {
                Some((self.to_string(), advice.clone()))
            }
            _ => None,
        }
    }
}

fn blocked_words(host: &str, address: Option<IpAddr>, class: AddressClass) -> String {
    let is_literal = address.is_some_and(|it| host.trim_matches(['[', ']']) == it.to_string());
    let verb = if is_literal { "is" } else { "leads to" };
    format!("{verb} {}", class.words())
}

fn spaced(reason: &str) -> String {
    if reason.is_empty() { String::new() } else { format!(" {reason}") }
}

fn retry_words(retry_after: Option<&str>) -> String {
    match retry_after {
        Some(after) if after.bytes().all(|it| it.is_ascii_digit()) => {
            format!("; try again in {after} s")
        }
        Some(after) => format!("; try again after {after}"),
        None => String::new(),
    }
}
