//! Starts commands through the supervisor if there is one, and as children of this process otherwise.

#[cfg(target_os = "linux")]
use std::fs::File;
use std::{
    io,
    os::{fd::OwnedFd, unix::net::UnixStream},
    path::Path,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use tokio::sync::oneshot;

use super::{
    locate_supervisor::NoSupervisor,
    manager::StartError,
    protocol::CommandRequest,
    sandbox::{AppliedSandbox, SandboxLevel, SandboxPlan, SandboxSupport},
    settings::ProcessSettings,
    without_supervisor,
};
#[cfg(target_os = "linux")]
use super::{sandbox::MAX_PLAN_BYTES, supervisor_client::SupervisorClient};

/// The descriptors that become the standard streams of a command.
pub(super) struct CommandStreams {
    pub(super) output: OwnedFd,
    /// None when errors go to the output.
    pub(super) errors: Option<OwnedFd>,
    /// None for an empty input.
    pub(super) input: Option<OwnedFd>,
    /// The socket over which the host gets the one that the command's proxy listens on, if it has a proxy.
    pub(super) door: Option<OwnedFd>,
}

/// How long after a supervisor did not start it is tried again, with the next command.
const RETRY_INTERVAL: Duration = Duration::from_secs(5);

/// Starts commands, until it is closed.
pub(super) struct Launcher(Mutex<LaunchMethod>);

/// How commands are started.
enum LaunchMethod {
    /// The supervisor hands them to keepers.
    #[cfg(target_os = "linux")]
    Supervisor(SupervisorClient),
    /// As children of this process: there is no supervisor, since it was last tried to start one.
    Direct(NoSupervisor, Instant),
    /// No command is started any more, because the registry is closed.
    Closed,
}

impl Launcher {
    /// Starts the supervisor, if this system has one.
    pub(super) fn start(settings: &ProcessSettings, files: &Path) -> Self {
        Self(Mutex::new(LaunchMethod::begin(settings, files)))
    }

    /// Which sandbox commands can have.
    pub(super) fn sandbox_support(&self) -> SandboxSupport {
        match &*self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            #[cfg(target_os = "linux")]
            LaunchMethod::Supervisor(supervisor) => supervisor.support.clone(),
            LaunchMethod::Direct(reason, _) => {
                SandboxSupport::without_supervisor(reason.to_string())
            }
            LaunchMethod::Closed => SandboxSupport::default(),
        }
    }

    /// What a command that was started with this plan is held to.
    pub(super) fn applied(&self, plan: Option<Arc<SandboxPlan>>) -> AppliedSandbox {
        let mut applied = AppliedSandbox { plan, ..AppliedSandbox::default() };
        if applied.plan.is_some() {
            applied.add_gaps(&self.sandbox_support());
        }
        applied
    }

    /// Starts a command. Returns why not everything it starts is certain to be found and ended with it, if it
    /// is not. A command with a plan never runs without the sandbox.
    pub(super) fn launch(
        &self,
        request: CommandRequest,
        streams: CommandStreams,
        plan: Option<&SandboxPlan>,
        connection: UnixStream,
        settings: &ProcessSettings,
        files: &Path,
    ) -> Result<Option<NoSupervisor>, StartError> {
        #[cfg(target_os = "linux")]
        let plan_file = plan.map(plan_file).transpose()?;
        let mut way = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        #[cfg(not(target_os = "linux"))]
        let renewal = None;
        #[cfg(target_os = "linux")]
        let mut renewal = None;
        #[cfg(target_os = "linux")]
        if matches!(*way, LaunchMethod::Supervisor(_)) {
            let is_sent_by = |way: &LaunchMethod| match way {
                LaunchMethod::Supervisor(it) => {
                    it.request(&request, &streams, plan_file.as_ref(), &connection).is_ok()
                }
                LaunchMethod::Direct(..) | LaunchMethod::Closed => false,
            };
            if is_sent_by(&way) {
                return Ok(None);
            }
            // Somebody killed it. What it had started goes on; only new commands need another.
            renewal = way.begin_again(settings, files);
            if renewal.is_none() && is_sent_by(&way) {
                return Ok(None);
            }
        }
        let reason = match (&*way, renewal) {
            (LaunchMethod::Direct(reason, _), _) => reason.clone(),
            (_, Some(reason)) => reason,
            #[cfg(target_os = "linux")]
            (LaunchMethod::Supervisor(_), None) => {
                settings.supervisor.clone().map_or_else(|it| it, NoSupervisor::Stuck)
            }
            (LaunchMethod::Closed, None) => return Err(StartError::Closed),
        };
        drop(way);
        if plan.is_some_and(|it| it.level != SandboxLevel::None) {
            return Err(StartError::NoSandbox(reason.to_string()));
        }
        without_supervisor::start(request, streams, connection, settings, files)?;
        Ok(Some(reason))
    }

    /// Resumes the supervisor if it was stopped by a signal. Returns true when it was not stopped, also while
    /// another thread is starting a command: that thread finds out by itself.
    pub(super) fn resume(&self) -> bool {
        #[cfg(target_os = "linux")]
        if let Ok(way) = self.0.try_lock()
            && let LaunchMethod::Supervisor(supervisor) = &*way
        {
            return supervisor.resume();
        }
        true
    }

    /// Replaces a supervisor that accepts no commands. Commands that it started go on. Blocks for some
    /// milliseconds.
    pub(super) fn renew(&self, settings: &ProcessSettings, files: &Path) {
        #[cfg(target_os = "linux")]
        {
            let mut way = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if let LaunchMethod::Supervisor(supervisor) = &mut *way {
                supervisor.kill();
                way.begin_again(settings, files);
            }
        }
        #[cfg(not(target_os = "linux"))]
        let _ = (settings, files);
    }

    /// Starts no command from now on and tells the supervisor to exit. The channel is closed once it has
    /// exited.
    pub(super) fn close(&self) -> Option<oneshot::Receiver<()>> {
        let mut way = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match std::mem::replace(&mut *way, LaunchMethod::Closed) {
            #[cfg(target_os = "linux")]
            LaunchMethod::Supervisor(supervisor) => supervisor.release(),
            LaunchMethod::Direct(..) | LaunchMethod::Closed => None,
        }
    }

    /// False when there is no supervisor and it is time to try to start one again.
    pub(super) fn is_settled(&self) -> bool {
        // Whoever has the lock starts a command, so it is not asked for.
        self.0.try_lock().map_or(true, |way| !way.is_to_be_tried_again())
    }

    /// Tries to start the supervisor again if that failed some time ago: the machine may only have been too busy.
    /// Blocks until it says something.
    pub(super) fn try_again(&self, settings: &ProcessSettings, files: &Path) {
        let mut way = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if way.is_to_be_tried_again() {
            *way = LaunchMethod::begin(settings, files);
        }
    }
}

