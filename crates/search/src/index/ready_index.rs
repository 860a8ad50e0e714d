//! An index that can answer: the tree of a root, and what is known about the files in it.

use std::{collections::VecDeque, ffi::OsString, time::Duration};

use super::{
    EntryNumber, WhyCold,
    file_set::FileSet,
    gram_numbers::GramNumbers,
    learner::{Committed, FileToLearn},
    signatures::{Kept, Signatures},
    sweep::SweepCause,
    texts::LearnedFile,
    tree::{FileLocation, WatchedTree},
};

/// How many files are sampled for the frequency of grams. An estimate is enough, so few will do.
const SAMPLE_FILES: usize = 256;
/// A tree with fewer files is not sampled. The limit is lower in tests, so that their small trees
/// are sampled too.
const WORTH_A_SAMPLE: usize = if cfg!(test) { 16 } else { 1_000 };
/// Another sample is taken when the number of files has grown by this factor.
const SAMPLE_AGAIN: usize = 8;
/// How many files the learner gets at once.
const FILES_AT_ONCE: usize = 512;
/// How many threads compare stamps before an answer.
const SWEEP_THREADS: usize = 2;

/// The parts of an index. They are kept in step: what the tree says about a file is valid for its
/// signature.
#[derive(Debug)]
pub(super) struct ReadyIndex {
    pub(super) tree: WatchedTree,
    pub(super) signatures: Signatures,
    /// The files that are not learned yet.
    unlearned: VecDeque<EntryNumber>,
    /// Unlearned files that are ignored. They are rarely searched, so they are learned last.
    ignored: VecDeque<EntryNumber>,
    /// The files in one of these queues.
    queued: FileSet,
    /// The files that the learner got last.
    handed_out: Vec<EntryNumber>,
    /// Whether the learner is working on files.
    is_learning: bool,
    /// How many files the learner has put off, because they are still being written.
    pub(super) put_off: usize,
    /// Whether there is no memory for more.
    is_full: bool,
    /// How many files there were when the last sample was taken.
    sampled_among: usize,
}

impl ReadyIndex {
    /// An index of a tree with no file learned. It takes up to `max_memory` bytes.
    pub(super) fn new(tree: WatchedTree, max_memory: usize) -> Result<Self, WhyCold> {
        let left = max_memory.checked_sub(tree.memory()).ok_or(WhyCold::OverBudget)?;
        let mut index = Self {
            tree,
            signatures: Signatures::new(left),
            unlearned: VecDeque::new(),
            ignored: VecDeque::new(),
            queued: FileSet::default(),
            handed_out: Vec::new(),
            is_learning: true,
            put_off: 0,
            is_full: false,
            sampled_among: 0,
        };
        index.take_changes();
        Ok(index)
    }

    /// Takes up to `max_memory` bytes from now on.
    pub(super) fn allow_memory(&mut self, max_memory: usize) {
        self.signatures.allow_memory(max_memory.saturating_sub(self.tree.memory()));
        self.is_full = false;
    }

    /// Applies every change that was complete when this was called. Returns whether a file has changed.
    pub(super) fn refresh(&mut self) -> Result<bool, WhyCold> {
        self.tree.refresh()?;
        if self.tree.needs_sweep() == Some(SweepCause::NameGone) {
            self.tree.sweep(SWEEP_THREADS)?;
        }
        Ok(self.take_changes())
    }

    /// Discards what was learned about files that changed. Returns whether there were any.
    pub(super) fn take_changes(&mut self) -> bool {
        let changes = self.tree.take_changes();
        let are_any =
            [&changes.added, &changes.changed, &changes.removed].iter().any(|it| !it.is_empty());
        for file in changes.added.into_iter().chain(changes.changed) {
            self.signatures.forget(file);
            // A file that changes repeatedly is queued once.
            if self.queued.insert(file) {
                self.unlearned.push_back(file);
            }
        }
        for file in changes.removed {
            self.signatures.remove(file);
        }
        are_any
    }

    /// Applies the result of a sweep that ran while requests were answered.
    pub(super) fn end_sweep(&mut self, changed: Vec<(EntryNumber, OsString)>) {
        // If it fails, the next request finds out why.
        if self.tree.end_sweep(changed).is_ok() {
            self.take_changes();
        }
    }

    /// Whether there is something to learn, and room for it.
    pub(super) fn has_work(&self) -> bool {
        let is_done = self.unlearned.is_empty() && self.ignored.is_empty();
        !self.is_full && !is_done
    }

    /// Whether everything that can be learned has been learned. A large file that is being written is put
    /// off until it is complete. It does not keep the index from being warm, unless nothing else is learned.
    pub(super) fn is_settled(&self) -> bool {
        let has_learned = self.put_off == 0 || self.signatures.counts().learned > 0;
        !self.has_work() && !self.is_learning && has_learned
    }

