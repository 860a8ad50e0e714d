//! The main loop of the supervisor: keeps spare processes ready for commands until the host is gone.

use std::{
    collections::HashSet,
    env,
    ffi::CString,
    io,
    os::{fd::OwnedFd, unix::net::UnixStream},
    path::PathBuf,
    time::{Duration, Instant},
};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    io::Errno,
    net::{SendFlags, send},
    pipe::{PipeFlags, pipe_with},
    process::{WaitOptions, wait},
};
use toolwright_command_protocol::{
    COOKIE, CommandRequest, HELLO, KeeperMessage, MAX_REQUEST_BYTES, cookie_of, kill_strays,
    this_process,
};

use crate::{
    descriptor_messages::receive_with_descriptors,
    environments::Environments,
    keeper::{self, AcceptedCommand, KeeperSetup, SpareKnowledge},
    keeper_news::{KEEPER_NEWS_BYTES, KeeperNews},
    sandbox::{
        foreseen_plan::ForeseenPlan, kept_placeholders::KeptPlaceholders, namespaces::PreparedInit,
        probe::probe,
    },
    shared_notes::SharedNotes,
    shell_start::ShellStreams,
    system_calls::{self, Forked},
};

/// How many spare processes are created. Forking takes longer than a short command should have to
/// wait.
const SPARES: usize = 6;
/// New spares are created when no more than this many are left. They are not created after every
/// command, because forking would compete with that command.
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
    let mut hello = HELLO.to_vec();
    hello.extend(probe().encode());
    send(&host, &hello, SendFlags::NOSIGNAL)?;
    // If a keeper is killed, the processes of its command become children of this process.
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    let mut spares = HashSet::new();
    let mut busy = HashSet::new();
    let shared = SharedNotes::new()?;
    // Only this process has the other end, so keepers notice when this process is gone.
    let (supervisor, lifeline) = pipe_with(PipeFlags::CLOEXEC)?;
    let mut placeholders = KeptPlaceholders::new()?;
    let mut foreseen = ForeseenPlan::new()?;
    // Whether new spares prepare a sandbox in namespaces: true if one of the last commands had one.
    let mut prepares = false;
    loop {
        let wanted = if spares.len() > MIN_SPARES { 0 } else { SPARES };
        while spares.len() < wanted {
            match system_calls::fork() {
                Ok(Forked::Parent(child)) => {
                    spares.insert(child);
                }
                Ok(Forked::Child) => {
                    drop((exits, taken, lifeline));
                    let handover = placeholders.into_handover();
                    let reports = foreseen.into_reports();
                    let spare =
                        SpareKnowledge { prepares, reports, handover, shared, supervisor, take };
                    return run_commands(host, &environments, spare);
                }
                // There are too many processes. The loop tries again later.
                Err(_) => break,
            }
        }
        let retry = (spares.len() <= MIN_SPARES).then_some(Duration::from_millis(20));
        let timeout = [retry, placeholders.sweep()].into_iter().flatten().min();
        let timeout = timeout.and_then(|it| Timespec::try_from(it).ok());
        let mut ready = [
            // Reports only that the host is gone. The spares receive its requests.
            PollFd::new(&host, PollFlags::empty()),
            PollFd::new(&taken, PollFlags::IN),
            PollFd::new(&exits, PollFlags::IN),
            PollFd::new(&placeholders.socket, PollFlags::IN),
            PollFd::new(&foreseen.socket, PollFlags::IN),
        ];
        match poll(&mut ready, timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let [host_is_gone, spare_was_used, child_exited, was_handed_over, plan_was_reported] =
            ready.map(|it| !it.revents().is_empty());
        if host_is_gone {
            break;
        }
        if spare_was_used {
            let uses = note_used(&taken, &mut spares, &mut busy);
            if uses.plain + uses.with_namespaces > 0 {
                prepares = uses.with_namespaces > 0;
            }
            placeholders.note_uses(uses.with_namespaces);
        }
        if was_handed_over {
            placeholders.receive();
        }
        if spare_was_used || was_handed_over {
            shared.hand_over_placeholders_for(placeholders.wanted_for());
        }
        if plan_was_reported {
            foreseen.receive();
        }
        if child_exited {
            note_ended(&exits, &mut spares, &mut busy, shared);
        }
    }
    if let Some(files) = env::args_os().nth(1).map(PathBuf::from) {
        let _ = std::fs::remove_dir_all(files);
    }
    wait_for_children(&exits, &mut spares, &mut busy, shared);
    placeholders.remove_all();
    Ok(())
}

/// Waits for spares and keepers, which exit because the host is gone. So they have normally exited
/// before the supervisor does. A keeper whose command takes longer to end is not waited for.
fn wait_for_children(
    exits: &OwnedFd,
    spares: &mut HashSet<i32>,
    busy: &mut HashSet<i32>,
    shared: &SharedNotes,
) {
    let until = Instant::now() + SHUTDOWN_TIMEOUT;
    while !(spares.is_empty() && busy.is_empty()) {
        let left = until.saturating_duration_since(Instant::now());
        let Ok(timeout) = Timespec::try_from(left) else { return };
        match poll(&mut [PollFd::new(exits, PollFlags::IN)], Some(&timeout)) {
            Ok(0) => return,
            Ok(_) => note_ended(exits, spares, busy, shared),
            Err(Errno::INTR) => {}
            Err(_) => return,
        }
    }
}

