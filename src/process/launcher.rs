//! Starts commands: through the supervisor where there is one, else from this process.

#[cfg(target_os = "linux")]
use std::sync::{Mutex, PoisonError};
use std::{
    io,
    os::{fd::OwnedFd, unix::net::UnixStream},
    path::Path,
};

#[cfg(target_os = "linux")]
use super::supervisor::Supervisor;
use super::{direct, protocol::Request, settings::ProcessSettings};

/// How commands are started.
pub(super) struct Launcher {
    /// Nothing where there is no supervisor: commands are then children of this process.
    #[cfg(target_os = "linux")]
    supervisor: Mutex<Option<Supervisor>>,
}

impl Launcher {
    /// Starts the supervisor, where there is one for this system.
    pub(super) fn start(settings: &ProcessSettings, files: &Path) -> Self {
        #[cfg(target_os = "linux")]
        return Self { supervisor: Mutex::new(started(settings, files)) };
        #[cfg(not(target_os = "linux"))]
        {
            let _ = (settings, files);
            Self {}
        }
    }

    /// Starts a command; true when everything it starts will be found and ended with it.
    pub(super) fn launch(
        &self,
        request: Request,
        output: OwnedFd,
        line: UnixStream,
        settings: &ProcessSettings,
        files: &Path,
    ) -> io::Result<bool> {
        #[cfg(target_os = "linux")]
        {
            let mut supervisor = self.supervisor.lock().unwrap_or_else(PoisonError::into_inner);
            let is_asked = |it: &Supervisor| it.ask(&request, &output, &line).is_ok();
            if supervisor.as_ref().is_some_and(is_asked) {
                return Ok(true);
            }
            if supervisor.is_some() {
                // Somebody killed it. What it had started goes on; only new commands need another.
                *supervisor = started(settings, files);
                if supervisor.as_ref().is_some_and(is_asked) {
                    return Ok(true);
                }
            }
        }
        direct::start(request, output, line, settings, files).map(|()| false)
    }

    /// Lets the supervisor go; gives when it has ended.
    pub(super) async fn close(&self) {
        #[cfg(target_os = "linux")]
        {
            let supervisor = self.supervisor.lock().unwrap_or_else(PoisonError::into_inner).take();
            if let Some(is_ended) = supervisor.and_then(Supervisor::let_go) {
                // Nothing is ever sent: it is closed.
                let _ = is_ended.await;
            }
        }
    }
}

#[cfg(target_os = "linux")]
fn started(settings: &ProcessSettings, files: &Path) -> Option<Supervisor> {
    Supervisor::start(settings.supervisor.as_deref()?, settings, files).ok()
}
