//! Writes into a file that cannot be replaced.
//!
//! The part that needs new room is written first, behind the old bytes, so that a full disk is met
//! before any of them is touched. After an error the old bytes are put back. A crash in between
//! can still leave a mixture, which is why this is only done where a rename would do worse.

use std::{
    fs::File,
    io::{self, Read as _},
    os::unix::fs::FileExt as _,
};

/// Makes `bytes` the content of an open file, if `still_expected` of its present content.
pub(super) fn overwrite(
    file: &mut File,
    bytes: &[u8],
    still_expected: impl FnOnce(&[u8]) -> bool,
) -> io::Result<Overwritten> {
    let mut old = Vec::new();
    file.read_to_end(&mut old)?;
    if !still_expected(&old) {
        return Ok(Overwritten::Unexpected);
    }
    if let Err(err) = write(file, bytes, old.len()) {
        let restored = file
            .write_all_at(&old, 0)
            .and_then(|()| file.set_len(old.len() as u64))
            .and_then(|()| file.sync_all());
        return Err(restored.err().map_or(err, |second| {
            io::Error::other(format!(
                "writing failed, and so did putting the old bytes back: {second}"
            ))
        }));
    }
    Ok(Overwritten::Done)
}

/// Whether the file was written.
pub(super) enum Overwritten {
    Done,
    Unexpected,
}

fn write(file: &File, bytes: &[u8], old_length: usize) -> io::Result<()> {
    let (over_old, behind) = bytes.split_at_checked(old_length).unwrap_or((bytes, &[]));
    file.write_all_at(behind, old_length as u64)?;
    file.write_all_at(over_old, 0)?;
    file.set_len(bytes.len() as u64)?;
    file.sync_all()
}
