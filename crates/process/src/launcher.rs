//! Starts commands through the supervisor if there is one, and as children of this process otherwise.

#[cfg(target_os = "linux")]
use std::fs::File;
use std::{
    io,
    os::{fd::OwnedFd, unix::net::UnixStream},
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use tokio::sync::oneshot;
#[cfg(target_os = "linux")]
use toolwright_command_protocol::MAX_PLAN_BYTES;
use toolwright_command_protocol::{CommandRequest, SandboxLevel, SandboxPlan, SandboxSupport};

#[cfg(target_os = "linux")]
use super::supervisor_client::SupervisorClient;
use super::{
    locate_supervisor::NoSupervisor, manager::StartError, sandbox::AppliedSandbox,
    settings::ProcessSettings, without_supervisor,
};

/// The descriptors that become the standard streams of a command.
pub(super) struct CommandStreams {
    pub(super) output: OwnedFd,
    /// None when errors go to the output.
    pub(super) errors: Option<OwnedFd>,
    /// None for an empty input.
    pub(super) input: Option<OwnedFd>,
    /// The socket over which the proxy receives its listening socket, if the command has a proxy.
    pub(super) proxy_link: Option<OwnedFd>,
}

/// How long to wait after a failed start of the supervisor. The next command after that tries
/// again.
const RETRY_INTERVAL: Duration = Duration::from_secs(5);

/// Starts commands until it is closed.
pub(super) struct Launcher(Mutex<LaunchMethod>);

/// How commands are started.
enum LaunchMethod {
    /// Through the supervisor, which hands them to keepers.
    #[cfg(target_os = "linux")]
    Supervisor(SupervisorClient),
    /// As children of this process, because there is no supervisor, for this reason. The [`Instant`]
    /// is when starting one was last tried.
    Direct(NoSupervisor, Instant),
    /// Not at all, because the registry is closed.
    Closed,
}

impl Launcher {
    /// Starts the supervisor, if this system has one.
    pub(super) fn start(settings: &ProcessSettings, files: &Path) -> Self {
        Self(Mutex::new(LaunchMethod::begin(settings, files)))
    }

    /// The sandbox features that commands can use.
    pub(super) fn sandbox_support(&self) -> SandboxSupport {
        match &*self.0.lock() {
            #[cfg(target_os = "linux")]
            LaunchMethod::Supervisor(supervisor) => supervisor.support.clone(),
            LaunchMethod::Direct(reason, _) => {
                SandboxSupport::without_supervisor(reason.to_string())
            }
            LaunchMethod::Closed => SandboxSupport::default(),
        }
    }

    /// The sandbox of a command that was started with this plan.
    pub(super) fn applied(&self, plan: Option<Arc<SandboxPlan>>) -> AppliedSandbox {
        let mut applied = AppliedSandbox { plan, ..AppliedSandbox::default() };
        if applied.plan.is_some() {
            applied.add_gaps(&self.sandbox_support());
        }
        applied
    }

    /// Starts a command. A command with a plan never runs without its sandbox. The returned reason,
    /// if any, says why processes that it starts may outlive it.
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
        let mut way = self.0.lock();
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
            // The supervisor was killed. Commands that it started continue. Only new commands need
            // another one.
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

    /// Resumes the supervisor if it was stopped by a signal. Returns true if it was not stopped.
    /// Also returns true while another thread is starting a command, because that thread checks it
    /// too.
    pub(super) fn resume(&self) -> bool {
        #[cfg(target_os = "linux")]
        if let Some(way) = self.0.try_lock()
            && let LaunchMethod::Supervisor(supervisor) = &*way
        {
            return supervisor.resume();
        }
        true
    }

    /// Replaces a supervisor that accepts no commands. Commands that it started continue. Blocks
    /// for some milliseconds.
    pub(super) fn renew(&self, settings: &ProcessSettings, files: &Path) {
        #[cfg(target_os = "linux")]
        {
            let mut way = self.0.lock();
            if let LaunchMethod::Supervisor(supervisor) = &mut *way {
                supervisor.kill();
                way.begin_again(settings, files);
            }
        }
        #[cfg(not(target_os = "linux"))]
        let _ = (settings, files);
    }

    /// Refuses further commands and makes the supervisor exit. The returned channel closes once it
    /// has exited.
    pub(super) fn close(&self) -> Option<oneshot::Receiver<()>> {
        let mut way = self.0.lock();
        match std::mem::replace(&mut *way, LaunchMethod::Closed) {
            #[cfg(target_os = "linux")]
            LaunchMethod::Supervisor(supervisor) => supervisor.release(),
            LaunchMethod::Direct(..) | LaunchMethod::Closed => None,
        }
    }

    /// False if there is no supervisor and it is time to try to start one again.
    pub(super) fn is_settled(&self) -> bool {
        // If the lock is taken, another thread is starting a command, so there is nothing to do
        // here.
        self.0.try_lock().is_none_or(|way| !way.is_to_be_tried_again())
    }

    /// Tries to start the supervisor again if that failed some time ago: the machine may only have
    /// been too busy. Blocks until the supervisor answers.
    pub(super) fn try_again(&self, settings: &ProcessSettings, files: &Path) {
        let mut way = self.0.lock();
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
    /// Replaces the supervisor. If no new one starts, the old one stays, and the next command tries
    /// again. So a temporary lack of memory never makes commands run without the sandbox that they
    /// had before.
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

/// A file in memory that contains an encoded plan.
#[cfg(target_os = "linux")]
fn plan_file(plan: &SandboxPlan) -> Result<OwnedFd, StartError> {
    let bytes = plan.encode();
    if bytes.len() > MAX_PLAN_BYTES {
        return Err(StartError::NoSandbox(format!(
            "its plan has {} paths, which is too many; name directories instead of files",
            plan.hidden.len() + plan.read_only.len() + plan.missing.len()
        )));
    }
    Ok(memory_file(&bytes)?.into())
}

/// A file in memory that contains a text, positioned at its beginning.
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
