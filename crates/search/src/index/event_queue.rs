//! The kernel's queue of changes: watches on directories and files, and their events.
//!
//! An event is in the queue before the system call that caused it returns. So reading the queue
//! until it is empty yields every change that was complete before the read.

use std::{
    ffi::{OsStr, OsString},
    io,
    os::{
        fd::{AsRawFd as _, BorrowedFd, OwnedFd},
        unix::ffi::{OsStrExt as _, OsStringExt as _},
    },
};

use rustix::{
    fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags},
    io::Errno,
};

/// How many bytes are read at once.
const BUFFER_BYTES: usize = 64 * 1024;
/// The bytes of an event before its name: watch, mask, cookie and length of the name.
const HEADER_BYTES: usize = 16;

/// The number that the kernel gave a watch. It is not reused until the numbers run out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct WatchNumber(i32);

/// One change.
#[derive(Clone, Debug)]
pub(super) struct QueuedEvent {
    pub(super) watch: WatchNumber,
    pub(super) what: ReadFlags,
    /// The same in both events of a rename.
    pub(super) cookie: u32,
    /// The name in the watched directory. Empty if the event is about the watched file or directory
    /// itself.
    pub(super) name: OsString,
}

/// The queue, and the watches that fill it.
#[derive(Debug)]
pub(super) struct EventQueue {
    inotify: OwnedFd,
}

impl EventQueue {
    pub(super) fn new() -> Result<Self, Errno> {
        let inotify = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?;
        Ok(Self { inotify })
    }

    /// Watches an open directory for changes of its entries. Watching the same directory again
    /// returns the same number.
    pub(super) fn watch_folder(&self, folder: BorrowedFd<'_>) -> Result<WatchNumber, Errno> {
        let wanted = WatchFlags::CREATE
            | WatchFlags::DELETE
            | WatchFlags::MOVED_FROM
            | WatchFlags::MOVED_TO
            | WatchFlags::MODIFY
            | WatchFlags::CLOSE_WRITE
            | WatchFlags::ATTRIB
            | WatchFlags::DELETE_SELF
            | WatchFlags::MOVE_SELF
            | WatchFlags::ONLYDIR;
        self.watch(folder, wanted)
    }

    /// Watches an open file, to see changes made through names outside of the watched directories.
    pub(super) fn watch_file(&self, file: BorrowedFd<'_>) -> Result<WatchNumber, Errno> {
        self.watch(file, WatchFlags::MODIFY | WatchFlags::CLOSE_WRITE | WatchFlags::ATTRIB)
    }

    /// Uses the descriptor, because the path may lead to another file by now.
    fn watch(&self, place: BorrowedFd<'_>, wanted: WatchFlags) -> Result<WatchNumber, Errno> {
        let path = format!("/proc/self/fd/{}", place.as_raw_fd());
        inotify::add_watch(&self.inotify, path, wanted).map(WatchNumber)
    }

    /// Ends a watch. It may have ended already, if its file or directory is gone.
    pub(super) fn unwatch(&self, watch: WatchNumber) {
        let _ = inotify::remove_watch(&self.inotify, watch.0);
    }

    /// Takes all events that are in the queue now. It may also take events that arrive during the
    /// call.
    pub(super) fn drain(&self) -> io::Result<Vec<QueuedEvent>> {
        let mut left = usize::try_from(rustix::io::ioctl_fionread(&self.inotify)?).unwrap_or(0);
        let mut events = Vec::new();
        if left == 0 {
            return Ok(events);
        }
        let mut buffer = vec![0; BUFFER_BYTES];
        while left > 0 {
            let read = match rustix::io::read(&self.inotify, &mut buffer) {
                Ok(read) => read,
                Err(Errno::AGAIN) => break,
                Err(Errno::INTR) => continue,
                Err(cause) => return Err(cause.into()),
            };
            left = left.saturating_sub(read);
            let mut rest = buffer.get(..read).unwrap_or_default();
            while let Some((event, after)) = QueuedEvent::parse(rest) {
                events.push(event);
                rest = after;
            }
        }
        Ok(events)
    }
}

impl QueuedEvent {
    /// Parses the first event. Returns it and the remaining bytes.
    fn parse(bytes: &[u8]) -> Option<(Self, &[u8])> {
        let (header, rest) = bytes.split_at_checked(HEADER_BYTES)?;
        let field = |index: usize| -> Option<[u8; 4]> {
            header.get(4 * index..4 * index + 4)?.try_into().ok()
        };
        let length = usize::try_from(u32::from_ne_bytes(field(3)?)).ok()?;
        let (name, rest) = rest.split_at_checked(length)?;
        // The name is padded with zeros.
        let name = name.split(|byte| *byte == 0).next().unwrap_or_default();
        let event = Self {
            watch: WatchNumber(i32::from_ne_bytes(field(0)?)),
            what: ReadFlags::from_bits_retain(u32::from_ne_bytes(field(1)?)),
            cookie: u32::from_ne_bytes(field(2)?),
            name: OsString::from_vec(name.to_vec()),
        };
        Some((event, rest))
    }

    pub(super) fn is_any_of(&self, flags: ReadFlags) -> bool {
        self.what.intersects(flags)
    }

    pub(super) fn name(&self) -> &OsStr {
        OsStr::from_bytes(self.name.as_bytes())
    }
}
