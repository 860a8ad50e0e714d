//! The settings of the web client: what a host may change, and what the environment says.

use std::{path::PathBuf, time::Duration};

use super::{AllowedHost, proxy::ProxySettings};

/// The bounds of a fetch, of the cache and of all fetches together.
#[derive(Clone, Copy, Debug)]
pub struct WebLimits {
    /// How long a fetch may take in all.
    pub total: Duration,
    /// How long it may take to look up a name, connect and agree on TLS.
    pub connect: Duration,
    /// How long a server may take to begin its answer, once it is connected.
    pub headers: Duration,
    /// How long a server may pause in the middle of a body.
    pub idle: Duration,
    /// How many bytes of a body are read, both as they are sent and unpacked.
    pub max_body_bytes: usize,
    /// How many redirects are followed.
    pub max_redirects: usize,
    /// How many fetches run at once.
    pub max_at_once: usize,
    /// How many fetches of one host run at once.
    pub max_at_once_per_host: usize,
    /// How long a page is kept.
    pub cache_age: Duration,
    /// How many bytes of pages are kept.
    pub cache_bytes: usize,
}

impl Default for WebLimits {
    fn default() -> Self {
        Self {
            total: Duration::from_secs(30),
            connect: Duration::from_secs(10),
            headers: Duration::from_secs(20),
            idle: Duration::from_secs(15),
            max_body_bytes: 10 * 1024 * 1024,
            max_redirects: 10,
            max_at_once: 64,
            max_at_once_per_host: 8,
            cache_age: Duration::from_mins(15),
            cache_bytes: 64 * 1024 * 1024,
        }
    }
}

/// A file with certificates of authorities that are trusted as well as those of the system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ExtraAuthorities {
    /// The variable that names the file, for messages.
    pub(super) variable: &'static str,
    /// A file in PEM format.
    pub(super) file: PathBuf,
}

/// The settings of the web client.
#[derive(Clone, Debug)]
pub struct WebSettings {
    /// What may be reached although it is not public.
    pub allow: Vec<AllowedHost>,
    /// The bounds.
    pub limits: WebLimits,
    /// The header `User-Agent`.
    pub user_agent: String,
    pub(super) proxies: ProxySettings,
    pub(super) extra_authorities: Vec<ExtraAuthorities>,
}

impl Default for WebSettings {
    fn default() -> Self {
        Self::from_environment(&|_| None)
    }
}

impl WebSettings {
    /// The settings that an environment asks for: proxies, and authorities for TLS. `variable` gives the
    /// value of a variable.
    pub fn from_environment(variable: &dyn Fn(&str) -> Option<String>) -> Self {
        let authorities = |name: &'static str| {
            let file = variable(name).filter(|it| !it.is_empty())?;
            Some(ExtraAuthorities { variable: name, file: file.into() })
        };
        Self {
            allow: Vec::new(),
            limits: WebLimits::default(),
            user_agent: concat!("toolwright/", env!("CARGO_PKG_VERSION")).to_owned(),
            proxies: ProxySettings::from_environment(variable),
            extra_authorities: ["NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE"]
                .into_iter()
                .filter_map(authorities)
                .collect(),
        }
    }
}
