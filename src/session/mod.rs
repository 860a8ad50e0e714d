//! What lasts longer than a call: the workspace a registry works in, and each conversation in it.
//!
//! Settings of the outside world (environment, current directory) enter the crate here and nowhere
//! else.

mod environment;
mod ledger;
mod policy_files;
mod seen_texts;
mod sessions;
mod shell_state;
mod shell_variables;
mod undo;

pub use environment::{Environment, EnvironmentRules};
pub use ledger::{ContentHash, ReadLedger};
pub use policy_files::{home_directory, project_policy_file, read_policy_file, user_policy_file};
pub use seen_texts::SeenTexts;
pub use sessions::{ReadBeforeWrite, Session, Sessions};
pub use shell_state::ShellState;
pub use undo::{Change, UndoLog};
