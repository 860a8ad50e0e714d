//! Tests the queue within one process, and locks on real files.
#![expect(clippy::unwrap_used, reason = "tests")]

use std::{
    fs,
    sync::{
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
};

use pretty_assertions::assert_eq;
use tempfile::TempDir;

use super::*;
use crate::path::{RelativePaths, Roots};

struct LockBed {
    dir: TempDir,
    locks: FileLocks,
}

impl LockBed {
    fn new() -> Self {
        let bed = Self { dir: TempDir::new().unwrap(), locks: FileLocks::default() };
        fs::write(bed.dir.path().join("file"), "old").unwrap();
        bed
    }

    fn path(&self, name: &str) -> WorkspacePath {
        let roots = Roots::new(self.dir.path(), &[]).unwrap();
        roots.resolve(name, RelativePaths::FromFirstRoot).unwrap()
    }
}

fn never() -> bool {
    false
}

#[test]
fn editors_take_turns_in_the_order_of_their_arrival() {
    let bed = LockBed::new();
    for name in ["file", "none yet"] {
        let (done, order) = mpsc::channel();
        let path = bed.path(name);
        let turns: Vec<_> = (0..64).map(|it| (it, bed.locks.queue_up(&path))).collect();
        thread::scope(|scope| {
            // The last in the queue is started first.
            for (number, turn) in turns.into_iter().rev() {
                let done = done.clone();
                scope.spawn(move || {
                    let _guard = turn.wait(&never).unwrap();
                    done.send(number).unwrap();
                });
            }
        });
        drop(done);
        assert_eq!(order.iter().collect::<Vec<_>>(), (0..64).collect::<Vec<_>>());
        assert!(bed.locks.queues.waiting.lock().by_path.is_empty());
    }
}

#[test]
fn different_files_do_not_wait_for_each_other() {
    let bed = LockBed::new();
    fs::write(bed.dir.path().join("other"), "").unwrap();
    let _one = bed.locks.acquire(&bed.path("file"), &never).unwrap();
    let _other = bed.locks.acquire(&bed.path("other"), &never).unwrap();
    let _new = bed.locks.acquire(&bed.path("none yet"), &never).unwrap();
}

#[test]
fn an_editor_that_is_cancelled_or_times_out_leaves_the_queue() {
    let bed = LockBed::new();
    let path = bed.path("file");
    let first = bed.locks.acquire(&path, &never).unwrap();
    let impatient = bed.locks.waiting_at_most(Duration::from_millis(20));
    let busy = impatient.acquire(&path, &never).unwrap_err().to_string();
    assert!(busy.contains("has been locked by another call for more than 0 s"), "{busy}");
    let cancelled = AtomicBool::new(false);
    let second = bed.locks.queue_up(&path);
    let third = bed.locks.queue_up(&path);
    thread::scope(|scope| {
        let second = scope.spawn(|| second.wait(&|| cancelled.load(Ordering::Relaxed)).map(drop));
        let third = scope.spawn(|| third.wait(&never).map(drop));
        cancelled.store(true, Ordering::Relaxed);
        let gave_up = second.join().unwrap();
        assert!(matches!(gave_up, Err(LockError::Cancelled(_))), "{gave_up:?}");
        drop(first);
        third.join().unwrap().unwrap();
    });
    assert!(bed.locks.queues.waiting.lock().by_path.is_empty());
}

#[test]
fn two_registries_in_one_process_exclude_each_other_too() {
    let bed = LockBed::new();
    let path = bed.path("file");
    let guard = bed.locks.acquire(&path, &never).unwrap();
    let other = FileLocks::default();
    let impatient = other.waiting_at_most(Duration::from_millis(20));
    assert!(matches!(impatient.acquire(&path, &never), Err(LockError::Busy { .. })));
    drop(guard);
    drop(other.acquire(&path, &never).unwrap());
}

#[cfg(unix)]
mod on_the_file {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn a_lock_holds_for_every_name_of_the_file_and_leaves_nothing_behind() {
        let bed = LockBed::new();
        fs::hard_link(bed.dir.path().join("file"), bed.dir.path().join("other")).unwrap();
        let guard = bed.locks.acquire(&bed.path("file"), &never).unwrap();
        let impatient = bed.locks.waiting_at_most(Duration::from_millis(20));
        let busy = impatient.acquire(&bed.path("other"), &never);
        assert!(matches!(busy, Err(LockError::Busy { .. })), "{busy:?}");
        drop(guard);
        drop(impatient.acquire(&bed.path("other"), &never).unwrap());
        assert_eq!(fs::read_dir(bed.dir.path()).unwrap().count(), 2);
    }

    #[test]
    fn a_waiter_for_a_replaced_file_gets_the_lock_of_the_new_one() {
        let bed = LockBed::new();
        let path = bed.path("file");
        let guard = bed.locks.acquire(&path, &never).unwrap();
        let other = FileLocks::default();
        let waiting = AtomicBool::new(false);
        thread::scope(|scope| {
            let waiter = scope.spawn(|| {
                other.acquire(&path, &|| {
                    waiting.store(true, Ordering::Relaxed);
                    false
                })
            });
            while !waiting.load(Ordering::Relaxed) {
                thread::yield_now();
            }
            fs::write(bed.dir.path().join("new"), "new").unwrap();
            fs::rename(bed.dir.path().join("new"), bed.dir.path().join("file")).unwrap();
            drop(guard);
            let guard = waiter.join().unwrap().unwrap();
            let new = File::open(bed.dir.path().join("file")).unwrap();
            assert!(matches!(new.try_lock(), Err(std::fs::TryLockError::WouldBlock)));
            drop(guard);
        });
    }

    #[test]
    fn a_renewed_guard_locks_the_current_file() {
        let bed = LockBed::new();
        let path = bed.path("none yet");
        let mut guard = bed.locks.acquire(&path, &never).unwrap();
        fs::write(bed.dir.path().join("none yet"), "").unwrap();
        let new = File::open(bed.dir.path().join("none yet")).unwrap();
        new.try_lock().unwrap();
        new.unlock().unwrap();
        guard.renew(&never).unwrap();
        assert!(matches!(new.try_lock(), Err(std::fs::TryLockError::WouldBlock)));
    }

    #[test]
    fn a_lock_of_another_program_is_waited_for_and_its_holder_is_named() {
        let bed = LockBed::new();
        let theirs = File::open(bed.dir.path().join("file")).unwrap();
        theirs.lock_shared().unwrap();
        let impatient = bed.locks.waiting_at_most(Duration::from_millis(20));
        let busy = impatient.acquire(&bed.path("file"), &never).unwrap_err().to_string();
        let path = path_to_text(bed.path("file").absolute()).into_owned();
        assert!(
            busy.starts_with(&format!("`{path}` has been locked by another process")),
            "{busy}"
        );
        if cfg!(target_os = "linux")
            && fs::read_to_string("/proc/locks").is_ok_and(|it| !it.is_empty())
        {
            let id = std::process::id();
            assert!(busy.contains(&format!("({id}, `")), "{busy}");
        }
        let asked = AtomicBool::new(false);
        let given_up =
            bed.locks.acquire(&bed.path("file"), &|| asked.swap(true, Ordering::Relaxed));
        assert!(matches!(given_up, Err(LockError::Cancelled(_))), "{given_up:?}");
        drop(theirs);
        drop(bed.locks.acquire(&bed.path("file"), &never).unwrap());
    }
}
