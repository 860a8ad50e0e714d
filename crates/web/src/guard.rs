//! Decides which addresses the web client may connect to: public ones, and those that the host allows.

use std::{net::IpAddr, sync::Arc};

use toolwright_base::shortened;

use url::{Host, Url};

use super::{AddressClass, AllowedHost, FetchError, address::closed_class};

/// Names that always mean this machine or a cloud's metadata service. Their addresses would be refused as
/// well, but with a proxy only the name is known.
const CLOSED_NAMES: [(&str, AddressClass); 8] = [
    ("localhost", AddressClass::Loopback),
    ("localhost.localdomain", AddressClass::Loopback),
    ("localhost6", AddressClass::Loopback),
    ("ip6-localhost", AddressClass::Loopback),
    ("ip6-loopback", AddressClass::Loopback),
    ("metadata", AddressClass::Metadata),
    ("metadata.google.internal", AddressClass::Metadata),
    ("instance-data", AddressClass::Metadata),
];
/// All names below these are closed too.
const CLOSED_PARENTS: [(&str, AddressClass); 3] = [
    (".localhost", AddressClass::Loopback),
    (".metadata.google.internal", AddressClass::Metadata),
    ("instance-data.ec2.internal", AddressClass::Metadata),
];

/// Ports of other services, which might interpret a request as commands. This is the list that browsers use.
const OTHER_SERVICES: [u16; 83] = [
    0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101,
    102, 103, 104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427,
    465, 512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990,
    993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667,
    6668, 6669, 6679, 6697, 10080,
];

/// The longest URL that is fetched. Few servers accept more, and the library accepts twice as much.
const MAX_URL_BYTES: usize = 32 * 1024;
/// The maximum number of characters of a bad URL in messages.
const SHOWN_CHARACTERS: usize = 300;

/// Parses a URL for the web client.
pub fn parse_web_url(text: &str) -> Result<Url, FetchError> {
    let text = text.trim();
    let bad = |cause: &str| FetchError::BadUrl { url: beginning(text), cause: cause.to_owned() };
    let url = Url::parse(text).map_err(|err| match err {
        url::ParseError::RelativeUrlWithoutBase => {
            bad("it is not a whole URL; write it with `https://`")
        }
        err => bad(&err.to_string()),
    })?;
    check_form(&url)?;
    Ok(url)
}

/// The text, shortened if it is long.
fn beginning(text: &str) -> String {
    shortened(text, SHOWN_CHARACTERS).into_owned()
}

/// Refuses URLs that are too long, are not http(s), or contain credentials.
fn check_form(url: &Url) -> Result<(), FetchError> {
    let bad = |cause: &str| {
        let mut shown = url.clone();
        if url.password().is_some() {
            // Fails only for URLs without a host, which have no password.
            let _ = shown.set_password(Some("***"));
        }
        Err(FetchError::BadUrl { url: beginning(shown.as_str()), cause: cause.to_owned() })
    };
    if url.as_str().len() > MAX_URL_BYTES {
        return bad(&format!("it has {} bytes, more than {MAX_URL_BYTES}", url.as_str().len()));
    }
    if !matches!(url.scheme(), "http" | "https") {
        return bad("only http and https URLs are fetched");
    }
    if !url.username().is_empty() || url.password().is_some() {
        return bad("it has a user name or password in it; leave them out");
    }
    match url.host() {
        None => bad("it has no host"),
        Some(Host::Domain(name)) if name.trim_end_matches('.').is_empty() => bad("it has no host"),
        Some(_) => Ok(()),
    }
}

/// The host name in the form used for comparison: lower-case and without the final dot, which has no meaning.
pub(super) fn comparable_name(name: &str) -> String {
    name.trim_end_matches('.').to_ascii_lowercase()
}

