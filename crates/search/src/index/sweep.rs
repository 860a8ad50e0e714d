//! Finds changes without events by comparing stamps, and reads the tree again after events were
//! lost.

use std::{
    ffi::OsString,
    os::fd::{AsFd as _, OwnedFd},
    path::PathBuf,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use rustix::{fs::OFlags, io::Errno};
use toolwright_files::EntryKind;

use super::{
    entry_table::{EntryNumber, EntryTable},
    file_stamp::{FileStamp, look},
    reconcile::Suspects,
    root_check::{failed, open_below},
    tree::WatchedTree,
    why_cold::WhyCold,
};

/// How long a change without an event may go unnoticed while the tree is in use.
const SWEEP_EVERY: Duration = Duration::from_secs(30);
/// How often the tree is read again if events are lost each time.
const MOST_READINGS: usize = 3;

/// About how many files are compared at once while requests are answered.
const STAMPS_AT_ONCE: usize = 2_048;

/// Why the stamps of all files have to be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SweepCause {
    /// A new name was gone before it was examined. It may have been a hard link to a file in the
    /// tree, so the sweep has to be done before the next answer.
    NameGone,
    /// The last sweep is long ago. This one can be done after an answer.
    LongAgo,
}

/// The stamps of the files of a directory, to be compared without locking the tree.
#[derive(Debug)]
pub(crate) struct StampedFolder {
    folder: EntryNumber,
    root: Arc<OwnedFd>,
    below: PathBuf,
    stamps: Vec<(OsString, FileStamp)>,
}

impl StampedFolder {
    /// The files whose stamps are different now.
    pub(crate) fn differing(self) -> Vec<(EntryNumber, OsString)> {
        let Self { folder, root, below, stamps } = self;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW;
        let Ok(handle) = open_below(&root, &below, flags) else { return Vec::new() };
        let differs = |(name, before): &(OsString, FileStamp)| {
            !look(handle.as_fd(), name).is_ok_and(|now| before.is_surely(&now.stamp))
        };
        stamps.into_iter().filter(differs).map(|(name, _)| (folder, name)).collect()
    }
}

impl WatchedTree {
    /// Whether the stamps of all files should be compared.
    pub(crate) fn needs_sweep(&self) -> Option<SweepCause> {
        let is_due = self.last_sweep.elapsed() >= SWEEP_EVERY;
        self.sweep_wanted.or_else(|| is_due.then_some(SweepCause::LongAgo))
    }

    /// Compares the stamps of all files with the disk, on this many threads.
    pub(crate) fn sweep(&mut self, threads: usize) -> Result<(), WhyCold> {
        self.refresh()?;
        self.sweep_wanted = None;
        let started = Instant::now();
        let folders: Vec<EntryNumber> = self.table.folders().collect();
        let share = folders.len().div_ceil(threads.max(1)).max(1);
        let mut shares = folders.chunks(share);
        let first = shares.next().unwrap_or_default();
        let tree = &*self;
        let changed = thread::scope(|scope| -> Result<Vec<(EntryNumber, OsString)>, Errno> {
            let others = shares.map(|share| {
                let thread = thread::Builder::new().name("toolwright-sweep".to_owned());
                (share, thread.spawn_scoped(scope, move || tree.differing(share)))
            });
            let others: Vec<_> = others.collect();
            let mut changed = tree.differing(first)?;
            for (share, thread) in others {
                let compared = thread.ok().and_then(|it| it.join().ok());
                // If the other thread could not be started, or panicked, this thread does its work.
                changed.extend(compared.unwrap_or_else(|| tree.differing(share))?);
            }
            Ok(changed)
        })
        .map_err(failed)?;
        self.last_sweep = started;
        self.look_at_differing(changed)
    }

    /// Checks files whose stamps differ.
    fn look_at_differing(&mut self, changed: Vec<(EntryNumber, OsString)>) -> Result<(), WhyCold> {
        let mut suspects = Suspects::default();
        for (folder, name) in changed {
            suspects.names.entry(folder).or_default().insert(name);
        }
        let looked = self.look_into(suspects);
        if let Err(why) = &looked {
            self.cold = Some(why.clone());
        }
        looked
    }

