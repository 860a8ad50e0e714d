//! Kills the processes of a command whose keeper was killed, or failed to end the command in time.
//!
//! Commands run as the same user as their keeper, so they can stop or kill it. The host then looks
//! for the processes of the command in `/proc`: descendants of the keeper, members of its session,
//! processes with the command's cookie in their environment or with its output pipe open, and the
//! descendants of all of these. A process that removed all of these marks before the keeper was
//! killed is not found.

use std::{
    collections::HashSet,
    ffi::OsString,
    fs, thread,
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    process::Signal,
};
use toolwright_command_protocol::{
    COOKIE, ProcessIdentity, all_processes, below, cookie_of, inspect, inspect_if_alive,
    kill_found, signal,
};

use super::reactor::{ConnectionState, WatchedCommand};

/// How long a keeper that was resumed may take to report the end of its command. The keeper itself waits
/// for killed processes that are still in the kernel.
const KEEPER_TIMEOUT: Duration = Duration::from_millis(2_200);
/// How long to wait for killed processes to be gone.
const KILL_TIMEOUT: Duration = Duration::from_secs(2);
/// The pause before looking again for processes to kill.
const KILL_RETRY_INTERVAL: Duration = Duration::from_millis(5);

/// Ends a command and records its end, in a separate thread.
pub(super) fn rescue(watched: WatchedCommand) {
    let task = std::sync::Arc::clone(&watched.task);
    let started = thread::Builder::new()
        .name("toolwright-rescue".to_owned())
        .stack_size(512 * 1024)
        .spawn(move || end(watched));
    if started.is_err() {
        task.finish_lost(1);
    }
}

fn end(mut watched: WatchedCommand) {
    let mut buffer = vec![0; 64 * 1024];
    let survivors = match watched.task.keeper() {
        // No keeper accepted the command, so it was never started.
        None => 0,
        Some(keeper) => {
            let lost = LostCommand::of(keeper, &watched);
            if inspect_if_alive(keeper).is_some() {
                kill_found(|| lost.processes());
                signal(keeper, Signal::CONT);
                if reports_the_end(&mut watched, &mut buffer) {
                    return;
                }
                signal(keeper, Signal::KILL);
            }
            lost.kill_until_gone()
        }
    };
    watched.read_remaining_output(&mut buffer);
    watched.task.finish_lost(survivors);
}

/// Waits for a keeper to report the end of its command. Returns false if it does not in time.
fn reports_the_end(watched: &mut WatchedCommand, buffer: &mut [u8]) -> bool {
    let until = Instant::now() + KEEPER_TIMEOUT;
    loop {
        match watched.read_messages(buffer) {
            ConnectionState::Ended => return true,
            ConnectionState::Lost => return false,
            ConnectionState::Open => {}
        }
        let left = until.saturating_duration_since(Instant::now());
        let Ok(timeout) = Timespec::try_from(left) else { return false };
        let mut connection = [PollFd::new(&*watched.connection, PollFlags::IN)];
        if left.is_zero() || matches!(poll(&mut connection, Some(&timeout)), Ok(0)) {
            return false;
        }
    }
}

/// The marks by which the processes of a command are recognised.
struct LostCommand {
    keeper: ProcessIdentity,
    /// The environment variable with the cookie, as `NAME=value`.
    cookie: Vec<u8>,
    /// The pipes that the command writes to, by the names they have in `/proc/<pid>/fd`.
    pipes: Vec<OsString>,
}

impl LostCommand {
    fn of(keeper: ProcessIdentity, watched: &WatchedCommand) -> Self {
        let pipes = [&watched.output, &watched.errors].into_iter().flatten();
        let names = pipes.filter_map(|it| rustix::fs::fstat(it).ok());
        Self {
            keeper,
            cookie: format!("{COOKIE}={}", cookie_of(keeper)).into_bytes(),
            pipes: names.map(|it| format!("pipe:[{}]", it.st_ino).into()).collect(),
        }
    }

    /// Kills all processes of the command. Returns how many are left after [`KILL_TIMEOUT`].
    fn kill_until_gone(&self) -> u32 {
        let until = Instant::now() + KILL_TIMEOUT;
        loop {
            let left = self.processes().len();
            if left == 0 || Instant::now() >= until {
                return u32::try_from(left).unwrap_or(u32::MAX);
            }
            kill_found(|| self.processes());
            thread::sleep(KILL_RETRY_INTERVAL);
        }
    }

    /// All processes that are known to belong to the command, without the keeper.
    fn processes(&self) -> Vec<ProcessIdentity> {
        let all = all_processes();
        // Once a session has no process left, its id may be used for another one.
        let is_reused = inspect(self.keeper.pid).is_some_and(|it| it.process != self.keeper);
        let own = std::process::id().cast_signed();
        let mut known: HashSet<i32> = all
            .iter()
            .filter(|it| it.process.started >= self.keeper.started)
            .filter(|it| ![self.keeper.pid, own].contains(&it.process.pid))
            .filter(|it| {
                (it.session == self.keeper.pid && !is_reused) || self.is_marked(it.process.pid)
            })
            .map(|it| it.process.pid)
            .collect();
        let first = all.iter().filter(|it| known.contains(&it.process.pid) && !it.is_zombie);
        let mut found: Vec<ProcessIdentity> = first.map(|it| it.process).collect();
        if !is_reused {
            known.insert(self.keeper.pid);
        }
        found.extend(below(&all, known));
        found
    }

    /// True when a process has the cookie in its environment or one of the pipes open.
    fn is_marked(&self, pid: i32) -> bool {
        let carries_cookie = fs::read(format!("/proc/{pid}/environ"))
            .is_ok_and(|it| it.split(|byte| *byte == 0).any(|it| it == self.cookie));
        carries_cookie
            || fs::read_dir(format!("/proc/{pid}/fd")).is_ok_and(|descriptors| {
                let links = descriptors.flatten().filter_map(|it| fs::read_link(it.path()).ok());
                links.into_iter().any(|link| self.pipes.iter().any(|it| *link == **it))
            })
    }
}
