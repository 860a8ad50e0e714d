//! Keeps processes ready that take a command each, until there is no host.

use std::{
    collections::HashSet,
    env,
    ffi::CString,
    io::{self, IoSliceMut, Read as _},
    mem::MaybeUninit,
    os::{fd::OwnedFd, unix::net::UnixStream},
    path::PathBuf,
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
    net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendFlags, recvmsg, send},
    pipe::{PipeFlags, pipe_with},
    process::{WaitOptions, wait},
};

use crate::{
    descendants::{kill_strays, this_process},
    keeper::{self, AcceptedCommand, ShellStreams},
    protocol::{
        COOKIE, CommandRequest, HELLO, KeeperMessage, MAX_DESCRIPTORS, MAX_REQUEST_BYTES,
        RequestKind, cookie_of,
    },
    system_calls::{self, Forked},
};

/// How many processes wait for a command: forking one takes longer than a short command waits.
const SPARES: usize = 6;
/// From how few on more are made. Not after each command: it would compete with the command itself.
const MIN_SPARES: usize = 2;
/// How long the others may take to end when the host is gone.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(1);

/// Serves the host on standard input. The only argument is the directory of the host's output files,
/// which goes when the host goes.
pub(crate) fn serve() -> io::Result<()> {
    // The keys that stop the host must not stop this first; it notices by itself.
    let _ = rustix::process::setsid();
    let host = rustix::io::dup(io::stdin())?;
    rustix::io::fcntl_setfd(&host, rustix::io::FdFlags::CLOEXEC)?;
    let environments = Environments::told()?;
    // Commands must not find the socket where they look for their input.
    let nothing = std::fs::File::options().read(true).write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdin(&nothing)?;
    rustix::stdio::dup2_stdout(&nothing)?;
    // No command that runs as the same user can trace this or look into its memory; programs that are
    // started from here are as open as ever.
    let _ = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable);
    system_calls::ignore_nothing();
    system_calls::hold_all_signals();
    let exits = system_calls::child_exits()?;
    let (taken, take) = pipe_with(PipeFlags::CLOEXEC)?;
    send(&host, &HELLO, SendFlags::NOSIGNAL)?;
    // If one that has taken a command is killed, what it watched over comes to us.
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    let mut spares = HashSet::new();
    let mut busy = HashSet::new();
    loop {
        let wanted = if spares.len() > MIN_SPARES { 0 } else { SPARES };
        while spares.len() < wanted {
            match system_calls::fork() {
                Ok(Forked::Parent(child)) => {
                    spares.insert(child);
                }
                Ok(Forked::Child) => {
                    drop((exits, taken));
                    return run_one(host, take, environments);
                }
                // Too many processes; some will end.
                Err(_) => break,
            }
        }
        let patience =
            (spares.len() <= MIN_SPARES).then_some(Timespec { tv_sec: 0, tv_nsec: 20_000_000 });
        let mut ready = [
            // Says only that the host is gone: what it asks for is for the spares.
            PollFd::new(&host, PollFlags::empty()),
            PollFd::new(&taken, PollFlags::IN),
            PollFd::new(&exits, PollFlags::IN),
        ];
        match poll(&mut ready, patience.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let [gone, used, ended] = ready.map(|it| !it.revents().is_empty());
        if gone {
            break;
        }
        if used {
            note_used(&taken, &mut spares, &mut busy);
        }
        if ended {
            note_ended(&exits, &mut spares, &mut busy);
        }
    }
    if let Some(files) = env::args_os().nth(1).map(PathBuf::from) {
        let _ = std::fs::remove_dir_all(files);
    }
    wait_for_children(&exits, &mut spares, &mut busy);
    Ok(())
}

/// Waits for the others, which have noticed too: whoever sees this process end by itself knows that all
/// are gone. Those whose commands take longer to end see to that alone.
fn wait_for_children(exits: &OwnedFd, spares: &mut HashSet<i32>, busy: &mut HashSet<i32>) {
    let until = Instant::now() + SHUTDOWN_TIMEOUT;
    while !(spares.is_empty() && busy.is_empty()) {
        let left = until.saturating_duration_since(Instant::now());
        let Ok(patience) = Timespec::try_from(left) else { return };
        match poll(&mut [PollFd::new(exits, PollFlags::IN)], Some(&patience)) {
            Ok(0) => return,
            Ok(_) => note_ended(exits, spares, busy),
            Err(Errno::INTR) => {}
            Err(_) => return,
        }
    }
}

