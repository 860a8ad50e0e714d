//! Hosts and networks beyond the public internet that the option `web.allow` permits.

use std::{fmt, net::IpAddr, str::FromStr};

use ipnet::IpNet;
use url::Host;

use super::address::plain;

/// An allowed host, all hosts below a name, or a network, each with an optional port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AllowedHost {
    place: AllowedAddress,
    port: Option<u16>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum AllowedAddress {
    /// Exactly this name.
    Name(String),
    /// Every name below this one.
    Below(String),
    /// Every address in it, regardless of the host name.
    Network(IpNet),
}

impl AllowedHost {
    /// The only port it permits, if it has one.
    pub(super) fn port(&self) -> Option<u16> {
        self.port
    }

    pub(super) fn is_for_port(&self, port: u16) -> bool {
        self.port.is_none_or(|it| it == port)
    }

    /// Whether it matches a host name. Names are lower-case and have no final dot.
    pub(super) fn names(&self, name: &str) -> bool {
        match &self.place {
            AllowedAddress::Name(allowed) => name == allowed,
            AllowedAddress::Below(parent) => name
                .strip_suffix(parent.as_str())
                .is_some_and(|it| it.len() > 1 && it.ends_with('.')),
            AllowedAddress::Network(_) => false,
        }
    }

    pub(super) fn contains(&self, address: IpAddr) -> bool {
        match &self.place {
            AllowedAddress::Network(network) => {
                network.contains(&address) || network.contains(&plain(address))
            }
            AllowedAddress::Name(_) | AllowedAddress::Below(_) => false,
        }
    }
}

impl FromStr for AllowedHost {
    type Err = String;

    /// Parses `intra.example`, `*.intra.example`, `10.0.0.0/8`, `192.168.1.7`, `::1`, and all but networks
    /// also with a port: `localhost:8080`, `[::1]:8080`.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        let bare = text.strip_prefix('[').and_then(|it| it.strip_suffix(']')).unwrap_or(text);
        if let Ok(network) = bare.parse::<IpNet>() {
            return Ok(Self { place: AllowedAddress::Network(network.trunc()), port: None });
        }
        if let Ok(address) = bare.parse::<IpAddr>() {
            return Ok(Self { place: AllowedAddress::Network(address.into()), port: None });
        }
        let (host, port) = match text.rsplit_once(':') {
            None => (text, None),
            Some((host, port)) => match port.parse::<u16>() {
                Ok(port) if port > 0 => (host, Some(port)),
                _ => return Err(unreadable(text)),
            },
        };
        let (name, is_parent) = match host.strip_prefix("*.") {
            Some(parent) => (parent, true),
            None => (host, false),
        };
        let parsed = Host::parse(name.trim_end_matches('.')).map_err(|_| unreadable(text))?;
        let place = match parsed {
            Host::Ipv4(_) | Host::Ipv6(_) if is_parent => return Err(unreadable(text)),
            Host::Ipv4(it) => AllowedAddress::Network(IpAddr::V4(it).into()),
            Host::Ipv6(it) => AllowedAddress::Network(IpAddr::V6(it).into()),
            // The parser also accepts patterns and lists as names.
            Host::Domain(name) if name.contains(['*', ',']) => return Err(unreadable(text)),
            Host::Domain(name) if is_parent => AllowedAddress::Below(name),
            Host::Domain(name) => AllowedAddress::Name(name),
        };
        Ok(Self { place, port })
    }
}

fn unreadable(text: &str) -> String {
    format!(
        "`{text}` is neither a host nor a network; write `intra.example`, `*.intra.example`, \
         `localhost:8080`, `192.168.1.7` or `10.0.0.0/8`"
    )
}

impl fmt::Display for AllowedHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            AllowedAddress::Name(name) => f.write_str(name)?,
            AllowedAddress::Below(parent) => write!(f, "*.{parent}")?,
            AllowedAddress::Network(network) => write!(f, "{network}")?,
        }
        self.port.map_or(Ok(()), |port| write!(f, ":{port}"))
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn hosts_networks_and_ports_are_read_and_written() {
        for (text, shown) in [
            ("Intra.Example", "intra.example"),
            ("intra.example.", "intra.example"),
            ("*.intra.example", "*.intra.example"),
            ("localhost:8080", "localhost:8080"),
            ("10.1.2.3/8", "10.0.0.0/8"),
            ("192.168.1.7", "192.168.1.7/32"),
            ("127.0.0.1:81", "127.0.0.1/32:81"),
            ("::1", "::1/128"),
            ("[::1]", "::1/128"),
            ("[::1]:8080", "::1/128:8080"),
            ("fd00::/8", "fd00::/8"),
            ("my_host:80", "my_host:80"),
            ("bücher.example", "xn--bcher-kva.example"),
        ] {
            let allowed: AllowedHost = text.parse().unwrap();
            assert_eq!(allowed.to_string(), shown, "{text}");
        }
    }

    #[test]
    fn invalid_hosts_are_refused() {
        for text in [
            "",
            "*",
            "*.",
            "http://intra.example",
            "intra.example/path",
            "a,b",
            "a b",
            "*.*.example",
            "*.10.0.0.1",
            "intra.example:0",
            "intra.example:99999",
            "10.0.0.0/33",
            "user@intra.example",
        ] {
            let refused = text.parse::<AllowedHost>();
            assert!(refused.is_err(), "{text}: {refused:?}");
        }
    }

    #[test]
    fn names_match_whole_labels_only() {
        let below: AllowedHost = "*.intra.example".parse().unwrap();
        assert!(below.names("a.intra.example") && below.names("a.b.intra.example"));
        assert!(!below.names("intra.example") && !below.names("evilintra.example"));
        assert!(!below.names(".intra.example"));
        let exact: AllowedHost = "intra.example".parse().unwrap();
        assert!(exact.names("intra.example") && !exact.names("a.intra.example"));
    }

    #[test]
    fn a_network_contains_its_addresses_in_every_notation() {
        let network: AllowedHost = "127.0.0.0/8".parse().unwrap();
        for address in ["127.0.0.1", "::ffff:127.9.9.9", "64:ff9b::127.0.0.1"] {
            assert!(network.contains(address.parse().unwrap()), "{address}");
        }
        assert!(!network.contains("128.0.0.1".parse().unwrap()));
        assert!(!network.names("127.0.0.1"));
    }
}
