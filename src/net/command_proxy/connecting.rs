//! Judges what a command wants to reach, and connects it: the list of hosts first, then the judge that the host
//! brings, then the guard of the web client, on the name and on every address that it leads to.

use std::{
    collections::BTreeMap,
    fmt, io,
    net::{IpAddr, SocketAddr},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

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

/// How many refused targets are remembered.
const MAX_REFUSED: usize = 16;
/// The least time that one of several addresses gets.
const MIN_TIME_PER_ADDRESS: Duration = Duration::from_secs(2);

/// Says whether a command may connect to a host, as it stands in a URL, and a port; the error says why not.
pub type TargetJudge = Arc<dyn Fn(&str, u16) -> Result<(), String> + Send + Sync>;

/// What the proxies of commands share with the web client.
#[derive(Clone)]
pub(in crate::net) struct ProxyParts {
    pub(in crate::net) guard: AddressGuard,
    pub(in crate::net) lookup: Arc<dyn NameLookup>,
    /// The proxies that this machine itself has to use.
    pub(in crate::net) proxies: ProxySettings,
    /// How long it may take to look a name up and to connect.
    pub(in crate::net) connect_time: Duration,
    /// The connections that all commands together may have.
    pub(in crate::net) places: Arc<Semaphore>,
    /// Cancelled when the web client is closed.
    pub(in crate::net) closed: CancellationToken,
}

/// What one command may reach, and how it is reached.
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
    /// Connects to a target if that is allowed. `scheme` is what is probably spoken, which decides about proxies
    /// of this machine.
    pub(super) async fn connect(
        &self,
        target: &ProxyTarget,
        scheme: &str,
    ) -> Result<TcpStream, ProxyRefusal> {
        let connected = self.judge_and_connect(target, scheme).await;
        if let Err(ProxyRefusal::Forbidden(reason)) = &connected {
            let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
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

    /// Refuses a target as far as the target alone tells.
    fn check(&self, target: &ProxyTarget) -> Result<(), ProxyRefusal> {
        let host = target.host_text();
        if !self.hosts.contain(target) {
            let words = format!("`{target}` is not among the hosts that this command may reach");
            return Err(ProxyRefusal::Forbidden(words));
        }
        (self.judge)(&host, target.port).map_err(ProxyRefusal::Forbidden)?;
        // The guard judges URLs. The scheme does not count, because the port is written out, except that a URL
        // leaves out the usual port of its scheme, which comes back when it is asked for.
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
            // It was judged with the target.
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

/// What the guard refused, in words that are true for commands.
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
