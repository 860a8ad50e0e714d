//! What lasts longer than a call: the workspace a registry works in, and each conversation in it.
//!
//! Settings of the outside world (environment, current directory) enter the crate here and nowhere
//! else.

mod ledger;
mod sessions;
mod undo;

pub use ledger::{ContentHash, ReadLedger};
pub use sessions::{Session, Sessions};
pub use undo::{Change, UndoLog};
