//! The sessions of agents. A session opens when its agent starts. It closes when the agent ends,
//! together with the sessions of the agents it started.

use std::{collections::HashMap, sync::Arc};

use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;
use toolwright_base::{ErrorKind, PermissionMode, PlanMode, ToolError};
use toolwright_core::{ChildSession, Session, SessionControl, Sessions, is_agent_id};
use toolwright_policy::CurrentPolicy;

/// The open sessions of agents, with the policy and the state they depend on.
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

    /// The token that ends the calls of a session, if it belongs to an agent. An error if that agent
    /// has ended: otherwise its session would count as one of the host's, with more rights.
    pub(super) fn closing(&self, session_id: &str) -> Result<Option<CancellationToken>, ToolError> {
        if !is_agent_id(session_id) {
            return Ok(None);
        }
        let closed = self.open.lock().get(session_id).map(|it| it.closed.clone());
        closed.map(Some).ok_or_else(|| {
            let message =
                format!("agent `{session_id}` has ended, and its conversation takes no more calls");
            ToolError::new(ErrorKind::Agent, message)
        })
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
        let mut open = self.open.lock();
        // If the parent was closed in this moment, the new session accepts no calls.
        if !is_agent_id(&parent_id) || open.contains_key(&parent_id) {
            self.policy.add_child(&id, &parent_id, mode);
            open.insert(id, OpenChild { parent_id, closed: CancellationToken::new() });
        }
        session
    }

    fn close_child(&self, session_id: &str) {
        let mut open = self.open.lock();
        let mut closing = vec![session_id.to_owned()];
        // Without its parent's policy a session would be allowed more, so the sessions below are closed
        // with it.
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
        if !self.open.lock().contains_key(session_id) {
            self.sessions.forget(session_id);
            if let Some(mail) = self.sessions.shared().mail.started() {
                mail.forget(session_id);
            }
        }
    }
}
