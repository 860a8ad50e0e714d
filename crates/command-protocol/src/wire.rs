//! Values as bytes. `postcard` encodes them; this file adds paths, which need not be UTF-8.

use serde::{Serialize, de::DeserializeOwned};

/// Encodes a value.
pub(crate) fn encode<T: Serialize>(value: &T) -> Vec<u8> {
    // Fails only for sequences of unknown length, of which there are none.
    postcard::to_allocvec(value).unwrap_or_default()
}

/// Decodes a value. `None` if the bytes are not exactly one value.
pub(crate) fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    let (value, rest) = postcard::take_from_bytes(bytes).ok()?;
    rest.is_empty().then_some(value)
}

/// A path as its bytes.
pub(crate) mod path {
    use std::{
        ffi::OsString,
        os::unix::ffi::{OsStrExt as _, OsStringExt as _},
        path::{Path, PathBuf},
    };

    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};

    pub(crate) fn serialize<S: Serializer>(path: &Path, to: S) -> Result<S::Ok, S::Error> {
        path.as_os_str().as_bytes().serialize(to)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<PathBuf, D::Error> {
        Vec::deserialize(from).map(|it| OsString::from_vec(it).into())
    }
}

/// Several paths as their bytes.
pub(crate) mod paths {
    use std::{
        ffi::OsString,
        os::unix::ffi::{OsStrExt as _, OsStringExt as _},
        path::PathBuf,
    };

    use serde::{Deserialize as _, Deserializer, Serializer};

    pub(crate) fn serialize<S: Serializer>(paths: &[PathBuf], to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(paths.iter().map(|it| it.as_os_str().as_bytes()))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Vec<PathBuf>, D::Error> {
        let all: Vec<Vec<u8>> = Vec::deserialize(from)?;
        Ok(all.into_iter().map(|it| OsString::from_vec(it).into()).collect())
    }
}
