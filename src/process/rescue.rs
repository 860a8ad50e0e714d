//! Ends a command whose keeper is gone, or does not: from the host, by what `/proc` tells.
//!
//! Commands run as the same user as their keeper, and can stop or kill it. What is left of such a command
//! is found below the keeper, in the session that the keeper began, by the cookie in its environment, and
//! below any of those.

use std::{
    collections::HashSet,
    fs,
    thread,
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    process::Signal,
};

use super::{
    descendants::{all_processes, below, kill_found, look, look_again, signal},
    protocol::{COOKIE, Process, cookie_of},
    reactor::{LineState, Watched},
};

/// How long a keeper that was set going may take to tell how its command ended: it waits itself for
/// processes that the kernel does not let go.
const KEEPER_PATIENCE: Duration = Duration::from_millis(2_200);
/// How long killed processes may take to be gone.
const KILL_PATIENCE: Duration = Duration::from_secs(2);
/// How long to wait before looking again for processes to kill.
const PACE: Duration = Duration::from_millis(5);

/// Ends a command and notes its end, in a thread of its own.
pub(super) fn rescue(watched: Watched) {
    let task = std::sync::Arc::clone(&watched.task);
    let started = thread::Builder::new()
        .name("toolwright-rescue".to_owned())
        .stack_size(512 * 1024)
        .spawn(move || end(watched));
    if started.is_err() {
        task.finish_lost(1);
    }
}

fn end(mut watched: Watched) {
    let mut buffer = vec![0; 64 * 1024];
    let survivors = match watched.task.keeper() {
        // Nobody took it, so there is nothing to end.
        None => 0,
        Some(keeper) => {
            if look_again(keeper).is_some() {
                kill_found(|| members(keeper));
                signal(keeper, Signal::CONT);
                if tells_the_end(&mut watched, &mut buffer) {
                    return;
                }
                signal(keeper, Signal::KILL);
            }
            kill_until_gone(keeper)
        }
    };
    watched.hear_last_words(&mut buffer);
    watched.task.finish_lost(survivors);
}

/// Listens to a keeper for as long as it may take; true when it has told the end.
fn tells_the_end(watched: &mut Watched, buffer: &mut [u8]) -> bool {
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

/// Kills all that is left of a command; gives how many could not be.
fn kill_until_gone(keeper: Process) -> u32 {
    let until = Instant::now() + KILL_PATIENCE;
    loop {
        let left = members(keeper).len();
        if left == 0 || Instant::now() >= until {
            return u32::try_from(left).unwrap_or(u32::MAX);
        }
        kill_found(|| members(keeper));
        thread::sleep(PACE);
    }
}

/// All that is known to belong to the command of a keeper; not the keeper itself.
fn members(keeper: Process) -> Vec<Process> {
    let all = all_processes();
    let cookie = format!("{COOKIE}={}", cookie_of(keeper));
    // Once nobody is left in the session, its id may come to mean another.
    let is_reused = look(keeper.pid).is_some_and(|it| it.process != keeper);
    let belongs = |pid: i32, session: i32| {
        (session == keeper.pid && !is_reused) || carries(pid, cookie.as_bytes())
    };
    let mut known: HashSet<i32> = all
        .iter()
        .filter(|it| it.process.started >= keeper.started && it.process.pid != keeper.pid)
        .filter(|it| belongs(it.process.pid, it.session))
        .map(|it| it.process.pid)
        .collect();
    let first = all.iter().filter(|it| known.contains(&it.process.pid) && !it.is_zombie);
    let mut found: Vec<Process> = first.map(|it| it.process).collect();
    if !is_reused {
        known.insert(keeper.pid);
    }
    found.extend(below(&all, known));
    found
}

/// True when a process has a variable in the environment it was started with.
fn carries(pid: i32, variable: &[u8]) -> bool {
    fs::read(format!("/proc/{pid}/environ"))
        .is_ok_and(|it| it.split(|byte| *byte == 0).any(|it| it == variable))
}
