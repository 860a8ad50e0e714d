//! The messages of teams, for JavaScript.

use std::sync::Arc;

use napi::{
    Env,
    bindgen_prelude::{PromiseRaw, Result},
};
use napi_derive::napi;
use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;
use toolwright_team::{MailReader, Teams};

use crate::registry::NativeRegistry;

/// Reads the messages to one session.
#[napi]
pub struct TeamReader {
    reader: Mutex<Option<Arc<MailReader>>>,
    closed: CancellationToken,
}

#[napi]
impl TeamReader {
    /// Resolves with the next message as JSON, or with `null` once no more can arrive.
    #[napi(catch_unwind, ts_return_type = "Promise<string | null>")]
    pub fn next<'env>(&self, env: &'env Env) -> Result<PromiseRaw<'env, Option<String>>> {
        let reader = self.reader.lock().clone();
        let closed = self.closed.clone();
        env.spawn_future(async move {
            let Some(reader) = reader else { return Ok(None) };
            let message = tokio::select! {
                biased;
                () = closed.cancelled() => None,
                message = reader.next() => message,
            };
            Ok(message.and_then(|it| serde_json::to_string(&*it).ok()))
        })
    }

    /// Stops reading. A waiting `next` resolves with `null`.
    #[napi(catch_unwind)]
    pub fn close(&self) {
        self.closed.cancel();
        drop(self.reader.lock().take());
    }
}

#[napi]
impl NativeRegistry {
    /// Starts reading the messages to a session.
    #[napi(catch_unwind)]
    pub fn read_messages(&self, session_id: String) -> TeamReader {
        let reader = Teams::of(self.host.pipeline.sessions.shared()).reader(&session_id);
        TeamReader { reader: Mutex::new(Some(Arc::new(reader))), closed: CancellationToken::new() }
    }
}
