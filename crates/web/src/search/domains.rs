//! Domains that limit the results of a search.

use std::{fmt, str::FromStr};

use url::{Host, Url};

/// A domain, which includes its subdomains.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Domain(String);

/// A text that is not a domain.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a domain; write one such as `docs.rs`")]
pub struct BadDomain(String);

impl FromStr for Domain {
    type Err = BadDomain;

    /// Parses `docs.rs` and the variants that models write: `*.docs.rs`, `https://docs.rs/`.
    fn from_str(text: &str) -> Result<Self, BadDomain> {
        let bad = || BadDomain(text.to_owned());
        let name = text.trim();
        if name.contains("://") {
            let url = Url::parse(name).map_err(|_| bad())?;
            let host = url.host_str().filter(|_| url.path() == "/").ok_or_else(bad)?;
            return Ok(Self(plain(host)));
        }
        let name = name.strip_prefix("*.").unwrap_or(name).trim_end_matches('/');
        let host = Host::parse(name.trim_end_matches('.')).map_err(|_| bad())?;
        let host = plain(&host.to_string());
        let is_name = host.contains(|it: char| it.is_ascii_alphanumeric())
            && host.bytes().all(|it| it.is_ascii_alphanumeric() || b".-_:[]".contains(&it));
        if is_name { Ok(Self(host)) } else { Err(bad()) }
    }
}

impl Domain {
    /// Whether a host of a parsed URL is the domain or a subdomain.
    pub(super) fn holds(&self, host: &str) -> bool {
        let host = host.trim_end_matches('.');
        host.strip_suffix(self.0.as_str()).is_some_and(|it| it.is_empty() || it.ends_with('.'))
    }
}

fn plain(host: &str) -> String {
    host.trim_end_matches('.').to_ascii_lowercase()
}

impl fmt::Display for Domain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn domains_are_parsed_in_every_notation() {
        for (text, wanted) in [
            ("docs.rs", "docs.rs"),
            (" Docs.RS. ", "docs.rs"),
            ("*.docs.rs", "docs.rs"),
            ("https://docs.rs/", "docs.rs"),
            ("bücher.de", "xn--bcher-kva.de"),
            ("127.0.0.1", "127.0.0.1"),
            ("localhost", "localhost"),
        ] {
            assert_eq!(text.parse::<Domain>().unwrap().to_string(), wanted, "{text}");
        }
        for bad in ["", "*", "a b", "docs.rs/std", "https://docs.rs/std", "x@y", "*.", "a,b"] {
            assert!(bad.parse::<Domain>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_domain_contains_only_itself_and_its_subdomains() {
        let domain: Domain = "docs.rs".parse().unwrap();
        for host in ["docs.rs", "a.docs.rs", "a.b.docs.rs", "docs.rs."] {
            assert!(domain.holds(host), "{host}");
        }
        for host in ["mydocs.rs", "docs.rs.evil.org", "rs", ""] {
            assert!(!domain.holds(host), "{host}");
        }
    }
}
