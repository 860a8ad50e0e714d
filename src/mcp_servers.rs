//! The MCP servers that the registry connects to as a client, for JavaScript.

use napi::{
    Env,
    bindgen_prelude::{PromiseRaw, Result},
};
use napi_derive::napi;
use serde_json::json;
use toolwright_base::ErrorKind;
use toolwright_host::validated;
use toolwright_mcp::McpServerConfig;

use crate::{envelope::sealed, registry::NativeRegistry};

#[napi]
impl NativeRegistry {
    /// Connects to the servers of the options. Resolves with `{ errors }` as JSON.
    #[napi(catch_unwind, ts_return_type = "Promise<string>")]
    pub fn connect_mcp_servers<'env>(&self, env: &'env Env) -> Result<PromiseRaw<'env, String>> {
        let connecting = self.host.connect_configured_mcp_servers();
        env.spawn_future(async move {
            let errors = connecting.await;
            Ok(sealed(errors.map(|it| json!({ "errors": it }).to_string())))
        })
    }

    /// Connects to a server. Resolves with its status as JSON.
    #[napi(catch_unwind, ts_return_type = "Promise<string>")]
    pub fn connect_mcp_server<'env>(
        &self,
        env: &'env Env,
        name: String,
        config: String,
    ) -> Result<PromiseRaw<'env, String>> {
        let config = validated::<McpServerConfig>(&config, "field", ErrorKind::InvalidOptions);
        let connecting = config.map(|it| self.host.connect_mcp_server(name, it));
        env.spawn_future(async move {
            let connected = match connecting {
                Ok(connecting) => connecting.await,
                Err(error) => Err(error),
            };
            Ok(sealed(connected.map(|it| json!(it).to_string())))
        })
    }

    /// Disconnects from a server. Resolves with `{ disconnected }` as JSON, which is false if there is
    /// no server of this name.
    #[napi(catch_unwind, ts_return_type = "Promise<string>")]
    pub fn disconnect_mcp_server<'env>(
        &self,
        env: &'env Env,
        name: String,
    ) -> Result<PromiseRaw<'env, String>> {
        let disconnecting = self.host.disconnect_mcp_server(name);
        env.spawn_future(async move {
            Ok(sealed(Ok(json!({ "disconnected": disconnecting.await }).to_string())))
        })
    }

    /// The status of every server, as JSON.
    #[napi(catch_unwind)]
    pub fn mcp_server_status(&self) -> String {
        json!(self.host.mcp_server_status()).to_string()
    }
}
