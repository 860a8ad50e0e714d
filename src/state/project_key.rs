//! The name under which a store keeps what belongs to a project.

use std::{path::Path, sync::Arc};

/// How much of a directory's name is part of its key, for a person who opens the store.
const MAX_NAME: usize = 32;
/// The longest id that a host may give.
const MAX_ID: usize = 64;

/// The name under which a store keeps what belongs to a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectKey(Arc<str>);

impl ProjectKey {
    /// The key of a workspace that the host gave no id: its directory, without links.
    pub fn of_directory(root: &Path) -> Self {
        let name = root.file_name().map(|it| it.to_string_lossy()).unwrap_or_default();
        let name: String =
            name.chars().take(MAX_NAME).map(|it| if is_plain(it) { it } else { '_' }).collect();
        let hash = blake3::hash(root.as_os_str().as_encoded_bytes()).to_hex();
        let hash = hash.as_str().get(..16).unwrap_or_default();
        Self(format!("{name}-{hash}").into())
    }

    /// The key of a project with an id of the host, which is the same in every directory and on every
    /// machine; nothing for an id that cannot be part of a key. It never is the key of a directory.
    pub fn of_id(id: &str) -> Option<Self> {
        let is_valid = (1..=MAX_ID).contains(&id.len()) && id.chars().all(is_plain);
        is_valid.then(|| Self(format!("@{id}").into()))
    }

    /// The key as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn is_plain(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '.' | '_' | '-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_of_one_name_have_keys_of_their_own() {
        let key = |path: &str| ProjectKey::of_directory(Path::new(path));
        assert_ne!(key("/a/app"), key("/b/app"));
        assert_eq!(key("/a/app"), key("/a/app"));
        assert!(key("/a/my app").as_str().starts_with("my_app-"));
        assert!(key("/").as_str().starts_with('-'));
    }

    #[test]
    fn an_id_of_the_host_is_never_a_directory() {
        assert_eq!(ProjectKey::of_id("shop-7"), Some(ProjectKey("@shop-7".into())));
        for wrong in ["", "a/b", "a b", "ä", &"x".repeat(65)] {
            assert_eq!(ProjectKey::of_id(wrong), None, "{wrong}");
        }
    }
}
