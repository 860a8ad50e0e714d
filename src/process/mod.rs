//! Runs commands: starts them, collects their output, and makes sure that everything a command started
//! ends with it.
//!
//! A command is a [`Task`]. It runs in the foreground while a call waits for it, and in the background
//! otherwise. On Linux the [`TaskManager`] starts it through the supervisor (`src/supervisor/`), which gives
//! each command a process of its own, its keeper, that adopts everything the command leaves behind. Without
//! a supervisor a command is a child of the host in its own process group. One thread reads the output of
//! all commands into bounded buffers and files.
//!
//! An agent in the background is a [`Task`] too, without a process: a function of the host runs it, and its
//! output, its end and how it is stopped are the same as those of a command.
//!
//! Nothing here knows of JSON input, policy or wording.

mod command_output;
#[cfg(target_os = "linux")]
#[allow(dead_code, reason = "the supervisor uses the other half")]
mod descendants;
mod ending;
mod events;
mod foreground;
mod info;
#[cfg(unix)]
mod launcher;
mod locate_supervisor;
mod manager;
mod output_files;
#[allow(dead_code, reason = "the supervisor uses the other half")]
mod protocol;
#[cfg(unix)]
mod reactor;
mod readable;
#[cfg(target_os = "linux")]
mod rescue;
pub(crate) mod sandbox;
mod server_process;
mod settings;
#[cfg(unix)]
#[allow(dead_code, reason = "the supervisor uses the other half")]
mod shell_arguments;
#[cfg(target_os = "linux")]
mod supervisor_client;
mod task;
#[cfg(unix)]
mod without_supervisor;

pub(crate) use command_output::SpillState;
pub use ending::TaskState;
pub(crate) use ending::{CommandEnding, KeeperTrouble, StopReason};
pub use events::{TaskEvent, TaskEventKind};
pub(crate) use foreground::{ForegroundCommand, ForegroundOutcome};
pub use info::TaskInfo;
pub(crate) use info::signal_name;
pub use locate_supervisor::{NoSupervisor, find_supervisor, supervisor_at};
pub use manager::TaskManager;
pub(crate) use manager::{AgentTaskSpec, CommandRole, CommandSpec, MAX_COMMAND_BYTES, StartError};
pub(crate) use readable::{readable, unfinished_sequence};
pub use sandbox::{SandboxMode, SandboxNetwork, SandboxSettings, SandboxShare, SandboxWrites};
pub(crate) use server_process::ServerCommand;
#[cfg(unix)]
pub(crate) use server_process::ServerProcess;
pub use settings::{OnTimeout, ProcessSettings};
pub(crate) use task::RunMode;
pub use task::{Task, TaskKind};
