//! Counts running calls, so that closing a registry can wait for them to end.

use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::Notify;

/// The running calls of a pipeline.
#[derive(Debug, Default)]
pub(super) struct RunningCalls {
    count: AtomicUsize,
    none_left: Notify,
}

/// One running call. It ends when this is dropped.
#[derive(Debug)]
pub(super) struct RunningCall<'a>(&'a RunningCalls);

impl RunningCalls {
    /// Counts a call until the guard is dropped.
    pub(super) fn begin(&self) -> RunningCall<'_> {
        self.count.fetch_add(1, Ordering::AcqRel);
        RunningCall(self)
    }

    /// Waits until no call runs.
    pub(super) async fn ended(&self) {
        loop {
            // Created before the count is read: the last call may end in between.
            let none_left = self.none_left.notified();
            if self.count.load(Ordering::Acquire) == 0 {
                return;
            }
            none_left.await;
        }
    }
}

impl Drop for RunningCall<'_> {
    fn drop(&mut self) {
        if self.0.count.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.0.none_left.notify_waiters();
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::{FutureExt as _, pin_mut};

    use super::*;

    #[tokio::test]
    async fn ended_resolves_when_the_last_call_ends() {
        let calls = RunningCalls::default();
        calls.ended().await;
        let (one, other) = (calls.begin(), calls.begin());
        let ended = calls.ended();
        pin_mut!(ended);
        assert!(ended.as_mut().now_or_never().is_none());
        drop(one);
        assert!(ended.as_mut().now_or_never().is_none());
        drop(other);
        ended.await;
    }
}
