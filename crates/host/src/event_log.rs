//! The last events of a registry, in order and numbered without gaps.
//!
//! The log keeps the events, and a reader only its position. So a slow reader costs nothing, and a reader that
//! returns too late learns how many events it missed.

use std::{
    collections::VecDeque,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use parking_lot::Mutex;
use serde::Serialize;
use tokio::sync::watch;
use uuid::Uuid;

/// The maximum number of kept events.
const MAX_EVENTS: usize = 4_096;
/// The maximum size of the kept events.
const MAX_BYTES: usize = 4 * 1024 * 1024;
/// The maximum number of readers at the same time.
const MAX_READERS: usize = 64;

/// One event.
#[derive(Clone, Debug)]
pub struct LoggedEvent {
    /// Its number in the log, from 1, without gaps.
    pub number: u64,
    /// Its subject.
    pub kind: LoggedKind,
    /// Its data, as JSON.
    pub data: Arc<str>,
}

/// The subject of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoggedKind {
    /// A call started, was decided, waits for a person or ended.
    Call,
    /// A background task started or ended.
    Task,
    /// A confirmation request was made or settled.
    Confirmation,
    /// The list of tools changed.
    Tools,
}

impl LoggedKind {
    /// The name of the event.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Call => "call",
            Self::Task => "task",
            Self::Confirmation => "confirmation",
            Self::Tools => "tools",
        }
    }
}

/// The events after a position.
#[derive(Debug, Default)]
pub struct LogPart {
    /// How many events between the position and the first of these were dropped.
    pub missed: u64,
    /// The events.
    pub events: Vec<LoggedEvent>,
}

/// The last events of a registry.
#[derive(Debug)]
pub struct EventLog {
    /// Part of the ids of events. Distinguishes this log from that of another registry or process.
    name: String,
    kept: Mutex<KeptEvents>,
    last: watch::Sender<u64>,
    readers: AtomicUsize,
}

#[derive(Debug, Default)]
struct KeptEvents {
    last: u64,
    bytes: usize,
    events: VecDeque<LoggedEvent>,
    /// The last logged generation of the list of tools.
    tools: u64,
}

impl EventLog {
    /// An empty log. `tools` is the current generation of the list of tools.
    pub(super) fn new(tools: u64) -> Self {
        let mut name = Uuid::new_v4().simple().to_string();
        name.truncate(8);
        Self {
            name,
            kept: Mutex::new(KeptEvents { tools, ..KeptEvents::default() }),
            last: watch::Sender::new(0),
            readers: AtomicUsize::new(0),
        }
    }

    /// Adds an event. An event that cannot be serialized is dropped.
    pub(super) fn add(&self, kind: LoggedKind, what: &impl Serialize) {
        if let Ok(data) = serde_json::to_string(what) {
            self.kept.lock().add(kind, data.into(), &self.last);
        }
    }

    /// Adds a change of the list of tools, unless it is already logged.
    pub fn note_tools(&self, generation: u64) {
        let mut kept = self.kept.lock();
        if generation > kept.tools {
            kept.tools = generation;
            let data = serde_json::json!({ "generation": generation }).to_string();
            kept.add(LoggedKind::Tools, data.into(), &self.last);
        }
    }

    /// The number of the last event.
    pub fn last(&self) -> u64 {
        self.kept.lock().last
    }

    /// The number of the last event, to wait for the next one.
    pub fn watch(&self) -> watch::Receiver<u64> {
        self.last.subscribe()
    }

    /// The events after a position, up to this size, but at least one if there is any.
    pub fn after(&self, position: u64, max_bytes: usize) -> LogPart {
        let kept = self.kept.lock();
        let first = kept.last + 1 - kept.events.len() as u64;
        let next = position + 1;
        let missed = first.saturating_sub(next);
        let skipped = usize::try_from(next.saturating_sub(first)).unwrap_or(usize::MAX);
        let mut bytes = 0;
        let within = |it: &&LoggedEvent| {
            let is_first = bytes == 0;
            bytes += weight(&it.data);
            is_first || bytes <= max_bytes
        };
        let events = kept.events.iter().skip(skipped).take_while(within).cloned().collect();
        LogPart { missed, events }
    }

    /// The id of an event or position, with which a client can resume.
    pub fn id(&self, number: u64) -> String {
        format!("{}-{number}", self.name)
    }

    /// The position of an id, or `None` for the id of another log.
    pub fn position(&self, id: &str) -> Option<u64> {
        let (name, number) = id.trim().rsplit_once('-')?;
        let number = number.parse().ok()?;
        (name == self.name && number <= self.last()).then_some(number)
    }

