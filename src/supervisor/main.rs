//! toolwright-supervisor: outlives its host for as long as it takes to end what the host started.
//!
//! The host starts one, with a socket as standard input. It keeps a few processes ready, each of which
//! takes one command from the socket, runs it and adopts whatever the command leaves behind (Linux: a
//! subreaper), so that everything a command ever started is found beneath it, whatever it did to get
//! away. That process, the command's keeper, has a line of its own to the host and needs the supervisor no
//! more.
//!
//! It has one thread, no runtime and no settings, so that forking it is cheap and safe. Its own environment
//! is empty; those of commands it reads from the file that its standard output is open to.
//!
//! Commands run as the same user and may signal all of this. No signal but KILL and STOP has an effect,
//! nobody without special rights can trace it, and the host looks after what is left of that.

#[cfg(target_os = "linux")]
#[path = "../process/descendants.rs"]
#[allow(dead_code, reason = "the host uses the other half")]
mod descendants;
#[cfg(target_os = "linux")]
mod keeper;
#[cfg(target_os = "linux")]
#[path = "../process/protocol.rs"]
#[allow(dead_code, reason = "the host uses the other half")]
mod protocol;
#[cfg(target_os = "linux")]
mod serve;
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
