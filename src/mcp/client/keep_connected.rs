//! Keeps one server connected: connects, registers its tools, waits for the end and begins again.

use std::{
    sync::{Arc, Weak},
    time::{Duration, Instant},
};

use super::{
    connector::{AttemptStage, ClientSurroundings, OpenConnection, connect, with_last_words},
    discovery::{Discovered, discover},
    handshake::ConnectFailure,
    remote_tool::RemoteTool,
    server_link::{LinkSession, ServerLink, shortened},
    status::McpServerState,
};
use crate::{pipeline::Pipeline, registry::ToolSource, state::StateEvent, tool::DynTool};

/// The pauses between attempts, from the first to the longest.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// A connection that lasted this long was a good one, and pauses begin from the first again.
const GOOD_CONNECTION: Duration = Duration::from_secs(30);
/// Servers tell of every tool that comes. They are asked once after this time.
const DEBOUNCE: Duration = Duration::from_millis(100);
/// How long the end of a connection may take, besides that of a program.
const TIME_TO_CLOSE: Duration = Duration::from_secs(2);
/// How long a program has to end after its input was closed, and after SIGTERM.
#[cfg(unix)]
const TIME_TO_LEAVE: Duration = Duration::from_millis(500);
const GRACE: Duration = Duration::from_secs(2);

/// Keeps a server connected until the host wants it no more.
pub(super) async fn keep_connected(
    link: Arc<ServerLink>,
    around: ClientSurroundings,
    pipeline: Weak<Pipeline>,
) {
    let mut pause = FIRST_PAUSE;
    while !link.stop.is_cancelled() {
        let begun = Instant::now();
        let stage = AttemptStage::default();
        let attempt = tokio::select! {
            biased;
            () = link.stop.cancelled() => {
                stage.end(GRACE).await;
                break;
            }
            attempt = attempt(&link, &around, &pipeline, &stage) => attempt,
        };
        // The program of a connection belongs to the connection.
        drop(stage);
        let is_news = match attempt {
            Ok(connection) => {
                let session = connection.session.clone();
                let reason = serve(&link, connection, &pipeline).await;
                if link.stop.is_cancelled() {
                    break;
                }
                if begun.elapsed() >= GOOD_CONNECTION {
                    pause = FIRST_PAUSE;
                }
                link.note_failure(McpServerState::Reconnecting, reason, session.errors())
            }
            Err(AttemptFailure { reason, errors }) => {
                // Tools that cannot be called are no use to a model.
                register(&link, &pipeline, Discovered::default());
                link.note_failure(McpServerState::Failed, reason, errors)
            }
        };
        if is_news {
            tell(&link, &pipeline);
        }
        let waited = jittered(pause);
        pause = (pause * 2).min(LONGEST_PAUSE);
        tokio::select! {
            () = link.stop.cancelled() => {}
            () = link.retry.notified() => pause = FIRST_PAUSE,
            () = tokio::time::sleep(waited) => {}
        }
    }
    register(&link, &pipeline, Discovered::default());
    link.note_end();
}

/// Why a server could not be connected, and what its program wrote to its errors.
struct AttemptFailure {
    reason: String,
    errors: String,
}

/// Connects and registers the tools, within the time that the server has.
async fn attempt(
    link: &Arc<ServerLink>,
    around: &ClientSurroundings,
    pipeline: &Weak<Pipeline>,
    stage: &AttemptStage,
) -> Result<OpenConnection, AttemptFailure> {
    let limit = link.setup.startup;
    let connecting = async {
        let connection = connect(link, around, stage).await?;
        stage.enter("it did not list its tools");
        let found = discover(&connection.session.peer, &|it| link.setup.wants(it)).await?;
        Ok((connection, found))
    };
    let failure = match tokio::time::timeout(limit, connecting).await {
        Ok(Ok((connection, found))) => {
            register(link, pipeline, found);
            link.note_connected(connection.session.clone());
            tell(link, pipeline);
            return Ok(connection);
        }
        Ok(Err(ConnectFailure::Other(cause))) => with_last_words(cause, &stage.errors()),
        Ok(Err(ConnectFailure::BrokeOff(cause))) => match stage.ending().await {
            Some(ending) => ending,
            None => with_last_words(cause, &stage.errors()),
        },
        Err(_) => {
            let words = format!("{} within {} ms", stage.get(), limit.as_millis());
            with_last_words(words, &stage.errors())
        }
    };
    Err(AttemptFailure { reason: failure, errors: stage.errors() })
}

/// Waits for the end of a connection; returns why it ended.
async fn serve(
    link: &Arc<ServerLink>,
    connection: OpenConnection,
    pipeline: &Weak<Pipeline>,
) -> String {
    let OpenConnection { running, session } = connection;
    let ending = running.cancellation_token();
    let mut ended = Box::pin(running.waiting());
    let subscription = subscribed(&session).await;
    let closed_by_server = loop {
        tokio::select! {
            biased;
            () = link.stop.cancelled() => break false,
            () = session.loss.told() => break false,
            _ = &mut ended => break true,
            () = session.news.tools_changed.notified() => {}
        }
        tokio::select! {
            biased;
            () = link.stop.cancelled() => break false,
            () = session.loss.told() => break false,
            _ = &mut ended => break true,
            changed = rediscover(link, &session) => if let Some(found) = changed {
                register(link, pipeline, found);
                tell(link, pipeline);
            },
        }
    };
    drop(subscription);
    if !closed_by_server {
        // Closes the input of a program, and tells a server over HTTP that its session is over.
        ending.cancel();
        let _ = tokio::time::timeout(TIME_TO_CLOSE, &mut ended).await;
    }
    drop(ended);
    let cause = session.loss.cause().unwrap_or("the server closed the connection");
    #[cfg(unix)]
    return match &session.process {
        Some(process) => end_program(process).await,
        None => cause.to_owned(),
    };
    #[cfg(not(unix))]
    cause.to_owned()
}