/// Takes note of spares that have taken a command.
fn note_used(taken: &OwnedFd, spares: &mut HashSet<i32>, busy: &mut HashSet<i32>) {
    let mut ids = [0; 64 * 4];
    let length = rustix::io::read(taken, &mut ids).unwrap_or_default();
    for id in ids.get(..length).unwrap_or_default().chunks_exact(4) {
        if let Ok(id) = id.try_into() {
            let id = i32::from_le_bytes(id);
            // One that has ended already is in neither.
            if spares.remove(&id) {
                busy.insert(id);
            }
        }
    }
}

/// Reaps. A spare that somebody killed is no spare any more, and what belonged to a killed one has to end.
fn note_ended(exits: &OwnedFd, spares: &mut HashSet<i32>, busy: &mut HashSet<i32>) {
    let mut news = [0; 128];
    let _ = rustix::io::read(exits, &mut news);
    let mut was_killed = false;
    while let Ok(Some((pid, status))) = wait(WaitOptions::NOHANG) {
        let pid = pid.as_raw_nonzero().get();
        let was_ours = spares.remove(&pid) | busy.remove(&pid);
        was_killed |= was_ours && status.signaled();
    }
    if was_killed {
        kill_strays(&spares.union(busy).copied().collect());
    }
}

/// What commands find in their environment.
struct Environments {
    commands: Vec<CString>,
    helpers: Vec<CString>,
}

impl Environments {
    /// Reads what the host wrote to where our output would go: the variables for commands and those for
    /// helpers, each with a NUL behind it, and one more NUL between the two.
    fn told() -> io::Result<Self> {
        let mut text = Vec::new();
        std::fs::File::from(rustix::io::dup(io::stdout())?).read_to_end(&mut text)?;
        let mut variables = text.split(|it| *it == 0);
        let mut next = || -> Vec<CString> {
            variables
                .by_ref()
                .take_while(|it| !it.is_empty())
                .filter_map(|it| CString::new(it).ok())
                .collect()
        };
        Ok(Self { commands: next(), helpers: next() })
    }
}

/// Waits for a command, runs it and sees to its end.
fn run_one(host: OwnedFd, take: OwnedFd, environments: Environments) -> io::Result<()> {
    // Away from the host's terminal: nothing beneath can ask a person for a password, or be stopped by
    // the keys that stop the host.
    rustix::process::setsid()?;
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    let exits = system_calls::child_exits()?;
    let myself = this_process().ok_or(io::ErrorKind::NotFound)?;
    let cookie = CString::new(format!("{COOKIE}={}", cookie_of(myself))).unwrap_or_default();
    // All for which the command need not be known is done before it comes.
    let Some(mut asked) = receive(&host)? else { return Ok(()) };
    // Only those who wait keep this open: the host notices when they are gone.
    drop(host);
    let mut environment = match asked.request.kind {
        RequestKind::Command => environments.commands,
        RequestKind::Helper => environments.helpers,
    };
    environment.push(cookie);
    // A host that has given this request up has closed the connection, and may have had another run it.
    if !keeper::send(&mut asked.connection, &KeeperMessage::Accepted(myself)) {
        return Ok(());
    }
    keeper::oversee(asked, &exits, &environment, take);
    Ok(())
}

/// Waits for the next request; there is none when there is no host any more.
fn receive(host: &OwnedFd) -> io::Result<Option<AcceptedCommand>> {
    let mut message = vec![0; MAX_REQUEST_BYTES];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MAX_DESCRIPTORS))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let received = loop {
        let mut parts = [IoSliceMut::new(&mut message)];
        match recvmsg(host, &mut parts, &mut ancillary, RecvFlags::CMSG_CLOEXEC) {
            Ok(received) => break received,
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    };
    let mut descriptors: Vec<OwnedFd> = Vec::new();
    for message in ancillary.drain() {
        if let RecvAncillaryMessage::ScmRights(rights) = message {
            descriptors.extend(rights);
        }
    }
    let Some(request) = message.get(..received.bytes).and_then(CommandRequest::decode) else {
        return Ok(None);
    };
    let mut descriptors = descriptors.into_iter();
    let (Some(connection), Some(output)) = (descriptors.next(), descriptors.next()) else {
        return Ok(None);
    };
    let streams = ShellStreams { output, errors: descriptors.next(), input: descriptors.next() };
    Ok(Some(AcceptedCommand { request, streams, connection: UnixStream::from(connection) }))
}
