//! Everything below this process, however it was started, and signals that reach nobody else.

use std::{collections::HashSet, fs};

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

/// A process as it was seen. Its start time tells it from a later one with the same id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Process {
    pid: i32,
    started: u64,
}

struct Seen {
    process: Process,
    parent: i32,
    is_zombie: bool,
}

/// Every living descendant. They are beneath us whatever they did: an orphan's new parent is the
/// nearest ancestor that reaps, and that is us.
pub(crate) fn descendants() -> Vec<Process> {
    let own = rustix::process::getpid().as_raw_nonzero().get();
    let mut known = HashSet::from([own]);
    match children(own) {
        Some(first) => walk(first, &mut known),
        None => search_all(&mut known),
    }
}

/// Ends children of this process that are none of those it made, with all they started: their parent was
/// one of those, and is gone.
pub(crate) fn kill_strays(made: &HashSet<i32>) {
    let own = rustix::process::getpid().as_raw_nonzero().get();
    let strays: Vec<i32> =
        children(own).unwrap_or_default().into_iter().filter(|it| !made.contains(it)).collect();
    if strays.is_empty() {
        return;
    }
    let mut frozen = HashSet::new();
    for _ in 0..MAX_ROUNDS {
        let found = walk(strays.clone(), &mut HashSet::from([own]));
        let fresh: Vec<_> = found.into_iter().filter(|it| frozen.insert(*it)).collect();
        if fresh.is_empty() {
            break;
        }
        for process in fresh {
            signal(process, Signal::STOP);
        }
    }
    for process in frozen {
        signal(process, Signal::KILL);
    }
}

/// Follows the kernel's lists of children: what it costs does not depend on who else runs.
fn walk(first: Vec<i32>, known: &mut HashSet<i32>) -> Vec<Process> {
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
fn children(pid: i32) -> Option<Vec<i32>> {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).ok()?;
    let mut all = Vec::new();
    for thread in threads.flatten() {
        let list = fs::read_to_string(thread.path().join("children")).ok()?;
        all.extend(list.split_ascii_whitespace().filter_map(|it| it.parse::<i32>().ok()));
    }
    Some(all)
}

/// Looks at every process there is.
fn search_all(below: &mut HashSet<i32>) -> Vec<Process> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let all: Vec<Seen> = entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter_map(look)
        .collect();
    let mut found = Vec::new();
    // Ids do not rise from parent to child once they have wrapped, so one pass is not enough.
    loop {
        let before = below.len();
        for seen in &all {
            if below.contains(&seen.parent) && below.insert(seen.process.pid) && !seen.is_zombie {
                found.push(seen.process);
            }
        }
        if below.len() == before {
            return found;
        }
    }
}

fn look(pid: i32) -> Option<Seen> {
    // A name need not be text.
    let stat = fs::read(format!("/proc/{pid}/stat")).ok()?;
    let stat = String::from_utf8_lossy(&stat);
    // The name stands in brackets and may hold anything, brackets and blanks included.
    let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace();
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    let started = fields.nth(17)?.parse().ok()?;
    Some(Seen { process: Process { pid, started }, parent, is_zombie: matches!(state, "Z" | "X") })
}

/// Signals a process if it still is the one that was seen.
pub(crate) fn signal(process: Process, signal: Signal) {
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

/// Ends every descendant, those included that fork faster than they are found: none may go on before all
/// are found, and killing one would make room for another.
pub(crate) fn kill_all() {
    let mut frozen = HashSet::new();
    for _ in 0..MAX_ROUNDS {
        let fresh: Vec<_> = descendants().into_iter().filter(|it| frozen.insert(*it)).collect();
        if fresh.is_empty() {
            break;
        }
        for process in fresh {
            signal(process, Signal::STOP);
        }
    }
    signal_all(Signal::KILL);
}

/// How often descendants are looked for before those that were found are killed in any case.
const MAX_ROUNDS: usize = 100;
