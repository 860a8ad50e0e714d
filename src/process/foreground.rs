//! A command that somebody waits for: within its time, heard as it goes, ended when nobody waits any more.

use std::{convert::Infallible, future::Future, sync::Arc, time::Duration};

use tokio::time::{Instant, sleep, sleep_until, timeout};

use super::{
    ending::{CommandEnding, StopReason},
    manager::TaskManager,
    readable::ReadableStream,
    settings::OnTimeout,
    task::{RunMode, Task},
};

/// How often a listener hears of a command that says much.
const PACE: Duration = Duration::from_millis(20);
/// How long the end of a stopped command is waited for, beyond its grace.
const PATIENCE: Duration = Duration::from_secs(3);

/// How waiting for a command came to an end.
#[derive(Debug)]
pub enum ForegroundOutcome {
    /// The command ended.
    Ended(CommandEnding),
    /// It goes on as a task.
    Background,
    /// It was stopped, and has not been seen to end.
    Stuck(StopReason),
}

/// A command in the foreground. Dropped before the command has ended, it ends it.
pub struct ForegroundCommand {
    manager: Arc<TaskManager>,
    task: Arc<Task>,
}

impl ForegroundCommand {
    /// Waits for a command that was started.
    pub fn of(manager: Arc<TaskManager>, task: Arc<Task>) -> Self {
        Self { manager, task }
    }

    /// Waits for the end, within a time.
    pub async fn outcome(&self, limit: Duration) -> ForegroundOutcome {
        let settings = &self.manager.settings;
        let deadline = Instant::now() + limit;
        let reason = loop {
            let silent_until = settings
                .idle_timeout
                .map(|it| Instant::now() + it.saturating_sub(self.task.silence()));
            tokio::select! {
                biased;
                ending = self.task.ended() => return ForegroundOutcome::Ended(ending),
                () = sleep_until(deadline) => {
                    let goes_on = settings.on_timeout == OnTimeout::Background;
                    if goes_on && self.manager.promote(&self.task) {
                        return ForegroundOutcome::Background;
                    }
                    break StopReason::Timeout;
                }
                () = sleep_until(silent_until.unwrap_or(deadline)), if silent_until.is_some() => {
                    if settings.idle_timeout.is_some_and(|it| self.task.silence() >= it) {
                        break StopReason::Idle;
                    }
                }
            }
        };
        self.task.stop(reason, settings.grace);
        timeout(settings.grace + PATIENCE, self.task.ended())
            .await
            .map_or(ForegroundOutcome::Stuck(reason), ForegroundOutcome::Ended)
    }

    /// The same, with the output handed on as it comes. The command waits for a listener that is slow.
    pub async fn outcome_heard<Told: Future<Output = ()>>(
        &self,
        limit: Duration,
        tell: impl Fn(String) -> Told,
    ) -> ForegroundOutcome {
        let mut stream = ReadableStream::default();
        let outcome = tokio::select! {
            biased;
            outcome = self.outcome(limit) => outcome,
            never = self.hear(&mut stream, &tell) => match never {},
        };
        let rest = stream.take(&self.task.stop_listening()) + &stream.finish();
        if !rest.is_empty() {
            tell(rest).await;
        }
        outcome
    }

    async fn hear<Told: Future<Output = ()>>(
        &self,
        stream: &mut ReadableStream,
        tell: &impl Fn(String) -> Told,
    ) -> Infallible {
        let mut seen = 0;
        loop {
            self.task.output_beyond(seen).await;
            seen = self.task.total();
            let text = stream.take(&self.task.take_waiting());
            if !text.is_empty() {
                tell(text).await;
            }
            sleep(PACE).await;
        }
    }
}

impl Drop for ForegroundCommand {
    fn drop(&mut self) {
        if self.task.run_mode() == RunMode::Foreground {
            self.task.stop(StopReason::Abandoned, self.manager.settings.grace);
        }
        // Nobody takes what waits any more, and the command must not wait for it.
        self.task.stop_listening();
    }
}
