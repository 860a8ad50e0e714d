//! The main loop of the supervisor: keeps spare processes ready for commands until the host is gone.

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

/// How many spare processes are created. Forking takes longer than a short command should have to wait.
const SPARES: usize = 6;
/// New spares are created when no more than this many are left. Not after every command, because forking
/// would compete with that command.
const MIN_SPARES: usize = 2;
/// How long the supervisor waits for spares and keepers to exit when the host is gone.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(1);

/// Serves the host on standard input. The only argument of the program is the directory of the host's output
/// files, which is removed when the host is gone.
pub(crate) fn serve() -> io::Result<()> {
    // Ctrl-C in the terminal is for the host. The supervisor exits when the host does.
    let _ = rustix::process::setsid();
    let host = rustix::io::dup(io::stdin())?;
    rustix::io::fcntl_setfd(&host, rustix::io::FdFlags::CLOEXEC)?;
    let environments = Environments::read()?;
    // Commands inherit standard input and output, and must not get the socket.
    let nothing = std::fs::File::options().read(true).write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdin(&nothing)?;
    rustix::stdio::dup2_stdout(&nothing)?;
    // Commands of the same user cannot trace this process or read its memory. The flag does not apply to
    // the programs that are started from here.
    let _ = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable);
    system_calls::reset_signals();
    system_calls::block_all_signals();
    let exits = system_calls::child_exits()?;
    let (taken, take) = pipe_with(PipeFlags::CLOEXEC)?;
    send(&host, &HELLO, SendFlags::NOSIGNAL)?;
    // If a keeper is killed, the processes of its command become children of this process.
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
                // There are too many processes. It is tried again later.
                Err(_) => break,
            }
        }
        let timeout =
            (spares.len() <= MIN_SPARES).then_some(Timespec { tv_sec: 0, tv_nsec: 20_000_000 });
        let mut ready = [
            // Only reports that the host is gone. Its requests are received by the spares.
            PollFd::new(&host, PollFlags::empty()),
            PollFd::new(&taken, PollFlags::IN),
            PollFd::new(&exits, PollFlags::IN),
        ];
        match poll(&mut ready, timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let [host_is_gone, spare_was_used, child_exited] = ready.map(|it| !it.revents().is_empty());
        if host_is_gone {
            break;
        }
        if spare_was_used {
            note_used(&taken, &mut spares, &mut busy);
        }
        if child_exited {
            note_ended(&exits, &mut spares, &mut busy);
        }
    }
    if let Some(files) = env::args_os().nth(1).map(PathBuf::from) {
        let _ = std::fs::remove_dir_all(files);
    }
    wait_for_children(&exits, &mut spares, &mut busy);
    Ok(())
}

/// Waits for spares and keepers to exit, which also notice that the host is gone. So once the supervisor has
/// exited, they normally have too. A keeper whose command takes longer to end is not waited for.
fn wait_for_children(exits: &OwnedFd, spares: &mut HashSet<i32>, busy: &mut HashSet<i32>) {
    let until = Instant::now() + SHUTDOWN_TIMEOUT;
    while !(spares.is_empty() && busy.is_empty()) {
        let left = until.saturating_duration_since(Instant::now());
        let Ok(timeout) = Timespec::try_from(left) else { return };
        match poll(&mut [PollFd::new(exits, PollFlags::IN)], Some(&timeout)) {
            Ok(0) => return,
            Ok(_) => note_ended(exits, spares, busy),
            Err(Errno::INTR) => {}
            Err(_) => return,
        }
    }
}

/// Records which spares have accepted a command.
fn note_used(taken: &OwnedFd, spares: &mut HashSet<i32>, busy: &mut HashSet<i32>) {
    let mut ids = [0; 64 * 4];
    let length = rustix::io::read(taken, &mut ids).unwrap_or_default();
    for id in ids.get(..length).unwrap_or_default().chunks_exact(4) {
        if let Ok(id) = id.try_into() {
            let id = i32::from_le_bytes(id);
            // A keeper that has exited already is in neither set.
            if spares.remove(&id) {
                busy.insert(id);
            }
        }
    }
}

/// Reaps children that have exited. If one was killed by a signal, the processes of its command are killed.
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

/// The environments of commands and of helpers.
struct Environments {
    commands: Vec<CString>,
    helpers: Vec<CString>,
}

impl Environments {
    /// Reads the environments from the file that is passed as standard output: the variables for commands
    /// and those for helpers, each followed by a NUL, with one more NUL between the two lists.
    fn read() -> io::Result<Self> {
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

/// The life of a spare: waits for a command, and becomes its keeper.
fn run_one(host: OwnedFd, take: OwnedFd, environments: Environments) -> io::Result<()> {
    // A session without a terminal: no command can ask a person for a password, and Ctrl-C in the host's
    // terminal does not reach them.
    rustix::process::setsid()?;
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    let exits = system_calls::child_exits()?;
    let myself = this_process().ok_or(io::ErrorKind::NotFound)?;
    let cookie = CString::new(format!("{COOKIE}={}", cookie_of(myself))).unwrap_or_default();
    // Everything above is done before the command arrives, so that it starts sooner.
    let Some(mut accepted) = receive(&host)? else { return Ok(()) };
    // Only waiting spares keep the socket open, so that the host notices when there are none left.
    drop(host);
    let mut environment = match accepted.request.kind {
        RequestKind::Command | RequestKind::Server => environments.commands,
        RequestKind::Helper => environments.helpers,
    };
    for variable in &accepted.request.variables {
        set_variable(&mut environment, variable);
    }
    environment.push(cookie);
    // A host that has closed the connection has given this request up, and may have sent the command again.
    if !keeper::send(&mut accepted.connection, &KeeperMessage::Accepted(myself)) {
        return Ok(());
    }
    keeper::oversee(accepted, &exits, &environment, take);
    Ok(())
}

/// Sets a variable, in place of one of the same name.
fn set_variable(environment: &mut Vec<CString>, variable: &[u8]) {
    let name = |text: &[u8]| text.split(|it| *it == b'=').next().map(<[u8]>::to_vec);
    environment.retain(|it| name(it.to_bytes()) != name(variable));
    environment.extend(CString::new(variable));
}

/// Waits for the next request; none when the host is gone.
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
