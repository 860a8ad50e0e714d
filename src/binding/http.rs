//! The registry's HTTP doors, as JavaScript holds them.

use std::sync::{Arc, Mutex, PoisonError};

use axum::body::Bytes;
use napi::{
    Env,
    bindgen_prelude::{PromiseRaw, Result, Uint8Array},
};
use napi_derive::napi;
use serde_json::json;

use super::{cancel::CancelHandle, envelope::misuse, registry::NativeRegistry};
use crate::{
    error::{ErrorKind, ToolError},
    host::validated,
    http::{FetchOptions, HandedAnswer, HttpService, OpenServer, ServeOptions},
};

#[napi]
impl NativeRegistry {
    /// The routes for requests that the host hands over, or throws the text of an error envelope.
    #[napi(catch_unwind)]
    pub fn http_service(&self, options: String) -> Result<NativeHttpService> {
        let access = validated(&options, "option", ErrorKind::InvalidOptions)
            .and_then(FetchOptions::access)
            .map_err(thrown)?;
        Ok(NativeHttpService(HttpService::new(Arc::clone(&self.host), access)))
    }

    /// Opens a server; rejects with the text of an error envelope.
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
    /// The answer to a request that is refused by its head, whatever its body.
    #[napi(catch_unwind)]
    pub fn refusal(&self, head: String) -> Option<NativeHttpAnswer> {
        HandedAnswer::refusal(&self.0, &head).map(|it| NativeHttpAnswer(Arc::new(it)))
    }

    /// Answers a request, whose head is JSON; promises the answer.
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

/// The answer to a request. What it is made from ends when it is collected.
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

    /// Promises the next piece of the body; nothing at its end.
    #[napi(catch_unwind, ts_return_type = "Promise<Uint8Array | null>")]
    pub fn read<'env>(&self, env: &'env Env) -> Result<PromiseRaw<'env, Option<Uint8Array>>> {
        let answer = Arc::clone(&self.0);
        env.spawn_future(async move {
            let piece = answer.next().await;
            piece.map(|it| it.map(array)).map_err(|err| napi::Error::from_reason(err.to_string()))
        })
    }

    /// Ends the answer, and what it is made from.
    #[napi(catch_unwind)]
    pub fn cancel(&self) {
        self.0.cancel();
    }
}

fn array(bytes: Bytes) -> Uint8Array {
    Uint8Array::new(Vec::from(bytes))
}

/// An open server, which is closed when it is collected.
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

    /// Closes the server. Kept when no connection is left.
    #[napi(catch_unwind, ts_return_type = "Promise<void>")]
    pub fn close<'env>(&self, env: &'env Env) -> Result<PromiseRaw<'env, ()>> {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner).take();
        env.spawn_future(async move {
            if let Some(open) = open {
                open.server.close().await;
            }
            Ok(())
        })
    }
}
