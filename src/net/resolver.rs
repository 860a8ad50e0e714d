//! Looks up names, and passes on only addresses that may be connected to.
//!
//! The HTTP library connects to the addresses it gets from here and looks up nothing by itself, so the
//! address that was checked is the address that is used.

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

/// How many names are looked up at once. The system's resolver blocks a thread for each, also when nobody
/// waits any more.
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
            // The place is taken until the system answers, not until somebody stops waiting.
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
    /// The port that connections are made to, if `web.allow` names it; else 0, which it cannot name.
    pub(super) port: u16,
    /// The proxy's name, which may lead anywhere because the host chose it.
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

/// The port is filled in by the caller.
fn addresses(found: Vec<IpAddr>) -> Addrs {
    Box::new(found.into_iter().map(|it| SocketAddr::new(it, 0)))
}
