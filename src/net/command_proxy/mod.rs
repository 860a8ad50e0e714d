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
mod hosts;
mod refusal;
mod requests;
mod socks;
mod target;
mod upstream;

use std::{
    io,
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
            head: Duration::from_secs(60),
            idle: Duration::from_mins(15),
            half_open: Duration::from_mins(2),
        }
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
        listener: StdListener,
        parts: ProxyParts,
        hosts: ProxyHosts,
        judge: TargetJudge,
        times: ProxyTimes,
        runtime: &Handle,
    ) -> io::Result<Self> {
        let end = parts.closed.child_token();
        let rules = Arc::new(ProxyRules { hosts, judge, parts, refused: Mutex::default() });
        listener.set_nonblocking(true)?;
        let _entered = runtime.enter();
        let listener = TcpListener::from_std(listener)?;
        let acceptor = ProxyAcceptor { listener, rules: Arc::clone(&rules), times };
        runtime.spawn(acceptor.run(end.clone()));
        Ok(Self { rules, _end: end.drop_guard() })
    }

    /// What the command was not connected to because it may not be, and why. Only the first few are kept.
    pub fn refused(&self) -> Vec<(String, String)> {
        let refused = self.rules.refused.lock().unwrap_or_else(PoisonError::into_inner);
        refused.iter().map(|(target, reason)| (target.clone(), reason.clone())).collect()
    }
}

/// Accepts connections.
struct ProxyAcceptor {
    listener: TcpListener,
    rules: Arc<ProxyRules>,
    times: ProxyTimes,
}

impl ProxyAcceptor {
    async fn run(self, end: CancellationToken) {
        let mut connections = JoinSet::new();
        tokio::select! {
            biased;
            () = end.cancelled() => {}
            () = self.accept_all(&mut connections) => {}
        }
        connections.shutdown().await;
    }

    async fn accept_all(&self, connections: &mut JoinSet<()>) {
        loop {
            while connections.try_join_next().is_some() {}
            if connections.len() >= MAX_CONNECTIONS {
                connections.join_next().await;
                continue;
            }
            match self.listener.accept().await {
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
