//! Tells clients that the list of tools has changed.

use std::{future::Future, time::Duration};

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// How long changes are gathered: a host that registers a hundred tools is told of as one change.
const GATHER: Duration = Duration::from_millis(30);

/// Tells of every change until `ended` is cancelled, or nobody can be told any more.
pub(super) async fn tell_changes<E, F>(
    mut changes: watch::Receiver<u64>,
    ended: CancellationToken,
    tell: impl Fn() -> F,
) where
    F: Future<Output = Result<(), E>>,
{
    changes.mark_unchanged();
    let telling = async {
        while changes.changed().await.is_ok() {
            tokio::time::sleep(GATHER).await;
            changes.mark_unchanged();
            if tell().await.is_err() {
                return;
            }
        }
    };
    tokio::select! {
        () = telling => {}
        () = ended.cancelled() => {}
    }
}
