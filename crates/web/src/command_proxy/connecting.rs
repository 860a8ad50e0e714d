//! Checks a command's target and connects to it: first the host list, then the judge that the host supplies,
//! then the web client's guard, for the name and for every address that it resolves to.

use std::{
    collections::BTreeMap,
    fmt, io,
    net::{IpAddr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use parking_lot::Mutex;
use tokio::{
    net::TcpStream,
    sync::Semaphore,
    time::{Instant, timeout, timeout_at},
};
use tokio_util::sync::CancellationToken;

use super::{
    super::{FetchError, NameLookup, guard::AddressGuard, proxy::ProxySettings},
    ProxyHosts,
    refusal::ProxyRefusal,
    target::{ProxyTarget, TargetHost},
    upstream,
};

/// The maximum number of refused targets that are recorded.
const MAX_REFUSED: usize = 16;
/// The minimum time to try each of several addresses.
const MIN_TIME_PER_ADDRESS: Duration = Duration::from_secs(2);

/// Decides whether a command may connect to a host (as written in a URL) and a port; the error is the reason.
pub type TargetJudge = Arc<dyn Fn(&str, u16) -> Result<(), String> + Send + Sync>;

/// State that command proxies share with the web client.
#[derive(Clone)]
pub(crate) struct ProxyParts {
    pub(crate) guard: AddressGuard,
    pub(crate) lookup: Arc<dyn NameLookup>,
    /// The proxies that this machine must use.
    pub(crate) proxies: ProxySettings,
    /// The time limit for name lookup and connecting.
    pub(crate) connect_time: Duration,
    /// Limits the connections of all commands together.
    pub(crate) places: Arc<Semaphore>,
    /// Cancelled when the web client is closed.
    pub(crate) closed: CancellationToken,
}

/// The rules for the connections of one command.
pub(super) struct ProxyRules {
    pub(super) hosts: ProxyHosts,
    pub(super) judge: TargetJudge,
    pub(super) parts: ProxyParts,
    pub(super) refused: Mutex<BTreeMap<String, String>>,
}

impl fmt::Debug for ProxyRules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProxyRules").field("hosts", &self.hosts).finish_non_exhaustive()
    }
}

impl ProxyRules {
    /// Connects to a permitted target. `scheme` is the likely protocol, which selects this machine's proxy.
    pub(super) async fn connect(
        &self,
        target: &ProxyTarget,
        scheme: &str,
    ) -> Result<TcpStream, ProxyRefusal> {
        let connected = self.judge_and_connect(target, scheme).await;
        if let Err(ProxyRefusal::Forbidden(reason)) = &connected {
            let mut refused = self.refused.lock();
            if refused.len() < MAX_REFUSED {
                refused.insert(target.to_string(), reason.clone());
            }
        }
        connected
    }

    async fn judge_and_connect(
        &self,
        target: &ProxyTarget,
        scheme: &str,
    ) -> Result<TcpStream, ProxyRefusal> {
        self.check(target)?;
        let until = Instant::now() + self.parts.connect_time;
        let too_long = || {
            let limit = self.parts.connect_time.as_millis();
            ProxyRefusal::TimedOut(format!("no connection to `{target}` within {limit} ms"))
        };
        let url = target.url(scheme);
        if let Some(proxy) = url.and_then(|it| self.parts.proxies.for_url(&it).map(str::to_owned)) {
            let connecting = upstream::connect(&proxy, target, &*self.parts.lookup);
            return timeout_at(until, connecting).await.map_err(|_| too_long())?;
        }
        let looked_up = timeout_at(until, self.addresses(target)).await;
        let addresses = looked_up.map_err(|_| too_long())??;
        let mut failure = too_long();
        for (index, address) in addresses.iter().enumerate() {
            let left = until.saturating_duration_since(Instant::now());
            let others = u32::try_from(addresses.len() - index).unwrap_or(u32::MAX);
            let share = (left / others).max(MIN_TIME_PER_ADDRESS).min(left);
            let place = SocketAddr::new(*address, target.port);
            match timeout(share, TcpStream::connect(place)).await {
                Ok(Ok(stream)) => return Ok(stream),
                Ok(Err(err)) => failure = unreachable(target, &err),
                Err(_) => failure = too_long(),
            }
        }
        Err(failure)
    }

    /// Refuses a target by its host and port, before any lookup.
    fn check(&self, target: &ProxyTarget) -> Result<(), ProxyRefusal> {
        let host = target.host_text();
        if !self.hosts.contain(target) {
            let words = format!("`{target}` is not among the hosts that this command may reach");
            return Err(ProxyRefusal::Forbidden(words));
        }
        (self.judge)(&host, target.port).map_err(ProxyRefusal::Forbidden)?;
        // The guard checks URLs. The scheme does not matter, because the port is explicit: a URL omits the
        // default port of its scheme, but `port_or_known_default` returns it.
        let unreadable =
            || ProxyRefusal::BadRequest(format!("`{target}` is not a host and a port"));
        let url = target.url("http").ok_or_else(unreadable)?;
        match self.parts.guard.check_url(&url) {
            Err(FetchError::BlockedPort { .. }) if self.hosts.name_port(target) => Ok(()),
            checked => checked.map_err(|it| forbidden(&it)),
        }
    }

    /// The addresses of a target that may be connected to.
    async fn addresses(&self, target: &ProxyTarget) -> Result<Vec<IpAddr>, ProxyRefusal> {
        let name = match &target.host {
            // It was checked with the target.
            TargetHost::Address(address) => return Ok(vec![*address]),
            TargetHost::Name(name) => name,
        };
        let not_found =
            |cause: String| ProxyRefusal::NotFound(format!("`{name}` could not be found: {cause}"));
        let found =
            self.parts.lookup.lookup(name).await.map_err(|err| not_found(err.to_string()))?;
        let mut refused = None;
        let mut open = Vec::new();
        for address in found {
            match self.parts.guard.check_address(name, address, target.port) {
                Ok(()) => open.push(address),
                Err(refusal) => refused = refused.or(Some(refusal)),
            }
        }
        match refused {
            Some(refusal) if open.is_empty() => Err(forbidden(&refusal)),
            None if open.is_empty() => Err(not_found("it has no address".to_owned())),
            _ => Ok(open),
        }
    }
}

/// The guard's refusal, worded for commands.
fn forbidden(refusal: &FetchError) -> ProxyRefusal {
    ProxyRefusal::Forbidden(match refusal {
        FetchError::BlockedAddress { host, class, .. } => {
            format!("`{host}` leads to {}, which commands cannot reach", class.words())
        }
        FetchError::BlockedPort { host, port } => {
            format!("port {port} of `{host}` is not a web server's, and commands cannot reach it")
        }
        other => other.to_string(),
    })
}

pub(super) fn unreachable(target: &ProxyTarget, err: &io::Error) -> ProxyRefusal {
    ProxyRefusal::Unreachable(format!("no connection to `{target}`: {err}"), err.kind())
}
