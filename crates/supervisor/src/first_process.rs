//! The first process of a command, from which all others descend: its shell, or PID 1 of its
//! sandbox.

use std::{
    ffi::CString,
    fs::File,
    io,
    os::fd::{AsFd as _, OwnedFd},
};

use rustix::{io::Errno, process::Pid};
use toolwright_command_protocol::{CommandRequest, EndReport, SandboxLevel, SandboxPlan};

use crate::{
    descriptor_messages::send_with_descriptors,
    environments::Environments,
    sandbox::{
        Restrictions, SandboxError, foreseen_plan::PlanReports, init::read_plan,
        init_link::InitMessage, limits::CommandLimits, namespaces::PreparedInit,
        placeholders::Placeholders,
    },
    shell_start::{ShellStreams, start_shell},
};

/// For how many commands of a sandbox its plan is reported to the supervisor. After two reports of
/// the same plan, the supervisor expects it for the next command.
const REPORTED_USES: u32 = 2;
/// How often to try to make a sandbox while files of its plan appear and disappear.
const MAX_TRIES: usize = 3;

/// The first process of a command.
pub(crate) enum FirstProcess {
    /// The shell, a child of this process.
    Shell(Pid),
    /// PID 1 of a sandbox. The shell is its child.
    Init(StartedInit),
}

/// PID 1 of a sandbox whose shell was started. It has a plan if another command may use the sandbox
/// later.
pub(crate) struct StartedInit {
    pub(crate) process: PreparedInit,
    /// False once it has closed its side of the link.
    pub(crate) is_open: bool,
}

/// Why a command was not started.
pub(crate) enum StartFailure {
    /// The system refused to start the shell.
    Shell(io::Error),
    /// The sandbox could not be made.
    Sandbox(SandboxError),
}

impl From<SandboxError> for StartFailure {
    fn from(error: SandboxError) -> Self {
        Self::Sandbox(error)
    }
}

impl StartFailure {
    /// The report for the host.
    pub(crate) fn report(self) -> EndReport {
        match self {
            Self::Shell(error) => EndReport {
                spawn_error: Some(error.raw_os_error().unwrap_or(Errno::IO.raw_os_error())),
                ..EndReport::default()
            },
            Self::Sandbox(SandboxError(reason)) => EndReport {
                sandbox_error: Some(format!("its sandbox cannot be made: {reason}")),
                ..EndReport::default()
            },
        }
    }
}

impl FirstProcess {
    /// Starts the shell as a child of this process.
    pub(crate) fn start_plainly(
        request: &CommandRequest,
        streams: &ShellStreams,
        environment: &[CString],
        restrictions: &Restrictions,
    ) -> Result<Self, StartFailure> {
        start_shell(request, streams, environment, restrictions)
            .map(Self::Shell)
            .map_err(StartFailure::Shell)
    }
}

/// Starts a command that has a plan. `message` is the encoded `request`.
pub(crate) fn start_first_process(
    (message, request): (&[u8], &CommandRequest),
    streams: &ShellStreams,
    (plan, proxy_link): (OwnedFd, Option<OwnedFd>),
    environment: &[CString],
    inits: &mut InitSource<'_>,
    placeholders: &mut Placeholders,
    limits: &mut CommandLimits,
) -> Result<FirstProcess, StartFailure> {
    let plan_file = File::from(plan);
    let unreadable = || SandboxError("its plan cannot be read".to_owned());
    let plan_bytes = read_plan(&plan_file).ok_or_else(unreadable)?;
    let plan = SandboxPlan::decode(&plan_bytes).ok_or_else(unreadable)?;
    *limits = CommandLimits::of(&plan);
    if plan.level != SandboxLevel::Namespaces {
        let restrictions = Restrictions::of(&plan, limits)
            .map_err(|it| SandboxError::refused("Landlock cannot be used", it))?;
        return FirstProcess::start_plainly(request, streams, environment, &restrictions);
    }
    *placeholders = Placeholders::make(&plan)?;
    let optional =
        proxy_link.iter().chain(&streams.errors).chain(&streams.input).map(OwnedFd::as_fd);
    let descriptors: Vec<_> =
        [streams.output.as_fd(), plan_file.as_fd()].into_iter().chain(optional).collect();
    let mut tries = 0;
    loop {
        let process = inits
            .take(&plan_bytes)
            .map_err(|it| SandboxError::refused("namespaces cannot be made", it))?;
        if let Some(group) = limits.group() {
            let added = group.add(process.pid);
            added.map_err(|it| SandboxError::refused("its cgroup is closed", it))?;
        }
        // If PID 1 is gone, it has sent the reason before.
        let _ = send_with_descriptors(&process.link, message, &descriptors);
        match wait_for_start(&process) {
            Ok(true) => {
                if process.uses < REPORTED_USES {
                    inits.reports.report(&plan_file, &plan_bytes);
                }
                let can_be_kept = proxy_link.is_none() && limits.group().is_none();
                let plan = can_be_kept.then_some(plan_bytes);
                let process = PreparedInit { plan, uses: process.uses + 1, ..process };
                return Ok(FirstProcess::Init(StartedInit { process, is_open: true }));
            }
            Ok(false) => inits.unfit.push(process),
            Err(failure) => {
                process.discard();
                tries += 1;
                let is_of_sandbox = matches!(failure, StartFailure::Sandbox(_));
                if tries == MAX_TRIES || !is_of_sandbox || !Placeholders::may_lack(&plan) {
                    return Err(failure);
                }
                *placeholders = Placeholders::make(&plan)?;
            }
        }
    }
}

/// Provides a keeper with PID 1 for its command.
pub(crate) struct InitSource<'a> {
    pub(crate) prepared: Option<PreparedInit>,
    pub(crate) reports: &'a PlanReports,
    pub(crate) environments: &'a Environments,
    pub(crate) cookie: &'a CString,
    /// PID 1 processes that could not be used.
    pub(crate) unfit: Vec<PreparedInit>,
}

impl InitSource<'_> {
    /// Returns the prepared PID 1 if it fits this plan, or a new one otherwise.
    fn take(&mut self, plan: &[u8]) -> io::Result<PreparedInit> {
        match self.prepared.take() {
            Some(it) if it.plan.as_deref().is_none_or(|it| it == plan) => Ok(it),
            other => {
                self.unfit.extend(other);
                PreparedInit::fork(self.environments, self.cookie, None)
            }
        }
    }

    /// Ends all processes that were not used.
    pub(crate) fn discard(self) {
        for init in self.prepared.into_iter().chain(self.unfit) {
            init.discard();
        }
    }
}

/// Waits until PID 1 has started the shell, or reports why it has not. Returns false if another PID
/// 1 must be used.
fn wait_for_start(process: &PreparedInit) -> Result<bool, StartFailure> {
    loop {
        match InitMessage::receive(&process.link) {
            Ok(Some(InitMessage::Ready)) => {}
            Ok(Some(InitMessage::Started)) => return Ok(true),
            Ok(Some(InitMessage::Unfit)) => return Ok(false),
            Ok(Some(InitMessage::Refused(reason))) => return Err(SandboxError(reason).into()),
            Ok(Some(InitMessage::NotStarted(error))) => {
                return Err(StartFailure::Shell(io::Error::from_raw_os_error(error)));
            }
            Ok(Some(InitMessage::ShellEnded(_) | InitMessage::AllGone) | None) => {
                let reason = "its first process ended before the shell was started".to_owned();
                return Err(SandboxError(reason).into());
            }
            Err(error) => return Err(StartFailure::Shell(error)),
        }
    }
}
