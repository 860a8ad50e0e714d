//! Watches a plugin directory and calls back when its files change.

use std::{
    path::{Path, PathBuf},
    sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    thread,
    time::{Duration, Instant},
};

use notify::{
    Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _,
    event::{AccessKind, AccessMode},
};

/// How long the directory must be quiet before a change is reported, because editors write a file in several
/// steps.
const QUIET: Duration = Duration::from_millis(150);
/// The longest delay of a report if the directory is never quiet.
const MAX_DELAY: Duration = Duration::from_secs(2);

/// A watch on a directory. It ends when this is dropped.
pub struct PluginWatch(Sender<Signal>);

enum Signal {
    Changed,
    Stop,
}

impl PluginWatch {
    /// Calls `changed` after every change of a directory, which need not exist yet. Fails if it cannot be
    /// watched.
    pub fn start(directory: PathBuf, changed: impl Fn() + Send + 'static) -> Result<Self, String> {
        let (sender, receiver) = channel();
        let events = sender.clone();
        let watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
            // An error means that events may be lost, so it counts as a change.
            if event.map_or(true, |it| is_change(it.kind)) {
                // Fails only after the watch has ended.
                let _ = events.send(Signal::Changed);
            }
        });
        let watcher = watcher.map_err(|err| err.to_string())?;
        let mut place = DirectoryWatch { directory, watcher, watched: None };
        place.follow()?;
        thread::Builder::new()
            .name("toolwright-plugins".to_owned())
            .spawn(move || watch(place, &receiver, &changed))
            .map_err(|err| err.to_string())?;
        Ok(Self(sender))
    }
}

impl Drop for PluginWatch {
    fn drop(&mut self) {
        // The thread may have ended already.
        let _ = self.0.send(Signal::Stop);
    }
}

fn watch(mut place: DirectoryWatch, signals: &Receiver<Signal>, changed: &dyn Fn()) {
    while let Ok(Signal::Changed) = signals.recv() {
        let until = Instant::now() + MAX_DELAY;
        loop {
            match signals.recv_timeout(QUIET) {
                Ok(Signal::Changed) if Instant::now() < until => {}
                Ok(Signal::Changed) | Err(RecvTimeoutError::Timeout) => break,
                Ok(Signal::Stop) | Err(RecvTimeoutError::Disconnected) => return,
            }
        }
        // This happens before the files are read, so that no later change is missed.
        if place.follow().is_err() {
            return;
        }
        changed();
    }
}

/// Ignores reads: a reload reads every file and must not cause another reload.
fn is_change(kind: EventKind) -> bool {
    !matches!(kind, EventKind::Access(kind) if kind != AccessKind::Close(AccessMode::Write))
}

/// The watched directory: the plugin directory, or its nearest existing ancestor.
struct DirectoryWatch {
    directory: PathBuf,
    watcher: RecommendedWatcher,
    watched: Option<(PathBuf, Option<u64>)>,
}

impl DirectoryWatch {
    /// Moves the watch to the directory that must be watched now. A directory that was replaced by another of
    /// the same name counts as new.
    fn follow(&mut self) -> Result<(), String> {
        let mut above = self.directory.ancestors();
        let Some(place) = above.find(|it| it.is_dir()).map(Path::to_owned) else {
            return Err("no directory above it exists".to_owned());
        };
        let now = Some((place.clone(), file_number(&place)));
        if self.watched == now {
            return Ok(());
        }
        if let Some((before, _)) = self.watched.take() {
            // Fails if the directory no longer exists.
            let _ = self.watcher.unwatch(&before);
        }
        self.watcher.watch(&place, RecursiveMode::NonRecursive).map_err(|err| err.to_string())?;
        self.watched = now;
        Ok(())
    }
}

#[cfg(unix)]
fn file_number(place: &Path) -> Option<u64> {
    use std::os::unix::fs::MetadataExt as _;
    place.metadata().ok().map(|it| it.ino())
}

#[cfg(not(unix))]
fn file_number(_place: &Path) -> Option<u64> {
    None
}
