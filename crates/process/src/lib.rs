//! Runs commands: starts them, collects their output, and ends everything that they started.
//!
//! A command is a [`Task`], in the foreground while a call waits for it. On Linux the [`TaskManager`] starts
//! it through the supervisor (`crates/supervisor`), which gives each command a keeper: a process that adopts
//! everything the command leaves behind. Without a supervisor a command is a child of the host in its own
//! process group. An agent in the background is a [`Task`] too, but a function of the host runs it.
//!
//! It must not know JSON input, policy or the wording of answers.
//!
//! The invariant: every process that a command starts ends with it, or the task says why that is not certain
//! ([`Task::not_contained`]). The output of a command never takes more than a fixed amount of memory.
//!
//! Start at [`TaskManager`], then [`Task`] and `reactor`, the thread that reads all output.

mod command_output;
mod ending;
mod events;
mod foreground;
mod info;
#[cfg(unix)]
mod launcher;
mod locate_supervisor;
mod manager;
mod output_cuts;
mod output_files;
#[cfg(unix)]
mod reactor;
mod readable;
#[cfg(target_os = "linux")]
mod rescue;
mod sandbox;
mod server_process;
mod settings;
#[cfg(target_os = "linux")]
mod supervisor_client;
mod task;
mod task_page;
#[cfg(unix)]
mod without_supervisor;

pub use command_output::SpillState;
pub use ending::{CommandEnding, KeeperTrouble, StopReason, TaskState};
pub use events::TaskEvent;
pub use foreground::{ForegroundCommand, ForegroundOutcome};
pub use info::{TaskInfo, signal_name};
pub use locate_supervisor::{NoSupervisor, find_supervisor, supervisor_at};
pub use manager::{
    AgentTaskSpec, CommandRole, CommandSpec, MAX_COMMAND_BYTES, StartError, TaskManager,
};
pub use output_cuts::{MAX_CHARACTERS, beginning, characters, end, from_next_line, shown_part};
pub use readable::readable;
pub use sandbox::{SandboxMode, SandboxNetwork, SandboxSettings, SandboxShare, SandboxWrites};
pub use server_process::ServerCommand;
#[cfg(unix)]
pub use server_process::ServerProcess;
pub use settings::{OnTimeout, ProcessSettings};
pub use task::{RunMode, Task};
pub use task_page::{TaskPage, rest_of, task_page};

pub use sandbox::{AppliedSandbox, ProxyStarter, RunningProxy, SandboxRefusal};
