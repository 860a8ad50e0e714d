//! The option `web`: what the web tools may reach, and their limits.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    error::{ErrorKind, ToolError},
    net::{AllowedHost, WebClient, WebSettings},
    session::Environment,
};

/// How pages are fetched.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(super) struct WebOptions {
    allow: Vec<String>,
    #[schemars(range(min = 1, max = 600_000))]
    timeout_ms: Option<u32>,
    #[schemars(range(min = 1_024, max = 268_435_456))]
    max_bytes: Option<usize>,
    #[schemars(length(min = 1, max = 512))]
    user_agent: Option<String>,
}

impl WebOptions {
    /// A client with these options, in the host's environment.
    pub(super) fn client(self, environment: &Environment) -> Result<WebClient, ToolError> {
        let mut settings = WebSettings::from_environment(&|name| environment.text_of(name));
        let allowed = self.allow.iter().map(|it| {
            it.parse::<AllowedHost>().map_err(|cause| invalid(&format!("`web.allow`: {cause}")))
        });
        settings.allow = allowed.collect::<Result<_, _>>()?;
        if let Some(timeout) = self.timeout_ms {
            let total = Duration::from_millis(timeout.into());
            let limits = &mut settings.limits;
            limits.total = total;
            // Who waits longer for the whole waits longer for a slow server.
            limits.headers = limits.headers.max(total);
            limits.idle = limits.idle.max(total);
        }
        if let Some(bytes) = self.max_bytes {
            settings.limits.max_body_bytes = bytes;
        }
        if let Some(agent) = self.user_agent {
            let is_plain = agent.bytes().all(|it| it == b' ' || it.is_ascii_graphic());
            if !is_plain {
                return Err(invalid(&format!(
                    "`web.userAgent`: `{agent}` has characters that a header cannot have"
                )));
            }
            settings.user_agent = agent;
        }
        Ok(WebClient::new(settings))
    }
}

fn invalid(message: &str) -> ToolError {
    ToolError::new(ErrorKind::InvalidOptions, message)
}