/// The host of a URL for messages, with the port if the URL names one.
pub(super) fn shown_place(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

/// Checks URLs and addresses.
#[derive(Clone, Debug)]
pub(super) struct AddressGuard {
    allow: Arc<[AllowedHost]>,
}

impl AddressGuard {
    pub(super) fn new(allow: &[AllowedHost]) -> Self {
        Self { allow: allow.into() }
    }

    /// The ports that `web.allow` names.
    pub(super) fn named_ports(&self) -> impl Iterator<Item = u16> {
        self.allow.iter().filter_map(AllowedHost::port)
    }

    /// Refuses URLs by what the URL alone shows: its form, its port, an address as its host, or a name that
    /// always means a closed address.
    pub(super) fn check_url(&self, url: &Url) -> Result<(), FetchError> {
        check_form(url)?;
        let Some(host) = url.host() else { return Ok(()) };
        let shown = host.to_string();
        let port = url.port_or_known_default().unwrap_or_default();
        match host {
            Host::Ipv4(it) => self.check_address(&shown, it.into(), port)?,
            Host::Ipv6(it) => self.check_address(&shown, it.into(), port)?,
            Host::Domain(name) => self.check_name(name, port)?,
        }
        let is_open = |it: &AllowedHost| {
            it.port() == Some(port)
                && match url.host() {
                    Some(Host::Ipv4(address)) => it.contains(address.into()),
                    Some(Host::Ipv6(address)) => it.contains(address.into()),
                    Some(Host::Domain(name)) => it.names(&comparable_name(name)),
                    None => false,
                }
        };
        if OTHER_SERVICES.contains(&port) && !self.allow.iter().any(is_open) {
            return Err(FetchError::BlockedPort { host: shown, port });
        }
        Ok(())
    }

    fn check_name(&self, name: &str, port: u16) -> Result<(), FetchError> {
        let name = comparable_name(name);
        let closed = CLOSED_NAMES
            .iter()
            .find(|(closed, _)| name == *closed)
            .or_else(|| CLOSED_PARENTS.iter().find(|(parent, _)| name.ends_with(parent)));
        match closed {
            Some((_, class)) if !self.opens_name(&name, port) => {
                Err(FetchError::BlockedAddress { host: name, address: None, class: *class })
            }
            _ => Ok(()),
        }
    }

    fn opens_name(&self, name: &str, port: u16) -> bool {
        self.allow.iter().any(|it| it.is_for_port(port) && it.names(name))
    }

    /// Refuses a closed address, unless it is allowed. `host` is the name that resolved to it, or the address
    /// itself.
    pub(super) fn check_address(
        &self,
        host: &str,
        address: IpAddr,
        port: u16,
    ) -> Result<(), FetchError> {
        let Some(class) = closed_class(address) else { return Ok(()) };
        let is_open = self.allow.iter().any(|it| it.is_for_port(port) && it.contains(address))
            || (class.is_opened_by_name() && self.opens_name(&comparable_name(host), port));
        if is_open {
            return Ok(());
        }
        Err(FetchError::BlockedAddress { host: host.to_owned(), address: Some(address), class })
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn errors_hide_passwords_and_shorten_long_urls() {
        let message = |url: &str| parse_web_url(url).unwrap_err().to_string();
        assert!(message("http://me:secret@a.b/").starts_with("`http://me:***@a.b/` cannot"));
        for url in ["ä".repeat(100_000), format!("http://a.b/{}", "x".repeat(100_000))] {
            assert!(message(&url).chars().count() < 500, "{}", message(&url));
        }
        assert!(parse_web_url(&format!("http://a.b/{}", "x".repeat(30_000))).is_ok());
    }

    fn guard(allow: &[&str]) -> AddressGuard {
        let allow: Vec<AllowedHost> = allow.iter().map(|it| it.parse().unwrap()).collect();
        AddressGuard::new(&allow)
    }

    fn refusal(guard: &AddressGuard, url: &str) -> Option<FetchError> {
        parse_web_url(url).and_then(|it| guard.check_url(&it)).err()
    }

    /// All known notations of addresses of this machine and of metadata services.
    const DISGUISES: [&str; 48] = [
        "http://127.0.0.1/",
        "http://127.1/",
        "http://127.0.1/",
        "http://2130706433/",
        "http://0x7f000001/",
        "http://0x7f.0.0.1/",
        "http://0x7F.1/",
        "http://017700000001/",
        "http://0177.0.0.1/",
        "http://0177.0x0.1/",
        "http://127.0.0.1./",
        "http://127.000.000.001/",
        "http://00000177.1/",
        "http://%31%32%37.0.0.1/",
        "http://127%2e0%2e0%2e1/",
        "http://１２７.０.０.１/",
        "http://①②⑦.⓪.⓪.①/",
        "http://127。0。0。1/",
        "http://127．0．0．1/",
        "http:127.0.0.1/",
        "http:\\\\127.0.0.1\\",
        "http:///127.0.0.1/",
        "http://\t127.0.0.1\n/",
        "http://0/",
        "http://0.0.0.0/",
        "http://[::]/",
        "http://[::1]/",
        "http://[0:0:0:0:0:0:0:1]/",
        "http://[::ffff:127.0.0.1]/",
        "http://[::ffff:7f00:1]/",
        "http://[::127.0.0.1]/",
        "http://[::ffff:0:127.0.0.1]/",
        "http://[64:ff9b::7f00:1]/",
        "http://[2002:7f00:1::]/",
        "http://[2001:0:7f00:1::]/",
        "http://[fe80::1]/",
        "http://[fd00:ec2::254]/",
        "http://169.254.169.254/latest/meta-data/",
        "http://2852039166/",
        "http://0xa9fea9fe/",
        "http://0251.0376.0251.0376/",
        "http://[::ffff:169.254.169.254]/",
        "http://localhost/",
        "http://LOCALHOST./",
        "http://a.b.localhost/",
        "http://ｌｏｃａｌｈｏｓｔ/",
        "http://metadata.google.internal/",
        "http://Metadata.Google.Internal./",
    ];

    #[test]
    fn a_closed_address_is_refused_in_every_notation() {
        let guard = guard(&[]);
        for url in DISGUISES {
            let refused = refusal(&guard, url);
            assert!(
                matches!(refused, Some(FetchError::BlockedAddress { .. })),
                "{url}: {refused:?}"
            );
        }
    }

    proptest! {
        #[test]
        fn every_notation_of_an_address_gets_the_same_decision(bits: u32) {
            let guard = guard(&[]);
            let [a, b, c, d] = bits.to_be_bytes();
            let plain = refusal(&guard, &format!("http://{a}.{b}.{c}.{d}/")).is_some();
            let (high, low) = (bits >> 16, bits & 0xffff);
            for written in [
                format!("{bits}"),
                format!("{bits:#x}"),
                format!("0{bits:o}"),
                format!("{a:#x}.0{b:o}.{low}"),
                format!("{a}.{}.", bits & 0xff_ffff),
                format!("[::ffff:{a}.{b}.{c}.{d}]"),
                format!("[::ffff:{high:x}:{low:x}]"),
                format!("[64:ff9b::{high:x}:{low:x}]"),
            ] {
                let refused = refusal(&guard, &format!("http://{written}/"));
                prop_assert_eq!(refused.is_some(), plain, "{}: {:?}", written, refused);
            }
        }
    }

    #[test]
    fn urls_that_are_not_web_urls_are_refused() {
        let guard = guard(&[]);
        for url in [
            "ftp://example.com/",
            "file:///etc/passwd",
            "gopher://127.0.0.1/",
            "javascript:alert(1)",
            "data:text/html,x",
            "example.com",
            "//example.com/",
            "http://",
            "http://./",
            "http://user@example.com/",
            "http://user:secret@example.com/",
            "http://example.com@127.0.0.1/",
            "http://[fe80::1%25eth0]/",
            "http://[::1%lo]/",
            "http://example.com:99999/",
            "http://1.2.3.4.5/",
            "http://0x100000000/",
            "http://256.0.0.1/",
        ] {
            let refused = refusal(&guard, url);
            assert!(matches!(refused, Some(FetchError::BadUrl { .. })), "{url}: {refused:?}");
            assert!(!refused.unwrap().to_string().contains("secret"), "{url}");
        }
    }

    #[test]
    fn ports_of_other_services_are_refused_unless_allowed_explicitly() {
        let plain = guard(&["example.com"]);
        for port in [22, 25, 110, 6667, 10080] {
            let url = format!("http://example.com:{port}/");
            let wanted = FetchError::BlockedPort { host: "example.com".to_owned(), port };
            assert_eq!(refusal(&plain, &url), Some(wanted));
        }
        assert_eq!(refusal(&plain, "http://example.com:8080/"), None);
        assert_eq!(refusal(&guard(&["example.com:25"]), "http://example.com:25/"), None);
    }

    #[test]
    fn only_allowed_hosts_and_networks_are_open() {
        let guard = guard(&["127.0.0.1:81", "10.0.0.0/8", "localhost", "*.intra.example"]);
        for url in ["http://127.1:81/", "http://[::ffff:10.0.0.1]/", "https://localhost:9000/"] {
            assert_eq!(refusal(&guard, url), None, "{url}");
        }
        for url in ["http://127.0.0.1/", "http://127.0.0.2:81/", "http://a.localhost/"] {
            assert!(refusal(&guard, url).is_some(), "{url}");
        }
        let open = |host: &str, address: &str| {
            guard.check_address(host, address.parse().unwrap(), 80).is_ok()
        };
        assert!(open("a.intra.example", "192.168.1.1"));
        assert!(open("a.intra.example.", "127.0.0.1"));
        assert!(!open("intra.example", "192.168.1.1"));
        assert!(open("whatever.example", "10.9.9.9"));
        // An allowed name does not open a metadata service.
        assert!(!open("a.intra.example", "169.254.169.254"));
    }
}
