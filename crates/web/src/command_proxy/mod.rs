//! The proxy of one command, through which a command in a separate network namespace reaches the internet.
//!
//! The command's processes have a network namespace with only a loopback interface. A socket listens there
//! and was passed to this process, which accepts its connections and connects to the targets from its own
//! network. So no process of ours runs inside the sandbox, and when the proxy ends, the command has no
//! network.
//!
//! The first byte of a connection shows the protocol: SOCKS5 (`socks`) or HTTP (`requests`). Both name a host
//! and a port, which `connecting` checks. It connects only to addresses that were checked themselves, so a
//! later change of the name's address has no effect.
//!
//! The proxy knows no policy: the caller supplies a judge.

mod activity;
mod connecting;
#[cfg(unix)]
mod handover;
mod hosts;
mod refusal;
mod requests;
mod socks;
mod target;
mod upstream;

use std::{
    convert::Infallible, fmt, io, net::TcpListener as StdListener, sync::Arc, time::Duration,
};

use parking_lot::Mutex;
use tokio::{
    io::copy_bidirectional,
    net::TcpListener,
    runtime::Handle,
    task::JoinSet,
    time::{sleep, timeout},
};
use tokio_util::sync::{CancellationToken, DropGuard};

use self::{
    activity::{ProxyActivity, ProxyStream},
    connecting::ProxyRules,
    socks::SOCKS_VERSION,
    target::ProxyTarget,
};

pub(super) use self::connecting::ProxyParts;
#[cfg(unix)]
pub(super) use self::handover::receive_listener;
pub use self::{connecting::TargetJudge, hosts::ProxyHosts};

/// The maximum number of simultaneous connections of a command. Further ones wait.
const MAX_CONNECTIONS: usize = 128;
/// The delay after an accept error, such as too few file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Time limits of a command's connections.
#[derive(Clone, Copy, Debug)]
pub struct ProxyTimes {
    /// For sending a request, at the start and between requests.
    pub head: Duration,
    /// For silence on both sides.
    pub idle: Duration,
    /// For silence after one side has stopped sending.
    pub half_open: Duration,
}

impl Default for ProxyTimes {
    fn default() -> Self {
        Self {
            head: Duration::from_mins(1),
            idle: Duration::from_mins(15),
            half_open: Duration::from_mins(2),
        }
    }
}

/// The configuration of a proxy.
#[derive(Clone)]
pub struct ProxyOrder {
    /// The hosts that the command may reach.
    pub hosts: ProxyHosts,
    /// Decides about targets in addition to the host list.
    pub judge: TargetJudge,
    /// The time limits.
    pub times: ProxyTimes,
}

impl fmt::Debug for ProxyOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProxyOrder").field("hosts", &self.hosts).finish_non_exhaustive()
    }
}

/// A running proxy. It ends, with all its connections, when this is dropped or the web client is closed.
#[derive(Debug)]
pub struct CommandProxy {
    rules: Arc<ProxyRules>,
    _end: DropGuard,
}

impl CommandProxy {
    /// Serves the connections of a listener, on a runtime.
    pub(super) fn serve(
        listener: impl Future<Output = io::Result<StdListener>> + Send + 'static,
        parts: ProxyParts,
        order: ProxyOrder,
        runtime: &Handle,
    ) -> Self {
        let ProxyOrder { hosts, judge, times } = order;
        let end = parts.closed.child_token();
        let rules = Arc::new(ProxyRules { hosts, judge, parts, refused: Mutex::default() });
        let acceptor = ProxyAcceptor { rules: Arc::clone(&rules), times };
        runtime.spawn(acceptor.run(listener, end.clone()));
        Self { rules, _end: end.drop_guard() }
    }

    /// The targets that were refused, and why. Only the first few are recorded.
    pub fn refused(&self) -> Vec<(String, String)> {
        let refused = self.rules.refused.lock();
        refused.iter().map(|(target, reason)| (target.clone(), reason.clone())).collect()
    }
}

/// Accepts connections.
struct ProxyAcceptor {
    rules: Arc<ProxyRules>,
    times: ProxyTimes,
}

impl ProxyAcceptor {
    async fn run(
        self,
        listener: impl Future<Output = io::Result<StdListener>>,
        end: CancellationToken,
    ) {
        let mut connections = JoinSet::new();
        tokio::select! {
            biased;
            () = end.cancelled() => {}
            // An error means that the command was not started, so there is no one to report it to.
            _ = self.accept_all(listener, &mut connections) => {}
        }
        connections.shutdown().await;
    }

    async fn accept_all(
        &self,
        listener: impl Future<Output = io::Result<StdListener>>,
        connections: &mut JoinSet<()>,
    ) -> io::Result<Infallible> {
        let listener = listener.await?;
        listener.set_nonblocking(true)?;
        let listener = TcpListener::from_std(listener)?;
        loop {
            while connections.try_join_next().is_some() {}
            if connections.len() >= MAX_CONNECTIONS {
                connections.join_next().await;
                continue;
            }
            match listener.accept().await {
                Ok((stream, _)) => {
                    let (rules, times) = (Arc::clone(&self.rules), self.times);
                    connections.spawn(async move {
                        let _place = rules.parts.places.acquire().await;
                        let activity = ProxyActivity::begin();
                        let client = ProxyStream::new(stream, &activity);
                        tokio::select! {
                            () = activity.ceased(times.idle, times.half_open) => {}
                            _ = serve_client(client, &rules, &activity, times) => {}
                        }
                    });
                }
                Err(_) => sleep(ACCEPT_PAUSE).await,
            }
        }
    }
}

/// Serves one connection.
async fn serve_client(
    mut client: ProxyStream,
    rules: &ProxyRules,
    activity: &Arc<ProxyActivity>,
    times: ProxyTimes,
) -> io::Result<()> {
    match timeout(times.head, client.first_byte()).await?? {
        Some(SOCKS_VERSION) => {
            let asked = timeout(times.head, socks::read_request(&mut client)).await??;
            let Some(target) = asked else { return Ok(()) };
            match rules.connect(&target, scheme_of(&target)).await {
                Ok(server) => {
                    let mut server = ProxyStream::new(server, activity);
                    socks::answer_request(&mut client, None).await?;
                    copy_bidirectional(&mut client, &mut server).await?;
                }
                Err(refusal) => socks::answer_request(&mut client, Some(&refusal)).await?,
            }
        }
        Some(first) if first.is_ascii_alphabetic() => {
            requests::serve_requests(client, rules, activity, times.head).await;
        }
        Some(_) | None => {}
    }
    Ok(())
}

/// The likely protocol of a target.
fn scheme_of(target: &ProxyTarget) -> &'static str {
    if target.port == 80 { "http" } else { "https" }
}
