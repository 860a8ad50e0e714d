//! The host name in a request: from `Host`, or from the authority of the URL.
//!
//! Only the plain form is accepted, and nothing is decoded. Browsers send the plain form; other forms are
//! used in attacks, because programs disagree about their meaning.

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
    /// Parses `host` or `host:port`. IPv6 addresses are in brackets.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let (host, port) = match text.strip_prefix('[') {
            Some(rest) => {
                let (address, port) = rest.split_once(']')?;
                let address: Ipv6Addr = address.parse().ok()?;
                (
                    NamedHost::Address(address.into()),
                    port.strip_prefix(':').or_else(|| port.is_empty().then_some("")),
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

    /// True for the loopback names.
    pub(super) fn is_loopback(&self) -> bool {
        match &self.host {
            NamedHost::Address(IpAddr::V4(address)) => *address == Ipv4Addr::LOCALHOST,
            NamedHost::Address(IpAddr::V6(address)) => *address == Ipv6Addr::LOCALHOST,
            NamedHost::Name(name) => name == "localhost",
        }
    }

    /// True when this is the given IP address. A host name is never equal to an address.
    pub(super) fn is_address(&self, address: IpAddr) -> bool {
        self.host == NamedHost::Address(address)
    }

    /// True when this name matches an allowed one. An allowed name without a port matches every port.
    pub(super) fn is_allowed_by(&self, allowed: &Self) -> bool {
        self.host == allowed.host && (allowed.port.is_none() || allowed.port == self.port)
    }

    /// True when host and port are equal. A missing port means the usual port.
    pub(super) fn is_same_authority(&self, other: &Self, usual_port: u16) -> bool {
        let port = |it: &Self| it.port.unwrap_or(usual_port);
        self.host == other.host && port(self) == port(other)
    }
}

fn plain_host(text: &str) -> Option<NamedHost> {
    let is_plain = |it: u8| it.is_ascii_alphanumeric() || matches!(it, b'-' | b'.' | b'_');
    if text.is_empty() || text.len() > 253 || !text.bytes().all(is_plain) {
        return None;
    }
    if let Ok(address) = text.parse::<Ipv4Addr>() {
        return Some(NamedHost::Address(address.into()));
    }
    // Some programs read `127.1`, `0x7f.1` and `2130706433` as addresses, others as names. No real name
    // ends in a number.
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
    fn only_the_plain_forms_of_loopback_names_are_recognized() {
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
    fn an_allowed_name_matches_its_port_or_every_port() {
        let name = |text| AddressedName::parse(text).unwrap();
        assert!(name("a.example:8080").is_allowed_by(&name("A.example")));
        assert!(name("a.example:8080").is_allowed_by(&name("a.example:8080")));
        assert!(!name("a.example").is_allowed_by(&name("a.example:8080")));
        assert!(!name("b.a.example").is_allowed_by(&name("a.example")));
        assert!(name("a.example").is_same_authority(&name("a.example:443"), 443));
        assert!(!name("a.example").is_same_authority(&name("a.example:443"), 80));
    }
}
