//! Notifies clients that the list of tools has changed.

use std::{future::Future, time::Duration};

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// How long changes are batched, so that 100 registrations send one `list_changed`.
const BATCH_TIME: Duration = Duration::from_millis(30);

/// Calls `notify` after each batch of changes, until `ended` is cancelled or `notify` fails.
pub(super) async fn notify_changes<E, F>(
    mut changes: watch::Receiver<u64>,
    ended: CancellationToken,
    notify: impl Fn() -> F,
) where
    F: Future<Output = Result<(), E>>,
{
    changes.mark_unchanged();
    let notifying = async {
        while changes.changed().await.is_ok() {
            tokio::time::sleep(BATCH_TIME).await;
            changes.mark_unchanged();
            if notify().await.is_err() {
                return;
            }
        }
    };
    tokio::select! {
        () = notifying => {}
        () = ended.cancelled() => {}
    }
}
