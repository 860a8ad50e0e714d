//! The operations on conversations that tools may use besides their own work: leave plan mode, and open
//! a conversation for an agent. Only the pipeline implements them, because it owns rights and
//! conversations.

use std::{fmt::Debug, sync::Arc};

use toolwright_base::{PermissionMode, PlanMode};

use crate::session::Session;

/// The conversation of an agent that is to be opened.
#[derive(Clone, Debug)]
pub struct ChildSession {
    /// The id of the new conversation.
    pub id: String,
    /// The conversation that starts the agent. The new one never has more rights than this one.
    pub parent_id: String,
    /// The requested mode; without one, the parent's mode applies.
    pub mode: Option<PermissionMode>,
}

/// Changes conversations on behalf of tools.
pub trait SessionControl: Debug + Send + Sync {
    /// Whether a conversation is in plan mode at this moment.
    fn plan_mode(&self, session_id: &str) -> PlanMode;

    /// Returns to the mode before plan mode. An error if the conversation cannot leave plan mode, with
    /// its plan mode.
    fn leave_plan_mode(&self, session_id: &str) -> Result<PermissionMode, PlanMode>;

    /// Opens the conversation of an agent, or opens it again.
    fn open_child(&self, child: ChildSession) -> Arc<Session>;

    /// Closes the conversation of an agent: its running calls are cancelled, later calls are refused,
    /// and grants to it are dropped.
    fn close_child(&self, session_id: &str);

    /// Removes the state of an agent's closed conversation, which cannot be reopened.
    fn forget_child(&self, session_id: &str);
}
