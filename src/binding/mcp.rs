//! The line between an in-process MCP client in JavaScript and the server in Rust, and the way to serve one over
//! the standard streams.

use std::sync::{Mutex, MutexGuard, PoisonError};

use napi::{
    Env,
    bindgen_prelude::{PromiseRaw, Result},
};
use napi_derive::napi;

use super::registry::NativeRegistry;
use crate::mcp::{Connection, take_standard_streams};

/// One client's line.
#[napi]
pub struct McpLine(Mutex<Option<Connection>>);

#[napi]
impl McpLine {
    /// Takes one message of the client, as JSON text. A line that is closed takes none.
    #[napi(catch_unwind)]
    pub fn receive(&self, message: String) {
        if let Some(connection) = &*self.lock() {
            connection.receive(&message);
        }
    }

    /// Ends the line and every call that came over it, and lets go of the way back to the client.
    #[napi(catch_unwind)]
    pub fn close(&self) {
        drop(self.lock().take());
    }
}

impl McpLine {
    pub(super) fn new(connection: Connection) -> Self {
        Self(Mutex::new(Some(connection)))
    }

    fn lock(&self) -> MutexGuard<'_, Option<Connection>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[napi]
impl NativeRegistry {
    /// Serves an MCP client over the standard streams, which belong to it from then on. Kept when it has gone,
    /// or the registry is closed.
    #[napi(catch_unwind, ts_return_type = "Promise<void>")]
    pub fn serve_stdio<'env>(&self, env: &'env Env) -> Result<PromiseRaw<'env, ()>> {
        let served = take_standard_streams().map(|line| self.host.serve_stdio(line));
        env.spawn_future(async move {
            let served = match served {
                Ok(served) => served.await,
                Err(error) => Err(error),
            };
            served.map_err(|error| {
                napi::Error::from_reason(format!("the standard streams cannot be served: {error}"))
            })
        })
    }
}
