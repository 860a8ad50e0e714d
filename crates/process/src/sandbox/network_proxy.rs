//! The proxy of a command that has its own network. The supervisor makes a listening socket in that network
//! and sends it to the host. A higher layer, which knows networks, implements these traits and serves it.

use std::{fmt::Debug, io};

/// Starts proxies for commands that have their own network.
pub trait ProxyStarter: Debug + Send + Sync {
    /// Starts a proxy for the listening socket that will arrive over `link`. Must be called on a runtime.
    #[cfg(unix)]
    fn start(&self, link: std::os::unix::net::UnixStream) -> io::Result<Box<dyn RunningProxy>>;
}

/// The proxy of one command. Dropping it closes the proxy and all its connections.
pub trait RunningProxy: Debug + Send + Sync {
    /// The targets that the command was not allowed to reach, each with the reason.
    fn refused(&self) -> Vec<(String, String)>;
}
