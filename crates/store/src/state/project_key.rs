//! The key prefix under which a store keeps the values of a project.

use std::{path::Path, sync::Arc};

/// How many characters of the directory's name are in the key, for a person who opens the store.
const MAX_NAME: usize = 32;
/// The longest id that a host may give.
const MAX_ID: usize = 64;

/// The key prefix under which a store keeps the values of a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectKey(Arc<str>);

impl ProjectKey {
    /// The key of a workspace without a host id. It is derived from the directory, with links resolved.
    pub fn of_directory(root: &Path) -> Self {
        let name = root.file_name().map(|it| it.to_string_lossy()).unwrap_or_default();
        let name: String =
            name.chars().take(MAX_NAME).map(|it| if is_plain(it) { it } else { '_' }).collect();
        let hash = blake3::hash(root.as_os_str().as_encoded_bytes()).to_hex();
        let hash = hash.as_str().get(..16).unwrap_or_default();
        Self(format!("{name}-{hash}").into())
    }

    /// The key of a project with a host id, which is the same in every directory and on every machine; `None`
    /// if the id is not valid in a key. It never equals the key of a directory.
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
    fn directories_with_the_same_name_have_different_keys() {
        let key = |path: &str| ProjectKey::of_directory(Path::new(path));
        assert_ne!(key("/a/app"), key("/b/app"));
        assert_eq!(key("/a/app"), key("/a/app"));
        assert!(key("/a/my app").as_str().starts_with("my_app-"));
        assert!(key("/").as_str().starts_with('-'));
    }

    #[test]
    fn a_host_id_never_equals_a_directory_key() {
        assert_eq!(ProjectKey::of_id("shop-7"), Some(ProjectKey("@shop-7".into())));
        for wrong in ["", "a/b", "a b", "ä", &"x".repeat(65)] {
            assert_eq!(ProjectKey::of_id(wrong), None, "{wrong}");
        }
    }
}