    /// Adds a reader until the value is dropped. Returns `None` if there are too many.
    pub fn join(self: &Arc<Self>) -> Option<LogReader> {
        let joined = self.readers.fetch_update(Ordering::AcqRel, Ordering::Acquire, |it| {
            (it < MAX_READERS).then_some(it + 1)
        });
        joined.ok().map(|_| LogReader(Arc::clone(self)))
    }
}

impl KeptEvents {
    fn add(&mut self, kind: LoggedKind, data: Arc<str>, newest: &watch::Sender<u64>) {
        self.last += 1;
        self.bytes += weight(&data);
        self.events.push_back(LoggedEvent { number: self.last, kind, data });
        while self.events.len() > MAX_EVENTS || self.bytes > MAX_BYTES {
            let Some(oldest) = self.events.pop_front() else { break };
            self.bytes -= weight(&oldest.data);
        }
        // Sent under the lock, so that the number never decreases.
        newest.send_replace(self.last);
    }
}

/// The size of an event: its data and an estimate of the overhead.
const fn weight(data: &str) -> usize {
    data.len() + 64
}

/// A reader of a log.
#[derive(Debug)]
pub struct LogReader(Arc<EventLog>);

impl LogReader {
    /// The log.
    pub fn log(&self) -> &EventLog {
        &self.0
    }
}

impl Drop for LogReader {
    fn drop(&mut self) {
        self.0.readers.fetch_sub(1, Ordering::AcqRel);
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]
mod tests {
    use super::*;

    fn numbers(part: &LogPart) -> Vec<u64> {
        part.events.iter().map(|it| it.number).collect()
    }

    #[test]
    fn a_reader_gets_every_event_once_and_in_order() {
        let log = EventLog::new(0);
        for number in 1..=10 {
            log.add(LoggedKind::Call, &number);
        }
        let part = log.after(3, usize::MAX);
        assert_eq!((part.missed, numbers(&part)), (0, (4..=10).collect()));
        assert_eq!(&*part.events[0].data, "4");
        assert_eq!(numbers(&log.after(3, 1)), [4]);
        assert_eq!(numbers(&log.after(3, 2 * weight("4"))), [4, 5]);
        assert!(log.after(10, 1).events.is_empty());
    }

    #[test]
    fn the_log_is_limited_and_late_readers_learn_how_much_they_missed() {
        let log = EventLog::new(0);
        for number in 0..10_000 {
            log.add(LoggedKind::Call, &number);
        }
        let part = log.after(100, usize::MAX);
        assert_eq!(part.missed, 10_000 - 4_096 - 100);
        assert_eq!(numbers(&part), (5_905..=10_000).collect::<Vec<_>>());
        for _ in 0..100 {
            log.add(LoggedKind::Task, &"x".repeat(100_000));
        }
        assert!(log.kept.lock().bytes <= MAX_BYTES && log.kept.lock().events.len() == 41);
        log.add(LoggedKind::Task, &"x".repeat(MAX_BYTES));
        let part = log.after(10_100, usize::MAX);
        assert_eq!((part.missed, numbers(&part), log.last()), (1, Vec::new(), 10_101));
        assert_eq!(log.kept.lock().bytes, 0);
    }

    #[test]
    fn an_id_gives_its_position_and_ids_of_other_logs_do_not() {
        let (log, other) = (EventLog::new(0), EventLog::new(0));
        for log in [&log, &other] {
            log.add(LoggedKind::Call, &1);
        }
        assert_eq!(log.position(&log.id(1)), Some(1));
        for id in [&log.id(2), &other.id(1), "", "1", "-1", "x", &format!("{}x", log.id(1))] {
            assert_eq!(log.position(id), None, "{id}");
        }
    }

    #[test]
    fn a_change_of_the_tools_is_logged_once() {
        let log = EventLog::new(5);
        for generation in [5, 6, 6, 8, 7] {
            log.note_tools(generation);
        }
        let data: Vec<_> =
            log.after(0, usize::MAX).events.iter().map(|it| it.data.to_string()).collect();
        assert_eq!(data, [r#"{"generation":6}"#, r#"{"generation":8}"#]);
    }

    #[test]
    fn the_number_of_readers_is_limited() {
        let log = Arc::new(EventLog::new(0));
        let mut readers: Vec<_> = (0..MAX_READERS).map(|_| log.join().unwrap()).collect();
        assert!(log.join().is_none());
        readers.pop();
        assert!(log.join().is_some());
    }
}
