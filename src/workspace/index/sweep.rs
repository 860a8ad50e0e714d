//! Finds changes that no event told of, by comparing stamps, and reads the tree again after events were
//! lost.

use std::{
    ffi::OsString,
    os::fd::AsFd as _,
    thread,
    time::{Duration, Instant},
};

use super::{
    entry_table::{EntryNumber, EntryTable},
    file_stamp::look,
    reconcile::Suspects,
    tree::WatchedTree,
    why_cold::WhyCold,
};
use crate::workspace::walk::EntryKind;

/// How long a change may stay unknown of which no event tells, while the tree is used.
const SWEEP_EVERY: Duration = Duration::from_secs(30);
/// How often the tree is read again if events are lost each time.
const MOST_READINGS: usize = 3;

/// Why the stamps of all files have to be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SweepCause {
    /// A new name was gone before anyone looked. It may have been another name of a file in the tree, so
    /// this has to be done before the next answer.
    NameGone,
    /// The last time is long ago. This can be done after an answer.
    LongAgo,
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
        let changed: Vec<(EntryNumber, OsString)> = thread::scope(|scope| {
            let others: Vec<_> = shares.map(|it| scope.spawn(|| tree.differing(it))).collect();
            let mut changed = tree.differing(first);
            for other in others {
                // A thread that failed has compared nothing; the next sweep will.
                changed.extend(other.join().unwrap_or_default());
            }
            changed
        });
        let mut suspects = Suspects::default();
        for (folder, name) in changed {
            suspects.names.entry(folder).or_default().insert(name);
        }
        let looked = self.look_into(suspects);
        if let Err(why) = &looked {
            self.cold = Some(why.clone());
        }
        self.last_sweep = started;
        looked
    }

    /// The files of these directories that are not as the tree says.
    fn differing(&self, folders: &[EntryNumber]) -> Vec<(EntryNumber, OsString)> {
        let mut differing = Vec::new();
        for folder in folders {
            let Ok(handle) = self.open_number(*folder) else { continue };
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
        differing
    }

    /// Reads everything again, after events were lost. Files that are the same keep their numbers. Meanwhile
    /// nobody should wait for the tree.
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
        // What was told so far is found by reading.
        self.queue.drain().map_err(|cause| WhyCold::Failed { cause: cause.to_string() })?;
        self.read_rules_above();
        self.list_below(EntryTable::ROOT, cancelled)?;
        self.follow_links()?;
        self.check_mounted_files()?;
        self.refresh()
    }
}
