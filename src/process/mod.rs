//! Commands: how they are started, what they say, and that all they start ends with them.
//!
//! A command is a [`Task`], in the foreground while a call waits for it. The [`TaskManager`] starts it
//! through the supervisor (`src/supervisor/`, Linux), whose process for each command adopts everything
//! the command leaves behind; where there is no supervisor, as a child in a group of its own. One thread
//! reads what all commands say into bounded buffers and files.
//!
//! Nothing here knows of JSON input, policy or wording.

#[cfg(target_os = "linux")]
#[allow(dead_code, reason = "the supervisor uses the other half")]
mod descendants;
#[cfg(unix)]
mod direct;
mod ending;
mod events;
mod exit_meaning;
mod files;
mod foreground;
mod info;
#[cfg(unix)]
mod launcher;
mod locate;
mod manager;
mod output;
#[allow(dead_code, reason = "the supervisor uses the other half")]
mod protocol;
#[cfg(unix)]
mod reactor;
mod readable;
#[cfg(target_os = "linux")]
mod rescue;
mod settings;
#[cfg(target_os = "linux")]
mod supervisor;
mod task;

pub use ending::{Ending, KeeperTrouble, StopReason, TaskState};
pub use events::{TaskEvent, TaskEventKind};
pub use exit_meaning::exit_meaning;
pub use files::OutputFiles;
pub use foreground::{Foreground, Outcome};
pub use info::{TaskInfo, signal_name};
pub use locate::supervisor_beside_this_library;
pub use manager::{
    CommandRole, CommandSpec, MAX_COMMAND_BYTES, MAX_RUNNING, StartError, TaskManager,
};
pub use output::{Part, SpillState};
pub(crate) use readable::{readable, unfinished_sequence};
pub use settings::{OnTimeout, ProcessSettings};
pub use task::{Ground, Task};
