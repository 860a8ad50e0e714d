//! Runs commands: starts them, collects their output, and makes sure that everything a command
//! started ends with it.
//!
//! A command is a [`Task`]. It runs in the foreground while a call waits for it, and in the
//! background otherwise. On Linux the [`TaskManager`] starts it through the supervisor
//! (`src/supervisor/`), which gives each command a separate process, its keeper, that adopts
//! everything the command leaves behind. Without a supervisor a command is a child of the host in
//! its own process group. One thread reads the output of all commands into bounded buffers and
//! files.
//!
//! An agent in the background is a [`Task`] too, without a process: a function of the host runs it.
//! Its output, its end and its stop work as for a command.
//!
//! Nothing here knows about JSON input, policy or the wording of answers.

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