impl LaunchMethod {
    fn is_to_be_tried_again(&self) -> bool {
        match self {
            Self::Direct(NoSupervisor::NotStarted { .. }, at) => at.elapsed() >= RETRY_INTERVAL,
            _ => false,
        }
    }

    fn begin(settings: &ProcessSettings, files: &Path) -> Self {
        match &settings.supervisor {
            Err(reason) => Self::Direct(reason.clone(), Instant::now()),
            #[cfg(target_os = "linux")]
            Ok(program) => match SupervisorClient::start(program, settings, files) {
                Ok(supervisor) => Self::Supervisor(supervisor),
                Err(cause) => {
                    let (program, cause) = (program.clone(), cause.to_string());
                    Self::Direct(NoSupervisor::NotStarted { program, cause }, Instant::now())
                }
            },
            #[cfg(not(target_os = "linux"))]
            Ok(_) => {
                let _ = files;
                Self::Direct(NoSupervisor::OtherSystem, Instant::now())
            }
        }
    }
}

#[cfg(target_os = "linux")]
impl LaunchMethod {
    /// Takes another supervisor. If none starts, the one that is gone stays, and the next command tries again: a
    /// machine on which commands had a sandbox does not run them without one because it had no memory for a moment.
    fn begin_again(&mut self, settings: &ProcessSettings, files: &Path) -> Option<NoSupervisor> {
        match Self::begin(settings, files) {
            Self::Direct(reason, _) => Some(reason),
            another => {
                *self = another;
                None
            }
        }
    }
}

/// A file in memory with a plan.
#[cfg(target_os = "linux")]
fn plan_file(plan: &SandboxPlan) -> Result<OwnedFd, StartError> {
    let bytes = plan.encode();
    if bytes.len() > MAX_PLAN_BYTES {
        return Err(StartError::NoSandbox(format!(
            "it has {} places, which is too many; name directories instead of files",
            plan.hidden.len() + plan.read_only.len() + plan.missing.len()
        )));
    }
    Ok(memory_file(&bytes)?.into())
}

/// A file in memory, without a name, that holds a text and is read from its beginning.
#[cfg(target_os = "linux")]
pub(super) fn memory_file(text: &[u8]) -> io::Result<File> {
    use std::io::{Seek as _, Write as _};

    let flags = rustix::fs::MemfdFlags::CLOEXEC;
    let mut file = File::from(rustix::fs::memfd_create(c"toolwright", flags)?);
    file.write_all(text)?;
    file.rewind()?;
    Ok(file)
}

/// A descriptor from which a command reads a text.
#[cfg(target_os = "linux")]
pub(super) fn input_of(text: &[u8]) -> io::Result<OwnedFd> {
    memory_file(text).map(OwnedFd::from)
}

/// A descriptor from which a command reads a text. It is a pipe that a thread writes to, because a command
/// that does not read would block the writer.
#[cfg(not(target_os = "linux"))]
pub(super) fn input_of(text: &[u8]) -> io::Result<OwnedFd> {
    use std::io::Write as _;

    let (read_end, mut write_end) = io::pipe()?;
    let text = text.to_owned();
    std::thread::Builder::new().stack_size(64 * 1024).spawn(move || {
        // A command may exit without reading all of its input.
        let _ = write_end.write_all(&text);
    })?;
    Ok(read_end.into())
}
