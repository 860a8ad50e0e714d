//! The name by which a request addresses the server: `Host`, or the authority of the URL.
//!
//! Nothing is decoded or guessed: a form that is not the plain one is no name at all. Browsers send the plain
//! form, and whoever sends another wants it to be read in two ways.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A host with an optional port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct AddressedName {
    host: NamedHost,
    port: Option<u16>,
}

/// The host of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
enum NamedHost {
    Address(IpAddr),
    /// In lower case.
    Name(String),
}

impl AddressedName {
    /// Reads `host` or `host:port`. IPv6 addresses stand in brackets.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (host, port) = match text.strip_prefix('[') {
            Some(rest) => {
                let (address, port) = rest.split_once(']')?;
                let address: Ipv6Addr = address.parse().ok()?;
                (
                    NamedHost::Address(address.into()),
                    port.strip_prefix(':').or_else(|| none_of(port)),
                )
            }
            None => match text.split_once(':') {
                Some((host, port)) => (plain_host(host)?, Some(port)),
                None => (plain_host(text)?, Some("")),
            },
        };
        let port = match port? {
            "" if text.ends_with(':') => return None,
            "" => None,
            digits => Some(plain_port(digits)?),
        };
        Some(Self { host, port })
    }

    /// True for the names that every machine has for itself.
    pub(super) fn is_loopback(&self) -> bool {
        match &self.host {
            NamedHost::Address(IpAddr::V4(address)) => *address == Ipv4Addr::LOCALHOST,
            NamedHost::Address(IpAddr::V6(address)) => *address == Ipv6Addr::LOCALHOST,
            NamedHost::Name(name) => name == "localhost",
        }
    }

    /// True when this is the address itself, and not a name that may lead anywhere.
    pub(super) fn is_address(&self, address: IpAddr) -> bool {
        self.host == NamedHost::Address(address)
    }

    /// True when a name that was allowed is this one. Without a port it allows every port.
    pub(super) fn is_allowed_by(&self, allowed: &Self) -> bool {
        self.host == allowed.host && (allowed.port.is_none() || allowed.port == self.port)
    }

    /// True when both are the same place, where names without a port mean this one.
    pub(super) fn is_same_place(&self, other: &Self, usual_port: u16) -> bool {
        let port = |it: &Self| it.port.unwrap_or(usual_port);
        self.host == other.host && port(self) == port(other)
    }
}

fn none_of(port: &str) -> Option<&str> {
    port.is_empty().then_some(port)
}

fn plain_host(text: &str) -> Option<NamedHost> {
    let is_plain = |it: u8| it.is_ascii_alphanumeric() || matches!(it, b'-' | b'.' | b'_');
    if text.is_empty() || text.len() > 253 || !text.bytes().all(is_plain) {
        return None;
    }
    if let Ok(address) = text.parse::<Ipv4Addr>() {
        return Some(NamedHost::Address(address.into()));
    }
    // `127.1`, `0x7f.1` and `2130706433` are addresses to some, and names to others. No name ends in a number.
    let last = text.rsplit('.').next().unwrap_or_default();
    if last.is_empty() || last.starts_with(|it: char| it.is_ascii_digit()) {
        return None;
    }
    Some(NamedHost::Name(text.to_ascii_lowercase()))
}

fn plain_port(digits: &str) -> Option<u16> {
    let is_plain = digits.len() <= 5 && digits.bytes().all(|it| it.is_ascii_digit());
    is_plain.then(|| digits.parse().ok()).flatten()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn the_names_of_this_machine_are_known_in_their_plain_form_alone() {
        for text in [
            "localhost",
            "localhost:80",
            "LOCALHOST:1",
            "127.0.0.1",
            "127.0.0.1:65535",
            "[::1]",
            "[::1]:7",
            "[0:0:0:0:0:0:0:1]:7",
        ] {
            assert!(AddressedName::parse(text).unwrap().is_loopback(), "{text}");
        }
        for text in [
            "",
            ":80",
            "localhost:",
            "localhost.",
            "localhost.:80",
            "127.0.0.1.",
            "127.1",
            "0177.0.0.1",
            "0x7f.0.0.1",
            "2130706433",
            "0.0.0.0",
            "127.0.0.2",
            "[::]",
            "[::ffff:127.0.0.1]",
            "[::1%25lo]",
            "[::1",
            "::1",
            "[::1]x",
            "[::1]:",
            "[127.0.0.1]",
            "localhost:+80",
            "localhost:080800",
            "localhost:65536",
            "localhost:80:80",
            "user@localhost",
            "localhost@evil.example",
            "localhost%2e",
            "%6cocalhost",
            "localhost/",
            "localhost#",
            "localhost evil",
            "evil.localhost",
            "localhost.evil.example",
            "127.0.0.1.nip.io",
            "ⅼocalhost",
            "localhost,evil.example",
        ] {
            let name = AddressedName::parse(text);
            assert!(!name.is_some_and(|it| it.is_loopback()), "{text}");
        }
    }

    #[test]
    fn an_allowed_name_holds_for_its_port_or_for_all() {
        let name = |text| AddressedName::parse(text).unwrap();
        assert!(name("a.example:8080").is_allowed_by(&name("A.example")));
        assert!(name("a.example:8080").is_allowed_by(&name("a.example:8080")));
        assert!(!name("a.example").is_allowed_by(&name("a.example:8080")));
        assert!(!name("b.a.example").is_allowed_by(&name("a.example")));
        assert!(name("a.example").is_same_place(&name("a.example:443"), 443));
        assert!(!name("a.example").is_same_place(&name("a.example:443"), 80));
    }
}
