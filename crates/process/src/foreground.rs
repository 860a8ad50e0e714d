//! A command that a call waits for. It has a time limit, its output can be forwarded while it runs, and it
//! is stopped when the call ends early.

use std::{convert::Infallible, future::Future, sync::Arc, time::Duration};

use tokio::time::{Instant, sleep, sleep_until, timeout};

use super::{
    ending::{CommandEnding, StopReason},
    manager::TaskManager,
    readable::ReadableStream,
    settings::OnTimeout,
    task::{RunMode, Task},
};

/// The pause between two pieces of output that a listener gets.
const OUTPUT_INTERVAL: Duration = Duration::from_millis(20);
/// How long to wait for the end of a stopped command, in addition to its grace period.
const STOP_TIMEOUT: Duration = Duration::from_secs(3);

/// Why waiting for a foreground command ended.
#[derive(Debug)]
pub enum ForegroundOutcome {
    /// The command has ended.
    Ended(CommandEnding),
    /// The command continues as a background task.
    Background,
    /// The command was stopped for this reason, and its end was not reported in time.
    Stuck(StopReason),
}

/// A command in the foreground. Dropping this before the command has ended stops the command.
pub struct ForegroundCommand {
    manager: Arc<TaskManager>,
    task: Arc<Task>,
    on_timeout: OnTimeout,
}

impl ForegroundCommand {
    /// The foreground command of a task that was started.
    pub fn of(manager: Arc<TaskManager>, task: Arc<Task>) -> Self {
        let on_timeout = manager.settings.on_timeout;
        Self { manager, task, on_timeout }
    }

    /// Overrides the host's setting for commands that reach their time limit.
    #[must_use]
    pub fn on_timeout(mut self, on_timeout: OnTimeout) -> Self {
        self.on_timeout = on_timeout;
        self
    }

    /// Waits until the command ends or reaches one of its time limits.
    pub async fn outcome(&self, limit: Duration) -> ForegroundOutcome {
        let settings = &self.manager.settings;
        let deadline = Instant::now() + limit;
        let reason = loop {
            let idle_until = settings
                .idle_timeout
                .map(|it| Instant::now() + it.saturating_sub(self.task.idle_time()));
            tokio::select! {
                biased;
                ending = self.task.ended() => return ForegroundOutcome::Ended(ending),
                () = sleep_until(deadline) => {
                    let continues = self.on_timeout == OnTimeout::Background;
                    if continues && self.manager.promote(&self.task) {
                        return ForegroundOutcome::Background;
                    }
                    break StopReason::Timeout;
                }
                () = sleep_until(idle_until.unwrap_or(deadline)), if idle_until.is_some() => {
                    if settings.idle_timeout.is_some_and(|it| self.task.idle_time() >= it) {
                        break StopReason::Idle;
                    }
                }
            }
        };
        self.task.stop(reason, settings.grace);
        timeout(settings.grace + STOP_TIMEOUT, self.task.ended())
            .await
            .map_or(ForegroundOutcome::Stuck(reason), ForegroundOutcome::Ended)
    }

    /// Like [`Self::outcome`], and forwards the output as it arrives. If `send` is slow, the
    /// command waits.
    pub async fn outcome_with_output<Sent: Future<Output = ()>>(
        &self,
        limit: Duration,
        send: impl Fn(String) -> Sent,
    ) -> ForegroundOutcome {
        let mut stream = ReadableStream::default();
        let outcome = tokio::select! {
            biased;
            outcome = self.outcome(limit) => outcome,
            never = self.forward_output(&mut stream, &send) => match never {},
        };
        let rest = stream.take(&self.task.stop_listening()) + &stream.finish();
        if !rest.is_empty() {
            send(rest).await;
        }
        outcome
    }

    async fn forward_output<Sent: Future<Output = ()>>(
        &self,
        stream: &mut ReadableStream,
        send: &impl Fn(String) -> Sent,
    ) -> Infallible {
        let mut seen = 0;
        loop {
            self.task.output_beyond(seen).await;
            seen = self.task.total();
            let text = stream.take(&self.task.take_waiting());
            if !text.is_empty() {
                send(text).await;
            }
            sleep(OUTPUT_INTERVAL).await;
        }
    }
}

impl Drop for ForegroundCommand {
    fn drop(&mut self) {
        if self.task.run_mode() == RunMode::Foreground {
            self.task.stop(StopReason::Abandoned, self.manager.settings.grace);
        }
        // The output is not forwarded any more, so the command must not wait for that.
        self.task.stop_listening();
    }
}
