//! The way out of a command's own network: a proxy for the hosts of the option, by the rules of the policy.

use std::{io, os::unix::net::UnixStream, sync::Arc};

use tokio::runtime::Handle;

use crate::{
    error::{ErrorKind, ToolError},
    net::{CommandProxy, ProxyHosts, ProxyOrder, ProxyTimes, WebClient},
    policy::{HostLimits, PolicyEngine},
    process::{
        SandboxNetwork,
        sandbox::{CommandDoor, OpenDoor},
    },
};

/// Serves the networks of the commands of one call.
#[derive(Debug)]
pub(super) struct ProxyDoor {
    web: WebClient,
    order: ProxyOrder,
}

impl ProxyDoor {
    /// The door of commands with this network; none where they need none.
    pub(super) fn of(
        network: &SandboxNetwork,
        engine: &Arc<PolicyEngine>,
        web: &WebClient,
    ) -> Result<Option<Arc<dyn CommandDoor>>, ToolError> {
        let SandboxNetwork::Hosts(hosts) = network else { return Ok(None) };
        let hosts = ProxyHosts::parse(hosts.iter().map(String::as_str))
            .map_err(|cause| ToolError::new(ErrorKind::Validation, cause))?;
        let limits = HostLimits::of(engine);
        let judge = move |host: &str, port: u16| match limits.of_host(host, port) {
            // Also if a rule asks: a program that connects can ask nobody.
            Some(_) => Err(format!("`{host}` is not open to commands")),
            None => Ok(()),
        };
        let order = ProxyOrder { hosts, judge: Arc::new(judge), times: ProxyTimes::default() };
        Ok(Some(Arc::new(Self { web: web.clone(), order })))
    }
}

impl CommandDoor for ProxyDoor {
    fn open(&self, link: UnixStream) -> io::Result<Box<dyn OpenDoor>> {
        let runtime = Handle::try_current().map_err(io::Error::other)?;
        let proxy = self.web.serve_proxy_behind(link, self.order.clone(), &runtime);
        Ok(Box::new(proxy))
    }
}

impl OpenDoor for CommandProxy {
    fn refused(&self) -> Vec<(String, String)> {
        Self::refused(self)
    }
}
