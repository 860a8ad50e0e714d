//! Processes that a test can tell from those of all others: each has a number in its command line that
//! nobody else uses, for example `sleep 90012345001`.

use std::{
    fs, process,
    sync::atomic::{AtomicU32, Ordering},
};

/// What [`alive`] gives when all processes of a test are gone.
pub(crate) const NOBODY: Vec<String> = Vec::new();

/// A number that makes a `sleep` one of this test alone.
pub(crate) fn marker() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    format!("9{:07}{:03}", process::id(), COUNT.fetch_add(1, Ordering::Relaxed))
}

/// The command lines with a marker in them. A process that has ended has none, even if nobody took note of
/// its end yet.
pub(crate) fn alive(marker: &str) -> Vec<String> {
    fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| fs::read(entry.unwrap().path().join("cmdline")).ok())
        .map(|line| String::from_utf8_lossy(&line).replace('\0', " "))
        .filter(|line| line.contains(marker))
        .collect()
}
