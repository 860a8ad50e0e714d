//! Fills the event log of a registry with calls, tasks and confirmation requests.

use std::sync::Arc;

use serde::Serialize;
use serde_json::{Value, json};
use toolwright_base::shortened_to_bytes;
use toolwright_pipeline::{BusEvent, BusWatch, Pipeline, RequestSpan};
use toolwright_process::TaskEvent;

use super::event_log::{EventLog, LoggedKind};

/// The maximum size of an event. A larger event is shortened; the REST lists have it in full.
const MAX_EVENT_BYTES: usize = 256 * 1024;
/// The maximum size of a text in a shortened event.
const MAX_TEXT_BYTES: usize = 2_048;
/// The maximum number of items of a list in a shortened event.
const MAX_ITEMS: usize = 50;

/// The event log of a registry. It is filled until this is dropped.
pub(super) struct RegistryEvents {
    pub(super) log: Arc<EventLog>,
    _requests: BusWatch,
}

impl RegistryEvents {
    /// Starts to record. Earlier events are not included.
    pub(super) fn of(pipeline: &Pipeline) -> Self {
        let log = Arc::new(EventLog::new(*pipeline.registry.changes().borrow()));
        let calls = Arc::clone(&log);
        pipeline.records.watch(move |record| calls.add(LoggedKind::Call, record));
        let tasks = Arc::clone(&log);
        pipeline.sessions.tasks().watch_events(move |event: &TaskEvent| {
            tasks.add(LoggedKind::Task, &event_of(json!(event)));
        });
        let requests = Arc::clone(&log);
        let requests = pipeline.confirmations.bus().watch(move |event, span| {
            let timed = TimedBusEvent { event, span };
            requests.add(LoggedKind::Confirmation, &event_of(json!(timed)));
        });
        Self { log, _requests: requests }
    }
}

fn event_of(value: Value) -> Value {
    within_bounds(value, MAX_EVENT_BYTES).0
}

/// An event of the bus, with the time span of the request.
#[derive(Serialize)]
struct TimedBusEvent<'a> {
    #[serde(flatten)]
    event: &'a BusEvent,
    #[serde(flatten)]
    span: RequestSpan,
}

/// Returns the value and its size as JSON. A value that is too large is shortened and gets `"cut": true`.
pub fn within_bounds(value: Value, max_bytes: usize) -> (Value, usize) {
    let bytes = json_len(&value);
    if bytes <= max_bytes {
        return (value, bytes);
    }
    let mut cut = shortened(&value, 0);
    if json_len(&cut) > max_bytes {
        cut = json!({ "id": cut.get("id"), "type": cut.get("type") });
    }
    if let Value::Object(fields) = &mut cut {
        fields.insert("cut".to_owned(), Value::Bool(true));
    }
    let bytes = json_len(&cut);
    (cut, bytes)
}

fn json_len(value: &Value) -> usize {
    serde_json::to_string(value).map_or(0, |it| it.len())
}

fn shortened(value: &Value, depth: usize) -> Value {
    match value {
        Value::String(text) => shortened_to_bytes(text, MAX_TEXT_BYTES).into(),
        Value::Array(_) | Value::Object(_) if depth > 8 => Value::Null,
        Value::Array(items) => {
            items.iter().take(MAX_ITEMS).map(|it| shortened(it, depth + 1)).collect()
        }
        Value::Object(fields) => Value::Object(
            fields
                .iter()
                .take(MAX_ITEMS)
                .filter(|(name, _)| name.len() <= MAX_TEXT_BYTES)
                .map(|(name, it)| (name.clone(), shortened(it, depth + 1)))
                .collect(),
        ),
        short => short.clone(),
    }
}

#[cfg(test)]
#[expect(clippy::indexing_slicing, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn an_event_that_is_too_large_is_shortened_and_marked() {
        let small = json!({ "id": "a", "details": { "input": "x".repeat(10_000) } });
        assert_eq!(event_of(small.clone()), small);
        let long = json!({ "id": "a", "details": { "input": "ü".repeat(300_000), "risk": "low" } });
        let cut = event_of(long);
        assert_eq!((&cut["id"], &cut["cut"]), (&json!("a"), &json!(true)));
        assert_eq!(cut["details"]["risk"], "low");
        assert_eq!(cut["details"]["input"], format!("{}…", "ü".repeat(MAX_TEXT_BYTES / 2 - 2)));
        let wide = json!({ "type": "request", "id": "b", "details": vec![vec![vec!["x".repeat(2_000); 50]; 50]; 50] });
        assert_eq!(event_of(wide), json!({ "id": "b", "type": "request", "cut": true }));
    }
}
