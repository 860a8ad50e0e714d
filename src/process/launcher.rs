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
use super::supervisor::Supervisor;
use super::{
    direct, locate::NoSupervisor, manager::StartError, protocol::Request, settings::ProcessSettings,
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
pub(super) struct Launcher(Mutex<Way>);

/// How commands are started.
enum Way {
    /// By the supervisor.
    #[cfg(target_os = "linux")]
    Supervisor(Supervisor),
    /// As children of this process: there is no supervisor.
    Direct(NoSupervisor),
    /// Not any more.
    Closed,
}

impl Launcher {
    /// Starts the supervisor, where there is one for this system.
    pub(super) fn start(settings: &ProcessSettings, files: &Path) -> Self {
        Self(Mutex::new(Way::begin(settings, files)))
    }

    /// Starts a command. Where no supervisor runs it, so that not all it starts may be found and ended
    /// with it, what comes back says why.
    pub(super) fn launch(
        &self,
        request: Request,
        streams: CommandStreams,
        line: UnixStream,
        settings: &ProcessSettings,
        files: &Path,
    ) -> Result<Option<NoSupervisor>, StartError> {
        let mut way = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        #[cfg(target_os = "linux")]
        if matches!(*way, Way::Supervisor(_)) {
            let is_taken_by = |way: &Way| match way {
                Way::Supervisor(it) => it.ask(&request, &streams, &line).is_ok(),
                Way::Direct(_) | Way::Closed => false,
            };
            if is_taken_by(&way) {
                return Ok(None);
            }
            // Somebody killed it. What it had started goes on; only new commands need another.
            *way = Way::begin(settings, files);
            if is_taken_by(&way) {
                return Ok(None);
            }
        }
        let reason = match &*way {
            Way::Direct(reason) => reason.clone(),
            #[cfg(target_os = "linux")]
            Way::Supervisor(_) => {
                settings.supervisor.clone().map_or_else(|it| it, NoSupervisor::Stuck)
            }
            Way::Closed => return Err(StartError::Closed),
        };
        drop(way);
        direct::start(request, streams, line, settings, files)?;
        Ok(Some(reason))
    }

    /// Sets the supervisor going again where somebody stopped it; true when it was going. Whoever starts a
    /// command just now notices by itself.
    pub(super) fn resume(&self) -> bool {
        #[cfg(target_os = "linux")]
        if let Ok(way) = self.0.try_lock()
            && let Way::Supervisor(supervisor) = &*way
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
            if let Way::Supervisor(supervisor) = &mut *way {
                supervisor.kill();
                *way = Way::begin(settings, files);
            }
        }
        #[cfg(not(target_os = "linux"))]
        let _ = (settings, files);
    }

    /// Starts nothing from now on, and lets the supervisor go. What comes back is closed once it has
    /// ended.
    pub(super) fn close(&self) -> Option<oneshot::Receiver<()>> {
        let mut way = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match std::mem::replace(&mut *way, Way::Closed) {
            #[cfg(target_os = "linux")]
            Way::Supervisor(supervisor) => supervisor.let_go(),
            Way::Direct(_) | Way::Closed => None,
        }
    }
}

impl Way {
    fn begin(settings: &ProcessSettings, files: &Path) -> Self {
        match &settings.supervisor {
            Err(reason) => Self::Direct(reason.clone()),
            #[cfg(target_os = "linux")]
            Ok(program) => match Supervisor::start(program, settings, files) {
                Ok(supervisor) => Self::Supervisor(supervisor),
                Err(cause) => Self::Direct(NoSupervisor::NotStarted {
                    program: program.clone(),
                    cause: cause.to_string(),
                }),
            },
            #[cfg(not(target_os = "linux"))]
            Ok(_) => {
                let _ = files;
                Self::Direct(NoSupervisor::OtherSystem)
            }
        }
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