/// How many commands were accepted.
#[derive(Default)]
struct SpareUses {
    with_namespaces: usize,
    plain: usize,
}

/// Records which spares have accepted a command, and which keepers wait for another one.
fn note_used(taken: &OwnedFd, spares: &mut HashSet<i32>, busy: &mut HashSet<i32>) -> SpareUses {
    let mut news = [0; 64 * KEEPER_NEWS_BYTES];
    let length = rustix::io::read(taken, &mut news).unwrap_or_default();
    let (news, _) = news.get(..length).unwrap_or_default().as_chunks::<KEEPER_NEWS_BYTES>();
    let mut uses = SpareUses::default();
    for news in news {
        let (id, news) = KeeperNews::decode(*news);
        let (from, to) = match news {
            KeeperNews::Waits => (&mut *busy, &mut *spares),
            KeeperNews::HasCommand | KeeperNews::HasSandboxedCommand => (&mut *spares, &mut *busy),
        };
        // A process that has already exited is in neither set.
        if from.remove(&id) {
            to.insert(id);
        }
        uses.with_namespaces += usize::from(news == KeeperNews::HasSandboxedCommand);
        uses.plain += usize::from(news == KeeperNews::HasCommand);
    }
    uses
}

/// Reaps children that have exited. If one was killed by a signal, the processes of its command are killed.
fn note_ended(
    exits: &OwnedFd,
    spares: &mut HashSet<i32>,
    busy: &mut HashSet<i32>,
    shared: &SharedNotes,
) {
    let mut news = [0; 128];
    let _ = rustix::io::read(exits, &mut news);
    let mut was_killed = false;
    while let Ok(Some((pid, status))) = wait(WaitOptions::NOHANG) {
        let pid = pid.as_raw_nonzero().get();
        let was_spare = spares.remove(&pid);
        let was_ours = busy.remove(&pid) || was_spare;
        was_killed |= was_ours && status.signaled();
        if was_spare && status.signaled() {
            shared.end_to_wait();
        }
    }
    if was_killed {
        kill_strays(&spares.union(busy).copied().collect::<HashSet<_>>());
    }
}

/// Runs as a spare: waits for a command and becomes its keeper. If the last commands had a sandbox
/// in namespaces, it prepares one first. If the sandbox can be used again, it waits for another
/// command.
fn run_commands(
    host: OwnedFd,
    environments: &Environments,
    spare: SpareKnowledge,
) -> io::Result<()> {
    // A session without a terminal: no command can ask a person for a password, and Ctrl-C in the host's
    // terminal does not reach them.
    rustix::process::setsid()?;
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    let exits = system_calls::child_exits()?;
    let myself = this_process().ok_or(io::ErrorKind::NotFound)?;
    let cookie = CString::new(format!("{COOKIE}={}", cookie_of(myself))).unwrap_or_default();
    // If this fails, the command that needs it makes a new one and reports the error.
    let plan = spare.reports.foreseen.as_deref();
    let prepare = || PreparedInit::fork(environments, &cookie, plan).ok();
    let mut init = if spare.prepares { prepare() } else { None };
    let shared = spare.shared;
    let mut setup = KeeperSetup { exits, environments, cookie, spare, host: Some(host) };
    let mut room = vec![0; MAX_REQUEST_BYTES];
    // Everything above is done before the command arrives, so that it starts sooner.
    shared.begin_to_wait();
    loop {
        let received = setup.host.as_ref().map_or(Ok(None), |it| receive(it, &mut room));
        shared.end_to_wait();
        let Some(mut accepted) = received? else { return Ok(()) };
        // A host that has closed the connection has abandoned this request, and may have sent the
        // command again.
        if !keeper::send(&mut accepted.connection, &KeeperMessage::Accepted(myself)) {
            return Ok(());
        }
        init = keeper::oversee(accepted, &mut setup, init);
        let waits = init.is_some() && setup.host.is_some() && shared.begin_to_wait_again();
        if !waits {
            init.into_iter().for_each(PreparedInit::discard);
            return Ok(());
        }
        KeeperNews::Waits.send(&setup.spare.take);
    }
}

/// Waits for the next request. Returns `None` if the host is gone.
fn receive(host: &OwnedFd, room: &mut [u8]) -> io::Result<Option<AcceptedCommand>> {
    let Some((message, descriptors)) = receive_with_descriptors(host, room)? else {
        return Ok(None);
    };
    let Some(request) = CommandRequest::decode(&message) else { return Ok(None) };
    let mut descriptors = descriptors.into_iter();
    let (Some(connection), Some(output)) = (descriptors.next(), descriptors.next()) else {
        return Ok(None);
    };
    let plan = if request.is_sandboxed { descriptors.next() } else { None };
    let proxy_link = if request.is_proxied { descriptors.next() } else { None };
    let streams = ShellStreams { output, errors: descriptors.next(), input: descriptors.next() };
    let connection = UnixStream::from(connection);
    Ok(Some(AcceptedCommand { message, request, streams, plan, proxy_link, connection }))
}
