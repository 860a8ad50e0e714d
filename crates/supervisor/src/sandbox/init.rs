//! PID 1 of a sandbox. It prepares what every command needs, waits for a command, mounts its plan,
//! starts the shell, and reaps all processes until none is left. Then it waits for another command
//! with the same plan.
//!
//! No process in the sandbox can signal or trace it. When it ends, the kernel kills all the others.

use std::{
    ffi::CString,
    fs::File,
    os::{fd::OwnedFd, unix::fs::FileExt as _},
};

use rustix::{
    event::{PollFd, PollFlags, poll},
    io::Errno,
    process::{Pid, Signal, WaitOptions, set_parent_process_death_signal, wait},
};
use toolwright_command_protocol::{
    CommandNetwork, CommandRequest, MAX_PLAN_BYTES, MAX_REQUEST_BYTES, SandboxPlan,
};

use super::{
    Restrictions, SandboxError,
    base_mounts::{self, LateSettings},
    capabilities::KeptCapabilities,
    daemon_sockets::{DaemonSockets, LISTENING_SOCKETS},
    init_link::{InitMessage, ShellEnd},
    init_traits::InitTraits,
    is_unrestricted,
    kernel_objects::{self, IpcObjects},
    limits::{self, CommandLimits},
    namespaces::{self, MAPPED, UserMap},
    network::{ProxyAddress, enter_network},
    plan_mounts::MountedPlan,
};
use crate::{
    descriptor_messages::receive_with_descriptors,
    environments::{Environments, set_variable},
    shell_start::{ShellStreams, last_directory, start_shell},
    system_calls,
};

/// What PID 1 gets from the process that forked it.
pub(crate) struct InitSetup<'a> {
    pub(crate) link: OwnedFd,
    pub(crate) environments: &'a Environments,
    pub(crate) cookie: &'a CString,
    /// The user id outside the sandbox.
    pub(crate) user: u32,
    /// The group id outside the sandbox.
    pub(crate) group: u32,
    pub(crate) user_map: UserMap,
    /// The plan that the next command will most likely have, encoded.
    pub(crate) foreseen: Option<&'a [u8]>,
}

impl InitSetup<'_> {
    const fn is_root(&self) -> bool {
        self.user == 0
    }
}

/// A command to run.
struct SandboxedCommand {
    request: CommandRequest,
    streams: ShellStreams,
    plan: SandboxPlan,
    /// The socket over which the host receives the proxy's listening socket, if the command has a
    /// proxy.
    proxy_link: Option<OwnedFd>,
}

/// Runs as PID 1 of the sandbox. Never returns, so the child cannot continue in the parent's code.
pub(crate) fn run_as_pid1(setup: &InitSetup<'_>) -> ! {
    system_calls::close_all_but(&setup.link);
    // If the keeper is killed, this process ends too.
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
    let link = &setup.link;
    match prepare(setup) {
        Ok(inside) => {
            if InitMessage::Ready.send(link).is_ok() {
                run_all(setup, inside);
            }
        }
        Err(SandboxError(reason)) => {
            let is_unfit = setup.foreseen.is_some();
            let message = if is_unfit { InitMessage::Unfit } else { InitMessage::Refused(reason) };
            let _ = message.send(link);
        }
    }
    // There is no work to do at exit.
    system_calls::exit_at_once()
}

/// The parts of the sandbox that PID 1 has set up so far.
#[derive(Default)]
struct EnteredSandbox {
    settings: LateSettings,
    mounts: MountedPlan,
    objects: IpcObjects,
    /// The sockets outside the sandbox's network. This process may have left that network already.
    sockets: DaemonSockets,
    /// True once it has its own network.
    has_network: bool,
}

impl EnteredSandbox {
    /// Sets up everything that the plan needs and that is not set up yet.
    fn enter(&mut self, plan: &SandboxPlan) -> Result<(), SandboxError> {
        // This comes first, because a mount with a file open for writing cannot become read-only.
        limits::limit_ids(self.settings.highest_id.take(), &plan.limits);
        if plan.has_own_memory {
            self.objects.mount_memory(plan.limits.memory_bytes)?;
        }
        self.mounts.mount_all(plan)?;
        if !self.has_network {
            enter_network(plan)?;
            self.has_network = plan.network != CommandNetwork::Open;
        }
        Ok(())
    }

    /// Sets up everything that the plan needs, then makes sure that the next command cannot undo
    /// it.
    fn close(&mut self, plan: &SandboxPlan) -> Result<(), SandboxError> {
        self.enter(plan)?;
        self.sockets.hide(plan, &mut self.mounts)?;
        if is_unrestricted(plan) { Ok(()) } else { self.settings.forbid_mount_namespaces() }
    }

    /// [`Self::close`] for every command but the first. Files may have been replaced or made since
    /// the last one.
    fn close_again(&mut self, plan: &SandboxPlan) -> Result<(), SandboxError> {
        if self.mounts.is_intact(plan) && self.sockets.are_hidden(plan, &self.mounts) {
            return Ok(());
        }
        self.settings.allow_mounting()?;
        self.close(plan)
    }
}

