//! What `statx` reports about a file, packed into a few bytes.

use std::{
    ffi::OsStr,
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    time::{Duration, SystemTime},
};

use rustix::{
    fs::{AtFlags, FileType, Statx, StatxFlags, statx},
    io::Errno,
};
use toolwright_files::{EntryKind, system_time};

use crate::ContentStamp;

/// Two changes within this time may get the same time stamp: two ticks of the slowest kernel clock.
const TWO_TICKS: Duration = Duration::from_millis(20);

/// The size, the times and the identity of a file at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FileStamp {
    pub(super) size: u64,
    pub(super) seconds: i64,
    pub(super) nanoseconds: u32,
    /// A digest of the inode number, used to find all names of a file.
    pub(super) inode: u32,
    /// A digest of the time of the last change and the inode number.
    pub(super) changed: u32,
    /// Whether the last change is old enough that the next change will get another time.
    pub(super) settled: bool,
}

/// The file or directory that a name refers to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Looked {
    pub(super) kind: EntryKind,
    /// How many names it has.
    pub(super) links: u32,
    pub(super) stamp: FileStamp,
}

impl FileStamp {
    fn of(looked: &Statx) -> Self {
        let device = u64::from(looked.stx_dev_major) << 32 | u64::from(looked.stx_dev_minor);
        let changed = looked.stx_ctime;
        let changed_at = system_time(changed.tv_sec, changed.tv_nsec.into());
        let age = SystemTime::now().duration_since(changed_at);
        Self {
            size: looked.stx_size,
            seconds: looked.stx_mtime.tv_sec,
            nanoseconds: looked.stx_mtime.tv_nsec,
            inode: digest([looked.stx_ino, device, 0]),
            changed: digest([
                looked.stx_ino,
                changed.tv_sec.cast_unsigned(),
                changed.tv_nsec.into(),
            ]),
            settled: age.is_ok_and(|it| it > TWO_TICKS),
        }
    }

    /// When the content of the file was last changed.
    pub(crate) fn modified(&self) -> SystemTime {
        system_time(self.seconds, self.nanoseconds.into())
    }

    /// Whether a file that had this stamp, and has the stamp `now`, is certainly unchanged.
    pub(crate) fn is_surely(&self, now: &Self) -> bool {
        self.settled && self.is_like(now)
    }

    /// Whether this is the stamp of an open file. The file's name may lead to another file for a
    /// while.
    pub(super) fn is_of(&self, open: &ContentStamp) -> bool {
        let (changed, nanoseconds) = open.changed();
        let nanoseconds = nanoseconds.cast_unsigned();
        self.size == open.bytes()
            && (self.seconds, i64::from(self.nanoseconds)) == open.modified()
            && self.changed == digest([open.inode(), changed.cast_unsigned(), nanoseconds])
    }

    /// Whether both stamps are equal, apart from `settled`.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        Self { settled: other.settled, ..*self } == *other
    }
}

/// Looks up a name in a directory, without following a symbolic link.
pub(super) fn look(folder: BorrowedFd<'_>, name: &OsStr) -> Result<Looked, Errno> {
    look_with(folder, name, AtFlags::SYMLINK_NOFOLLOW)
}

/// Looks up a name in a directory, and follows a symbolic link.
pub(super) fn look_through(folder: BorrowedFd<'_>, name: &OsStr) -> Result<Looked, Errno> {
    look_with(folder, name, AtFlags::empty())
}

fn look_with(folder: BorrowedFd<'_>, name: &OsStr, flags: AtFlags) -> Result<Looked, Errno> {
    let looked = statx(folder.as_fd(), name, flags | AtFlags::NO_AUTOMOUNT, wanted())?;
    let kind = match FileType::from_raw_mode(looked.stx_mode.into()) {
        FileType::RegularFile => EntryKind::File,
        FileType::Directory => EntryKind::Folder,
        FileType::Symlink => EntryKind::Link,
        _ => EntryKind::Other,
    };
    Ok(Looked { kind, links: looked.stx_nlink, stamp: FileStamp::of(&looked) })
}

fn wanted() -> StatxFlags {
    StatxFlags::TYPE
        | StatxFlags::NLINK
        | StatxFlags::INO
        | StatxFlags::SIZE
        | StatxFlags::MTIME
        | StatxFlags::CTIME
}

/// A hash of the numbers. Different numbers are very unlikely to have the same hash.
fn digest(numbers: [u64; 3]) -> u32 {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    let mixed = numbers.into_iter().fold(ODD, |mixed, number| {
        let mixed = (mixed ^ number).wrapping_mul(ODD);
        mixed ^ (mixed >> 29)
    });
    u32::try_from(mixed.wrapping_mul(ODD) >> 32).unwrap_or(u32::MAX)
}

/// Looks up the file or directory of a descriptor.
pub(super) fn look_at_place(place: &OwnedFd) -> Option<Looked> {
    look_with(place.as_fd(), OsStr::new(""), AtFlags::EMPTY_PATH).ok()
}
