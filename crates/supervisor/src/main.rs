//! toolwright-supervisor: runs the commands of a host, and ends them even if the host is killed.
//!
//! The host starts it with a socket as standard input. The supervisor keeps a few forked processes ready.
//! Each receives one command from the socket and becomes its keeper: it runs the command, and as a subreaper,
//! which only Linux has, it adopts every process that the command leaves behind. A keeper has its own
//! connection to the host and continues without the supervisor.
//!
//! It must not know policy, JSON or the host's settings. It has one thread and no async runtime, so that
//! forking it is cheap and safe.
//!
//! The invariant: every process of a command is a descendant of its keeper until it ends, and a command with
//! a plan never runs without its sandbox. Commands run as the same user, so they can kill or stop a keeper.
//! The host then ends their processes itself (`toolwright-process`, `rescue`).
//!
//! Start at `serve`, the main loop, then `keeper` and `sandbox`.

#[cfg(target_os = "linux")]
mod descriptor_messages;
#[cfg(target_os = "linux")]
mod environments;
#[cfg(target_os = "linux")]
mod first_process;
#[cfg(target_os = "linux")]
mod keeper;
#[cfg(target_os = "linux")]
mod keeper_news;
#[cfg(target_os = "linux")]
mod sandbox;
#[cfg(target_os = "linux")]
mod serve;
#[cfg(target_os = "linux")]
mod shared_notes;
#[cfg(target_os = "linux")]
mod shell_start;
#[cfg(target_os = "linux")]
mod shell_text;
#[cfg(target_os = "linux")]
mod system_calls;

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    match serve::serve() {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(_) => std::process::ExitCode::FAILURE,
    }
}

#[cfg(not(target_os = "linux"))]
fn main() -> std::process::ExitCode {
    // Other systems have no subreaper: the addon runs commands itself there and never starts this.
    std::process::ExitCode::FAILURE
}
