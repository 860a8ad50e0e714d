//! Routes to servers: direct, or through a proxy. Each route has its own connections and its own resolver,
//! because a resolver gets only a name, and which addresses are permitted depends on the route.

use std::{collections::HashMap, sync::Arc, time::Duration};

use parking_lot::Mutex;
use reqwest::{Client, Proxy, redirect};
use tokio::sync::OnceCell;
use url::Url;

use super::{
    FetchError, WebSettings,
    guard::{AddressGuard, comparable_name},
    proxy::{proxy_url, without_password},
    resolver::{GuardedResolver, NameLookup},
    tls::{self, TlsSetup},
};

/// The maximum number of idle connections per host, and how long they are kept.
const IDLE_CONNECTIONS: usize = 4;
const IDLE_TIME: Duration = Duration::from_secs(30);
/// The maximum number of headers of a response, and of their bytes in HTTP/2. In HTTP/1 the library reads at
/// most 400 KiB of them.
const MAX_HEADERS: usize = 200;
const MAX_HEADER_BYTES: u32 = 256 * 1024;

/// Identifies a route.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum RouteKey {
    /// Direct, to a port that `web.allow` names, or to any other port (0).
    Straight(u16),
    Through(String),
}

/// A route that is ready to use.
#[derive(Clone)]
pub(super) struct Route {
    pub(super) client: Client,
    /// The proxy, without its password.
    pub(super) proxy: Option<String>,
    /// Certificate files that could not be used.
    pub(super) problems: Arc<[String]>,
}

/// All routes of a client.
pub(super) struct Routes {
    settings: WebSettings,
    guard: AddressGuard,
    lookup: Arc<dyn NameLookup>,
    tls: OnceCell<TlsSetup>,
    /// `None` once the client is closed.
    open: Mutex<Option<HashMap<RouteKey, Route>>>,
}

impl Routes {
    pub(super) fn new(
        settings: WebSettings,
        guard: AddressGuard,
        lookup: Arc<dyn NameLookup>,
    ) -> Self {
        Self {
            settings,
            guard,
            lookup,
            tls: OnceCell::new(),
            open: Mutex::new(Some(HashMap::new())),
        }
    }

    /// The route to a URL that [`AddressGuard::check_url`] has accepted.
    pub(super) async fn to(&self, url: &Url) -> Result<Route, FetchError> {
        let port = url.port_or_known_default().unwrap_or_default();
        let key = match self.settings.proxies.for_url(url) {
            Some(proxy) => RouteKey::Through(proxy.to_owned()),
            None if self.guard.named_ports().any(|it| it == port) => RouteKey::Straight(port),
            None => RouteKey::Straight(0),
        };
        if let Some(route) = self.known(&key)? {
            return Ok(route);
        }
        let host = url.host_str().unwrap_or_default();
        let tls = self.tls().await.map_err(|cause| FetchError::Tls {
            host: host.to_owned(),
            cause,
            advice: String::new(),
        })?;
        let route = self.build(&key, host, tls)?;
        let mut open = self.open.lock();
        let open = open.as_mut().ok_or(FetchError::Closed)?;
        Ok(open.entry(key).or_insert(route).clone())
    }

    /// Closes idle connections and opens no new ones.
    pub(super) fn close(&self) {
        let closed = self.open.lock().take();
        // Dropped outside the lock, because dropping a client runs library code.
        drop(closed);
    }

    fn known(&self, key: &RouteKey) -> Result<Option<Route>, FetchError> {
        let open = self.open.lock();
        Ok(open.as_ref().ok_or(FetchError::Closed)?.get(key).cloned())
    }

    /// Reads certificates at the first fetch, so that a registry that fetches nothing does not read them.
    async fn tls(&self) -> Result<&TlsSetup, String> {
        let set_up = || async {
            let extra = self.settings.extra_authorities.clone();
            let set_up = tokio::task::spawn_blocking(move || tls::set_up(&extra));
            set_up.await.map_err(|err| err.to_string())?
        };
        self.tls.get_or_try_init(set_up).await
    }

    fn build(&self, key: &RouteKey, host: &str, tls: &TlsSetup) -> Result<Route, FetchError> {
        let mut builder = Client::builder()
            .tls_backend_preconfigured(tls.config.clone())
            .redirect(redirect::Policy::none())
            .referer(false)
            .no_proxy()
            .no_gzip()
            .no_brotli()
            .no_deflate()
            .user_agent(&self.settings.user_agent)
            .connect_timeout(self.settings.limits.connect)
            .pool_max_idle_per_host(IDLE_CONNECTIONS)
            .pool_idle_timeout(IDLE_TIME)
            .http1_max_headers(MAX_HEADERS)
            .http2_max_header_list_size(MAX_HEADER_BYTES);
        let mut resolver = GuardedResolver {
            lookup: Arc::clone(&self.lookup),
            guard: self.guard.clone(),
            port: 0,
            proxy: None,
        };
        let mut shown_proxy = None;
        match key {
            RouteKey::Straight(port) => resolver.port = *port,
            RouteKey::Through(proxy) => {
                let shown = without_password(proxy);
                let failed = |cause: String| FetchError::Proxy {
                    host: host.to_owned(),
                    cause,
                    proxy: shown.clone(),
                };
                let parsed = proxy_url(proxy).map_err(failed)?;
                resolver.proxy = parsed.host_str().map(comparable_name);
                // The library's message would contain the password.
                let unusable = |_| failed("its address cannot be used".to_owned());
                builder = builder.proxy(Proxy::all(parsed).map_err(unusable)?);
                shown_proxy = Some(shown);
            }
        }
        let built = builder.dns_resolver(resolver).build();
        let client = built
            .map_err(|err| FetchError::Connect { host: host.to_owned(), cause: err.to_string() })?;
        Ok(Route { client, proxy: shown_proxy, problems: tls.problems.as_slice().into() })
    }
}
