//! Processes as `/proc` shows them: who is below whom, and signals that reach nobody else. The host and
//! the supervisor both compile this file.

use std::{collections::HashSet, fs};

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use super::protocol::ProcessIdentity;

/// What `/proc` says of a process.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SeenProcess {
    pub(crate) process: ProcessIdentity,
    pub(crate) parent: i32,
    pub(crate) session: i32,
    pub(crate) is_zombie: bool,
    /// True when a signal or a debugger holds it.
    pub(crate) is_stopped: bool,
}

/// This process.
pub(crate) fn this_process() -> Option<ProcessIdentity> {
    look(own_id()).map(|it| it.process)
}

fn own_id() -> i32 {
    rustix::process::getpid().as_raw_nonzero().get()
}

/// Every living descendant of this process. They are beneath us whatever they did: an orphan's new parent
/// is the nearest ancestor that reaps, and that is us.
pub(crate) fn descendants() -> Vec<ProcessIdentity> {
    descendants_of(own_id())
}

/// Every living descendant of a process that adopts orphans.
pub(crate) fn descendants_of(pid: i32) -> Vec<ProcessIdentity> {
    match children(pid) {
        Some(first) => walk(first, &mut HashSet::from([pid])),
        None => below(&all_processes(), HashSet::from([pid])),
    }
}

/// Ends children of this process that are none of those it made, with all they started: their parent was
/// one of those, and is gone.
pub(crate) fn kill_strays(made: &HashSet<i32>) {
    let strays = || {
        let all = children(own_id()).unwrap_or_default();
        all.into_iter().filter(|it| !made.contains(it)).collect::<Vec<_>>()
    };
    kill_found(|| walk(strays(), &mut HashSet::from([own_id()])));
}

/// Follows the kernel's lists of children: what it costs does not depend on who else runs.
fn walk(first: Vec<i32>, known: &mut HashSet<i32>) -> Vec<ProcessIdentity> {
    let mut found = Vec::new();
    let mut next = first;
    while let Some(pid) = next.pop() {
        if !known.insert(pid) {
            continue;
        }
        if let Some(seen) = look(pid)
            && !seen.is_zombie
        {
            found.push(seen.process);
            next.extend(children(pid).unwrap_or_default());
        }
    }
    found
}

/// The children of each of a process's threads; nothing where the kernel keeps no such lists.
pub(crate) fn children(pid: i32) -> Option<Vec<i32>> {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).ok()?;
    let mut all = Vec::new();
    for thread in threads.flatten() {
        let list = fs::read_to_string(thread.path().join("children")).ok()?;
        all.extend(list.split_ascii_whitespace().filter_map(|it| it.parse::<i32>().ok()));
    }
    Some(all)
}

/// Every process there is.
pub(crate) fn all_processes() -> Vec<SeenProcess> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter_map(look)
        .collect()
}

/// The living ones of these processes that are below the ones whose ids are given.
pub(crate) fn below(all: &[SeenProcess], mut above: HashSet<i32>) -> Vec<ProcessIdentity> {
    let mut found = Vec::new();
    // Ids do not rise from parent to child once they have wrapped, so one pass is not enough.
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

/// What is known of the process that has an id now.
pub(crate) fn look(pid: i32) -> Option<SeenProcess> {
    // A name need not be text.
    let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
    let stat = String::from_utf8_lossy(&stat);
    // The name stands in brackets and may hold anything, brackets and blanks included.
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

/// What is known of a process while it lives.
pub(crate) fn look_again(process: ProcessIdentity) -> Option<SeenProcess> {
    look(process.pid).filter(|it| it.process == process && !it.is_zombie)
}

/// Signals a process if it still is the one that was seen.
pub(crate) fn signal(process: ProcessIdentity, signal: Signal) {
    let Some(pid) = Pid::from_raw(process.pid) else { return };
    let Ok(handle) = pidfd_open(pid, PidfdFlags::empty()) else { return };
    // The handle means whoever has the id now; only then is it known to be the process that was seen.
    if look(process.pid).is_some_and(|now| now.process == process) {
        // One that has ended in the meantime needs no signal.
        let _ = pidfd_send_signal(&handle, signal);
    }
}

/// Signals every descendant; gives how many there were.
pub(crate) fn signal_all(which: Signal) -> usize {
    let found = descendants();
    for process in &found {
        signal(*process, which);
    }
    found.len()
}

/// Ends every descendant of this process.
pub(crate) fn kill_all() {
    kill_found(descendants);
}

/// Ends all that are found, those included that fork faster than they are found: none may go on before all
/// are found, and killing one would make room for another.
pub(crate) fn kill_found(find: impl Fn() -> Vec<ProcessIdentity>) {
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
    // Those that came after the last round, too.
    frozen.extend(find());
    for process in frozen {
        signal(process, Signal::KILL);
    }
}

/// How often processes are looked for before those that were found are killed in any case.
const MAX_ROUNDS: usize = 100;
