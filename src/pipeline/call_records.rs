//! What is told of calls while they happen: when one starts, what policy decides and why, when a person is
//! asked, and how it ends. The last calls are kept.
//!
//! Nothing is recorded until somebody watches, and then for as long as the registry lives: a call that nobody
//! watches costs one look at whether somebody does.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use schemars::JsonSchema;
use serde::Serialize;

use super::call_input_text::{one_line, shown_input};
use crate::{
    confirm::RequestOutcome,
    error::ErrorKind,
    policy::{Action, Decision},
    session::DEFAULT_SESSION,
    tool::ToolOutput,
};

use super::{CallOptions, Pipeline, ToolCall};

/// How many calls are kept.
pub const MAX_KEPT_CALLS: usize = 500;

/// One call as it is told.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CallRecord {
    /// The number of the call since somebody watches, from 1.
    pub number: u64,
    /// The id of the call.
    pub tool_use_id: String,
    /// The session to which it belongs.
    pub session_id: String,
    /// The name of the tool.
    pub tool: String,
    /// The input as text for a person: JSON, cut after 2 KB.
    pub input: String,
    /// When it started, in milliseconds since 1970.
    pub started_at: u64,
    /// Where it is, or how it ended.
    pub status: CallStatus,
    /// How long it took, in milliseconds, without the time in which a person was asked; once it has ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<f64>,
    /// What was decided about it, once that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<RecordedDecision>,
    /// Why it failed, if it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub error_type: Option<ErrorKind>,
}

/// Where a call is, or how it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CallStatus {
    /// It is prepared, judged or run.
    Running,
    /// A person is asked about it.
    Waiting,
    /// It has a result.
    Succeeded,
    /// It has an error.
    Failed,
    /// Policy, a hook or a person refused it, or nobody answered.
    Refused,
    /// It was ended before it had a result.
    Cancelled,
}

/// What was decided about a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RecordedDecision {
    /// What policy and hooks say.
    pub action: Action,
    /// Why, in one line that names the rule or the mode.
    pub reason: String,
    /// How the request to a person ended, if one was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked: Option<RequestOutcome>,
}

type CallWatcher = Box<dyn Fn(&CallRecord) + Send + Sync>;

/// The calls of a registry since somebody watches.
#[derive(Default)]
pub struct CallRecords {
    /// Hears every change of a record. It must not block.
    watcher: OnceLock<CallWatcher>,
    kept: Mutex<KeptCalls>,
}

#[derive(Default)]
struct KeptCalls {
    last: u64,
    calls: VecDeque<Arc<Mutex<CallState>>>,
}

struct CallState {
    record: CallRecord,
    started: Instant,
    waiting_since: Option<Instant>,
    waited: Duration,
}

/// A call that is recorded. One that is dropped before its end was cancelled.
pub(super) struct RecordedCall<'a> {
    watcher: &'a CallWatcher,
    state: Arc<Mutex<CallState>>,
}

impl CallRecords {
    /// Has a function hear every call from now on: when it starts, when it changes and when it ends. The first
    /// one stays; there is one log of events for all who read it.
    pub fn watch(&self, watcher: impl Fn(&CallRecord) + Send + Sync + 'static) {
        // Fails only for a second watcher.
        let _ = self.watcher.set(Box::new(watcher));
    }

    /// The last calls, oldest first.
    pub fn last(&self) -> Vec<CallRecord> {
        let calls: Vec<_> = self.kept().calls.iter().cloned().collect();
        calls.iter().map(|it| lock(it).record.clone()).collect()
    }

    fn begin(&self, watcher: &CallWatcher, mut record: CallRecord) -> Arc<Mutex<CallState>> {
        let mut kept = self.kept();
        kept.last += 1;
        record.number = kept.last;
        // Under the lock, so that calls are told in the order of their numbers.
        watcher(&record);
        let state = Arc::new(Mutex::new(CallState {
            record,
            started: Instant::now(),
            waiting_since: None,
            waited: Duration::ZERO,
        }));
        kept.calls.push_back(Arc::clone(&state));
        if kept.calls.len() > MAX_KEPT_CALLS {
            kept.calls.pop_front();
        }
        state
    }

