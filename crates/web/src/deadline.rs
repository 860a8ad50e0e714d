//! The time limits of a fetch: one for the whole, and one for each step.

use std::{future::Future, time::Duration};

use tokio::time::Instant;

use super::{FetchError, TimedPhase};

/// The time by which a fetch must end.
#[derive(Clone, Debug)]
pub(super) struct Deadline {
    at: Instant,
    total: Duration,
    host: String,
}

impl Deadline {
    pub(super) fn new(total: Duration, host: &str) -> Self {
        Self { at: Instant::now() + total, total, host: host.to_owned() }
    }

    /// Waits for a step, at most for its own limit and at most until the deadline.
    pub(super) async fn within<T>(
        &self,
        phase: TimedPhase,
        limit: Duration,
        step: impl Future<Output = T>,
    ) -> Result<T, FetchError> {
        let left = self.at.saturating_duration_since(Instant::now());
        let limit = if limit < left { limit } else { self.total };
        let waited = tokio::time::timeout(limit.min(left), step).await;
        waited.map_err(|_| FetchError::Timeout { host: self.host.clone(), phase, limit })
    }

    /// Waits for a step, at most until the deadline.
    pub(super) async fn before_end<T>(
        &self,
        phase: TimedPhase,
        step: impl Future<Output = T>,
    ) -> Result<T, FetchError> {
        self.within(phase, self.total, step).await
    }
}
