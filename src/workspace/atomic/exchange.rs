//! Puts a finished file in the place of one that other programs may be writing at the same time.
//!
//! The two change names in one step, so the old file is still there to be looked at: what it held at
//! that instant is what was replaced. Lines that somebody appended since it was read are appended to the
//! new file, as if they had come a moment later. After any other change the files change names back, and
//! the write is refused.
//!
//! A file system that cannot exchange names replaces the file. What was replaced is looked at through its
//! descriptor then, and written anew if it has to come back.

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
    Foreign, Stamp, WriteError,
    replace::{Target, rename_to_nothing},
    since::{Since, since},
    stamp::Identity,
    temporary::Temporary,
    writers::is_open_for_writing,
};

/// As long is waited for programs that have the replaced file open, and looked as often.
const WRITERS_TIME: Duration = Duration::from_millis(100);
const PAUSE: Duration = Duration::from_millis(1);
/// How often something that is no file is given its name back, and how many other names are tried for it.
const MAX_TRIES: u32 = 1_000;
const MAX_VISIBLE_NAMES: u32 = 100;

/// How much of what was appended to the old file is taken over.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Take {
    /// Up to the last line break. A write that is under way can be seen in part, and its rest would come
    /// behind whatever is appended to the new file in between.
    WholeLines,
    /// All of it: nobody is writing any more, or has had the time to finish.
    All,
}

/// What became of a replacement.
pub(super) enum Exchanged {
    Done {
        others: Foreign,
        /// The names are on the disk.
        durable: bool,
    },
    /// The system can put nothing in the place of this file.
    NotRenamable,
}

/// A replacement under way.
struct Exchange<'t, 'd> {
    target: &'t Target<'t>,
    /// The new file; it has the temporary name, then the file's.
    temporary: &'t mut Temporary<'d>,
    /// What the old file has to hold.
    stamp: &'t Stamp,
    /// What the new file looked like before it got its name, and what has been written to it.
    identity: Identity,
    written: blake3::Hasher,
    length: usize,
    /// How much that was appended to the old file is in the new one already.
    merged: usize,
    /// How the old file looked when it was compared last.
    compared: Option<Identity>,
}

