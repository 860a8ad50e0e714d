//! What tools may do to conversations, beside their own work: leave plan mode, and open a conversation for an
//! agent. Only the pipeline can do it, because rights and conversations are kept above this layer.

use std::{fmt::Debug, sync::Arc};

use super::PermissionMode;
use crate::session::Session;

/// Whether a conversation is in plan mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlanMode {
    /// It is not.
    Off,
    /// It is, and it may leave it.
    Own,
    /// The conversation that started the agent is, so the agent cannot leave it.
    OfParent,
}

/// The conversation of an agent, to be opened.
#[derive(Clone, Debug)]
pub struct ChildSession {
    /// The id of the new conversation.
    pub id: String,
    /// The conversation that starts the agent. The new one never has more rights than this one.
    pub parent_id: String,
    /// The mode that was asked for; without one, that of the parent.
    pub mode: Option<PermissionMode>,
}

/// Changes conversations on behalf of tools.
pub trait SessionControl: Debug + Send + Sync {
    /// Whether a conversation is in plan mode at this moment.
    fn plan_mode(&self, session_id: &str) -> PlanMode;

    /// Goes back to the mode before plan mode, and returns it. If the conversation cannot leave plan mode,
    /// the error says what it is in.
    fn leave_plan_mode(&self, session_id: &str) -> Result<PermissionMode, PlanMode>;

    /// Opens the conversation of an agent, or opens it again.
    fn open_child(&self, child: ChildSession) -> Arc<Session>;

    /// Closes the conversation of an agent: its running calls are cancelled, later ones are refused, and
    /// what people granted to it is forgotten.
    fn close_child(&self, session_id: &str);

    /// Forgets a closed conversation of an agent, which nobody can open again.
    fn forget_child(&self, session_id: &str);
}
