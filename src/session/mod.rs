//! What lasts longer than a call: the workspace a registry works in, and each conversation in it.
//!
//! A [`Session`] is one conversation; [`SharedState`] is what all conversations of a registry have in
//! common; [`Sessions`] finds them by id. Settings of the outside world (environment, current directory)
//! enter the crate here and nowhere else.

mod conversation;
mod environment;
mod ledger;
mod seen_texts;
mod sessions;
mod shared_state;
mod shell_state;
mod shell_variables;
mod undo_log;
mod user_directories;

pub use conversation::Session;
pub use environment::{Environment, EnvironmentRules};
pub(crate) use ledger::ContentHash;
pub use ledger::ReadLedger;
pub(crate) use seen_texts::SeenTexts;
pub use sessions::Sessions;
pub use shared_state::{DEFAULT_SESSION, MCP_SESSION, ReadBeforeWrite, SharedState};
pub(crate) use shell_state::ShellState;
pub(crate) use undo_log::{Change, UndoLog};
pub(crate) use user_directories::configuration_directory;
pub use user_directories::{data_directory, home_directory};
