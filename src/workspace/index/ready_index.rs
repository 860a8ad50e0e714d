//! An index that can answer: the tree of a root, and what is known of the files in it.

use std::{collections::VecDeque, ffi::OsString, time::Duration};

use super::{
    EntryNumber, WhyCold,
    file_set::FileSet,
    gram_numbers::GramNumbers,
    learner::{Committed, FileToLearn},
    signatures::{Kept, Signatures},
    sweep::SweepCause,
    texts::LearnedFile,
    tree::{FilePlace, WatchedTree},
};

/// How many files tell how common grams are: few, because that need not be known exactly.
const SAMPLE_FILES: usize = 256;
/// In a tree with fewer files it does not matter. Most trees of tests are small, and are to have samples too.
const WORTH_A_SAMPLE: usize = if cfg!(test) { 16 } else { 1_000 };
/// If there are so many times as many files as there were, another sample is taken.
const SAMPLE_AGAIN: usize = 8;
/// How many files the learner gets at once.
const FILES_AT_ONCE: usize = 512;
/// On how many threads stamps are compared before an answer.
const SWEEP_THREADS: usize = 2;

/// The parts of an index, which belong together: what the tree tells of a file holds for its signature.
#[derive(Debug)]
pub(super) struct ReadyIndex {
    pub(super) tree: WatchedTree,
    pub(super) signatures: Signatures,
    /// The files that are not learned yet.
    unlearned: VecDeque<EntryNumber>,
    /// Those of them that are ignored. They are rarely searched, so they come last.
    ignored: VecDeque<EntryNumber>,
    /// The files that are in one of these queues.
    queued: FileSet,
    /// What the learner was given last.
    handed_out: Vec<EntryNumber>,
    /// Whether the learner has files that it was given.
    is_learning: bool,
    /// Whether there is no memory for more.
    is_full: bool,
    /// How many files there were when the last sample was taken.
    sampled_among: usize,
}

impl ReadyIndex {
    /// An index of a tree of which nothing is learned. It takes up to `max_memory` bytes.
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

    /// Takes in every change that was complete when this was called.
    pub(super) fn refresh(&mut self) -> Result<(), WhyCold> {
        self.tree.refresh()?;
        if self.tree.needs_sweep() == Some(SweepCause::NameGone) {
            self.tree.sweep(SWEEP_THREADS)?;
        }
        self.take_changes();
        Ok(())
    }

    /// Forgets what was learned of files that changed.
    pub(super) fn take_changes(&mut self) {
        let changes = self.tree.take_changes();
        for file in changes.added.into_iter().chain(changes.changed) {
            self.signatures.forget(file);
            // A file that changes again and again is queued once.
            if self.queued.insert(file) {
                self.unlearned.push_back(file);
            }
        }
        for file in changes.removed {
            self.signatures.remove(file);
        }
    }

    /// Takes in what a comparison of stamps found while questions went on.
    pub(super) fn end_sweep(&mut self, changed: Vec<(EntryNumber, OsString)>) {
        // If it fails, the next question will find out why.
        if self.tree.end_sweep(changed).is_ok() {
            self.take_changes();
        }
    }

    /// Whether there is something to learn, and room for it.
    pub(super) fn has_work(&self) -> bool {
        let is_done = self.unlearned.is_empty() && self.ignored.is_empty();
        !self.is_full && !is_done
    }

    /// Whether everything that can be learned has been.
    pub(super) fn is_settled(&self) -> bool {
        !self.has_work() && !self.is_learning
    }

    /// Files that tell how common grams are, if that is to be found out now.
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

    /// Numbers grams by a sample. What was learned has to be learned again.
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

    /// Gives back memory that is only there for growth.
    pub(super) fn shrink(&mut self) {
        self.unlearned.shrink_to_fit();
        self.ignored.shrink_to_fit();
        self.signatures.shrink();
    }

    /// Where a file is, unless it has changed since it was given to the learner.
    pub(super) fn place_of(&self, file: FileToLearn) -> Option<FilePlace> {
        self.is_current(file).then(|| self.tree.file_place(file.file)).flatten()
    }

    fn is_current(&self, file: FileToLearn) -> bool {
        self.tree.version(file.file) == Some(file.version)
    }

    /// Keeps what was learned of a file, if it has not changed since.
    pub(super) fn commit(&mut self, file: FileToLearn, learned: LearnedFile) -> Committed {
        // While directories change places, a path leads to another file, and no event tells of this one.
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
                // The learner drops what it was given, so it comes back when there is room.
                for file in std::mem::take(&mut self.handed_out) {
                    if !self.signatures.is_learned(file) && self.queued.insert(file) {
                        self.unlearned.push_back(file);
                    }
                }
                Committed::NoRoom
            }
        }
    }

    /// About how much memory it takes.
    pub(super) fn memory(&self) -> usize {
        let queued = self.unlearned.capacity() + self.ignored.capacity();
        self.tree.memory() + self.signatures.memory() + queued * size_of::<EntryNumber>()
    }
}

/// How long after a refusal it is tried again, if the cause may be gone. `None` for never.
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
