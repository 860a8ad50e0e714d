//! The `shell` handler: a command template with its working directory and timeout.

use std::{path::PathBuf, time::Duration};

use toolwright_base::{ErrorKind, ToolError, shown_path};
use toolwright_core::ToolContext;
use toolwright_tools::FixedCommand;

use super::{
    command_template::{CommandTemplate, FilledCommand},
    definition::ShellHandlerConfig,
    parameter::CallValues,
    place::named_directory,
};

/// The default timeout of a command.
const DEFAULT_TIMEOUT_MS: u32 = 30_000;
/// The extra time of a call over its command: the longest grace period that a host can set, plus a margin.
const CALL_MARGIN: Duration = Duration::from_secs(60 + 30);

/// Runs a command.
pub(super) struct ShellHandler {
    command: CommandTemplate,
    directory: Option<String>,
    timeout: Duration,
}

impl ShellHandler {
    pub(super) fn new(config: &ShellHandlerConfig, command: CommandTemplate) -> Self {
        let timeout = config.timeout.unwrap_or(DEFAULT_TIMEOUT_MS);
        Self {
            command,
            directory: config.cwd.clone(),
            timeout: Duration::from_millis(timeout.into()),
        }
    }

    /// The timeout of a call.
    pub(super) fn call_limit(&self) -> Duration {
        self.timeout + CALL_MARGIN
    }

    /// The command of one call.
    pub(super) fn plan(
        &self,
        values: CallValues<'_>,
        cx: &ToolContext,
    ) -> Result<FixedCommand, ToolError> {
        let FilledCommand { text, parameters, line } = self.command.fill(values)?;
        let directory = self.directory(cx)?;
        Ok(FixedCommand { text, parameters, line, directory, timeout: self.timeout })
    }

    fn directory(&self, cx: &ToolContext) -> Result<PathBuf, ToolError> {
        let roots = &cx.session.shared.files.roots;
        let Some(named) = &self.directory else { return Ok(roots.first().to_owned()) };
        let place = named_directory(named, roots.first());
        place.filter(|it| it.is_dir()).ok_or_else(|| {
            let message = format!(
                "the tool's directory `{named}` does not exist; the plugin file has to name another one \
                 (relative ones are in `{}`)",
                shown_path(roots.first())
            );
            ToolError::new(ErrorKind::ShellExecution, message)
        })
    }
}
