//! The proxy of one command: what a command whose network is its own reaches the rest of the world through.
//!
//! The command's processes are alone in their network. A socket listens there on loopback, and was handed out to
//! us: we accept what connects to it, and connect from our side, where the internet is. So nothing of ours runs
//! beside the command, and the proxy's end is the end of the command's network.
//!
//! The first byte of a connection says what is spoken: SOCKS5 (`socks`) or HTTP (`requests`). Both ask for a
//! host and a port, which `connecting` judges. It connects only to addresses that were judged themselves, so a
//! name that means another address a moment later changes nothing.
//!
//! It knows no policy: a judge is brought along.

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
    convert::Infallible,
    fmt, io,
    net::TcpListener as StdListener,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::{
    io::copy_bidirectional,
    net::TcpListener,
    runtime::Handle,
    task::JoinSet,
    time::{sleep, timeout},
};
use tokio_util::sync::{CancellationToken, DropGuard};

pub(super) use self::connecting::ProxyParts;
#[cfg(unix)]
pub(super) use self::handover::receive_listener;
use self::{
    activity::{ProxyActivity, ProxyStream},
    connecting::ProxyRules,
    socks::SOCKS_VERSION,
    target::ProxyTarget,
};
pub use self::{connecting::TargetJudge, hosts::ProxyHosts};

/// How many connections a command may have at once. Further ones wait.
const MAX_CONNECTIONS: usize = 128;
/// The pause after a connection that could not be accepted, such as for want of descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// How long a command's connections may take for what.
#[derive(Clone, Copy, Debug)]
pub struct ProxyTimes {
    /// To say what it wants, at the beginning and between two requests.
    pub head: Duration,
    /// To be silent on both sides.
    pub idle: Duration,
    /// To be silent once one side has said that it sends no more.
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

/// What a proxy is to do.
#[derive(Clone)]
pub struct ProxyOrder {
    /// What the command may reach.
    pub hosts: ProxyHosts,
    /// Who else is asked.
    pub judge: TargetJudge,
    /// How long its connections may take.
    pub times: ProxyTimes,
}

impl fmt::Debug for ProxyOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProxyOrder").field("hosts", &self.hosts).finish_non_exhaustive()
    }
}

/// A proxy at work. It ends, with all its connections, when this is dropped or the web client is closed.
#[derive(Debug)]
pub struct CommandProxy {
    rules: Arc<ProxyRules>,
    _end: DropGuard,
}

impl CommandProxy {
    /// Serves what connects to a listener, on a runtime.
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

    /// What the command was not connected to because it may not be, and why. Only the first few are kept.
    pub fn refused(&self) -> Vec<(String, String)> {
        let refused = self.rules.refused.lock().unwrap_or_else(PoisonError::into_inner);
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
            // Without a listener there is nobody to be told: the command was not started.
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

/// What is probably spoken to a target.
fn scheme_of(target: &ProxyTarget) -> &'static str {
    if target.port == 80 { "http" } else { "https" }
}
