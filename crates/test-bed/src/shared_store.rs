//! Registries that share a store.

use std::sync::Arc;

use toolwright_core::Sessions;
use toolwright_files::Roots;
use toolwright_store::{InMemoryStore, KnownSettings, ProjectKey, Store, StoreLimits};

use crate::TestBed;

/// A store in memory.
pub fn store() -> Store {
    Store::new(Arc::new(InMemoryStore::default()), StoreLimits::default())
}

/// A registry for a project, with this store.
pub fn bed_on(store: &Store, project: &str) -> TestBed {
    let mut bed = TestBed::new();
    let roots = Roots::new(&bed.root(), &[]).unwrap();
    let sessions = Sessions::new(roots.into())
        .with_store(store.clone())
        .with_project(ProjectKey::of_id(project), KnownSettings::default());
    bed.pipeline.sessions = Arc::new(sessions);
    bed
}
