//! Looks up names, and returns only permitted addresses.
//!
//! The HTTP library connects to the addresses from this resolver and looks up nothing itself, so the checked
//! address is the one that is used.

use std::{
    fmt, io,
    net::{IpAddr, SocketAddr, ToSocketAddrs as _},
    sync::Arc,
};

use async_trait::async_trait;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use tokio::sync::Semaphore;

use super::{
    FetchError,
    guard::{AddressGuard, comparable_name},
};

/// The maximum number of simultaneous lookups. The system's resolver blocks a thread for each, even after the
/// caller stopped waiting.
const MAX_LOOKUPS: usize = 32;

/// Looks up the addresses of names.
#[async_trait]
pub trait NameLookup: fmt::Debug + Send + Sync {
    /// The addresses of a name, in the order in which they should be tried.
    async fn lookup(&self, name: &str) -> io::Result<Vec<IpAddr>>;
}

/// The system's resolver.
#[derive(Debug)]
pub(super) struct SystemLookup {
    places: Arc<Semaphore>,
}

impl Default for SystemLookup {
    fn default() -> Self {
        Self { places: Arc::new(Semaphore::new(MAX_LOOKUPS)) }
    }
}

#[async_trait]
impl NameLookup for SystemLookup {
    async fn lookup(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        let place = Arc::clone(&self.places).acquire_owned().await.map_err(io::Error::other)?;
        let name = name.to_owned();
        let looked_up = tokio::task::spawn_blocking(move || {
            let found = (name.as_str(), 0).to_socket_addrs();
            // The permit is held until the system responds, even if the caller stops waiting earlier.
            drop(place);
            found.map(|it| it.map(|address| address.ip()).collect())
        });
        looked_up.await.map_err(io::Error::other)?
    }
}

/// The resolver of one route.
pub(super) struct GuardedResolver {
    pub(super) lookup: Arc<dyn NameLookup>,
    pub(super) guard: AddressGuard,
    /// The port of the connection if `web.allow` names it, otherwise 0, which `web.allow` cannot name.
    pub(super) port: u16,
    /// The proxy's name. It may resolve to any address, because the host configured it.
    pub(super) proxy: Option<String>,
}

impl Resolve for GuardedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let lookup = Arc::clone(&self.lookup);
        let guard = self.guard.clone();
        let port = self.port;
        let host = name.as_str().to_owned();
        let is_proxy = self.proxy.as_deref() == Some(comparable_name(&host).as_str());
        Box::pin(async move {
            let dns = |cause: String| FetchError::Dns { host: host.clone(), cause };
            let found = lookup.lookup(&host).await.map_err(|err| dns(err.to_string()))?;
            if found.is_empty() {
                return Err(dns("it has no address".to_owned()).into());
            }
            if is_proxy {
                return Ok(addresses(found));
            }
            let mut open = Vec::new();
            let mut refused = None;
            for address in found {
                match guard.check_address(&host, address, port) {
                    Ok(()) => open.push(address),
                    Err(refusal) => refused = refused.or(Some(refusal)),
                }
            }
            match refused {
                Some(refusal) if open.is_empty() => Err(refusal.into()),
                _ => Ok(addresses(open)),
            }
        })
    }
}

/// Converts the addresses. The caller sets the port.
fn addresses(found: Vec<IpAddr>) -> Addrs {
    Box::new(found.into_iter().map(|it| SocketAddr::new(it, 0)))
}
