//! Everything a running tool may use. There is nothing global beside it.

use std::{panic::resume_unwind, sync::Arc};

use tokio_util::sync::CancellationToken;

use super::{Commitment, Progress, ProgressSink, ShownFile};
use crate::{error::ToolError, session::Session, workspace::walk::Visibility};

/// The surroundings of one call.
#[derive(Clone, Debug)]
pub struct ToolContext {
    /// The id the model or the host gave this call.
    pub tool_use_id: Arc<str>,
    /// The conversation the call belongs to.
    pub session: Arc<Session>,
    /// Cancelled when the caller aborts, the time is up or the call has ended.
    pub cancel: CancellationToken,
    /// Whether the call has had an effect that cannot be taken back by ending it.
    pub commitment: Commitment,
    /// Where news of a running call go.
    pub progress: ProgressSink,
    /// How many bytes of text the answer may hold; what is beyond them is cut off its end.
    pub max_result_bytes: usize,
    /// Which files a search may know of.
    pub visibility: Visibility,
    /// The file that a person was shown a change of, and agreed to it.
    pub shown_file: Option<ShownFile>,
}

impl ToolContext {
    /// Runs blocking work off the async threads. The work has to look at the token it is given.
    pub async fn blocking<T, F>(&self, work: F) -> Result<T, ToolError>
    where
        T: Send + 'static,
        F: FnOnce(&CancellationToken) -> Result<T, ToolError> + Send + 'static,
    {
        let cancel = self.cancel.clone();
        match tokio::task::spawn_blocking(move || work(&cancel)).await {
            Ok(result) => result,
            // Carried on to the fence around the call, which turns it into an error with its message.
            Err(failure) if failure.is_panic() => resume_unwind(failure.into_panic()),
            Err(_) => Err(ToolError::cancelled()),
        }
    }

    /// Hands a piece of output to whoever watches the call.
    pub fn output(&self, text: impl Into<String>) {
        self.progress.send(Progress::Output { text: text.into() });
    }
}
