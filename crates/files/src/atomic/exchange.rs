//! Replaces a file, which other programs may be writing at the same time, with a finished new file.
//!
//! The two files exchange their names in one step, so that the old file still exists and can be
//! compared as it was at that instant. Bytes that other programs appended since it was read are
//! appended to the new file, as if they had been appended a moment later. After any other change
//! the names are exchanged back, and the write fails.
//!
//! On a file system that cannot exchange names, the old file is replaced by a rename. Then it is compared
//! through its descriptor, and written again if it has to be restored.

use std::{
    ffi::{OsStr, OsString},
    fs::File,
    io::{self, Write as _},
    os::unix::ffi::OsStrExt as _,
    thread,
    time::{Duration, Instant},
};

use rustix::{
    fs::{Mode, OFlags, renameat},
    io::Errno,
};

use super::{
    ConcurrentChanges, Stamp, WriteError,
    content_change::{ContentChange, content_change},
    stamp::Identity,
    temporary::TemporaryFile,
    unix_write::{WriteTarget, rename_to_nothing},
    writers::is_open_for_writing,
};

/// How long to wait for programs that have the replaced file open for writing.
const WRITERS_TIME: Duration = Duration::from_millis(100);
/// The interval between two checks while waiting.
const PAUSE: Duration = Duration::from_millis(1);
/// How often restoring the name of a directory, link or the like is tried.
const MAX_TRIES: u32 = 1_000;
/// How many other names are tried for it.
const MAX_VISIBLE_NAMES: u32 = 100;

/// How many of the bytes appended to the old file are copied.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Take {
    /// Up to the last line break. A write in progress may be seen in part, and its rest would come
    /// after other bytes that are appended to the new file in between.
    WholeLines,
    /// All of it: every writer has finished, or has had the time to finish.
    All,
}

/// The result of a replacement.
pub(super) enum Exchanged {
    Done {
        others: ConcurrentChanges,
        /// Whether the directory was synced to disk.
        durable: bool,
    },
    /// The file cannot be replaced by a rename.
    NotRenamable,
}

/// A replacement in progress.
struct Exchange<'t, 'd> {
    target: &'t WriteTarget<'t>,
    /// The new file, which first has the temporary name and then the name of the target.
    temporary: &'t mut TemporaryFile<'d>,
    /// The expected content of the old file.
    stamp: &'t Stamp,
    /// The identity of the new file before it got its final name.
    identity: Identity,
    written: blake3::Hasher,
    length: usize,
    /// How many bytes that were appended to the old file are in the new one already.
    merged: usize,
    /// The identity of the old file when it was last compared.
    compared: Option<Identity>,
}

impl WriteTarget<'_> {
    /// Replaces the file by one that was written and synced. `bytes` is its content.
    pub(super) fn exchange(
        &self,
        temporary: &mut TemporaryFile<'_>,
        stamp: &Stamp,
        bytes: &[u8],
    ) -> Result<Exchanged, WriteError> {
        // This takes time, so it is done before the old file is checked.
        let mut written = blake3::Hasher::new();
        written.update(bytes);
        let old = self.open_old()?;
        // The lock keeps other writers from removing it as a left-over temporary file once it has
        // the temporary name. If another process holds the lock, it is an editor of the file, and
        // its lock has the same effect.
        let _held_by_us_or_them = old.try_lock();
        let identity = Identity::of_file(&old).map_err(|err| self.failed(err))?;
        let mut exchange = Exchange {
            target: self,
            identity: Identity::of_file(&temporary.file).map_err(|err| self.failed(err))?,
            temporary,
            stamp,
            written,
            length: bytes.len(),
            merged: 0,
            compared: None,
        };
        // Appended bytes are not synced here. The program that appended them has not synced them
        // either.
        if !stamp.is_surely(&identity)
            && !exchange.merge(&old, Take::WholeLines).map_err(|err| self.failed(err))?
        {
            return Err(self.changed());
        }
        // The exchange itself changes the file's times.
        exchange.compared = None;
        // Checked as late as possible, because exchanging another file would have to be undone.
        let now = self.directory.stat(self.name).map_err(|err| self.failed(err))?;
        if !now.is_some_and(|it| Identity::of_stat(&it).is_same_file(&identity)) {
            return Err(self.changed());
        }
        match exchange.names(self) {
            Ok(()) => {}
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => return exchange.replace(&old),
            // The file does not exist any more.
            Err(Errno::NOENT) => return Err(self.changed()),
            Err(Errno::XDEV | Errno::BUSY) => return Ok(Exchanged::NotRenamable),
            Err(err) => return Err(self.failed(err.into())),
        }
        if exchange.displaced_no_file() {
            return Err(exchange.bring_back(&old));
        }
        // Another program may have replaced the file in the meantime. Then this is another file.
        let displaced =
            self.directory.open(exchange.temporary.name(), OFlags::RDONLY, Mode::empty());
        match displaced {
            Ok(displaced) => exchange.finish(&displaced),
            Err(Errno::NOENT) => exchange.finish(&old),
            // It is not a file, or cannot be read, so it is not the file to replace.
            Err(_) => Err(exchange.bring_back(&old)),
        }
    }

    pub(super) fn open_old(&self) -> Result<File, WriteError> {
        match self.directory.open(self.name, OFlags::RDONLY, Mode::empty()) {
            Ok(file) => Ok(file),
            Err(Errno::NOENT | Errno::LOOP | Errno::NXIO) => Err(self.changed()),
            Err(err) => Err(self.failed(err.into())),
        }
    }
}

