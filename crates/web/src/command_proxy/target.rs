//! The target that a command asks the proxy to connect to.

use std::{fmt, net::IpAddr};

use url::{Host, Url};

use super::super::guard::comparable_name;

/// The longest name of a host.
const MAX_NAME_BYTES: usize = 253;

/// The host of a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TargetHost {
    /// A name, in lower case and without a final dot.
    Name(String),
    /// An address, however it was written.
    Address(IpAddr),
}

/// A host and a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ProxyTarget {
    pub(super) host: TargetHost,
    pub(super) port: u16,
}

impl ProxyTarget {
    /// Parses the host as browsers do, so that `0x7f.1` and `１２７.1` are recognised as addresses.
    pub(super) fn new(host: &str, port: u16) -> Option<Self> {
        if port == 0 || host.contains('%') {
            return None;
        }
        let bare = host.strip_prefix('[').and_then(|it| it.strip_suffix(']')).unwrap_or(host);
        let host = match bare.parse::<IpAddr>() {
            Ok(address) => TargetHost::Address(address),
            Err(_) => match Host::parse(bare).ok()? {
                Host::Ipv4(it) => TargetHost::Address(it.into()),
                Host::Ipv6(it) => TargetHost::Address(it.into()),
                Host::Domain(name) => {
                    let name = comparable_name(&name);
                    if name.is_empty() || name.len() > MAX_NAME_BYTES {
                        return None;
                    }
                    TargetHost::Name(name)
                }
            },
        };
        Some(Self { host, port })
    }

    /// Parses `host:port`.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (host, port) = text.rsplit_once(':')?;
        Self::new(host, port.parse().ok()?)
    }

    /// The host as it is written in a URL.
    pub(super) fn host_text(&self) -> String {
        match &self.host {
            TargetHost::Name(name) => name.clone(),
            TargetHost::Address(IpAddr::V4(it)) => it.to_string(),
            TargetHost::Address(IpAddr::V6(it)) => format!("[{it}]"),
        }
    }

    /// A URL of the target.
    pub(super) fn url(&self, scheme: &str) -> Option<Url> {
        Url::parse(&format!("{scheme}://{self}/")).ok()
    }
}

impl fmt::Display for ProxyTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.host_text(), self.port)
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn hosts_are_parsed_as_in_browsers() {
        for (host, read) in [
            ("Example.COM.", "example.com:80"),
            ("bücher.example", "xn--bcher-kva.example:80"),
            ("127.1", "127.0.0.1:80"),
            ("0x7f000001", "127.0.0.1:80"),
            ("１２７.0.0.1", "127.0.0.1:80"),
            ("[::1]", "[::1]:80"),
            ("::ffff:127.0.0.1", "[::ffff:127.0.0.1]:80"),
        ] {
            assert_eq!(ProxyTarget::new(host, 80).unwrap().to_string(), read, "{host}");
        }
    }

    #[test]
    fn invalid_targets_are_refused() {
        for text in [
            "",
            ":80",
            ".:80",
            "a.b",
            "a.b:",
            "a.b:0",
            "a.b:65536",
            "a.b:-1",
            "a b:80",
            "a/b:80",
            "a@b:80",
            "[::1:80",
            "[fe80::1%25eth0]:80",
            "fe80::1%eth0:80",
            "%31.0.0.1:80",
            "a.b\0:80",
            "a.b\r\n:80",
            "256.0.0.1:80",
        ] {
            assert_eq!(ProxyTarget::parse(text), None, "{text}");
        }
        assert_eq!(ProxyTarget::parse(&format!("{}:80", "a.".repeat(200))), None);
    }
}