    /// Why nothing was learned of any file, if that is settled and there are files. Every search reads all of them.
    pub(super) fn why_nothing_learned(&self) -> Option<WhyCold> {
        let counts = self.signatures.counts();
        if counts.files == 0 || counts.learned > 0 || !self.is_settled() {
            return None;
        }
        Some(if self.is_full { WhyCold::OverBudget } else { WhyCold::NothingReadable })
    }

    /// The files to sample for the frequency of grams. Empty if no sample is due.
    pub(super) fn next_sample(&mut self) -> Vec<FileToLearn> {
        let all = self.signatures.counts().files;
        let is_due =
            all >= WORTH_A_SAMPLE && all >= self.sampled_among.saturating_mul(SAMPLE_AGAIN);
        if !is_due || !self.signatures.has_room_for_numbers() {
            return Vec::new();
        }
        self.sampled_among = all;
        let some = self.signatures.all_files().step_by(all.div_ceil(SAMPLE_FILES));
        let some = some.filter(|it| self.tree.entry(*it).is_some_and(|it| !it.is_ignored));
        some.filter_map(|file| Some(FileToLearn { file, version: self.tree.version(file)? }))
            .collect()
    }

    /// Numbers grams by a sample. All learned files have to be learned again.
    pub(super) fn number_by(&mut self, numbers: GramNumbers) {
        for file in self.signatures.number_by(numbers) {
            if self.queued.insert(file) {
                self.unlearned.push_back(file);
            }
        }
    }

    /// The files to learn next.
    pub(super) fn next_files(&mut self, files: &mut Vec<FileToLearn>) {
        self.is_full = !self.signatures.has_room();
        while files.len() < FILES_AT_ONCE && !self.is_full {
            let file = match self.unlearned.pop_front() {
                Some(file) if self.tree.entry(file).is_some_and(|it| it.is_ignored) => {
                    self.ignored.push_back(file);
                    continue;
                }
                Some(file) => file,
                None => match self.ignored.pop_front() {
                    Some(file) => file,
                    None => break,
                },
            };
            self.queued.remove(file);
            files.extend(self.tree.version(file).map(|version| FileToLearn { file, version }));
        }
        self.is_learning = !files.is_empty();
        self.handed_out = files.iter().map(|it| it.file).collect();
    }

    /// Frees spare capacity.
    pub(super) fn shrink(&mut self) {
        self.unlearned.shrink_to_fit();
        self.ignored.shrink_to_fit();
        self.signatures.shrink();
    }

    /// The location of a file, unless it has changed since it was given to the learner.
    pub(super) fn place_of(&self, file: FileToLearn) -> Option<FileLocation> {
        self.is_current(file).then(|| self.tree.file_place(file.file)).flatten()
    }

    fn is_current(&self, file: FileToLearn) -> bool {
        self.tree.version(file.file) == Some(file.version)
    }

    /// Keeps what was learned about a file, if it has not changed since.
    pub(super) fn commit(&mut self, file: FileToLearn, learned: LearnedFile) -> Committed {
        // While directories are swapped, a path leads to another file, and no event reports that
        // for this file.
        let is_same = self.tree.stamp(file.file).is_some_and(|it| it.is_of(&learned.stamp));
        let is_numbered = learned.numbers.are_same(self.signatures.gram_numbers());
        if !is_same || !is_numbered || !self.is_current(file) {
            return Committed::Outdated;
        }
        match self.signatures.put(file.file, learned) {
            Kept::Yes => Committed::Kept,
            Kept::NoRoom => {
                self.is_full = true;
                self.is_learning = false;
                // The learner drops its files, so they are queued again for when there is room.
                self.take_back_handed_out();
                Committed::NoRoom
            }
        }
    }

    /// Queues again the files that the learner was given and has not learned.
    pub(super) fn take_back_handed_out(&mut self) {
        for file in std::mem::take(&mut self.handed_out) {
            if !self.signatures.is_learned(file) && self.queued.insert(file) {
                self.unlearned.push_back(file);
            }
        }
    }

    /// An estimate of the memory that it takes, in bytes.
    pub(super) fn memory(&self) -> usize {
        let queued = self.unlearned.capacity() + self.ignored.capacity();
        self.tree.memory() + self.signatures.memory() + queued * size_of::<EntryNumber>()
    }
}

/// How long to wait before the index is built again. `None` for never.
pub(super) fn retry_after(why: &WhyCold) -> Option<Duration> {
    match why {
        WhyCold::RootMoved | WhyCold::QueueOverflow => Some(Duration::ZERO),
        WhyCold::TooManyWatches { .. }
        | WhyCold::NoInstance { .. }
        | WhyCold::TooManyEntries { .. }
        | WhyCold::Mount { .. }
        | WhyCold::Failed { .. } => Some(Duration::from_mins(1)),
        _ => None,
    }
}
