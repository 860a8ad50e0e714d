//! The hosts that a command may reach.

use super::{
    super::AllowedHost,
    target::{ProxyTarget, TargetHost},
};

/// The hosts that a command may reach: exact names, all names below one, addresses and networks, each with an
/// optional port, or `*` for all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProxyHosts {
    has_all: bool,
    listed: Vec<AllowedHost>,
}

impl ProxyHosts {
    /// Parses a list; the error names the wrong entry.
    pub fn parse<'a>(texts: impl IntoIterator<Item = &'a str>) -> Result<Self, String> {
        let mut hosts = Self::default();
        for text in texts {
            if text.trim() == "*" {
                hosts.has_all = true;
            } else {
                hosts.listed.push(text.parse()?);
            }
        }
        Ok(hosts)
    }

    /// True if the target is on the list.
    pub(super) fn contain(&self, target: &ProxyTarget) -> bool {
        self.has_all || self.entries_for(target).any(|it| it.is_for_port(target.port))
    }

    /// True if the list names the target together with its port, which permits ports of services other than
    /// the web.
    pub(super) fn name_port(&self, target: &ProxyTarget) -> bool {
        self.entries_for(target).any(|it| it.port() == Some(target.port))
    }

    fn entries_for<'a>(&'a self, target: &'a ProxyTarget) -> impl Iterator<Item = &'a AllowedHost> {
        self.listed.iter().filter(|it| match &target.host {
            TargetHost::Name(name) => it.names(name),
            TargetHost::Address(address) => it.contains(*address),
        })
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn target(text: &str) -> ProxyTarget {
        ProxyTarget::parse(text).unwrap()
    }

    #[test]
    fn a_list_contains_only_the_hosts_it_names() {
        let list = ["a.example", "*.b.example", "c.example:8443", "10.0.0.0/8", "[2001:db8::1]:80"];
        let hosts = ProxyHosts::parse(list).unwrap();
        for open in [
            "a.example:1",
            "A.EXAMPLE.:443",
            "x.b.example:443",
            "x.y.b.example:443",
            "c.example:8443",
            "10.1.2.3:80",
            "[::ffff:10.1.2.3]:80",
            "[2001:db8::1]:80",
        ] {
            assert!(hosts.contain(&target(open)), "{open}");
        }
        for closed in [
            "x.a.example:443",
            "b.example:443",
            "xb.example:443",
            "c.example:443",
            "a.example.evil.example:443",
            "11.0.0.1:80",
            "[2001:db8::1]:81",
        ] {
            assert!(!hosts.contain(&target(closed)), "{closed}");
        }
        assert!(ProxyHosts::parse(["*"]).unwrap().contain(&target("any.example:1")));
        assert!(!ProxyHosts::default().contain(&target("any.example:1")));
    }

    #[test]
    fn only_an_explicit_port_is_named() {
        let hosts = ProxyHosts::parse(["*", "a.example", "b.example:22"]).unwrap();
        assert!(hosts.name_port(&target("b.example:22")));
        assert!(!hosts.name_port(&target("a.example:22")));
        assert!(!hosts.name_port(&target("c.example:22")));
    }

    #[test]
    fn the_error_names_an_invalid_entry() {
        let error = ProxyHosts::parse(["a.example", "http://b.example/"]).unwrap_err();
        assert!(error.starts_with("`http://b.example/` is neither"), "{error}");
    }
}
