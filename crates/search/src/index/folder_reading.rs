//! Watches and reads directories, several at a time: their entries and the stamps of their files.
//!
//! It only queries the system. The tree decides what follows from the answers.

use std::{
    ffi::OsString,
    io,
    ops::ControlFlow,
    os::fd::AsFd as _,
    path::{Path, PathBuf},
    thread,
};

use rustix::io::Errno;
use toolwright_files::{EntryBuffer, EntryKind, Folder};

use super::{
    entry_table::EntryNumber,
    event_queue::{EventQueue, WatchNumber},
    file_stamp::{Looked, look},
    root_check::WatchedRoot,
};

/// With at least this many directories, a second thread is started.
const WORTH_A_THREAD: usize = 8;
/// The stack size of that thread.
const STACK_BYTES: usize = 256 * 1024;

/// A directory to read.
#[derive(Debug)]
pub(super) struct FolderToRead {
    pub(super) number: EntryNumber,
    /// Its path, relative to the root.
    pub(super) below: PathBuf,
}

/// A watched directory, and its entries after the watch began.
#[derive(Debug)]
pub(super) struct FolderAsRead {
    pub(super) folder: Folder,
    pub(super) watch: WatchNumber,
    /// Sorted by name.
    pub(super) names: Result<Vec<NameAsRead>, Errno>,
}

/// A name in a directory.
#[derive(Debug)]
pub(super) struct NameAsRead {
    pub(super) name: OsString,
    pub(super) kind: EntryKind,
    /// The file with this name, if it was a file. If it has changed since, the event is in the
    /// queue.
    pub(super) looked: Option<Looked>,
}

/// Why a directory could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NotRead {
    /// It could not be opened.
    Opening(Errno),
    /// It could not be watched.
    Watching(Errno),
}

/// Reads directories below a root, on two threads if there are many. The results are in the order
/// of `folders`.
pub(super) fn read_folders(
    root: &WatchedRoot,
    queue: &EventQueue,
    folders: &[FolderToRead],
) -> Vec<Result<FolderAsRead, NotRead>> {
    let read = |folders: &[FolderToRead]| -> Vec<_> {
        let mut buffer = EntryBuffer::default();
        folders.iter().map(|it| read_folder(root, queue, &it.below, &mut buffer)).collect()
    };
    if folders.len() < WORTH_A_THREAD {
        return read(folders);
    }
    let (own, others) = folders.split_at(folders.len() / 2);
    thread::scope(|scope| {
        let helper =
            thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, || read(others));
        let mut answers = read(own);
        // If the other thread could not be started, or panicked, this thread does its work.
        let others = helper.ok().and_then(|it| it.join().ok()).unwrap_or_else(|| read(others));
        answers.extend(others);
        answers
    })
}

fn read_folder(
    root: &WatchedRoot,
    queue: &EventQueue,
    below: &Path,
    buffer: &mut EntryBuffer,
) -> Result<FolderAsRead, NotRead> {
    let handle = root.open_folder(below).map_err(NotRead::Opening)?;
    // Watched before it is listed, so that changes during the listing are in the queue.
    let watch = queue.watch_folder(handle.as_fd()).map_err(NotRead::Watching)?;
    let folder = root.walked(below, handle);
    let names = read_names(&folder, buffer);
    Ok(FolderAsRead { folder, watch, names })
}

fn read_names(folder: &Folder, buffer: &mut EntryBuffer) -> Result<Vec<NameAsRead>, Errno> {
    let mut names: Vec<NameAsRead> = Vec::new();
    let listed = folder.entries(buffer, &mut |name, kind| {
        names.push(NameAsRead { name: name.to_owned(), kind, looked: None });
        ControlFlow::Continue(())
    });
    if let Err(cause) = listed
        && cause.kind() != io::ErrorKind::NotFound
    {
        return Err(Errno::from_io_error(&cause).unwrap_or(Errno::IO));
    }
    names.sort_unstable_by(|one, other| one.name.cmp(&other.name));
    // A directory that changes during the listing may list a name twice.
    names.dedup_by(|one, other| one.name == other.name);
    let Some(handle) = folder.handle() else { return Ok(names) };
    for it in names.iter_mut().filter(|it| it.kind == EntryKind::File) {
        let looked = look(handle, &it.name).ok();
        it.looked = looked.filter(|it| it.kind == EntryKind::File);
    }
    Ok(names)
}
