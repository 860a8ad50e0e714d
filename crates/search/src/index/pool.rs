//! The indexes of a process. Registries of the same workspace share one.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::{Arc, Weak},
};

use parking_lot::Mutex;

use super::{IndexHandle, IndexSettings, RootIndex, WorkspaceIndex};

/// Finds or creates the index of a root. It keeps only weak references: an index is freed with its
/// last user.
#[derive(Clone, Debug, Default)]
pub struct IndexPool {
    indexes: Arc<Mutex<HashMap<IndexKey, Weak<IndexHandle>>>>,
}

/// What an index depends on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct IndexKey {
    root: PathBuf,
    /// The file with the user's global ignore rules, and the directory they are relative to.
    global_excludes: Option<(PathBuf, PathBuf)>,
}

impl IndexPool {
    /// The index of a root. If several registries use it, the largest memory limit applies.
    pub(super) fn open(
        &self,
        root: &Path,
        global_excludes: Option<(&Path, &Path)>,
        settings: IndexSettings,
    ) -> WorkspaceIndex {
        let global_excludes =
            global_excludes.map(|(file, folder)| (file.to_owned(), folder.to_owned()));
        let key = IndexKey { root: root.to_owned(), global_excludes };
        let mut indexes = self.indexes.lock();
        if let Some(handle) = indexes.get(&key).and_then(Weak::upgrade) {
            handle.index.allow_memory(settings.max_memory);
            return WorkspaceIndex { handle };
        }
        // References to freed indexes are small, but must not accumulate.
        indexes.retain(|_, it| it.strong_count() > 0);
        let index = RootIndex::new(key.root.clone(), key.global_excludes.clone(), settings);
        let handle = Arc::new(IndexHandle { index: Arc::new(index) });
        indexes.insert(key, Arc::downgrade(&handle));
        WorkspaceIndex { handle }
    }
}

#[cfg(test)]
#[cfg_attr(target_os = "linux", expect(clippy::unwrap_used, reason = "tests"))]
mod tests {
    use super::*;

    fn open(pool: &IndexPool, root: &str, excludes: Option<&str>) -> WorkspaceIndex {
        let excludes = excludes.map(|it| (Path::new(it), Path::new("/")));
        pool.open(Path::new(root), excludes, IndexSettings::OFF)
    }

    #[test]
    fn users_of_a_root_share_an_index_until_the_last_is_gone() {
        let pool = IndexPool::default();
        let one = open(&pool, "/a", None);
        let two = open(&pool, "/a", None);
        assert!(Arc::ptr_eq(&one.handle, &two.handle));
        let index = Arc::downgrade(&one.handle.index);
        drop(one);
        assert!(index.upgrade().is_some());
        drop(two);
        assert!(index.upgrade().is_none());
        drop(open(&pool, "/b", None));
        open(&pool, "/a", None);
        assert_eq!(pool.indexes.lock().len(), 1);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_root_that_takes_more_memory_than_it_may_is_tried_again_with_more() {
        use crate::index::{IndexMode, IndexPhase};

        let dir = tempfile::TempDir::new().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let pool = IndexPool::default();
        let with = |max_memory| {
            let index = pool.open(&root, None, IndexSettings { mode: IndexMode::On, max_memory });
            index.want();
            while index.handle.index.status().phase == IndexPhase::Building {
                std::thread::yield_now();
            }
            index
        };
        let small = with(1);
        assert_eq!(small.handle.index.status().phase, IndexPhase::Cold);
        assert_eq!(with(1).handle.index.status().phase, IndexPhase::Cold);
        let large = with(IndexSettings::DEFAULT_MAX_MEMORY);
        assert!(Arc::ptr_eq(&small.handle, &large.handle));
        assert_eq!(small.handle.index.status().phase, IndexPhase::Warm);
    }

    #[test]
    fn other_roots_and_other_rules_of_the_user_have_other_indexes() {
        let pool = IndexPool::default();
        let one = open(&pool, "/a", None);
        let other_root = open(&pool, "/a/b", None);
        let other_rules = open(&pool, "/a", Some("/home/me/.gitignore"));
        assert!(!Arc::ptr_eq(&one.handle, &other_root.handle));
        assert!(!Arc::ptr_eq(&one.handle, &other_rules.handle));
    }
}
