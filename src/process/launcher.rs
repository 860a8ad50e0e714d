//! Starts commands: through the supervisor where there is one, else from this process.

#[cfg(target_os = "linux")]
use std::fs::File;
use std::{
    io,
    os::{fd::OwnedFd, unix::net::UnixStream},
    path::Path,
    sync::{Mutex, PoisonError},
};

use tokio::sync::oneshot;

#[cfg(target_os = "linux")]
use super::supervisor_client::SupervisorClient;
use super::{
    manager::StartError, protocol::CommandRequest, settings::ProcessSettings, without_supervisor,
};

/// What a command reads and writes.
pub(super) struct CommandStreams {
    pub(super) output: OwnedFd,
    /// Nothing where errors go to the output.
    pub(super) errors: Option<OwnedFd>,
    /// Nothing where there is no input.
    pub(super) input: Option<OwnedFd>,
}

/// Starts commands until it is closed.
pub(super) struct Launcher(Mutex<LaunchMethod>);

/// How commands are started.
enum LaunchMethod {
    /// By the supervisor.
    #[cfg(target_os = "linux")]
    Supervisor(SupervisorClient),
    /// As children of this process: there is no supervisor.
    Direct,
    /// Not any more.
    Closed,
}

impl Launcher {
    /// Starts the supervisor, where there is one for this system.
    pub(super) fn start(settings: &ProcessSettings, files: &Path) -> Self {
        Self(Mutex::new(LaunchMethod::begin(settings, files)))
    }

    /// Starts a command; true when everything it starts will be found and ended with it.
    pub(super) fn launch(
        &self,
        request: CommandRequest,
        streams: CommandStreams,
        line: UnixStream,
        settings: &ProcessSettings,
        files: &Path,
    ) -> Result<bool, StartError> {
        let mut way = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if matches!(*way, LaunchMethod::Closed) {
            return Err(StartError::Closed);
        }
        #[cfg(target_os = "linux")]
        if matches!(*way, LaunchMethod::Supervisor(_)) {
            let is_taken_by = |way: &LaunchMethod| match way {
                LaunchMethod::Supervisor(it) => it.ask(&request, &streams, &line).is_ok(),
                LaunchMethod::Direct | LaunchMethod::Closed => false,
            };
            if is_taken_by(&way) {
                return Ok(true);
            }
            // Somebody killed it. What it had started goes on; only new commands need another.
            *way = LaunchMethod::begin(settings, files);
            if is_taken_by(&way) {
                return Ok(true);
            }
        }
        drop(way);
        without_supervisor::start(request, streams, line, settings, files)?;
        Ok(false)
    }

    /// Sets the supervisor going again where somebody stopped it; true when it was going. Whoever starts a
    /// command just now notices by itself.
    pub(super) fn resume(&self) -> bool {
        #[cfg(target_os = "linux")]
        if let Ok(way) = self.0.try_lock()
            && let LaunchMethod::Supervisor(supervisor) = &*way
        {
            return supervisor.resume();
        }
        true
    }

    /// Replaces a supervisor that takes no commands. What it had started goes on. Takes some milliseconds.
    pub(super) fn renew(&self, settings: &ProcessSettings, files: &Path) {
        #[cfg(target_os = "linux")]
        {
            let mut way = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if let LaunchMethod::Supervisor(supervisor) = &mut *way {
                supervisor.kill();
                *way = LaunchMethod::begin(settings, files);
            }
        }
        #[cfg(not(target_os = "linux"))]
        let _ = (settings, files);
    }

    /// Starts nothing from now on, and lets the supervisor go. What comes back is closed once it has
    /// ended.
    pub(super) fn close(&self) -> Option<oneshot::Receiver<()>> {
        let mut way = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match std::mem::replace(&mut *way, LaunchMethod::Closed) {
            #[cfg(target_os = "linux")]
            LaunchMethod::Supervisor(supervisor) => supervisor.let_go(),
            LaunchMethod::Direct | LaunchMethod::Closed => None,
        }
    }
}

impl LaunchMethod {
    fn begin(settings: &ProcessSettings, files: &Path) -> Self {
        #[cfg(target_os = "linux")]
        if let Some(program) = &settings.supervisor
            && let Ok(supervisor) = SupervisorClient::start(program, settings, files)
        {
            return Self::Supervisor(supervisor);
        }
        #[cfg(not(target_os = "linux"))]
        let _ = (settings, files);
        Self::Direct
    }
}

/// A file without a name that holds a text, to be read from its beginning.
#[cfg(target_os = "linux")]
pub(super) fn memory_file(text: &[u8]) -> io::Result<File> {
    use std::io::{Seek as _, Write as _};

    let flags = rustix::fs::MemfdFlags::CLOEXEC;
    let mut file = File::from(rustix::fs::memfd_create(c"toolwright", flags)?);
    file.write_all(text)?;
    file.rewind()?;
    Ok(file)
}

/// What a command reads a text from.
#[cfg(target_os = "linux")]
pub(super) fn input_of(text: &[u8]) -> io::Result<OwnedFd> {
    memory_file(text).map(OwnedFd::from)
}

/// What a command reads a text from: a pipe that a thread writes to, as a command may never read it.
#[cfg(not(target_os = "linux"))]
pub(super) fn input_of(text: &[u8]) -> io::Result<OwnedFd> {
    use std::io::Write as _;

    let (read_end, mut write_end) = io::pipe()?;
    let text = text.to_owned();
    std::thread::Builder::new().stack_size(64 * 1024).spawn(move || {
        // A command that does not read to the end has heard enough.
        let _ = write_end.write_all(&text);
    })?;
    Ok(read_end.into())
}
