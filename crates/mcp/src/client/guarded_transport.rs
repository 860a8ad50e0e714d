//! Protects rmcp from floods of messages: rmcp starts a task for every incoming notification and request, without
//! a limit.

use std::{collections::HashMap, sync::Arc};

use parking_lot::Mutex;
use rmcp::{
    RoleClient,
    model::{
        ClientRequest, GetExtensions as _, GetMeta as _, JsonRpcMessage, ProgressNotificationParam,
        ProgressToken, RequestId, ServerNotification,
    },
    service::{RxJsonRpcMessage, TxJsonRpcMessage},
    transport::Transport,
};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use toolwright_core::{Progress, ProgressSink};

/// How many requests of a server may be unanswered before no more of its messages are read.
const MAX_UNANSWERED: usize = 32;

/// The notifications of a server that have a receiver here.
#[derive(Default)]
pub(super) struct ServerNews {
    /// Notified when the server reports that its tools have changed.
    pub(super) tools_changed: Notify,
    progress: Mutex<HashMap<ProgressToken, ProgressSink>>,
}

/// The receiver of a call's progress. It is attached to the request, because rmcp chooses the token.
#[derive(Clone)]
pub(super) struct ForwardedProgress(pub(super) ProgressSink);

impl ServerNews {
    /// Removes the progress receiver of a call that has ended.
    pub(super) fn forget(&self, token: &ProgressToken) {
        self.progress.lock().remove(token);
    }

    fn step(&self, step: ProgressNotificationParam) {
        let sink = self.progress.lock().get(&step.progress_token).cloned();
        // Each step replaces the one before, so steps that come too fast are dropped.
        if let Some(sink) = sink.filter(ProgressSink::has_room) {
            let (progress, total, message) = (step.progress, step.total, step.message);
            sink.send(Progress::Step { progress, total, message });
        }
    }
}

/// A transport that forwards only the messages that rmcp needs.
pub(super) struct GuardedTransport<Inner> {
    inner: Inner,
    news: Arc<ServerNews>,
    free: Arc<Semaphore>,
    /// The requests of the server that are not answered yet.
    unanswered: HashMap<RequestId, OwnedSemaphorePermit>,
}

impl<Inner> GuardedTransport<Inner> {
    pub(super) fn new(inner: Inner, news: Arc<ServerNews>) -> Self {
        let free = Arc::new(Semaphore::new(MAX_UNANSWERED));
        Self { inner, news, free, unanswered: HashMap::new() }
    }

    fn note_sent(
        &mut self,
        message: &TxJsonRpcMessage<RoleClient>,
    ) -> Option<OwnedSemaphorePermit> {
        match message {
            JsonRpcMessage::Request(sent) => {
                let request: &ClientRequest = &sent.request;
                if let Some(ForwardedProgress(sink)) = request.extensions().get()
                    && let Some(token) = request.get_meta().get_progress_token()
                {
                    self.news.progress.lock().insert(token, sink.clone());
                }
                None
            }
            JsonRpcMessage::Response(answer) => self.unanswered.remove(&answer.id),
            JsonRpcMessage::Error(error) => self.unanswered.remove(error.id.as_ref()?),
            JsonRpcMessage::Notification(_) => None,
        }
    }
}

impl<Inner: Transport<RoleClient>> Transport<RoleClient> for GuardedTransport<Inner> {
    type Error = Inner::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Inner::Error>> + Send + 'static {
        let answered = self.note_sent(&message);
        let sending = self.inner.send(message);
        async move {
            let sent = sending.await;
            drop(answered);
            sent
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            // Acquired before the message is received, because this future may be dropped at any await. The
            // semaphore is never closed.
            let permit = Arc::clone(&self.free).acquire_owned().await.ok()?;
            let message = self.inner.receive().await?;
            match message {
                // The protocol forbids two open requests with the same id. The second one is dropped, because
                // answering one of them would release the permit of both.
                JsonRpcMessage::Request(request) if self.unanswered.contains_key(&request.id) => {}
                JsonRpcMessage::Request(request) => {
                    self.unanswered.insert(request.id.clone(), permit);
                    return Some(JsonRpcMessage::Request(request));
                }
                JsonRpcMessage::Notification(message) => match message.notification {
                    ServerNotification::ProgressNotification(it) => self.news.step(it.params),
                    ServerNotification::ToolListChangedNotification(_) => {
                        self.news.tools_changed.notify_one();
                    }
                    ServerNotification::CancelledNotification(it) => {
                        // rmcp does not answer a cancelled request.
                        if let Some(id) = &it.params.request_id {
                            self.unanswered.remove(id);
                        }
                        let cancelled = ServerNotification::CancelledNotification(it);
                        return Some(JsonRpcMessage::notification(cancelled));
                    }
                    ServerNotification::SubscriptionsAcknowledgedNotification(it) => {
                        let subscribed =
                            ServerNotification::SubscriptionsAcknowledgedNotification(it);
                        return Some(JsonRpcMessage::notification(subscribed));
                    }
                    // Logs and other notifications are not used.
                    _ => {}
                },
                other => return Some(other),
            }
        }
    }

    async fn close(&mut self) -> Result<(), Inner::Error> {
        self.inner.close().await
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use std::{collections::VecDeque, convert::Infallible};

    use serde_json::{Value, json};

    use super::*;

    /// A server that sends these messages and ends.
    struct SentMessages(VecDeque<Value>);

    impl Transport<RoleClient> for SentMessages {
        type Error = Infallible;

        fn send(
            &mut self,
            _message: TxJsonRpcMessage<RoleClient>,
        ) -> impl Future<Output = Result<(), Infallible>> + Send + 'static {
            std::future::ready(Ok(()))
        }

        async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
            self.0.pop_front().map(|it| serde_json::from_value(it).unwrap())
        }

        async fn close(&mut self) -> Result<(), Infallible> {
            Ok(())
        }
    }

    #[tokio::test]
    async fn a_request_with_the_id_of_an_open_request_is_dropped() {
        let ping = |id: u32| json!({ "jsonrpc": "2.0", "id": id, "method": "ping" });
        let sent = SentMessages([ping(1), ping(1), ping(2), ping(1)].into());
        let mut guarded = GuardedTransport::new(sent, Arc::default());
        let mut passed = 0;
        while guarded.receive().await.is_some() {
            passed += 1;
        }
        assert_eq!((passed, guarded.free.available_permits()), (2, MAX_UNANSWERED - 2));
    }
}
