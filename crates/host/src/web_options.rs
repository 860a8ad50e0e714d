//! The option `web`: what the web tools may reach, and their limits.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use toolwright_base::{ErrorKind, ToolError};
use toolwright_core::Environment;
use toolwright_web::{AllowedHost, WebSettings};

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
    /// The settings of clients with these options, in the host's environment.
    pub(super) fn settings(self, environment: &Environment) -> Result<WebSettings, ToolError> {
        let mut settings = WebSettings::from_environment(&|name| environment.text_of(name));
        let allowed = self.allow.iter().map(|it| {
            it.parse::<AllowedHost>().map_err(|cause| invalid(&format!("`web.allow`: {cause}")))
        });
        settings.allow = allowed.collect::<Result<_, _>>()?;
        if let Some(timeout) = self.timeout_ms {
            let total = Duration::from_millis(timeout.into());
            let limits = &mut settings.limits;
            limits.total = total;
            // A longer total timeout also allows a slower server.
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
        Ok(settings)
    }
}

fn invalid(message: &str) -> ToolError {
    ToolError::new(ErrorKind::InvalidOptions, message)
}