    fn kept(&self) -> MutexGuard<'_, KeptCalls> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pipeline {
    /// Takes note of a call that begins, if somebody watches.
    pub(super) fn recorded(
        &self,
        call: &ToolCall,
        options: &mut CallOptions,
    ) -> Option<RecordedCall<'_>> {
        let watcher = self.records.watcher.get()?;
        let tools = self.registry.snapshot();
        let tool = tools.find_called(&call.name).map_or(&call.name, |it| &it.tool.spec().name);
        let tool_use_id = options.tool_use_id.get_or_insert_with(|| self.next_call_id());
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let record = CallRecord {
            number: 0,
            tool_use_id: one_line(tool_use_id),
            session_id: one_line(options.session_id.as_deref().unwrap_or(DEFAULT_SESSION)),
            tool: one_line(tool),
            input: shown_input(&call.input),
            started_at: u64::try_from(since.as_millis()).unwrap_or(u64::MAX),
            status: CallStatus::Running,
            duration_ms: None,
            decision: None,
            error_type: None,
        };
        let state = self.records.begin(watcher, record);
        Some(RecordedCall { watcher, state })
    }
}

impl RecordedCall<'_> {
    /// Takes note of what policy and hooks say. Judging again, with the same result, is nothing new.
    pub(super) fn decided(&self, decision: &Decision, reason: &str) {
        let action = decision.action();
        let reason = one_line(reason);
        self.change(|it| {
            let before = it.record.decision.as_ref();
            if before.is_some_and(|it| it.action == action && it.reason == reason) {
                return false;
            }
            let asked = before.and_then(|it| it.asked);
            it.record.decision = Some(RecordedDecision { action, reason, asked });
            true
        });
    }

    /// Takes note that a person is asked.
    pub(super) fn waits(&self) {
        self.change(|it| {
            it.record.status = CallStatus::Waiting;
            it.waiting_since = Some(Instant::now());
            true
        });
    }

    /// Takes note that nobody is asked any more, and how that ended.
    pub(super) fn answered(&self, asked: Option<RequestOutcome>) {
        self.change(|it| {
            it.record.status = CallStatus::Running;
            it.stop_waiting(asked);
            true
        });
    }

    /// Takes note of the end.
    pub(super) fn end(&self, output: &ToolOutput) {
        let Some(error) = &output.error else {
            self.finish(CallStatus::Succeeded, None, None);
            return;
        };
        let (status, decides) = match error.kind {
            ErrorKind::Cancelled | ErrorKind::RegistryClosed => (CallStatus::Cancelled, false),
            ErrorKind::PolicyDenied | ErrorKind::ConfirmationTimeout => {
                (CallStatus::Refused, false)
            }
            ErrorKind::HookBlocked | ErrorKind::ToolDisabled => (CallStatus::Refused, true),
            _ => (CallStatus::Failed, false),
        };
        let reason = error.details.as_ref().map_or(&error.message, |it| &it.reason);
        self.finish(status, Some(error.kind), decides.then_some(reason));
    }

    /// Records the end. What refused the call may have been something that policy does not know of.
    fn finish(&self, status: CallStatus, error: Option<ErrorKind>, refused_by: Option<&String>) {
        self.change(|it| {
            if it.record.duration_ms.is_some() {
                return false;
            }
            if it.waiting_since.is_some() {
                it.stop_waiting(Some(RequestOutcome::Cancelled));
            }
            if let Some(reason) = refused_by {
                let asked = it.record.decision.as_ref().and_then(|it| it.asked);
                let (action, reason) = (Action::Deny, one_line(reason));
                it.record.decision = Some(RecordedDecision { action, reason, asked });
            }
            let took = it.started.elapsed().saturating_sub(it.waited);
            it.record.duration_ms = Some((took.as_secs_f64() * 1e6).round() / 1e3);
            it.record.status = status;
            it.record.error_type = error;
            true
        });
    }

    /// Changes the record and tells of it, unless nothing changed. Told under the lock, so that the changes of
    /// a call are told in order.
    fn change(&self, change: impl FnOnce(&mut CallState) -> bool) {
        let mut state = lock(&self.state);
        if change(&mut state) {
            (self.watcher)(&state.record);
        }
    }
}

impl Drop for RecordedCall<'_> {
    fn drop(&mut self) {
        self.finish(CallStatus::Cancelled, Some(ErrorKind::Cancelled), None);
    }
}

impl CallState {
    fn stop_waiting(&mut self, asked: Option<RequestOutcome>) {
        if let Some(since) = self.waiting_since.take() {
            self.waited += since.elapsed();
        }
        if let Some(decision) = &mut self.record.decision {
            decision.asked = asked.or(decision.asked);
        }
    }
}

fn lock(state: &Mutex<CallState>) -> MutexGuard<'_, CallState> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}
