//! What a running tool may use. Tools use no global state besides this.

use std::{panic::resume_unwind, sync::Arc, time::Duration};

use tokio_util::sync::CancellationToken;

use super::{
    CommandSandbox, Commitment, Handlers, Progress, ProgressSink, SessionControl, ShownFile,
};
use crate::{error::ToolError, session::Session, workspace::walk::Visibility};

/// The context of one call.
#[derive(Clone, Debug)]
pub struct ToolContext {
    /// The id of this call, from the model or the host.
    pub tool_use_id: Arc<str>,
    /// The session to which the call belongs.
    pub session: Arc<Session>,
    /// Cancelled when the caller cancels, the time limit is reached, or the call has ended.
    pub cancel: CancellationToken,
    /// Records whether the call has had an effect, so that it can no longer be cancelled.
    pub commitment: Commitment,
    /// Takes the progress of the call.
    pub progress: ProgressSink,
    /// How many bytes of text the result may have. Text beyond that is cut off.
    pub max_result_bytes: usize,
    /// Which files a search may see.
    pub visibility: Visibility,
    /// What its commands are held to.
    pub sandbox: CommandSandbox,
    /// The file of which a person was shown a change and agreed to it.
    pub shown_file: Option<ShownFile>,
    /// How long the user has to answer questions.
    pub question_timeout: Duration,
    /// The functions that the host gave for built-in tools.
    pub handlers: Arc<Handlers>,
    /// Changes conversations: plan mode, and those of agents.
    pub sessions: Arc<dyn SessionControl>,
}

impl ToolContext {
    /// Runs blocking work on a thread for that. The work has to check its cancellation token.
    pub(crate) async fn blocking<T, F>(&self, work: F) -> Result<T, ToolError>
    where
        T: Send + 'static,
        F: FnOnce(&CancellationToken) -> Result<T, ToolError> + Send + 'static,
    {
        let cancel = self.cancel.clone();
        match tokio::task::spawn_blocking(move || work(&cancel)).await {
            Ok(result) => result,
            // Passed on to the panic fence around the call, which makes an error of it.
            Err(failure) if failure.is_panic() => resume_unwind(failure.into_panic()),
            Err(_) => Err(ToolError::cancelled()),
        }
    }

    /// Sends a piece of output as progress.
    pub(crate) fn output(&self, text: impl Into<String>) {
        self.progress.send(Progress::Output { text: text.into() });
    }
}
