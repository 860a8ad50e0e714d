//! toolwright-supervisor: runs the commands of a host, and ends them even if the host is killed.
//!
//! The host starts the supervisor with a socket as standard input. The supervisor keeps a few
//! forked processes ready. Each of them receives one command from the socket, runs it, and adopts
//! every process that the command leaves behind (it is a subreaper, which only Linux has). So all
//! processes of a command are descendants of this process, its keeper, and cannot escape it. A
//! keeper has its own connection to the host and does not need the supervisor any more. It ends
//! with its command. If the command had a sandbox that is empty afterwards, the keeper waits for
//! another command that needs the same sandbox instead.
//!
//! The supervisor has one thread, no async runtime and no settings, so that forking it is cheap and
//! safe. Its own environment is empty. It reads the environments of commands from a file, which the
//! host passes as standard output.
//!
//! A command with a sandbox in namespaces runs below its own PID 1 (`sandbox/init.rs`), which the
//! keeper has started. It sees neither the keeper nor the supervisor.
//!
//! Other commands run as the same user and may send signals to the supervisor and the keepers. Only
//! SIGKILL and SIGSTOP have an effect, and only a privileged process can trace them. The host
//! handles the rest: it resumes stopped processes, and replaces killed ones.

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