/// Prepares what every command needs, and mounts the foreseen plan.
fn prepare(setup: &InitSetup<'_>) -> Result<EnteredSandbox, SandboxError> {
    let is_mapped = setup.user_map == UserMap::FromOutside && {
        let mut byte = [0];
        rustix::io::read(&setup.link, &mut byte).is_ok() && byte == [MAPPED]
    };
    if !is_mapped {
        namespaces::map_own_user(setup.user, setup.group)?;
    }
    let _ = rustix::process::setsid();
    let (settings, objects) = base_mounts::mount_base(setup.is_root())?;
    KeptCapabilities::of(setup.is_root()).bound()?;
    kernel_objects::refuse_keys()?;
    let sockets = DaemonSockets::new(File::open(LISTENING_SOCKETS).ok(), setup.user);
    let mut inside = EnteredSandbox { settings, objects, sockets, ..EnteredSandbox::default() };
    if let Some(plan) = setup.foreseen.and_then(SandboxPlan::decode) {
        inside.enter(&plan)?;
    }
    Ok(inside)
}

/// Runs commands until one changes the sandbox.
fn run_all(setup: &InitSetup<'_>, mut inside: EnteredSandbox) {
    let link = &setup.link;
    let traits = InitTraits::now();
    let (mut is_used, mut is_as_before) = (false, true);
    let mut room = vec![0; MAX_REQUEST_BYTES];
    while let Some(command) = receive(link, &mut room) {
        if is_used && !(is_as_before && inside.close_again(&command.plan).is_ok()) {
            let _ = InitMessage::Unfit.send(link);
            return;
        }
        let closed = if is_used { Ok(()) } else { inside.close(&command.plan) };
        let proxy = closed
            .and_then(|()| command.proxy_link.as_ref().map(ProxyAddress::hand_out).transpose());
        let proxy = match proxy {
            Ok(proxy) => proxy,
            Err(SandboxError(reason)) => {
                let _ = InitMessage::Refused(reason).send(link);
                return;
            }
        };
        is_used = true;
        if !run(setup, command, proxy.as_ref()) {
            return;
        }
        // The current directory of a process cannot be unmounted.
        let _ = rustix::process::chdir("/");
        is_as_before = traits.restore() && inside.objects.are_none();
    }
}

/// Runs one command. Returns true when all its processes have ended.
fn run(setup: &InitSetup<'_>, command: SandboxedCommand, proxy: Option<&ProxyAddress>) -> bool {
    let link = &setup.link;
    let SandboxedCommand { request, streams, plan, proxy_link } = command;
    drop(proxy_link);
    let mut environment = setup.environments.of(&request, setup.cookie);
    for variable in proxy.into_iter().flat_map(ProxyAddress::variables) {
        set_variable(&mut environment, variable.as_bytes());
    }
    let started = system_calls::child_exits().and_then(|exits| {
        let mut restrictions = Restrictions::of(&plan, &CommandLimits::inside(&plan))?;
        restrictions.capabilities = Some(KeptCapabilities::of(setup.is_root()));
        Ok((start_shell(&request, &streams, &environment, &restrictions)?, exits))
    });
    drop(streams);
    match started {
        Ok((shell, exits)) => {
            InitMessage::Started.send(link).is_ok() && reap_all(link, &request, shell, &exits)
        }
        Err(error) => {
            let number = error.raw_os_error().unwrap_or(Errno::IO.raw_os_error());
            let _ = InitMessage::NotStarted(number).send(link);
            false
        }
    }
}

/// Waits for a command. Returns `None` when the keeper is gone.
fn receive(link: &OwnedFd, room: &mut [u8]) -> Option<SandboxedCommand> {
    let (message, descriptors) = receive_with_descriptors(link, room).ok()??;
    let request = CommandRequest::decode(&message)?;
    let mut descriptors = descriptors.into_iter();
    let (output, plan) = (descriptors.next()?, descriptors.next()?);
    let proxy_link = if request.is_proxied { Some(descriptors.next()?) } else { None };
    let streams = ShellStreams { output, errors: descriptors.next(), input: descriptors.next() };
    let plan = SandboxPlan::decode(&read_plan(&File::from(plan))?)?;
    Some(SandboxedCommand { request, streams, plan, proxy_link })
}

/// Reads the encoded plan from the start of the file, regardless of its current offset.
pub(crate) fn read_plan(file: &File) -> Option<Vec<u8>> {
    let length = usize::try_from(file.metadata().ok()?.len()).ok()?;
    if length > MAX_PLAN_BYTES {
        return None;
    }
    let mut bytes = vec![0; length];
    file.read_exact_at(&mut bytes, 0).ok()?;
    Some(bytes)
}

/// Reaps processes until none is left, or until the keeper is gone. Returns true when none is left.
fn reap_all(link: &OwnedFd, request: &CommandRequest, shell: Pid, exits: &OwnedFd) -> bool {
    let mut is_shell_running = true;
    loop {
        let cwd = if is_shell_running { last_directory(request, shell) } else { None };
        let mut end = None;
        let is_last = loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) => {
                    if pid == shell && (status.exited() || status.signaled()) {
                        end = Some(ShellEnd::of(status, cwd.clone()));
                    }
                }
                Ok(None) => break false,
                Err(Errno::INTR) => {}
                Err(_) => break true,
            }
        };
        if let Some(end) = end {
            is_shell_running = false;
            if InitMessage::ShellEnded(end).send(link).is_err() {
                return false;
            }
        }
        if is_last {
            return InitMessage::AllGone.send(link).is_ok();
        }
        let mut ready = [PollFd::new(exits, PollFlags::IN), PollFd::new(link, PollFlags::IN)];
        match poll(&mut ready, None) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(_) => return false,
        }
        let [_, keeper_is_gone] = ready.map(|it| !it.revents().is_empty());
        if keeper_is_gone {
            return false;
        }
        let mut news = [0; 128];
        let _ = rustix::io::read(exits, &mut news);
    }
}
