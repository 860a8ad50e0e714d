//! The settings of the web client, from the host's options and the environment.

use std::{path::PathBuf, time::Duration};

use super::{AllowedHost, proxy::ProxySettings};

/// The limits of a fetch, of the cache and of all fetches together.
#[derive(Clone, Copy, Debug)]
pub struct WebLimits {
    /// The time limit of a whole fetch.
    pub total: Duration,
    /// The time limit for name lookup, connecting and the TLS handshake.
    pub connect: Duration,
    /// The time limit for the response headers after connecting.
    pub headers: Duration,
    /// The longest pause within a body.
    pub idle: Duration,
    /// The maximum size of a body in bytes, both compressed and decompressed.
    pub max_body_bytes: usize,
    /// The maximum number of redirects.
    pub max_redirects: usize,
    /// The maximum number of simultaneous fetches.
    pub max_at_once: usize,
    /// The maximum number of simultaneous fetches per host.
    pub max_at_once_per_host: usize,
    /// How long a page is cached.
    pub cache_age: Duration,
    /// The size of the cache in bytes.
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

/// A file with certificates of authorities that are trusted in addition to the system's.
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
    /// Hosts and networks that are permitted although they are not public.
    pub allow: Vec<AllowedHost>,
    /// The limits.
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
    /// The settings from an environment: proxies, and authorities for TLS. `variable` returns the value of a
    /// variable.
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
