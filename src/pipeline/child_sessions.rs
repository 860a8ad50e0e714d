//! The sessions of agents: opened when an agent starts, closed with everything below them when it ends.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio_util::sync::CancellationToken;

use crate::{
    agents::is_agent_id,
    error::{ErrorKind, ToolError},
    policy::CurrentPolicy,
    session::{Session, Sessions},
    tool::{ChildSession, PermissionMode, PlanMode, SessionControl},
};

/// The open sessions of agents, and what keeps their rights and their state.
#[derive(Debug)]
pub(super) struct ChildSessions {
    policy: Arc<CurrentPolicy>,
    sessions: Arc<Sessions>,
    open: Mutex<HashMap<String, OpenChild>>,
}

#[derive(Debug)]
struct OpenChild {
    parent_id: String,
    /// Cancelled when the session is closed, which ends its calls.
    closed: CancellationToken,
}

impl ChildSessions {
    pub(super) fn new(policy: Arc<CurrentPolicy>, sessions: Arc<Sessions>) -> Self {
        Self { policy, sessions, open: Mutex::default() }
    }

    /// The token that ends the calls of a session, if it is the session of an agent. An error if that agent
    /// has ended: its session would otherwise be one like those of the host, with more rights.
    pub(super) fn closing(&self, session_id: &str) -> Result<Option<CancellationToken>, ToolError> {
        if !is_agent_id(session_id) {
            return Ok(None);
        }
        let closed = self.lock().get(session_id).map(|it| it.closed.clone());
        closed.map(Some).ok_or_else(|| {
            let message =
                format!("agent `{session_id}` has ended, and its conversation takes no more calls");
            ToolError::new(ErrorKind::Agent, message)
        })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, OpenChild>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SessionControl for ChildSessions {
    fn plan_mode(&self, session_id: &str) -> PlanMode {
        self.policy.plan_mode(session_id)
    }

    fn leave_plan_mode(&self, session_id: &str) -> Result<PermissionMode, PlanMode> {
        self.policy.leave_plan_mode(session_id)
    }

    fn open_child(&self, child: ChildSession) -> Arc<Session> {
        let ChildSession { id, parent_id, mode } = child;
        let session = self.sessions.get_or_start(&id);
        let mut open = self.lock();
        // A parent that was closed in this moment leaves a session that takes no calls.
        if !is_agent_id(&parent_id) || open.contains_key(&parent_id) {
            self.policy.add_child(&id, &parent_id, mode);
            open.insert(id, OpenChild { parent_id, closed: CancellationToken::new() });
        }
        session
    }

    fn close_child(&self, session_id: &str) {
        let mut open = self.lock();
        let mut closing = vec![session_id.to_owned()];
        // A policy without its parent's would allow more, so the sessions below go with their parent.
        while let Some(id) = closing.pop() {
            if let Some(child) = open.remove(&id) {
                child.closed.cancel();
            }
            self.policy.remove_child(&id);
            let below = open.iter().filter(|(_, it)| it.parent_id == id);
            closing.extend(below.map(|(id, _)| id.clone()));
        }
    }

    fn forget_child(&self, session_id: &str) {
        if !self.lock().contains_key(session_id) {
            self.sessions.forget(session_id);
            self.sessions.teams().end_led_by(session_id);
        }
    }
}
