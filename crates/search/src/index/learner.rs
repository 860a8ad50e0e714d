//! The thread that reads files and learns their content, while searches continue.
//!
//! It has the lowest priority, holds no lock while it reads, and sleeps when there is nothing to
//! learn. If there are many files, a second thread of the same priority helps.

use std::{
    collections::BTreeMap,
    fs::File,
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread::{self, JoinHandle},
    time::{Duration, SystemTime},
};

use parking_lot::{Condvar, Mutex};

use super::{
    file_number::{EntryNumber, EntryVersion},
    gram_numbers::GramNumbers,
    texts::{LearnedFile, LearningReader},
};

/// A large file that was written less than this long ago is probably still being written. It is
/// learned later, because a file that keeps growing would be read again and again.
const SETTLING: Duration = Duration::from_secs(5);
/// Files of at least this size are large in this sense.
const LARGE_BYTES: u64 = 1024 * 1024;
/// The stack size of a thread.
const STACK_BYTES: usize = 256 * 1024;
/// The most threads that learn: as many as a search always has, if there are that many cores.
const MAX_THREADS: usize = 2;
/// Another thread is started for each this many files.
const FILES_FOR_A_THREAD: usize = 32;

/// A file to learn, and its version when it was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FileToLearn {
    /// Which file.
    pub(crate) file: EntryNumber,
    /// Its version. If it is different afterwards, an earlier content was learned.
    pub(crate) version: EntryVersion,
}

/// Whether the result of learning was kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Committed {
    /// It was kept.
    Kept,
    /// The file has changed since.
    Outdated,
    /// There is no memory left. Nothing more is learned until the learner is woken.
    NoRoom,
}

/// Hands out files to learn, and receives the results.
pub(crate) trait LearnSource: Send + Sync {
    /// Adds some files to learn next. Adding none means that there are none for now. Each version of a
    /// file is handed out once. `put_off` is the number of files that are still being written; the learner
    /// keeps them and tries again later.
    fn next_files(&self, files: &mut Vec<FileToLearn>, put_off: usize);

    /// The numbers of grams for the files that were handed out last.
    fn gram_numbers(&self) -> GramNumbers;

    /// Opens a file, without following links.
    fn open(&self, file: FileToLearn) -> io::Result<File>;

    /// Keeps the result, if the file still has the version it was handed out with.
    fn commit(&self, file: FileToLearn, learned: LearnedFile) -> Committed;

    /// Does a little maintenance when there are no files. Returns whether there is more to do.
    fn tidy(&self) -> bool;
}

/// A thread that learns. It ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Learner {
    shared: Arc<LearnerSignals>,
    #[cfg_attr(not(test), expect(dead_code, reason = "tests wait for the thread"))]
    thread: Option<JoinHandle<()>>,
}

/// The signals to the thread.
#[derive(Debug, Default)]
struct LearnerSignals {
    stopped: AtomicBool,
    woken: Mutex<bool>,
    changed: Condvar,
}

impl Learner {
    /// Starts the thread, which begins to learn at once.
    pub(crate) fn start(source: Arc<dyn LearnSource>) -> io::Result<Self> {
        let shared = Arc::new(LearnerSignals { woken: Mutex::new(true), ..Default::default() });
        let signals = Arc::clone(&shared);
        let thread = thread::Builder::new()
            .name("toolwright-learn".to_owned())
            .stack_size(STACK_BYTES)
            .spawn(move || run(&*source, &signals))?;
        Ok(Self { shared, thread: Some(thread) })
    }

    /// Wakes the thread, because there are files to learn.
    pub(crate) fn wake(&self) {
        *self.shared.woken.lock() = true;
        self.shared.changed.notify_one();
    }

    /// Asks the thread to end, without waiting. It ends after its current read.
    fn request_stop(&self) {
        self.shared.stopped.store(true, Ordering::Relaxed);
        self.wake();
    }

    /// Ends the thread and waits until it has.
    #[cfg(test)]
    pub(crate) fn end(mut self) {
        self.request_stop();
        if let Some(thread) = self.thread.take() {
            // If it panicked, there is nothing to clean up.
            let _ = thread.join();
        }
    }
}

impl Drop for Learner {
    fn drop(&mut self) {
        self.request_stop();
    }
}

impl LearnerSignals {
    fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// Sleeps until the thread is woken, or for at most this long.
    fn sleep(&self, at_most: Option<Duration>) {
        let is_asleep = |woken: &mut bool| !*woken;
        let mut woken = self.woken.lock();
        match at_most {
            Some(time) => drop(self.changed.wait_while_for(&mut woken, is_asleep, time)),
            None => self.changed.wait_while(&mut woken, is_asleep),
        }
        *woken = false;
    }
}

fn run(source: &dyn LearnSource, signals: &LearnerSignals) {
    // On other systems this would set the priority of the whole process. If it fails, the thread
    // only competes more with others.
    #[cfg(target_os = "linux")]
    let _ = rustix::process::setpriority_process(None, 19);
    let mut learning = Learning::new(source);
    loop {
        signals.sleep((!learning.unsettled.is_empty()).then_some(SETTLING));
        if signals.is_stopped() {
            return;
        }
        learning.learn_all(&|| signals.is_stopped());
    }
}

