//! Writes into a file that cannot be replaced.
//!
//! The part that needs more space is written first, after the old bytes, so that a full disk is noticed
//! before any of them is changed. After an error the old bytes are restored. A crash in the middle can
//! still leave a mixture of both, so this is only done where a rename would be worse.
//!
//! Bytes that another program appends at the same time are kept after the new ones. If another program
//! writes into the middle, that is an error, because the two writes cannot be separated any more.

use std::{
    fs::File,
    io::{self, Read as _},
    os::unix::fs::FileExt as _,
};

use super::Stamp;

/// Makes `bytes` the content of an open file, if its content is as expected.
pub(super) fn overwrite(
    file: &mut File,
    bytes: &[u8],
    expected: Option<&Stamp>,
) -> io::Result<Overwritten> {
    let mut old = Vec::new();
    match expected {
        // Limited, because the file may grow while it is read.
        Some(stamp) => (&mut *file).take(stamp.length() + 1).read_to_end(&mut old)?,
        None => file.read_to_end(&mut old)?,
    };
    let is_expected = expected.is_none_or(|it| it.content_hash() == blake3::hash(&old));
    // The length is checked again, because reading took a while.
    if !is_expected || length(file)? != old.len() as u64 {
        return Ok(Overwritten::Unexpected);
    }
    write(file, bytes, &old).map_err(|err| {
        let restored = file
            .write_all_at(&old, 0)
            .and_then(|()| file.set_len(old.len() as u64))
            .and_then(|()| file.sync_all());
        restored.err().map_or(err, |second| {
            io::Error::other(format!(
                "writing failed, and restoring the old bytes failed as well: {second}"
            ))
        })
    })?;
    let appended = keep_appended(file, bytes, old.len())?;
    file.sync_all()?;
    if !holds(file, bytes)? {
        return Err(io::Error::other(
            "another program wrote to it at the same time, and it now contains parts of both; read it again",
        ));
    }
    Ok(Overwritten::Done { appended })
}

/// Whether the file was written.
pub(super) enum Overwritten {
    Done { appended: u64 },
    Unexpected,
}

fn length(file: &File) -> io::Result<u64> {
    Ok(file.metadata()?.len())
}

fn write(file: &File, bytes: &[u8], old: &[u8]) -> io::Result<()> {
    let (over_old, behind) = bytes.split_at_checked(old.len()).unwrap_or((bytes, &[]));
    file.write_all_at(behind, old.len() as u64)?;
    file.write_all_at(over_old, 0)
}

/// Cuts off the rest of the old bytes, but keeps what other programs appended. Returns the length
/// of that.
fn keep_appended(file: &File, bytes: &[u8], old_length: usize) -> io::Result<u64> {
    let end = bytes.len().max(old_length) as u64;
    let mut appended = vec![0; usize::try_from(length(file)?.saturating_sub(end)).unwrap_or(0)];
    file.read_exact_at(&mut appended, end)?;
    if end > bytes.len() as u64 {
        file.write_all_at(&appended, bytes.len() as u64)?;
        file.set_len((bytes.len() + appended.len()) as u64)?;
    }
    Ok(appended.len() as u64)
}

fn holds(file: &File, bytes: &[u8]) -> io::Result<bool> {
    let mut buffer = vec![0; 64 << 10];
    for (number, wanted) in bytes.chunks(buffer.len()).enumerate() {
        let found = buffer.get_mut(..wanted.len()).unwrap_or_default();
        match file.read_exact_at(found, (number * (64 << 10)) as u64) {
            Ok(()) if found == wanted => {}
            Ok(()) => return Ok(false),
            Err(err) if err.kind() == io::ErrorKind::UnexpectedEof => return Ok(false),
            Err(err) => return Err(err),
        }
    }
    Ok(true)
}
