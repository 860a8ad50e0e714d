//! Starts commands: through the supervisor where there is one, else from this process.

use std::{
    os::{fd::OwnedFd, unix::net::UnixStream},
    path::Path,
    sync::{Mutex, PoisonError},
};

use tokio::sync::oneshot;

#[cfg(target_os = "linux")]
use super::supervisor::Supervisor;
use super::{direct, manager::StartError, protocol::Request, settings::ProcessSettings};

/// Starts commands until it is closed.
pub(super) struct Launcher(Mutex<Way>);

/// How commands are started.
enum Way {
    /// By the supervisor.
    #[cfg(target_os = "linux")]
    Supervisor(Supervisor),
    /// As children of this process: there is no supervisor.
    Direct,
    /// Not any more.
    Closed,
}

impl Launcher {
    /// Starts the supervisor, where there is one for this system.
    pub(super) fn start(settings: &ProcessSettings, files: &Path) -> Self {
        Self(Mutex::new(Way::begin(settings, files)))
    }

    /// Starts a command; true when everything it starts will be found and ended with it.
    pub(super) fn launch(
        &self,
        request: Request,
        output: OwnedFd,
        line: UnixStream,
        settings: &ProcessSettings,
        files: &Path,
    ) -> Result<bool, StartError> {
        let mut way = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if matches!(*way, Way::Closed) {
            return Err(StartError::Closed);
        }
        #[cfg(target_os = "linux")]
        if matches!(*way, Way::Supervisor(_)) {
            let is_taken_by = |way: &Way| match way {
                Way::Supervisor(it) => it.ask(&request, &output, &line).is_ok(),
                Way::Direct | Way::Closed => false,
            };
            if is_taken_by(&way) {
                return Ok(true);
            }
            // Somebody killed it. What it had started goes on; only new commands need another.
            *way = Way::begin(settings, files);
            if is_taken_by(&way) {
                return Ok(true);
            }
        }
        drop(way);
        direct::start(request, output, line, settings, files)?;
        Ok(false)
    }

    /// Starts nothing from now on, and lets the supervisor go. What comes back is closed once it has
    /// ended.
    pub(super) fn close(&self) -> Option<oneshot::Receiver<()>> {
        let mut way = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match std::mem::replace(&mut *way, Way::Closed) {
            #[cfg(target_os = "linux")]
            Way::Supervisor(supervisor) => supervisor.let_go(),
            Way::Direct | Way::Closed => None,
        }
    }
}

impl Way {
    fn begin(settings: &ProcessSettings, files: &Path) -> Self {
        #[cfg(target_os = "linux")]
        if let Some(program) = &settings.supervisor
            && let Ok(supervisor) = Supervisor::start(program, settings, files)
        {
            return Self::Supervisor(supervisor);
        }
        #[cfg(not(target_os = "linux"))]
        let _ = (settings, files);
        Self::Direct
    }
}