    /// Begins a sweep that runs while requests are answered, if the last one is long ago. Returns
    /// the directories to compare.
    pub(crate) fn begin_sweep(&mut self) -> Option<Vec<EntryNumber>> {
        if self.cold.is_some() || self.needs_sweep() != Some(SweepCause::LongAgo) {
            return None;
        }
        self.last_sweep = Instant::now();
        Some(self.table.folders().collect())
    }

    /// The stamps of some of these directories. They are removed from the list.
    pub(crate) fn next_stamps(&self, folders: &mut Vec<EntryNumber>) -> Vec<StampedFolder> {
        let mut stamped = Vec::new();
        let mut files = 0;
        while files < STAMPS_AT_ONCE
            && let Some(folder) = folders.pop()
        {
            let of_files = self.table.children(folder).filter_map(|file| {
                let is_file = self.table.kind(file) == Some(EntryKind::File);
                let stamp = self.table.stamp(file).filter(|_| is_file)?;
                Some((self.table.name(file).to_owned(), stamp))
            });
            let stamps: Vec<_> = of_files.collect();
            files += 1 + stamps.len();
            let (root, below) = (Arc::clone(self.root.handle()), self.table.path_below(folder));
            stamped.push(StampedFolder { folder, root, below, stamps });
        }
        stamped
    }

    /// Updates the tree for these files, which differed from it. They may have changed again, or
    /// been replaced.
    pub(crate) fn end_sweep(
        &mut self,
        changed: Vec<(EntryNumber, OsString)>,
    ) -> Result<(), WhyCold> {
        self.refresh()?;
        self.look_at_differing(changed)
    }

    /// The files of these directories that differ from the tree.
    fn differing(&self, folders: &[EntryNumber]) -> Result<Vec<(EntryNumber, OsString)>, Errno> {
        let mut differing = Vec::new();
        for folder in folders {
            let handle = match self.open_number(*folder) {
                Ok(handle) => handle,
                Err(cause @ (Errno::MFILE | Errno::NFILE | Errno::NOMEM)) => return Err(cause),
                // It is gone or closed, and the event is in the queue.
                Err(_) => continue,
            };
            for file in self.table.children(*folder) {
                if self.table.kind(file) != Some(EntryKind::File) {
                    continue;
                }
                let name = self.table.name(file);
                let is_same = self.table.stamp(file).is_some_and(|before| {
                    look(handle.as_fd(), name).is_ok_and(|now| before.is_surely(&now.stamp))
                });
                if !is_same {
                    differing.push((*folder, name.to_owned()));
                }
            }
        }
        Ok(differing)
    }

    /// Reads everything again, after events were lost. Unchanged files keep their numbers. Call
    /// this without a lock that requests wait for, because it takes long.
    pub(crate) fn read_again(&mut self, cancelled: &dyn Fn() -> bool) -> Result<(), WhyCold> {
        let mut read = Err(WhyCold::QueueOverflow);
        for _ in 0..MOST_READINGS {
            self.cold = None;
            read = self.read_once(cancelled);
            if read != Err(WhyCold::QueueOverflow) {
                break;
            }
        }
        if let Err(why) = &read {
            self.cold = Some(why.clone());
        }
        read
    }

    fn read_once(&mut self, cancelled: &dyn Fn() -> bool) -> Result<(), WhyCold> {
        self.last_sweep = Instant::now();
        self.sweep_wanted = None;
        self.root.check()?;
        // The listing finds these changes anyway.
        self.queue.drain().map_err(|cause| WhyCold::Failed { cause: cause.to_string() })?;
        self.read_rules_above();
        self.list_below(EntryTable::ROOT, cancelled)?;
        self.follow_links()?;
        self.check_mounted_files()?;
        self.refresh()
    }
}