impl Exchange<'_, '_> {
    /// Exchanges the names of the two files.
    fn names(&self, target: &WriteTarget<'_>) -> Result<(), Errno> {
        self.exchange_with(target.name)
    }

    /// Exchanges the entry with the temporary name and the entry `name`.
    #[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
    fn exchange_with(&self, name: &OsStr) -> Result<(), Errno> {
        use rustix::fs::{RenameFlags, renameat_with};
        let directory = &self.target.directory.fd;
        renameat_with(directory, self.temporary.name(), directory, name, RenameFlags::EXCHANGE)
    }

    #[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
    fn exchange_with(&self, _name: &OsStr) -> Result<(), Errno> {
        Err(Errno::NOSYS)
    }

    /// Replaces the file where names cannot be exchanged. The old file loses its only name.
    fn replace(self, old: &File) -> Result<Exchanged, WriteError> {
        let target = self.target;
        let directory = &target.directory.fd;
        match renameat(directory, self.temporary.name(), directory, target.name) {
            Ok(()) => self.temporary.moved(),
            Err(Errno::XDEV | Errno::BUSY) => return Ok(Exchanged::NotRenamable),
            Err(err) => return Err(target.failed(err.into())),
        }
        self.finish(old)
    }

    /// Compares the old file as it was when it lost its name, and removes or restores it.
    fn finish(mut self, old: &File) -> Result<Exchanged, WriteError> {
        let target = self.target;
        if !self.merge(old, Take::WholeLines).unwrap_or(false) {
            return Err(self.bring_back(old));
        }
        // A program that opened the old file before it lost its name may still write to it.
        let deadline = Instant::now() + WRITERS_TIME;
        let mut has_replaced_open = is_open_for_writing(old) == Some(true);
        while has_replaced_open && Instant::now() < deadline {
            thread::sleep(PAUSE);
            has_replaced_open = is_open_for_writing(old) == Some(true);
        }
        if !self.merge(old, Take::All).unwrap_or(false) {
            return Err(self.bring_back(old));
        }
        self.temporary.let_go();
        // Syncing takes time, in which a program that has the old file open may write to it.
        let durable = target.directory.sync();
        let wrote_to_replaced = !self.merge(old, Take::All).unwrap_or(false);
        if self.merged > 0 {
            self.temporary.file.sync_all().map_err(|err| target.failed(err))?;
        }
        let others = ConcurrentChanges {
            appended: self.merged as u64,
            has_replaced_open,
            wrote_to_replaced,
        };
        Ok(Exchanged::Done { others, durable })
    }

    /// Appends to the new file what was appended to the old one. Returns false if the old file was changed
    /// in any other way.
    fn merge(&mut self, old: &File, take: Take) -> io::Result<bool> {
        let now = Identity::of_file(old)?;
        if self.compared.as_ref().is_some_and(|it| it.has_same_content_times(&now)) {
            return Ok(true);
        }
        let behind = match content_change(old, self.stamp)? {
            ContentChange::Same => Vec::new(),
            ContentChange::Appended(behind) => behind,
            ContentChange::Other => return Ok(false),
        };
        let Some(new) = behind.get(self.merged..) else { return Ok(false) };
        let whole = match take {
            Take::WholeLines => memchr::memrchr(b'\n', new).map_or(0, |at| at + 1),
            Take::All => new.len(),
        };
        let (new, rest) = new.split_at(whole);
        self.written.update(new);
        self.length += new.len();
        self.merged += new.len();
        self.temporary.file.write_all(new)?;
        self.compared = rest.is_empty().then_some(now);
        Ok(true)
    }

