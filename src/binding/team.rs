//! The messages of teams, as JavaScript reads them.

use std::sync::{Arc, Mutex, PoisonError};

use napi::{
    Env,
    bindgen_prelude::{PromiseRaw, Result},
};
use napi_derive::napi;
use tokio_util::sync::CancellationToken;

use super::registry::NativeRegistry;
use crate::team::MailReader;

/// Reads the messages to one session.
#[napi]
pub struct TeamReader {
    reader: Mutex<Option<Arc<MailReader>>>,
    closed: CancellationToken,
}

#[napi]
impl TeamReader {
    /// Promises the next message as JSON; nothing once no more can come.
    #[napi(catch_unwind, ts_return_type = "Promise<string | null>")]
    pub fn next<'env>(&self, env: &'env Env) -> Result<PromiseRaw<'env, Option<String>>> {
        let reader = self.reader.lock().unwrap_or_else(PoisonError::into_inner).clone();
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

    /// Stops reading: whoever waits gets nothing.
    #[napi(catch_unwind)]
    pub fn close(&self) {
        self.closed.cancel();
        drop(self.reader.lock().unwrap_or_else(PoisonError::into_inner).take());
    }
}

#[napi]
impl NativeRegistry {
    /// Starts to read the messages to a session.
    #[napi(catch_unwind)]
    pub fn read_messages(&self, session_id: String) -> TeamReader {
        let reader = self.host.pipeline.sessions.teams().reader(&session_id);
        TeamReader { reader: Mutex::new(Some(Arc::new(reader))), closed: CancellationToken::new() }
    }
}
