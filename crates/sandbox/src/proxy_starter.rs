//! The proxy through which a command with its own network reaches other hosts: those of the `network`
//! option, limited by the rules of the policy.

use std::{io, os::unix::net::UnixStream, sync::Arc};

use tokio::runtime::Handle;
use toolwright_base::{ErrorKind, ToolError};
use toolwright_policy::{HostLimits, PolicyEngine};
use toolwright_process::{ProxyStarter, RunningProxy, SandboxNetwork};
use toolwright_web::{CommandProxy, ProxyHosts, ProxyOrder, ProxyTimes, WebClient};

/// Serves the proxy for the commands of one call.
#[derive(Debug)]
pub(super) struct CommandProxyStarter {
    web: WebClient,
    order: ProxyOrder,
}

impl CommandProxyStarter {
    /// The proxy for commands with this network setting, or `None` if they need no proxy.
    pub(super) fn of(
        network: &SandboxNetwork,
        engine: &Arc<PolicyEngine>,
        web: &WebClient,
    ) -> Result<Option<Arc<dyn ProxyStarter>>, ToolError> {
        let SandboxNetwork::Hosts(hosts) = network else { return Ok(None) };
        let hosts = ProxyHosts::parse(hosts.iter().map(String::as_str))
            .map_err(|cause| ToolError::new(ErrorKind::Validation, cause))?;
        let limits = HostLimits::of(engine);
        let judge = move |host: &str, port: u16| match limits.of_host(host, port) {
            // A rule that asks also refuses: a connecting program cannot ask a person.
            Some(_) => Err(format!("`{host}` is not open to commands")),
            None => Ok(()),
        };
        let order = ProxyOrder { hosts, judge: Arc::new(judge), times: ProxyTimes::default() };
        Ok(Some(Arc::new(Self { web: web.clone(), order })))
    }
}

impl ProxyStarter for CommandProxyStarter {
    fn start(&self, link: UnixStream) -> io::Result<Box<dyn RunningProxy>> {
        let runtime = Handle::try_current().map_err(io::Error::other)?;
        let proxy = self.web.serve_proxy_behind(link, self.order.clone(), &runtime);
        Ok(Box::new(ServedProxy(proxy)))
    }
}

/// The proxy of one command.
#[derive(Debug)]
struct ServedProxy(CommandProxy);

impl RunningProxy for ServedProxy {
    fn refused(&self) -> Vec<(String, String)> {
        self.0.refused()
    }
}
