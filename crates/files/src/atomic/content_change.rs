//! How the content of a file has changed since it was read.

use std::{fs::File, io, os::unix::fs::FileExt as _};

use super::Stamp;

/// If another program appends more than this, the change does not count as appending.
const MAX_APPENDED: u64 = 64 << 20;

/// The change of a file's content since a stamp was made of it.
pub(super) enum ContentChange {
    /// The content is the same.
    Same,
    /// These bytes were appended.
    Appended(Vec<u8>),
    /// The content was changed in another way.
    Other,
}

/// Compares the content of an open file with a stamp, from its first byte to its last.
pub(super) fn content_change(file: &File, stamp: &Stamp) -> io::Result<ContentChange> {
    let mut hasher = blake3::Hasher::new();
    let mut buffer = vec![0; 64 << 10];
    let mut at = 0;
    while at < stamp.length() {
        let room = usize::try_from(stamp.length() - at).unwrap_or(usize::MAX).min(buffer.len());
        let count = read_at(file, buffer.get_mut(..room).unwrap_or_default(), at)?;
        if count == 0 {
            return Ok(ContentChange::Other);
        }
        hasher.update(buffer.get(..count).unwrap_or_default());
        at += count as u64;
    }
    if hasher.finalize() != stamp.content_hash() {
        return Ok(ContentChange::Other);
    }
    let mut appended = Vec::new();
    loop {
        match read_at(file, &mut buffer, at + appended.len() as u64)? {
            0 if appended.is_empty() => return Ok(ContentChange::Same),
            0 => return Ok(ContentChange::Appended(appended)),
            _ if appended.len() as u64 > MAX_APPENDED => return Ok(ContentChange::Other),
            count => appended.extend_from_slice(buffer.get(..count).unwrap_or_default()),
        }
    }
}

fn read_at(file: &File, buffer: &mut [u8], at: u64) -> io::Result<usize> {
    loop {
        match file.read_at(buffer, at) {
            Err(err) if err.kind() == io::ErrorKind::Interrupted => {}
            read => return read,
        }
    }
}
