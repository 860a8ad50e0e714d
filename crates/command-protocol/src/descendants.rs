//! Finds the descendants of a process in `/proc`, and signals processes. A signal never reaches another
//! process that got the same id later.

use std::{collections::HashSet, fs, hash::BuildHasher};

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use super::protocol::ProcessIdentity;

/// The state of a process according to `/proc`.
#[derive(Clone, Copy, Debug)]
pub struct SeenProcess {
    /// Its id and start time.
    pub process: ProcessIdentity,
    pub(crate) parent: i32,
    /// The id of its session.
    pub session: i32,
    /// True when it has ended and was not reaped yet.
    pub is_zombie: bool,
    /// True when it was stopped by a signal or a debugger.
    pub is_stopped: bool,
}

/// The identity of this process.
pub fn this_process() -> Option<ProcessIdentity> {
    inspect(own_id()).map(|it| it.process)
}

fn own_id() -> i32 {
    rustix::process::getpid().as_raw_nonzero().get()
}

/// Every living descendant of this process. None can escape: an orphan is adopted by its nearest
/// ancestor that is a subreaper, which is this process.
pub fn descendants() -> Vec<ProcessIdentity> {
    descendants_of(own_id())
}

/// Every living descendant of a process that is a subreaper.
pub(crate) fn descendants_of(pid: i32) -> Vec<ProcessIdentity> {
    match children(pid) {
        Some(first) => walk(first, &mut HashSet::from([pid])),
        None => below(&all_processes(), HashSet::from([pid])),
    }
}

/// Kills the children of this process that it did not create, with all their descendants. Their
/// parent was one of the created processes, and was killed.
pub fn kill_strays<S: BuildHasher>(created: &HashSet<i32, S>) {
    let strays = || {
        let all = children(own_id()).unwrap_or_default();
        all.into_iter().filter(|it| !created.contains(it)).collect::<Vec<_>>()
    };
    kill_found(|| walk(strays(), &mut HashSet::from([own_id()])));
}

/// Follows the kernel's lists of children. Unlike a scan of `/proc`, the cost does not depend on how many
/// other processes there are.
fn walk(first: Vec<i32>, known: &mut HashSet<i32>) -> Vec<ProcessIdentity> {
    let mut found = Vec::new();
    let mut next = first;
    while let Some(pid) = next.pop() {
        if !known.insert(pid) {
            continue;
        }
        if let Some(seen) = inspect(pid)
            && !seen.is_zombie
        {
            found.push(seen.process);
            next.extend(children(pid).unwrap_or_default());
        }
    }
    found
}

/// The children of all threads of a process. `None` if the kernel was built without such lists.
pub fn children(pid: i32) -> Option<Vec<i32>> {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).ok()?;
    let mut all = Vec::new();
    for thread in threads.flatten() {
        let list = fs::read_to_string(thread.path().join("children")).ok()?;
        all.extend(list.split_ascii_whitespace().filter_map(|it| it.parse::<i32>().ok()));
    }
    Some(all)
}

/// Every process of the system.
pub fn all_processes() -> Vec<SeenProcess> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter_map(inspect)
        .collect()
}

/// The processes that are alive and descend from one of the given ids.
pub fn below<S: BuildHasher>(
    all: &[SeenProcess],
    mut above: HashSet<i32, S>,
) -> Vec<ProcessIdentity> {
    let mut found = Vec::new();
    // A child may have a lower id than its parent, because ids wrap around: one pass is not enough.
    loop {
        let before = above.len();
        for seen in all {
            if above.contains(&seen.parent) && above.insert(seen.process.pid) && !seen.is_zombie {
                found.push(seen.process);
            }
        }
        if above.len() == before {
            return found;
        }
    }
}

/// The state of the process that has an id now.
pub fn inspect(pid: i32) -> Option<SeenProcess> {
    // The name of a program need not be UTF-8.
    let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
    let stat = String::from_utf8_lossy(&stat);
    // The name is in parentheses and may itself contain parentheses and spaces.
    let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace();
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    let session = fields.nth(1)?.parse().ok()?;
    let started = fields.nth(15)?.parse().ok()?;
    Some(SeenProcess {
        process: ProcessIdentity { pid, started },
        parent,
        session,
        is_zombie: matches!(state, "Z" | "X"),
        is_stopped: matches!(state, "T" | "t"),
    })
}

/// The state of a process. `None` once it has exited.
pub fn inspect_if_alive(process: ProcessIdentity) -> Option<SeenProcess> {
    inspect(process.pid).filter(|it| it.process == process && !it.is_zombie)
}

/// Sends a signal to a process, unless it has exited and its id is used by another one.
pub fn signal(process: ProcessIdentity, signal: Signal) {
    let Some(pid) = Pid::from_raw(process.pid) else { return };
    let Ok(handle) = pidfd_open(pid, PidfdFlags::empty()) else { return };
    // The handle refers to the process that has the id now, so its identity is checked after
    // opening it.
    if inspect(process.pid).is_some_and(|now| now.process == process) {
        // Fails only if the process has exited in the meantime.
        let _ = pidfd_send_signal(&handle, signal);
    }
}

/// Kills every descendant of this process.
pub fn kill_all() {
    kill_found(descendants);
}

/// Kills all processes that `find` returns. They are stopped first, and killed once no new ones are
/// found. Otherwise a process that forks while others are killed could always stay ahead.
pub fn kill_found(find: impl Fn() -> Vec<ProcessIdentity>) {
    let mut frozen = HashSet::new();
    for _ in 0..MAX_ROUNDS {
        let fresh: Vec<_> = find().into_iter().filter(|it| frozen.insert(*it)).collect();
        if fresh.is_empty() {
            break;
        }
        for process in fresh {
            signal(process, Signal::STOP);
        }
    }
    // Including those that were created after the last round.
    frozen.extend(find());
    for process in frozen {
        signal(process, Signal::KILL);
    }
}

/// After this many searches the processes found so far are killed, even if there are still new ones.
const MAX_ROUNDS: usize = 100;
