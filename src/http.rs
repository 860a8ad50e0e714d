//! The registry over HTTP, for JavaScript: `serve` and `fetch`.

use std::sync::Arc;

use bytes::Bytes;
use napi::{
    Env,
    bindgen_prelude::{PromiseRaw, Result, Uint8Array},
};
use napi_derive::napi;
use parking_lot::Mutex;
use serde_json::json;
use toolwright_base::{ErrorKind, ToolError};
use toolwright_host::validated;
use toolwright_http::{FetchOptions, HandedAnswer, HttpService, OpenServer, ServeOptions};

use crate::{cancel::CancelHandle, envelope::misuse, registry::NativeRegistry};

#[napi]
impl NativeRegistry {
    /// Makes the service for requests that the host hands over. Throws the text of an error envelope.
    #[napi(catch_unwind)]
    pub fn http_service(&self, options: String) -> Result<NativeHttpService> {
        let access = validated(&options, "option", ErrorKind::InvalidOptions)
            .and_then(FetchOptions::access)
            .map_err(thrown)?;
        Ok(NativeHttpService(HttpService::new(Arc::clone(&self.host), access)))
    }

    /// Opens a server. Rejects with the text of an error envelope.
    #[napi(catch_unwind, ts_return_type = "Promise<NativeHttpServer>")]
    pub fn open_server<'env>(
        &self,
        env: &'env Env,
        options: String,
    ) -> Result<PromiseRaw<'env, NativeHttpServer>> {
        let host = Arc::clone(&self.host);
        let options = validated::<ServeOptions>(&options, "option", ErrorKind::InvalidOptions);
        env.spawn_future(async move {
            let open = OpenServer::open(host, options.map_err(thrown)?).await.map_err(thrown)?;
            Ok(NativeHttpServer {
                facts: json!(open.facts).to_string(),
                open: Mutex::new(Some(open)),
            })
        })
    }
}

fn thrown(error: ToolError) -> napi::Error {
    napi::Error::from_reason(misuse(&error))
}

/// Answers requests that the host hands over.
#[napi]
pub struct NativeHttpService(HttpService);

#[napi]
impl NativeHttpService {
    /// Checks the head of a request. Returns the refusal, or `null` if the body should be read.
    #[napi(catch_unwind)]
    pub fn refusal(&self, head: String) -> Option<NativeHttpAnswer> {
        HandedAnswer::refusal(&self.0, &head).map(|it| NativeHttpAnswer(Arc::new(it)))
    }

    /// Answers a request, whose head is JSON. Resolves with the answer.
    #[napi(catch_unwind, ts_return_type = "Promise<NativeHttpAnswer>")]
    pub fn answer<'env>(
        &self,
        env: &'env Env,
        head: String,
        body: Option<Uint8Array>,
        cancel: &CancelHandle,
    ) -> Result<PromiseRaw<'env, NativeHttpAnswer>> {
        let body = body.map_or_else(Bytes::new, |it| Bytes::from(it.to_vec()));
        let (service, cancelled) = (self.0.clone(), cancel.0.clone());
        env.spawn_future(async move {
            let answer = HandedAnswer::of(&service, &head, body, cancelled).await;
            Ok(NativeHttpAnswer(Arc::new(answer)))
        })
    }
}

/// The answer to a request. Garbage collection cancels the work behind it.
#[napi]
pub struct NativeHttpAnswer(Arc<HandedAnswer>);

#[napi]
impl NativeHttpAnswer {
    /// `{ status, headers, isWhole }` as JSON.
    #[napi(catch_unwind)]
    pub fn head(&self) -> String {
        self.0.head()
    }

    /// The whole body, once, if it is in memory.
    #[napi(catch_unwind)]
    pub fn whole(&self) -> Option<Uint8Array> {
        self.0.whole().map(array)
    }

    /// Resolves with the next chunk of the body, or with `null` at its end.
    #[napi(catch_unwind, ts_return_type = "Promise<Uint8Array | null>")]
    pub fn read<'env>(&self, env: &'env Env) -> Result<PromiseRaw<'env, Option<Uint8Array>>> {
        let answer = Arc::clone(&self.0);
        env.spawn_future(async move {
            let piece = answer.next().await;
            piece.map(|it| it.map(array)).map_err(|err| napi::Error::from_reason(err.to_string()))
        })
    }

    /// Ends the answer and cancels the work behind it.
    #[napi(catch_unwind)]
    pub fn cancel(&self) {
        self.0.cancel();
    }
}

fn array(bytes: Bytes) -> Uint8Array {
    Uint8Array::new(Vec::from(bytes))
}

/// An open server. Garbage collection closes it.
#[napi]
pub struct NativeHttpServer {
    facts: String,
    open: Mutex<Option<OpenServer>>,
}

#[napi]
impl NativeHttpServer {
    /// `{ url, origin, host, port, token }` as JSON.
    #[napi(catch_unwind)]
    pub fn facts(&self) -> String {
        self.facts.clone()
    }

    /// Closes the server. Resolves once every connection has ended.
    #[napi(catch_unwind, ts_return_type = "Promise<void>")]
    pub fn close<'env>(&self, env: &'env Env) -> Result<PromiseRaw<'env, ()>> {
        let open = self.open.lock().take();
        env.spawn_future(async move {
            if let Some(open) = open {
                open.server.close().await;
            }
            Ok(())
        })
    }
}
