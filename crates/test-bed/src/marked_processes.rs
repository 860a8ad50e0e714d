//! Recognises the processes of a test by a unique number in their command line, for example `sleep
//! 90012345001`.

use std::{
    fs, process,
    sync::atomic::{AtomicU32, Ordering},
};

/// The result of [`alive`] when all processes of a test have ended.
pub const NONE_ALIVE: Vec<String> = Vec::new();

/// A number that is unique to this test.
pub fn marker() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    format!("9{:07}{:03}", process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
}

/// The command lines that contain a marker. An ended process has none, even if it was not reaped
/// yet.
pub fn alive(marker: &str) -> Vec<String> {
    fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| fs::read(entry.unwrap().path().join("cmdline")).ok())
        .map(|line| String::from_utf8_lossy(&line).replace('\0', " "))
        .filter(|line| line.contains(marker))
        .collect()
}
