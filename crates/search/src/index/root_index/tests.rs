//! What the status of an index says, and when.
#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::{fs, time::SystemTime};

use pretty_assertions::assert_eq;
use tempfile::TempDir;

use super::*;
use crate::index::IndexMode;

/// An index of a directory with some files, which is being built.
fn begun(files: &[(&str, &str)], max_memory: usize) -> (TempDir, Arc<RootIndex>) {
    let dir = TempDir::new().unwrap();
    for (name, text) in files {
        fs::write(dir.path().join(name), text).unwrap();
    }
    let settings = IndexSettings { mode: IndexMode::On, max_memory };
    let root = dir.path().canonicalize().unwrap();
    let index = Arc::new(RootIndex::new(root, None, settings));
    index.want();
    (dir, index)
}

fn until(index: &RootIndex, holds: impl Fn(&IndexStatus) -> bool) -> IndexStatus {
    loop {
        let status = index.status();
        if holds(&status) {
            return status;
        }
        thread::yield_now();
    }
}

fn until_settled(index: &RootIndex) -> IndexStatus {
    until(index, |it| it.phase != IndexPhase::Building)
}

#[test]
fn a_status_that_cannot_wait_is_as_new_as_the_last_change() {
    let (dir, index) = begun(&[("a", "text")], IndexSettings::DEFAULT_MAX_MEMORY);
    assert_eq!(until_settled(&index).phase, IndexPhase::Warm);
    fs::write(dir.path().join("b"), "text").unwrap();
    index.ask(|_| Ok(())).unwrap();
    let locked = index.state.lock();
    assert_eq!(index.status().files, 2);
    drop(locked);
    until_settled(&index);
    let mut locked = index.state.lock();
    index.lose_track(&mut locked, WhyCold::QueueOverflow);
    let status = index.status();
    assert_eq!((status.phase, status.files), (IndexPhase::Building, 0));
    drop(locked);
    let status = until_settled(&index);
    assert_eq!((status.phase, status.files, status.learned), (IndexPhase::Warm, 2, 2));
    let mut locked = index.state.lock();
    index.lose_track(&mut locked, WhyCold::RootMoved);
    assert_eq!(index.status().phase, IndexPhase::Cold);
    drop(locked);
    index.close();
}

#[test]
fn files_that_were_handed_out_when_changes_were_lost_are_learned() {
    let (_dir, index) = begun(&[("a", "text"), ("b", "text")], IndexSettings::DEFAULT_MAX_MEMORY);
    until_settled(&index);
    // The learner gets both files again, and then changes are lost.
    let mut locked = index.state.lock();
    let IndexStage::Ready(ready) = &mut locked.stage else { panic!("it is not ready") };
    ready.number_by(GramNumbers::default());
    let mut files = Vec::new();
    ready.next_files(&mut files);
    assert_eq!(files.len(), 2);
    index.lose_track(&mut locked, WhyCold::QueueOverflow);
    drop(locked);
    let status = until_settled(&index);
    assert_eq!((status.phase, status.learned), (IndexPhase::Warm, 2));
    index.close();
}

#[test]
fn an_index_that_has_learned_nothing_is_not_warm() {
    let large = "large\n".repeat(300_000);
    let (dir, index) = begun(&[("large", &large)], IndexSettings::DEFAULT_MAX_MEMORY);
    // The learner has put it off, because it may still be written.
    let put_off = |index: &RootIndex| index.with_ready(|it| it.put_off).unwrap_or_default();
    until(&index, |_| put_off(&index) == 1);
    assert_eq!(index.status().phase, IndexPhase::Building);
    let file = File::options().write(true).open(dir.path().join("large")).unwrap();
    file.set_modified(SystemTime::UNIX_EPOCH).unwrap();
    index.ask(|_| Ok(())).unwrap();
    let status = until_settled(&index);
    assert_eq!((status.phase, status.learned), (IndexPhase::Warm, 1));
    index.close();
}

#[test]
fn an_index_without_room_for_any_file_is_cold() {
    let (dir, index) = begun(&[("a", "text")], IndexSettings::DEFAULT_MAX_MEMORY);
    until_settled(&index);
    let least = index.with_ready(|it| it.tree.memory()).unwrap();
    index.close();
    let settings = IndexSettings { mode: IndexMode::On, max_memory: least + 1 };
    let index = Arc::new(RootIndex::new(dir.path().canonicalize().unwrap(), None, settings));
    index.want();
    let status = until_settled(&index);
    assert_eq!((status.phase, status.files, status.learned), (IndexPhase::Cold, 1, 0));
    assert_eq!(status.why_cold, Some(WhyCold::OverBudget.to_string()));
    index.close();
}
