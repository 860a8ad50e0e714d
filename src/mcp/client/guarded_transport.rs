//! Stands between rmcp and a transport, and keeps floods away: rmcp starts a task for every notification and
//! every request that comes in, without a bound.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

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

use crate::tool::{Progress, ProgressSink};

/// How many requests of a server may be unanswered before it has to wait.
const MAX_UNANSWERED: usize = 32;

/// What a server tells without being asked, on its way to those who want to know.
#[derive(Default)]
pub(super) struct ServerNews {
    /// Notified when the server says that its tools have changed.
    pub(super) tools_changed: Notify,
    progress: Mutex<HashMap<ProgressToken, ProgressSink>>,
}

/// Takes the progress of a call. It travels with the request, because rmcp chooses the token.
#[derive(Clone)]
pub(super) struct ForwardedProgress(pub(super) ProgressSink);

impl ServerNews {
    /// Forgets the progress of a call that is over.
    pub(super) fn forget(&self, token: &ProgressToken) {
        self.lock().remove(token);
    }

    fn step(&self, step: ProgressNotificationParam) {
        let sink = self.lock().get(&step.progress_token).cloned();
        // Steps replace each other, so those that come too fast are left out.
        if let Some(sink) = sink.filter(ProgressSink::has_room) {
            let (progress, total, message) = (step.progress, step.total, step.message);
            sink.send(Progress::Step { progress, total, message });
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<ProgressToken, ProgressSink>> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A transport that passes on what rmcp has to see.
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
                    self.news.lock().insert(token, sink.clone());
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
            // Taken before the message, because this future may be dropped at any await. The semaphore is
            // never closed.
            let permit = Arc::clone(&self.free).acquire_owned().await.ok()?;
            let message = self.inner.receive().await?;
            match message {
                // Answering one of two with the same id would free the place of both. The protocol has no such pair.
                JsonRpcMessage::Request(request) if self.unanswered.contains_key(&request.id) => {}
                JsonRpcMessage::Request(request) => {
                    // A second one with the same id could not be answered apart, and would not be counted.
                    if self.unanswered.contains_key(&request.id) {
                        continue;
                    }
                    self.unanswered.insert(request.id.clone(), permit);
                    return Some(JsonRpcMessage::Request(request));
                }
                JsonRpcMessage::Notification(told) => match told.notification {
                    ServerNotification::ProgressNotification(it) => self.news.step(it.params),
                    ServerNotification::ToolListChangedNotification(_) => {
                        self.news.tools_changed.notify_one();
                    }
                    ServerNotification::CancelledNotification(it) => {
                        // rmcp does not answer a request that was withdrawn.
                        if let Some(id) = &it.params.request_id {
                            self.unanswered.remove(id);
                        }
                        let told = ServerNotification::CancelledNotification(it);
                        return Some(JsonRpcMessage::notification(told));
                    }
                    ServerNotification::SubscriptionsAcknowledgedNotification(it) => {
                        let told = ServerNotification::SubscriptionsAcknowledgedNotification(it);
                        return Some(JsonRpcMessage::notification(told));
                    }
                    // Logs and the like, for which nobody here has a use.
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

    /// A server that has sent these messages, and ends.
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
    async fn a_request_whose_id_waits_for_its_answer_is_not_passed_on_again() {
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
