//! The indexes of workspaces as JavaScript holds them.

use napi_derive::napi;
use serde_json::json;

use super::registry::NativeRegistry;
use crate::workspace::IndexPool;

/// The indexes of an environment, which its registries share.
#[napi]
#[derive(Default)]
pub struct NativeIndexPool {
    pub(super) pool: IndexPool,
}

#[napi]
impl NativeIndexPool {
    /// A pool without indexes.
    #[napi(constructor, catch_unwind)]
    pub fn new() -> Self {
        Self::default()
    }
}

#[napi]
impl NativeRegistry {
    /// Begins to build the indexes that the host wants to have from the beginning.
    #[napi(catch_unwind)]
    pub fn begin_indexing(&self) {
        self.host.begin_indexing();
    }

    /// How the index of each root stands, as JSON.
    #[napi(catch_unwind)]
    pub fn index_status(&self) -> String {
        json!(self.host.index_status()).to_string()
    }
}