/// Learns files.
struct Learning<'s> {
    source: &'s dyn LearnSource,
    /// One for each learning thread.
    readers: Vec<LearningReader>,
    /// Files that were still being written when they were opened.
    unsettled: BTreeMap<EntryNumber, EntryVersion>,
}

impl<'s> Learning<'s> {
    fn new(source: &'s dyn LearnSource) -> Self {
        let threads = thread::available_parallelism().map_or(1, |it| it.get().min(MAX_THREADS));
        let readers = std::iter::repeat_with(|| LearningReader::new(GramNumbers::default()))
            .take(threads)
            .collect();
        Self { source, readers, unsettled: BTreeMap::new() }
    }

    /// Learns until there is nothing more to learn for now, or until `is_stopped` returns true.
    fn learn_all(&mut self, is_stopped: &(dyn Fn() -> bool + Sync)) {
        let earlier = std::mem::take(&mut self.unsettled);
        let mut files: Vec<FileToLearn> =
            earlier.into_iter().map(|(file, version)| FileToLearn { file, version }).collect();
        loop {
            self.source.next_files(&mut files, self.unsettled.len());
            if files.is_empty() {
                break;
            }
            let numbers = self.source.gram_numbers();
            self.readers.iter_mut().for_each(|it| it.number_by(&numbers));
            if !self.learn_some(&files, is_stopped) {
                return;
            }
            files.clear();
        }
        while !is_stopped() && self.source.tidy() {}
    }

    /// Learns some files, on several threads if there are many. Returns false if learning has to
    /// stop.
    fn learn_some(
        &mut self,
        files: &[FileToLearn],
        is_stopped: &(dyn Fn() -> bool + Sync),
    ) -> bool {
        let threads = (files.len() / FILES_FOR_A_THREAD).clamp(1, self.readers.len());
        let (source, next) = (self.source, &AtomicUsize::new(0));
        let readers = self.readers.iter_mut().take(threads);
        let mut shares = readers.map(|reader| LearningShare { source, reader, files, next });
        let own = shares.next();
        let learned: Vec<LearnedShare> = thread::scope(|scope| {
            let others: Vec<_> = shares
                .map(|mut it| {
                    let stack = thread::Builder::new().stack_size(STACK_BYTES);
                    stack.spawn_scoped(scope, move || it.learn(is_stopped))
                })
                .collect();
            let own = own.map(|mut it| it.learn(is_stopped));
            // A thread that could not be started has taken no file. If a thread panicked, the file
            // it was learning stays unlearned.
            let others = others.into_iter().flatten().filter_map(|it| it.join().ok());
            own.into_iter().chain(others).collect()
        });
        let mut goes_on = true;
        for share in learned {
            goes_on &= share.goes_on;
            self.unsettled.extend(share.unsettled);
        }
        goes_on
    }
}

/// The work of one thread: it takes the next file that no other thread has taken.
struct LearningShare<'l> {
    source: &'l dyn LearnSource,
    reader: &'l mut LearningReader,
    files: &'l [FileToLearn],
    next: &'l AtomicUsize,
}

/// The result of one thread's work.
struct LearnedShare {
    unsettled: Vec<(EntryNumber, EntryVersion)>,
    /// Whether learning may continue.
    goes_on: bool,
}

impl LearningShare<'_> {
    fn learn(&mut self, is_stopped: &dyn Fn() -> bool) -> LearnedShare {
        let mut share = LearnedShare { unsettled: Vec::new(), goes_on: true };
        while let Some(file) = self.files.get(self.next.fetch_add(1, Ordering::Relaxed)) {
            // A file that cannot be read stays unlearned, and a search reports why.
            let learned = self.learn_file(*file, &mut share, is_stopped);
            if is_stopped() || matches!(learned, Ok(Some(Committed::NoRoom))) {
                share.goes_on = false;
                break;
            }
        }
        share
    }

    /// Learns a file, unless it changes during the read or is still being written.
    fn learn_file(
        &mut self,
        file: FileToLearn,
        share: &mut LearnedShare,
        is_stopped: &dyn Fn() -> bool,
    ) -> io::Result<Option<Committed>> {
        let mut opened = self.source.open(file)?;
        if is_being_written(&opened)? {
            share.unsettled.push((file.file, file.version));
            return Ok(None);
        }
        let learned = self.reader.read(&mut opened, is_stopped)?;
        Ok(learned.map(|it| self.source.commit(file, it)))
    }
}

fn is_being_written(file: &File) -> io::Result<bool> {
    let seen = file.metadata()?;
    if seen.len() < LARGE_BYTES {
        return Ok(false);
    }
    // A file with a time in the future counts as old.
    let age = SystemTime::now().duration_since(seen.modified()?);
    Ok(age.is_ok_and(|it| it < SETTLING))
}

#[cfg(test)]
mod tests;
