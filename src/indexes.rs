//! The search indexes of workspaces, for JavaScript.

use napi_derive::napi;
use serde_json::json;
use toolwright_search::IndexPool;

use crate::registry::NativeRegistry;

/// The indexes that all registries of one JavaScript environment share.
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
    /// Starts to build the indexes that the host wants eagerly.
    #[napi(catch_unwind)]
    pub fn begin_indexing(&self) {
        self.host.begin_indexing();
    }

    /// The status of each root's index, as JSON.
    #[napi(catch_unwind)]
    pub fn index_status(&self) -> String {
        json!(self.host.index_status()).to_string()
    }
}
