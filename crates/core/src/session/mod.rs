//! State that lasts longer than a call: the workspace of a registry, and each conversation in it.
//!
//! A [`Session`] is one conversation. [`SharedState`] is shared by all conversations of a registry.
//! [`Sessions`] finds them by id. The environment and the current directory are read only here.

mod conversation;
mod environment;
mod file_state;
mod ledger;
mod mail;
mod seen_texts;
mod sessions;
mod shared_state;
mod shell_state;
mod shell_variables;
mod stored_state;
mod undo_log;
mod user_directories;

pub use conversation::Session;
pub use environment::{Environment, EnvironmentRules};
pub use file_state::{FileState, ReadBeforeWrite};
pub(crate) use ledger::ContentHash;
pub(crate) use ledger::ReadLedger;
pub use mail::{Mail, MailSlot};
pub(crate) use seen_texts::SeenTexts;
pub use sessions::Sessions;
pub use shared_state::{DEFAULT_SESSION, MCP_SESSION, SharedState};
pub(crate) use shell_state::ShellState;
pub use stored_state::StoredState;
pub use undo_log::Change;
pub(crate) use undo_log::UndoLog;
pub use user_directories::{configuration_directory, data_directory, home_directory};
