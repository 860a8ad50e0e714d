//! What a running tool may use. Tools use no other shared state.

use std::{panic::resume_unwind, sync::Arc, time::Duration};

use tokio_util::sync::CancellationToken;
use toolwright_base::ToolError;
use toolwright_files::Visibility;

use super::{
    CommandSandbox, Commitment, Handlers, Progress, ProgressSink, SessionControl, ShownFile,
};
use crate::session::Session;

/// The context of one call.
#[derive(Clone, Debug)]
pub struct ToolContext {
    /// The id of this call, from the model or the host.
    pub tool_use_id: Arc<str>,
    /// The session that the call belongs to.
    pub session: Arc<Session>,
    /// Cancelled when the caller cancels, the time limit is reached, or the call has ended.
    pub cancel: CancellationToken,
    /// Records whether the call has had its effect and can no longer be cancelled.
    pub commitment: Commitment,
    /// Receives the progress of the call.
    pub progress: ProgressSink,
    /// How many bytes of text the result may have. Text beyond that is cut off.
    pub max_result_bytes: usize,
    /// Which files a search may see.
    pub visibility: Visibility,
    /// The sandbox of its commands.
    pub sandbox: CommandSandbox,
    /// The file whose diff a person was shown and approved.
    pub shown_file: Option<ShownFile>,
    /// How long the user has to answer questions.
    pub question_timeout: Duration,
    /// The host's functions for built-in tools.
    pub handlers: Arc<Handlers>,
    /// Operations on conversations: plan mode, and the conversations of agents.
    pub sessions: Arc<dyn SessionControl>,
}

impl ToolContext {
    /// Runs blocking work on a thread for blocking work. The work must check its cancellation token.
    pub async fn blocking<T, F>(&self, work: F) -> Result<T, ToolError>
    where
        T: Send + 'static,
        F: FnOnce(&CancellationToken) -> Result<T, ToolError> + Send + 'static,
    {
        let cancel = self.cancel.clone();
        match tokio::task::spawn_blocking(move || work(&cancel)).await {
            Ok(result) => result,
            // Passed on to the panic fence around the call, which turns it into an error.
            Err(failure) if failure.is_panic() => resume_unwind(failure.into_panic()),
            Err(_) => Err(ToolError::cancelled()),
        }
    }

    /// Sends a piece of output as progress.
    pub fn output(&self, text: impl Into<String>) {
        self.progress.send(Progress::Output { text: text.into() });
    }
}
