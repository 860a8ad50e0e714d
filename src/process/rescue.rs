//! Ends a command whose keeper is gone, or does not: from the host, by what `/proc` tells.
//!
//! Commands run as the same user as their keeper, and can stop or kill it. What is left of such a command
//! is found below the keeper, in the session that the keeper began, by the cookie in its environment, by the
//! pipe that it writes to, and below any of those. What has left all of that behind before the keeper was
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

use super::{
    descendants::{all_processes, below, kill_found, look, look_again, signal},
    protocol::{COOKIE, ProcessIdentity, cookie_of},
    reactor::{LineState, WatchedCommand},
};

/// How long a keeper that was set going may take to tell how its command ended: it waits itself for
/// processes that the kernel does not let go.
const KEEPER_PATIENCE: Duration = Duration::from_millis(2_200);
/// How long killed processes may take to be gone.
const KILL_PATIENCE: Duration = Duration::from_secs(2);
/// How long to wait before looking again for processes to kill.
const PACE: Duration = Duration::from_millis(5);

/// Ends a command and notes its end, in a thread of its own.
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
        // Nobody took it, so there is nothing to end.
        None => 0,
        Some(keeper) => {
            let lost = LostCommand::of(keeper, &watched);
            if look_again(keeper).is_some() {
                kill_found(|| lost.members());
                signal(keeper, Signal::CONT);
                if tells_the_end(&mut watched, &mut buffer) {
                    return;
                }
                signal(keeper, Signal::KILL);
            }
            lost.kill_until_gone()
        }
    };
    watched.hear_last_words(&mut buffer);
    watched.task.finish_lost(survivors);
}

/// Listens to a keeper for as long as it may take; true when it has told the end.
fn tells_the_end(watched: &mut WatchedCommand, buffer: &mut [u8]) -> bool {
    let until = Instant::now() + KEEPER_PATIENCE;
    loop {
        match watched.hear(buffer) {
            LineState::Ended => return true,
            LineState::Lost => return false,
            LineState::Open => {}
        }
        let left = until.saturating_duration_since(Instant::now());
        let Ok(patience) = Timespec::try_from(left) else { return false };
        let mut line = [PollFd::new(&*watched.line, PollFlags::IN)];
        if left.is_zero() || matches!(poll(&mut line, Some(&patience)), Ok(0)) {
            return false;
        }
    }
}

/// What tells the processes of a command from others.
struct LostCommand {
    keeper: ProcessIdentity,
    /// The variable with the cookie.
    cookie: Vec<u8>,
    /// The names of the pipes that it writes to, as `/proc` shows them.
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

    /// Kills all that is left; gives how many could not be.
    fn kill_until_gone(&self) -> u32 {
        let until = Instant::now() + KILL_PATIENCE;
        loop {
            let left = self.members().len();
            if left == 0 || Instant::now() >= until {
                return u32::try_from(left).unwrap_or(u32::MAX);
            }
            kill_found(|| self.members());
            thread::sleep(PACE);
        }
    }

    /// All that is known to belong to the command; not the keeper itself.
    fn members(&self) -> Vec<ProcessIdentity> {
        let all = all_processes();
        // Once nobody is left in the session, its id may come to mean another.
        let is_reused = look(self.keeper.pid).is_some_and(|it| it.process != self.keeper);
        let own = std::process::id().cast_signed();
        let mut known: HashSet<i32> = all
            .iter()
            .filter(|it| it.process.started >= self.keeper.started)
            .filter(|it| ![self.keeper.pid, own].contains(&it.process.pid))
            .filter(|it| {
                (it.session == self.keeper.pid && !is_reused) || self.marks(it.process.pid)
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

    /// True when a process carries the cookie or has one of the pipes open.
    fn marks(&self, pid: i32) -> bool {
        let carries_cookie = fs::read(format!("/proc/{pid}/environ"))
            .is_ok_and(|it| it.split(|byte| *byte == 0).any(|it| it == self.cookie));
        carries_cookie
            || fs::read_dir(format!("/proc/{pid}/fd")).is_ok_and(|descriptors| {
                let links = descriptors.flatten().filter_map(|it| fs::read_link(it.path()).ok());
                links.into_iter().any(|link| self.pipes.iter().any(|it| *link == **it))
            })
    }
}
