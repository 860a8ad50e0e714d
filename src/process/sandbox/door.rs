//! The way out of a network that a command has for itself. The supervisor makes a listening socket in there and
//! hands it out; somebody above, who knows networks, serves it.

use std::{fmt::Debug, io};

/// Serves what a command connects to in its own network.
pub(crate) trait CommandDoor: Debug + Send + Sync {
    /// Gets ready to serve the listening socket that comes over this one. Has to be called on a runtime.
    #[cfg(unix)]
    fn open(&self, link: std::os::unix::net::UnixStream) -> io::Result<Box<dyn OpenDoor>>;
}

/// The door of one command. It is closed, with everything that goes through it, when this is dropped.
pub(crate) trait OpenDoor: Debug + Send + Sync {
    /// What the command did not reach because it may not, each with the reason.
    fn refused(&self) -> Vec<(String, String)>;
}
