//! Copies the metadata of a file to the new file that replaces it.
//!
//! The new file never gives more rights: set-ID bits are dropped, as by any write, and if the group
//! cannot be kept, the new group gets only the rights of everyone.

use std::fs::File;

use rustix::fs::{Gid, Mode, Stat, Uid, fchmod, fchown, fstat};

use super::NotKept;

const SET_ID: Mode = Mode::SUID.union(Mode::SGID);

/// Gives `new` the owner, group, attributes and mode of `old`. Returns what could not be kept.
pub(super) fn carry_over(
    old: &Stat,
    source: Option<&File>,
    new: &File,
) -> rustix::io::Result<Vec<NotKept>> {
    let mut not_kept = Vec::new();
    let now = fstat(new)?;
    let owner = (now.st_uid != old.st_uid).then(|| Uid::from_raw(old.st_uid));
    let group = (now.st_gid != old.st_gid).then(|| Gid::from_raw(old.st_gid));
    let mut mode = Mode::from_raw_mode(old.st_mode);
    if (owner.is_some() || group.is_some()) && fchown(new, owner, group).is_err() {
        // Only root may change the owner, but every user may choose among their own groups.
        if owner.is_some() {
            not_kept.push(NotKept::Owner);
        }
        if group.is_some() && fchown(new, None, group).is_err() {
            not_kept.push(NotKept::Group);
            mode = without_group(mode);
        }
    }
    if mode.intersects(SET_ID) {
        not_kept.push(NotKept::Privileges);
    }
    if let Some(source) = source {
        attributes::carry_over(source, new, &mut not_kept);
    }
    // Set after the access control list, whose mask is the group part of the mode.
    let mode = mode.difference(SET_ID);
    if fchmod(new, mode).is_err() && Mode::from_raw_mode(fstat(new)?.st_mode) != mode {
        not_kept.push(NotKept::Mode);
    }
    Ok(not_kept)
}

/// The mode, with the group's rights reduced to those of everyone.
fn without_group(mode: Mode) -> Mode {
    [(Mode::RGRP, Mode::ROTH), (Mode::WGRP, Mode::WOTH), (Mode::XGRP, Mode::XOTH)]
        .into_iter()
        .filter(|&(_, everyone)| !mode.contains(everyone))
        .fold(mode, |mode, (group, _)| mode.difference(group))
}

#[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
mod attributes {
    use std::{ffi::CString, fs::File};

    use rustix::{
        fs::{XattrFlags, fgetxattr, flistxattr, fremovexattr, fsetxattr},
        io::Errno,
    };

    use super::NotKept;

    /// The kernel's limit for a list of names and for a value.
    const LARGEST: usize = 64 << 10;

    pub(super) fn carry_over(source: &File, new: &File, not_kept: &mut Vec<NotKept>) {
        // A file system without attributes has nothing to keep.
        let (Ok(old_names), Ok(new_names)) = (names(source), names(new)) else { return };
        // New files inherit attributes from their directory, such as a default access control list.
        for name in new_names.iter().filter(|&name| !old_names.contains(name)) {
            let _best_effort = fremovexattr(new, name.as_c_str());
        }
        for name in old_names {
            let shown = name.to_string_lossy();
            match shown.as_ref() {
                // These are hashes of the old content, so they would be wrong.
                "security.ima" | "security.evm" => continue,
                "security.capability" => {
                    if !not_kept.contains(&NotKept::Privileges) {
                        not_kept.push(NotKept::Privileges);
                    }
                    continue;
                }
                _ => {}
            }
            let Ok(value) = value(source, &name) else {
                not_kept.push(NotKept::Attribute(shown.into_owned()));
                continue;
            };
            let has_it =
                new_names.contains(&name) && self::value(new, &name).is_ok_and(|it| it == value);
            if !has_it && fsetxattr(new, name.as_c_str(), &value, XattrFlags::empty()).is_err() {
                not_kept.push(NotKept::Attribute(shown.into_owned()));
            }
        }
    }

    fn names(file: &File) -> Result<Vec<CString>, Errno> {
        let mut list = vec![0; LARGEST];
        let length = flistxattr(file, list.as_mut_slice())?;
        list.truncate(length);
        let names = list.split(|&byte| byte == 0).filter(|name| !name.is_empty());
        Ok(names.filter_map(|name| CString::new(name).ok()).collect())
    }

    fn value(file: &File, name: &CString) -> Result<Vec<u8>, Errno> {
        let mut value = vec![0; LARGEST];
        let length = fgetxattr(file, name.as_c_str(), value.as_mut_slice())?;
        value.truncate(length);
        Ok(value)
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
mod attributes {
    use std::fs::File;

    use super::NotKept;

    /// On this system there is no way to do this without unsafe code.
    pub(super) fn carry_over(_source: &File, _new: &File, _not_kept: &mut Vec<NotKept>) {}
}