/// Ends a program whose input is closed, and says how it ended.
#[cfg(unix)]
async fn end_program(process: &crate::process::ServerProcess) -> String {
    if let Ok(ended) = tokio::time::timeout(TIME_TO_LEAVE, process.ended()).await {
        return with_last_words(ended, &process.errors());
    }
    process.stop(GRACE);
    let _ = tokio::time::timeout(GRACE + TIME_TO_CLOSE, process.ended()).await;
    with_last_words("it closed its output and was stopped".to_owned(), &process.errors())
}

/// Servers of the newer era tell of changes only to those who subscribe.
async fn subscribed(session: &LinkSession) -> Option<rmcp::service::Subscription> {
    let info = session.peer.peer_info()?;
    let tells = info.capabilities.tools.as_ref().and_then(|it| it.list_changed) == Some(true);
    if info.protocol_version.has_initialize() || !tells {
        return None;
    }
    let mut filter = rmcp::model::SubscriptionFilter::default();
    filter.tools_list_changed = Some(true);
    let listening = session.peer.listen(filter);
    tokio::time::timeout(TIME_TO_CLOSE, listening).await.ok()?.ok()
}

/// Lists the tools again after a moment. None when that failed, which leaves everything as it was.
async fn rediscover(link: &ServerLink, session: &LinkSession) -> Option<Discovered> {
    tokio::time::sleep(DEBOUNCE).await;
    let wanted = |it: &str| link.setup.wants(it);
    let listing = discover(&session.peer, &wanted);
    tokio::time::timeout(link.setup.startup, listing).await.ok()?.ok()
}

/// Replaces the tools of the server in the registry by these.
fn register(link: &Arc<ServerLink>, pipeline: &Weak<Pipeline>, found: Discovered) {
    let Some(pipeline) = pipeline.upgrade() else { return };
    let Discovered { tools, mut problems, .. } = found;
    let (before, registered) = link.tools();
    let mut made: Vec<Arc<RemoteTool>> = Vec::with_capacity(tools.len());
    for tool in &tools {
        let same = before.iter().find(|it| it.own_name() == tool.name && it.is_same(tool));
        match same
            .map_or_else(|| RemoteTool::new(tool, link).map(Arc::new), |it| Ok(Arc::clone(it)))
        {
            Ok(tool) => made.push(tool),
            Err(problem) => problems.push(problem),
        }
    }
    let dynamic = made.iter().map(|it| Arc::clone(it) as Arc<dyn DynTool>).collect();
    let outcomes = pipeline.registry.replace_mcp_server(link.name(), &registered, dynamic);
    let mut kept = Vec::new();
    let mut ids = Vec::new();
    for (tool, outcome) in made.into_iter().zip(outcomes) {
        match outcome {
            Ok(id) => {
                ids.push(id);
                kept.push(tool);
            }
            Err(other) => problems.push(clash(&tool, &other, link.name())),
        }
    }
    link.set_tools(kept, ids, problems);
}

fn clash(tool: &RemoteTool, other: &ToolSource, server: &str) -> String {
    let whose = match other {
        ToolSource::Mcp { server: same } if same == server => "another tool of the same server",
        ToolSource::Mcp { .. } => "a tool of another MCP server",
        ToolSource::Builtin(_) => "a built-in tool",
        ToolSource::Host => "a tool of the host",
        ToolSource::Plugin { .. } => "a plugin tool",
    };
    let (own, registered) = (shortened(tool.own_name()), tool.registered_name());
    format!("tool `{own}` is left out: {whose} is registered as `{registered}` already")
}

/// Tells the host what the server is at.
fn tell(link: &ServerLink, pipeline: &Weak<Pipeline>) {
    if let Some(pipeline) = pipeline.upgrade() {
        let status = serde_json::to_value(link.status()).unwrap_or_default();
        pipeline.sessions.shared().events.send(&StateEvent::McpServer(status));
    }
}

/// A pause that differs from one server to the next, so that not all come back in the same instant: between
/// half of it and all of it.
fn jittered(pause: Duration) -> Duration {
    let random = uuid::Uuid::new_v4().as_u128() % 1_000;
    let thousandths = 500 + u32::try_from(random / 2).unwrap_or_default();
    pause * thousandths / 1_000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_are_between_half_and_the_whole() {
        for _ in 0..1_000 {
            let pause = jittered(FIRST_PAUSE);
            assert!(pause >= FIRST_PAUSE / 2 && pause <= FIRST_PAUSE, "{pause:?}");
        }
    }
}
