//! Tests the learner with files on disk and a source that each test controls.
#![expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

use std::{
    collections::VecDeque,
    fs,
    path::{Path, PathBuf},
    sync::mpsc,
};

use pretty_assertions::assert_eq;
use tempfile::TempDir;

use super::*;
use crate::index::{Kept, Signatures};

/// Files by their numbers. A version is how often a file was changed.
struct FilesOnDisk {
    folder: PathBuf,
    versions: Mutex<Vec<u32>>,
    queue: Mutex<VecDeque<FileToLearn>>,
    signatures: Mutex<Signatures>,
    /// Receives a message for each file that was committed, and one at the end of the work.
    reports: mpsc::Sender<LearnerReport>,
    /// Called while a file is open.
    on_open: OnOpen,
}

type OnOpen = Box<dyn Fn(&FilesOnDisk, &Path) + Send + Sync>;

#[derive(Debug, PartialEq, Eq)]
enum LearnerReport {
    Offered(u32, Committed),
    Idle,
}

impl FilesOnDisk {
    fn new(
        folder: &Path,
        files: u32,
        on_open: impl Fn(&Self, &Path) + Send + Sync + 'static,
    ) -> (Arc<Self>, mpsc::Receiver<LearnerReport>) {
        let (reports, reported) = mpsc::channel();
        let mut signatures = Signatures::new(64 * 1024 * 1024);
        for file in 0..files {
            let path = folder.join(file.to_string());
            fs::write(&path, format!("the content of file {file}")).unwrap();
            signatures.forget(EntryNumber(file));
        }
        let source = Self {
            folder: folder.to_owned(),
            versions: Mutex::new(vec![0; files as usize]),
            queue: Mutex::default(),
            signatures: Mutex::new(signatures),
            reports,
            on_open: Box::new(on_open),
        };
        (0..files).for_each(|it| source.enqueue(it));
        (Arc::new(source), reported)
    }

    fn enqueue(&self, file: u32) {
        let version = EntryVersion(self.versions.lock()[file as usize]);
        let file = FileToLearn { file: EntryNumber(file), version };
        self.queue.lock().push_back(file);
    }

    fn learned(&self) -> usize {
        self.signatures.lock().counts().learned
    }
}

impl LearnSource for FilesOnDisk {
    fn next_files(&self, files: &mut Vec<FileToLearn>, _: usize) {
        let mut queue = self.queue.lock();
        let count = queue.len().min(3);
        files.extend(queue.drain(..count));
    }

    fn gram_numbers(&self) -> GramNumbers {
        GramNumbers::default()
    }

    fn open(&self, file: FileToLearn) -> io::Result<File> {
        let path = self.folder.join(file.file.0.to_string());
        let opened = File::open(&path)?;
        (self.on_open)(self, &path);
        Ok(opened)
    }

    fn commit(&self, file: FileToLearn, learned: LearnedFile) -> Committed {
        let is_current = self.versions.lock()[file.file.0 as usize] == file.version.0;
        let committed = if is_current {
            match self.signatures.lock().put(file.file, learned) {
                Kept::Yes => Committed::Kept,
                Kept::NoRoom => Committed::NoRoom,
            }
        } else {
            Committed::Outdated
        };
        self.reports.send(LearnerReport::Offered(file.file.0, committed)).unwrap();
        committed
    }

    fn tidy(&self) -> bool {
        // The send fails if the test is over.
        let _ = self.reports.send(LearnerReport::Idle);
        false
    }
}

fn until_idle(reported: &mpsc::Receiver<LearnerReport>) -> Vec<LearnerReport> {
    reported.iter().take_while(|it| *it != LearnerReport::Idle).collect()
}