    /// Restores the name of the old file, and appends to it the bytes that were appended to the new
    /// file in the meantime.
    fn bring_back(mut self, old: &File) -> WriteError {
        let target = self.target;
        if !self.temporary.has_moved() && self.displaced_no_file() {
            self.give_back_what_is_no_file();
            return target.changed();
        }
        if self.temporary.has_moved() || self.names(target).is_err() {
            if let Err(err) = self.write_back(old) {
                return target.failed(io::Error::other(format!(
                    "another program changed the file while it was replaced, and its version could not be put back: {err}"
                )));
            }
            return target.changed();
        }
        let displaced = target.directory.stat(self.temporary.name()).ok().flatten();
        let is_ours =
            displaced.is_some_and(|it| Identity::of_stat(&it).is_same_file(&self.identity));
        let written =
            Stamp::new(self.identity.clone().with_length(self.length), self.written.finalize());
        let brought = match content_change(&self.temporary.file, &written) {
            Ok(ContentChange::Same) if is_ours => Ok(()),
            Ok(ContentChange::Appended(behind)) if is_ours => self.append(&behind),
            // Another program has written the whole file again, and its version is the newest.
            Ok(_) => self.names(target).map_err(io::Error::from),
            Err(err) => Err(err),
        };
        self.give_back_what_is_no_file();
        match brought {
            Ok(()) => target.changed(),
            Err(err) => target.failed(err),
        }
    }

    /// Restores a directory, link or the like that was exchanged with the new file. It gets the
    /// name that the new file has now: if a program moved the new file, it meant to move the entry
    /// that was there before. If the new file is gone, it gets a visible name, so that no data of
    /// the user stays under a temporary name.
    fn give_back_what_is_no_file(&mut self) {
        for _ in 0..MAX_TRIES {
            if !self.displaced_no_file() {
                return;
            }
            // It may not be found while it is being moved, which takes a moment.
            if let Some(place) = self.place_of_new_file()
                && self.exchange_with(&place).is_ok()
            {
                if self.is_new_file(self.temporary.name()) {
                    return;
                }
                // Another program was faster, and this is something else.
                let _taken_back = self.exchange_with(&place);
            }
            if rustix::fs::fstat(&self.temporary.file).is_ok_and(|it| it.st_nlink == 0) {
                break;
            }
        }
        let (directory, name) = (self.target.directory, self.target.name);
        let visible = (1..=MAX_VISIBLE_NAMES).map(|number| {
            let mut visible = name.to_owned();
            visible.push(format!(".displaced-{number}"));
            visible
        });
        for place in std::iter::once(name.to_owned()).chain(visible) {
            if rename_to_nothing(&directory.fd, self.temporary.name(), &place).is_ok() {
                return self.temporary.moved();
            }
        }
    }

    /// Whether the entry with the temporary name is not a regular file.
    fn displaced_no_file(&self) -> bool {
        let stat = self.target.directory.stat(self.temporary.name()).ok().flatten();
        stat.is_some_and(|it| Identity::of_stat(&it).kind.not_a_file().is_some())
    }

    fn is_new_file(&self, name: &OsStr) -> bool {
        let stat = self.target.directory.stat(name).ok().flatten();
        stat.is_some_and(|it| Identity::of_stat(&it).is_same_file(&self.identity))
    }

    /// The current name of the new file in the directory.
    fn place_of_new_file(&self) -> Option<OsString> {
        if self.is_new_file(self.target.name) {
            return Some(self.target.name.to_owned());
        }
        let entries = self.target.directory.entries().ok()?.filter_map(Result::ok);
        let mut names = entries.map(|it| OsStr::from_bytes(it.file_name().to_bytes()).to_owned());
        names.find(|name| self.is_new_file(name))
    }

    fn append(&self, behind: &[u8]) -> io::Result<()> {
        let target = self.target;
        let flags = OFlags::WRONLY | OFlags::APPEND;
        target.directory.open(target.name, flags, Mode::empty())?.write_all(behind)
    }

    /// Writes the content of the old file, which has no name left, to a new file with its name.
    fn write_back(&self, old: &File) -> io::Result<()> {
        let target = self.target;
        let mut temporary = TemporaryFile::create(target.directory, Mode::from_raw_mode(0o600))?;
        let mut old = old.try_clone()?;
        io::Seek::rewind(&mut old)?;
        io::copy(&mut old, &mut temporary.file)?;
        super::metadata::carry_over(&rustix::fs::fstat(&old)?, Some(&old), &temporary.file)?;
        temporary.file.sync_all()?;
        let directory = &target.directory.fd;
        renameat(directory, temporary.name(), directory, target.name)?;
        temporary.moved();
        Ok(())
    }
}
