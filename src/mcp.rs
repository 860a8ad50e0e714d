//! MCP servers: for an in-process client in JavaScript, and for one on the standard streams.

use napi::{
    Env,
    bindgen_prelude::{PromiseRaw, Result},
};
use napi_derive::napi;
use parking_lot::Mutex;
use toolwright_mcp::{Connection, take_standard_streams};

use crate::registry::NativeRegistry;

/// The connection of one in-process client.
#[napi]
pub struct McpLine(Mutex<Option<Connection>>);

#[napi]
impl McpLine {
    /// Takes one message of the client, as JSON text. Does nothing on a closed connection.
    #[napi(catch_unwind)]
    pub fn receive(&self, message: String) {
        if let Some(connection) = &*self.0.lock() {
            connection.receive(&message);
        }
    }

    /// Ends the connection and every call that came over it, and releases the client's function.
    #[napi(catch_unwind)]
    pub fn close(&self) {
        drop(self.0.lock().take());
    }
}

impl McpLine {
    pub(super) fn new(connection: Connection) -> Self {
        Self(Mutex::new(Some(connection)))
    }
}

#[napi]
impl NativeRegistry {
    /// Serves an MCP client over the standard streams, which are reserved for it from then on.
    /// Resolves when the client has gone or the registry is closed.
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