#[test]
fn all_files_are_learned_and_a_changed_one_again() {
    let dir = TempDir::new().unwrap();
    let (source, reported) = FilesOnDisk::new(dir.path(), 10, |_, _| {});
    let learner = Learner::start(Arc::clone(&source) as Arc<dyn LearnSource>).unwrap();
    assert_eq!(until_idle(&reported).len(), 10);
    assert_eq!(source.learned(), 10);
    source.versions.lock()[4] += 1;
    source.signatures.lock().forget(EntryNumber(4));
    assert_eq!(source.learned(), 9);
    source.enqueue(4);
    learner.wake();
    assert_eq!(until_idle(&reported), [LearnerReport::Offered(4, Committed::Kept)]);
    assert_eq!(source.learned(), 10);
    learner.end();
    // The thread has dropped its reference to the source.
    assert_eq!(Arc::strong_count(&source), 1);
}

#[test]
fn a_file_that_changes_while_it_is_learned_stays_unlearned() {
    let dir = TempDir::new().unwrap();
    let (source, reported) = FilesOnDisk::new(dir.path(), 3, |source, path| {
        // The second file changes while it is open.
        if path.ends_with("1") {
            source.versions.lock()[1] += 1;
        }
    });
    let learner = Learner::start(Arc::clone(&source) as Arc<dyn LearnSource>).unwrap();
    let offered = until_idle(&reported);
    assert_eq!(offered[1], LearnerReport::Offered(1, Committed::Outdated));
    assert_eq!((offered.len(), source.learned()), (3, 2));
    learner.end();
}

#[test]
fn unreadable_files_are_skipped() {
    let dir = TempDir::new().unwrap();
    let (source, reported) = FilesOnDisk::new(dir.path(), 3, |_, _| {});
    fs::remove_file(dir.path().join("0")).unwrap();
    let learner = Learner::start(Arc::clone(&source) as Arc<dyn LearnSource>).unwrap();
    assert_eq!(until_idle(&reported).len(), 2);
    learner.end();
}

#[test]
fn it_stops_in_the_middle_of_its_work() {
    let dir = TempDir::new().unwrap();
    let (opened, is_open) = mpsc::channel();
    let (go_on, may_go_on) = mpsc::channel::<()>();
    let may_go_on = Mutex::new(may_go_on);
    let (source, reported) = FilesOnDisk::new(dir.path(), 20, move |_, _| {
        opened.send(()).unwrap();
        // An error means that the test dropped the sender.
        let _ = may_go_on.lock().recv();
    });
    let learner = Learner::start(Arc::clone(&source) as Arc<dyn LearnSource>).unwrap();
    is_open.recv().unwrap();
    learner.request_stop();
    drop(go_on);
    learner.end();
    drop(source);
    assert_eq!(reported.iter().collect::<Vec<_>>(), []);
}

#[test]
fn nothing_is_learned_without_memory() {
    let dir = TempDir::new().unwrap();
    let (source, reported) = FilesOnDisk::new(dir.path(), 5, |_, _| {});
    *source.signatures.lock() = Signatures::new(0);
    let learner = Learner::start(Arc::clone(&source) as Arc<dyn LearnSource>).unwrap();
    assert_eq!(reported.recv().unwrap(), LearnerReport::Offered(0, Committed::NoRoom));
    learner.end();
    drop(source);
    assert_eq!(reported.iter().count(), 0);
}

#[test]
fn a_large_file_is_learned_when_it_is_no_longer_written() {
    let dir = TempDir::new().unwrap();
    let (source, reported) = FilesOnDisk::new(dir.path(), 2, |_, _| {});
    let path = dir.path().join("0");
    fs::write(&path, "large\n".repeat(300_000)).unwrap();
    let learner = Learner::start(Arc::clone(&source) as Arc<dyn LearnSource>).unwrap();
    assert_eq!(until_idle(&reported), [LearnerReport::Offered(1, Committed::Kept)]);
    // As if it had been written long ago.
    File::options().write(true).open(&path).unwrap().set_modified(SystemTime::UNIX_EPOCH).unwrap();
    learner.wake();
    assert_eq!(until_idle(&reported), [LearnerReport::Offered(0, Committed::Kept)]);
    learner.end();
}
