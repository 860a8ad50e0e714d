//! Records of calls for watchers: when a call starts, what policy decides and why, when a person is
//! asked, and how the call ends. The last calls are kept.
//!
//! Recording starts with the first watcher and then lasts as long as the registry. Before that a call
//! costs one atomic load.

use std::{
    collections::VecDeque,
    sync::{Arc, OnceLock},
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use parking_lot::Mutex;
use schemars::JsonSchema;
use serde::Serialize;
use toolwright_base::ErrorKind;
use toolwright_core::{DEFAULT_SESSION, ToolOutput};
use toolwright_policy::{Action, Decision};

use super::{
    CallOptions, Pipeline, ToolCall,
    call_input_text::{one_line, shown_input},
};
use crate::confirm::RequestOutcome;

/// How many calls are kept.
pub(crate) const MAX_KEPT_CALLS: usize = 500;

/// The record of one call.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CallRecord {
    /// The number of the call, counted from 1 since recording started.
    pub number: u64,
    /// The id of the call.
    pub tool_use_id: String,
    /// The session it belongs to.
    pub session_id: String,
    /// The name of the tool.
    pub tool: String,
    /// The input as text for a person: JSON, cut after 2 KB.
    pub input: String,
    /// When it started, in milliseconds since 1970.
    pub started_at: u64,
    /// The stage it is in, or how it ended.
    pub status: CallStatus,
    /// How long it took, in milliseconds, without the time spent waiting for a person. Set once it has
    /// ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<f64>,
    /// The decision on it, once that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<RecordedDecision>,
    /// Why it failed, if it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub error_type: Option<ErrorKind>,
}

/// The stage a call is in, or how it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CallStatus {
    /// It is being prepared, judged or run.
    Running,
    /// It waits for a confirmation.
    Waiting,
    /// It has a result.
    Succeeded,
    /// It has an error.
    Failed,
    /// Policy, a hook or a person refused it, or there was no answer.
    Refused,
    /// It was cancelled before it had a result.
    Cancelled,
}

/// The decision on a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RecordedDecision {
    /// The decision of policy and hooks.
    pub action: Action,
    /// Why, in one line that names the rule or the mode.
    pub reason: String,
    /// The outcome of the confirmation request, if a person was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asked: Option<RequestOutcome>,
}

type CallWatcher = Box<dyn Fn(&CallRecord) + Send + Sync>;

/// The calls of a registry since recording started.
#[derive(Default)]
pub struct CallRecords {
    /// Receives every change of a record. It must not block.
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

/// A recorded call. If it is dropped before its end, it counts as cancelled.
pub(super) struct RecordedCall<'a> {
    watcher: &'a CallWatcher,
    state: Arc<Mutex<CallState>>,
}

impl CallRecords {
    /// Calls a function with the record of every call from now on: when it starts, changes and ends.
    /// Only the first watcher is kept, because one event log serves all readers.
    pub fn watch(&self, watcher: impl Fn(&CallRecord) + Send + Sync + 'static) {
        // Fails only for a second watcher.
        let _ = self.watcher.set(Box::new(watcher));
    }

    /// The last calls, oldest first.
    pub fn last(&self) -> Vec<CallRecord> {
        let calls: Vec<_> = self.kept.lock().calls.iter().cloned().collect();
        calls.iter().map(|it| it.lock().record.clone()).collect()
    }

    fn begin(&self, watcher: &CallWatcher, mut record: CallRecord) -> Arc<Mutex<CallState>> {
        let mut kept = self.kept.lock();
        kept.last += 1;
        record.number = kept.last;
        // Under the lock, so that calls are reported in the order of their numbers.
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
}

impl Pipeline {
    /// Records the start of a call, if there is a watcher.
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
    /// Records the decision of policy and hooks. Judging again with the same result changes nothing.
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

    /// Records that a person is being asked.
    pub(super) fn waits(&self) {
        self.change(|it| {
            it.record.status = CallStatus::Waiting;
            it.waiting_since = Some(Instant::now());
            true
        });
    }

    /// Records that the question has ended, and how.
    pub(super) fn answered(&self, asked: Option<RequestOutcome>) {
        self.change(|it| {
            it.record.status = CallStatus::Running;
            it.stop_waiting(asked);
            true
        });
    }

    /// Records the end of the call.
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

    /// Records the end. `refused_by` is a reason that is not from policy.
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

    /// Changes the record and reports it, unless nothing changed. It is reported under the lock, so
    /// that the changes of a call arrive in order.
    fn change(&self, change: impl FnOnce(&mut CallState) -> bool) {
        let mut state = self.state.lock();
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
