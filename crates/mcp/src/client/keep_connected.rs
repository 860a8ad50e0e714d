//! Keeps one server connected: connects, registers its tools, waits for the end of the connection, and reconnects.

use std::{
    sync::{Arc, Weak},
    time::{Duration, Instant},
};

use toolwright_core::{DynTool, ToolSource};
use toolwright_pipeline::Pipeline;
use toolwright_store::StateEvent;

use super::{
    connector::{AttemptStage, ClientContext, OpenConnection, connect, with_stderr},
    discovery::{Discovered, discover},
    handshake::ConnectFailure,
    remote_tool::RemoteTool,
    server_link::{LinkSession, ServerLink, one_line},
    status::McpServerState,
};

/// The pauses between attempts: each is twice as long as the one before.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// After a connection that lasted this long, the pauses start from the first again.
const GOOD_CONNECTION: Duration = Duration::from_secs(30);
/// Servers may report each added tool separately. The tools are listed once after this time.
const DEBOUNCE: Duration = Duration::from_millis(100);
/// How long closing a connection may take, without the exit of its program.
const TIME_TO_CLOSE: Duration = Duration::from_secs(2);
/// How long a program has to exit after its input was closed.
#[cfg(unix)]
const TIME_TO_EXIT: Duration = Duration::from_millis(500);
/// How long a program has to exit after SIGTERM.
const GRACE: Duration = Duration::from_secs(2);

/// Keeps a server connected until the host disconnects it.
pub(super) async fn keep_connected(
    link: Arc<ServerLink>,
    context: ClientContext,
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
            attempt = attempt(&link, &context, &pipeline, &stage) => attempt,
        };
        // From now on the connection owns its program.
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
                // Removes the tools, because they cannot be called.
                register(&link, &pipeline, Discovered::default());
                link.note_failure(McpServerState::Failed, reason, errors)
            }
        };
        if is_news {
            report_status(&link, &pipeline);
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

/// Why a server could not be connected, and the standard error of its program.
struct AttemptFailure {
    reason: String,
    errors: String,
}

/// Connects and registers the tools, within the startup timeout.
async fn attempt(
    link: &Arc<ServerLink>,
    context: &ClientContext,
    pipeline: &Weak<Pipeline>,
    stage: &AttemptStage,
) -> Result<OpenConnection, AttemptFailure> {
    let limit = link.setup.startup;
    let connecting = async {
        let connection = connect(link, context, stage).await?;
        stage.enter("it did not list its tools");
        let found = discover(&connection.session.peer, &|it| link.setup.wants(it)).await?;
        Ok((connection, found))
    };
    let failure = match tokio::time::timeout(limit, connecting).await {
        Ok(Ok((connection, found))) => {
            register(link, pipeline, found);
            link.note_connected(connection.session.clone());
            report_status(link, pipeline);
            return Ok(connection);
        }
        Ok(Err(ConnectFailure::Other(cause))) => with_stderr(cause, &stage.errors()),
        Ok(Err(ConnectFailure::BrokeOff(cause))) => match stage.ending().await {
            Some(ending) => ending,
            None => with_stderr(cause, &stage.errors()),
        },
        Err(_) => {
            let words = format!("{} within {} ms", stage.get(), limit.as_millis());
            with_stderr(words, &stage.errors())
        }
    };
    Err(AttemptFailure { reason: failure, errors: stage.errors() })
}

/// Waits for the end of a connection. Returns why it ended.
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
            () = session.loss.reported() => break false,
            _ = &mut ended => break true,
            () = session.news.tools_changed.notified() => {}
        }
        tokio::select! {
            biased;
            () = link.stop.cancelled() => break false,
            () = session.loss.reported() => break false,
            _ = &mut ended => break true,
            changed = rediscover(link, &session) => if let Some(found) = changed {
                register(link, pipeline, found);
                report_status(link, pipeline);
            },
        }
    };
    drop(subscription);
    if !closed_by_server {
        // Closes the input of a program, or deletes the session of a server over HTTP.
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

/// Ends a program whose input is closed. Returns how it ended.
#[cfg(unix)]
async fn end_program(process: &toolwright_process::ServerProcess) -> String {
    if let Ok(ended) = tokio::time::timeout(TIME_TO_EXIT, process.ended()).await {
        return with_stderr(ended, &process.errors());
    }
    process.stop(GRACE);
    let _ = tokio::time::timeout(GRACE + TIME_TO_CLOSE, process.ended()).await;
    with_stderr("it closed its output and was stopped".to_owned(), &process.errors())
}

/// Subscribes to changes of the tools. Servers of the newer era report changes only to subscribers.
async fn subscribed(session: &LinkSession) -> Option<rmcp::service::Subscription> {
    let info = session.peer.peer_info()?;
    let reports = info.capabilities.tools.as_ref().and_then(|it| it.list_changed) == Some(true);
    if info.protocol_version.has_initialize() || !reports {
        return None;
    }
    let mut filter = rmcp::model::SubscriptionFilter::default();
    filter.tools_list_changed = Some(true);
    let listening = session.peer.listen(filter);
    tokio::time::timeout(TIME_TO_CLOSE, listening).await.ok()?.ok()
}

/// Lists the tools again after [`DEBOUNCE`]. Returns `None` on failure; the tools then stay as they were.
async fn rediscover(link: &ServerLink, session: &LinkSession) -> Option<Discovered> {
    tokio::time::sleep(DEBOUNCE).await;
    let wanted = |it: &str| link.setup.wants(it);
    let listing = discover(&session.peer, &wanted);
    tokio::time::timeout(link.setup.startup, listing).await.ok()?.ok()
}

/// Replaces the server's tools in the registry with these.
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
    let (own, registered) = (one_line(tool.own_name()), tool.registered_name());
    format!("tool `{own}` is left out: {whose} is already registered as `{registered}`")
}

/// Sends the status of the server to the host.
fn report_status(link: &ServerLink, pipeline: &Weak<Pipeline>) {
    if let Some(pipeline) = pipeline.upgrade() {
        let status = serde_json::to_value(link.status()).unwrap_or_default();
        pipeline.sessions.shared().stored.events.send(&StateEvent::McpServer(status));
    }
}

/// A random duration between half of the pause and all of it, so that servers do not all reconnect at the same
/// time.
fn jittered(pause: Duration) -> Duration {
    let random = uuid::Uuid::new_v4().as_u128() % 1_000;
    let thousandths = 500 + u32::try_from(random / 2).unwrap_or_default();
    pause * thousandths / 1_000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jitter_keeps_at_least_half_of_the_pause() {
        for _ in 0..1_000 {
            let pause = jittered(FIRST_PAUSE);
            assert!(pause >= FIRST_PAUSE / 2 && pause <= FIRST_PAUSE, "{pause:?}");
        }
    }
}