impl Target<'_> {
    /// Replaces the file by one that was written and synced; `bytes` is what is in it.
    pub(super) fn exchange(
        &self,
        temporary: &mut Temporary<'_>,
        stamp: &Stamp,
        bytes: &[u8],
    ) -> Result<Exchanged, WriteError> {
        // Takes its time, so it comes before the file is looked at.
        let mut written = blake3::Hasher::new();
        written.update(bytes);
        let old = self.open_old()?;
        // While it has the temporary name nobody may take it for a stray. Whoever edits it holds it.
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
        // What was appended is not synced yet: whoever did has not waited for the disk either.
        if !stamp.is_surely(&identity)
            && !exchange.merge(&old, Take::WholeLines).map_err(|err| self.failed(err))?
        {
            return Err(self.changed());
        }
        // The exchange itself counts as a change of the file's times.
        exchange.compared = None;
        // As late as can be: something else that is exchanged would have to be given back.
        let now = self.directory.stat(self.name).map_err(|err| self.failed(err))?;
        if !now.is_some_and(|it| Identity::of_stat(&it).is_same_file(&identity)) {
            return Err(self.changed());
        }
        match exchange.names(self) {
            Ok(()) => {}
            Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => return exchange.replace(&old),
            // Nothing is there any more.
            Err(Errno::NOENT) => return Err(self.changed()),
            Err(Errno::XDEV | Errno::BUSY) => return Ok(Exchanged::NotRenamable),
            Err(err) => return Err(self.failed(err.into())),
        }
        if exchange.displaced_no_file() {
            return Err(exchange.bring_back(&old));
        }
        // Somebody may have replaced the file in between: then this is another one.
        let displaced =
            self.directory.open(exchange.temporary.name(), OFlags::RDONLY, Mode::empty());
        match displaced {
            Ok(displaced) => exchange.finish(&displaced),
            Err(Errno::NOENT) => exchange.finish(&old),
            // No file, or one that nobody could have read: not what was to be replaced.
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
    /// Lets the two files change names.
    fn names(&self, target: &Target<'_>) -> Result<(), Errno> {
        self.exchange_with(target.name)
    }

    /// Lets what has the temporary name and what has another one change names.
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

    /// The same where names cannot be exchanged: the old file loses its only one.
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

    /// Looks at the old file as it was when it lost its name, and lets it go or brings it back.
    fn finish(mut self, old: &File) -> Result<Exchanged, WriteError> {
        let target = self.target;
        if !self.merge(old, Take::WholeLines).unwrap_or(false) {
            return Err(self.bring_back(old));
        }
        // Who opened the old file before it lost its name may not have written to it yet.
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
        // The disk takes its time, in which a program that has the old file open may write to it.
        let durable = target.directory.sync();
        let wrote_to_replaced = !self.merge(old, Take::All).unwrap_or(false);
        if self.merged > 0 {
            self.temporary.file.sync_all().map_err(|err| target.failed(err))?;
        }
        let others = Foreign { appended: self.merged as u64, has_replaced_open, wrote_to_replaced };
        Ok(Exchanged::Done { others, durable })
    }

    /// Appends to the new file what was appended to the old one; false if that was changed otherwise.
    fn merge(&mut self, old: &File, take: Take) -> io::Result<bool> {
        let now = Identity::of_file(old)?;
        if self.compared.as_ref().is_some_and(|it| it.has_same_content_times(&now)) {
            return Ok(true);
        }
        let behind = match since(old, self.stamp)? {
            Since::Same => Vec::new(),
            Since::Appended(behind) => behind,
            Since::Otherwise => return Ok(false),
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

    /// Gives the old file its name back, and it whatever somebody has meanwhile appended to the new one.
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
        let brought = match since(&self.temporary.file, &written) {
            Ok(Since::Same) if is_ours => Ok(()),
            Ok(Since::Appended(behind)) if is_ours => self.append(&behind),
            // Somebody has written the whole file once more: that is the newest version.
            Ok(_) => self.names(target).map_err(io::Error::from),
            Err(err) => Err(err),
        };
        self.give_back_what_is_no_file();
        match brought {
            Ok(()) => target.changed(),
            Err(err) => target.failed(err),
        }
    }

    /// A directory, link or the like was exchanged for the new file. It gets the name that the new file
    /// has by now: whoever moved that meant what it stands for. Where the new file is gone, it gets a name
    /// that people see: nothing of theirs stays under a temporary one.
    fn give_back_what_is_no_file(&mut self) {
        for _ in 0..MAX_TRIES {
            if !self.displaced_no_file() {
                return;
            }
            // Not found while somebody moves it: that takes a moment.
            if let Some(place) = self.place_of_new_file()
                && self.exchange_with(&place).is_ok()
            {
                if self.is_new_file(self.temporary.name()) {
                    return;
                }
                // Somebody was faster, and this is something else.
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

    /// True when what has the temporary name now is no file.
    fn displaced_no_file(&self) -> bool {
        let stat = self.target.directory.stat(self.temporary.name()).ok().flatten();
        stat.is_some_and(|it| Identity::of_stat(&it).kind.not_a_file().is_some())
    }

    fn is_new_file(&self, name: &OsStr) -> bool {
        let stat = self.target.directory.stat(name).ok().flatten();
        stat.is_some_and(|it| Identity::of_stat(&it).is_same_file(&self.identity))
    }

    /// The name that the new file has in the directory now.
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

    /// Writes the content of the old file, which has no name left, to a new one in its place.
    fn write_back(&self, old: &File) -> io::Result<()> {
        let target = self.target;
        let mut temporary = Temporary::create(target.directory, Mode::from_raw_mode(0o600))?;
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
