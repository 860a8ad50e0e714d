//! Proxies from the environment: `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY`.
//!
//! `hyper_util::client::proxy::matcher` is not used. It ignores a proxy whose URL is invalid and would
//! connect directly, where we fail. In `NO_PROXY` it knows no ports, no `*.example.com` and no separation by
//! blanks.

use std::net::IpAddr;

use ipnet::IpNet;
use url::{Host, Url};

use super::guard::comparable_name;

/// Selects the proxy for a URL. The default is none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ProxySettings {
    http: Option<String>,
    https: Option<String>,
    exceptions: Vec<ProxyException>,
}

/// An entry of `NO_PROXY`.
#[derive(Clone, Debug, PartialEq, Eq)]
enum ProxyException {
    Everything,
    /// A host and all hosts below it, on one port or on all ports.
    Name(String, Option<u16>),
    Network(IpNet),
}

impl ProxySettings {
    /// Reads the variables. Lower-case names take precedence, as in curl.
    pub(super) fn from_environment(variable: &dyn Fn(&str) -> Option<String>) -> Self {
        let given = |name: &str| variable(name).filter(|it| !it.trim().is_empty());
        let either = |name: &str| given(&name.to_ascii_lowercase()).or_else(|| given(name));
        // In a CGI program `HTTP_PROXY` is the `Proxy:` header of the request, so an attacker can set it.
        let is_cgi = given("REQUEST_METHOD").is_some();
        let http = if is_cgi { given("http_proxy") } else { either("HTTP_PROXY") };
        let all = either("ALL_PROXY");
        let exceptions = either("NO_PROXY").unwrap_or_default();
        Self {
            http: http.or_else(|| all.clone()),
            https: either("HTTPS_PROXY").or(all),
            exceptions: exceptions.split([',', ' ']).filter_map(ProxyException::parse).collect(),
        }
    }

    /// The proxy for a URL, as it is written in the environment.
    pub(super) fn for_url(&self, url: &Url) -> Option<&str> {
        let proxy = if url.scheme() == "https" { &self.https } else { &self.http };
        let proxy = proxy.as_deref()?;
        let is_direct = self.exceptions.iter().any(|it| it.holds(url));
        (!is_direct).then_some(proxy)
    }
}

impl ProxyException {
    fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        if text == "*" {
            return Some(Self::Everything);
        }
        let bare = text.strip_prefix('[').and_then(|it| it.strip_suffix(']')).unwrap_or(text);
        if let Ok(network) = bare.parse::<IpNet>() {
            return Some(Self::Network(network));
        }
        if let Ok(address) = bare.parse::<IpAddr>() {
            return Some(Self::Network(address.into()));
        }
        let (name, port) = match text.rsplit_once(':') {
            Some((name, port)) => (name, Some(port.parse().ok()?)),
            None => (text, None),
        };
        let name = name.strip_prefix('*').unwrap_or(name);
        let name = comparable_name(name.trim_start_matches('.'));
        (!name.is_empty()).then_some(Self::Name(name, port))
    }

    fn holds(&self, url: &Url) -> bool {
        let host = url.host();
        match self {
            Self::Everything => true,
            Self::Network(network) => match host {
                Some(Host::Ipv4(it)) => network.contains(&IpAddr::V4(it)),
                Some(Host::Ipv6(it)) => network.contains(&IpAddr::V6(it)),
                _ => false,
            },
            Self::Name(name, port) => {
                let host = comparable_name(&host.map(|it| it.to_string()).unwrap_or_default());
                let is_named = host == *name
                    || host.strip_suffix(name.as_str()).is_some_and(|it| it.ends_with('.'));
                is_named && port.is_none_or(|it| Some(it) == url.port_or_known_default())
            }
        }
    }
}

/// The supported schemes of proxies.
const PROXY_SCHEMES: [&str; 6] = ["http", "https", "socks4", "socks4a", "socks5", "socks5h"];

/// The URL of a proxy, or why it is invalid.
pub(super) fn proxy_url(proxy: &str) -> Result<Url, String> {
    let address = if proxy.contains("://") { proxy.to_owned() } else { format!("http://{proxy}") };
    let parsed = Url::parse(&address).map_err(|err| err.to_string())?;
    // The library would connect directly if it does not know the scheme.
    if PROXY_SCHEMES.contains(&parsed.scheme()) {
        return Ok(parsed);
    }
    let (scheme, known) = (parsed.scheme(), PROXY_SCHEMES.join("`, `"));
    Err(format!("`{scheme}` is not a kind of proxy; use `{known}`"))
}

/// A proxy without its password, for messages.
pub(super) fn without_password(proxy: &str) -> String {
    match proxy.rsplit_once('@') {
        None => proxy.to_owned(),
        Some((before, host)) => {
            let scheme = before.split_once("://").map(|it| format!("{}://", it.0));
            format!("{}…@{host}", scheme.unwrap_or_default())
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn settings(variables: &[(&str, &str)]) -> ProxySettings {
        ProxySettings::from_environment(&|name| {
            let found = variables.iter().find(|it| it.0 == name);
            found.map(|it| it.1.to_owned())
        })
    }

    fn proxy_for(settings: &ProxySettings, url: &str) -> Option<String> {
        settings.for_url(&Url::parse(url).unwrap()).map(str::to_owned)
    }

    #[test]
    fn all_proxy_applies_to_schemes_without_their_own_proxy() {
        let one = settings(&[("HTTP_PROXY", "http://a:1"), ("https_proxy", "http://b:2")]);
        assert_eq!(proxy_for(&one, "http://x/"), Some("http://a:1".to_owned()));
        assert_eq!(proxy_for(&one, "https://x/"), Some("http://b:2".to_owned()));
        let all = settings(&[("ALL_PROXY", "socks5://c:3"), ("http_proxy", "http://a:1")]);
        assert_eq!(proxy_for(&all, "http://x/"), Some("http://a:1".to_owned()));
        assert_eq!(proxy_for(&all, "https://x/"), Some("socks5://c:3".to_owned()));
        assert_eq!(proxy_for(&settings(&[("HTTP_PROXY", " ")]), "http://x/"), None);
    }

    #[test]
    fn the_proxy_header_of_a_cgi_request_is_ignored() {
        let cgi = settings(&[("HTTP_PROXY", "http://evil"), ("REQUEST_METHOD", "GET")]);
        assert_eq!(proxy_for(&cgi, "http://x/"), None);
    }

    #[test]
    fn hosts_in_no_proxy_are_connected_directly() {
        let list = "localhost, .intra.example *.corp.example,10.0.0.0/8,::1,api.example:8443";
        let settings = settings(&[("ALL_PROXY", "http://p"), ("NO_PROXY", list)]);
        for (url, is_direct) in [
            ("http://localhost/", true),
            ("http://localhost./", true),
            ("http://intra.example/", true),
            ("http://a.intra.example/", true),
            ("http://aintra.example/", false),
            ("http://x.corp.example/", true),
            ("http://10.1.2.3/", true),
            ("http://11.1.2.3/", false),
            ("http://[::1]/", true),
            ("https://api.example:8443/", true),
            ("https://api.example/", false),
            ("http://example.com/", false),
        ] {
            assert_eq!(proxy_for(&settings, url).is_none(), is_direct, "{url}");
        }
    }

    #[test]
    fn passwords_of_proxies_are_not_shown() {
        assert_eq!(without_password("http://me:pw@proxy:8080"), "http://…@proxy:8080");
        assert_eq!(without_password("me:p@w@proxy"), "…@proxy");
        assert_eq!(without_password("http://proxy:8080"), "http://proxy:8080");
    }
}
