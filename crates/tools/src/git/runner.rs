//! Runs git so that nothing in a repository can make it run another program.

use std::{path::Path, sync::Arc, time::Duration};

use toolwright_process::{
    CommandRole, CommandSpec, RunMode, StartError, StopReason, Task, TaskManager, signal_name,
};

/// How many bytes of git's output are read.
const MAX_ANSWER_BYTES: usize = 4 * 1024 * 1024;

/// Settings that override those of the repository: no monitor, no hooks, no bare repository planted
/// below the workspace, no attributes file, no order file.
const SETTINGS: &[&str] = &[
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.untrackedCache=false",
    "core.attributesFile=/dev/null",
    "core.quotePath=false",
    "diff.orderFile=/dev/null",
    "safe.bareRepository=explicit",
    "status.submoduleSummary=false",
    "submodule.recurse=false",
];

/// Variables for git: no transport, even if the repository allows one, so that objects missing in a
/// partial clone are not fetched; no index is written; no password prompt.
const VARIABLES: &str = "GIT_ALLOW_PROTOCOL=none GIT_NO_LAZY_FETCH=1 GIT_OPTIONAL_LOCKS=0 \
                         GIT_TERMINAL_PROMPT=0 LC_ALL=C";

/// Why git returned no output.
#[derive(Debug, thiserror::Error)]
pub(crate) enum GitError {
    /// It could not be started.
    #[error("git could not be run: {0}")]
    Start(#[from] StartError),
    /// The program was not found.
    #[error("the program `git` was not found; install git, or use another tool")]
    Missing,
    /// Git failed. The text is its error output.
    #[error("{message}")]
    Refused {
        /// Its exit code.
        code: Option<i32>,
        /// Its error output.
        message: String,
    },
    /// Its output is too long to be read as a whole.
    #[error(
        "the answer of git has {bytes} bytes, more than the {MAX_ANSWER_BYTES} that are read; \
         give a `path` to a smaller directory"
    )]
    TooLong {
        /// The length of the answer.
        bytes: u64,
    },
    /// The question cannot be answered for this repository.
    #[error("{0}")]
    Unusable(String),
}

/// Runs git in one directory.
pub(crate) struct GitRunner<'a> {
    tasks: &'a Arc<TaskManager>,
    session_id: &'a str,
    directory: &'a Path,
    /// The names of content filters. They are disabled one by one, because git has no switch for all.
    filters: Vec<String>,
}

impl<'a> GitRunner<'a> {
    /// Runs git in a directory for a session.
    pub(crate) fn new(
        tasks: &'a Arc<TaskManager>,
        session_id: &'a str,
        directory: &'a Path,
    ) -> Self {
        Self { tasks, session_id, directory, filters: Vec::new() }
    }

    /// Finds the content filters that any configuration names, and disables them from now on. Reading
    /// the configuration runs nothing.
    pub(crate) async fn without_filters(mut self) -> Result<Self, GitError> {
        let pattern = r"^filter\..*\.(clean|smudge|process)$";
        let listed = self.run(&["config", "--null", "--name-only", "--get-regexp", pattern]).await;
        let names = match listed {
            Ok(names) => names,
            // This exit code means that there are none.
            Err(GitError::Refused { code: Some(1), .. }) => Vec::new(),
            Err(other) => return Err(other),
        };
        self.filters = filters_of(&names)?;
        Ok(self)
    }

    /// Runs git with arguments, and returns its output.
    pub(crate) async fn run(&self, arguments: &[&str]) -> Result<Vec<u8>, GitError> {
        let spec = CommandSpec {
            role: CommandRole::Helper { input: Vec::new(), kept_bytes: MAX_ANSWER_BYTES },
            command: self.line(arguments),
            description: None,
            cwd: self.directory.to_owned(),
            session_id: self.session_id.to_owned(),
            run_mode: RunMode::Foreground,
            is_streamed: false,
            sandbox: None,
            proxy: None,
        };
        let running = RunningGit(self.tasks.launch(spec).await?);
        let ending = running.0.ended().await;
        let errors = String::from_utf8_lossy(&running.0.errors().0).trim().to_owned();
        match (ending.failure, ending.exit_code) {
            (None, Some(0)) => {
                let (answer, _) = running.0.ends();
                let bytes = running.0.total();
                if bytes > answer.len() as u64 {
                    return Err(GitError::TooLong { bytes });
                }
                Ok(answer)
            }
            (None, Some(127)) => Err(GitError::Missing),
            (None, code) => {
                let how = || match ending.signal {
                    Some(signal) => format!("git was killed by {}", signal_name(signal)),
                    None => format!("git ended with exit code {}", code.unwrap_or(-1)),
                };
                let message = if errors.is_empty() { how() } else { errors };
                Err(GitError::Refused { code, message })
            }
            (Some(cause), _) => Err(GitError::Unusable(format!("git could not be run: {cause}"))),
        }
    }

    fn line(&self, arguments: &[&str]) -> String {
        let inherited = self.tasks.settings.helper_environment.iter();
        // Each could make git use another repository, configuration or program.
        let unset: Vec<&str> = inherited
            .filter_map(|(name, _)| name.to_str())
            .filter(|name| name.starts_with("GIT_") && is_plain(name))
            .collect();
        // `unset` without a name is an error in some shells.
        let mut line =
            format!("unset GIT_DIR {}; export {VARIABLES}; exec git --no-pager", unset.join(" "));
        for setting in SETTINGS {
            line.push_str(&format!(" -c {setting}"));
        }
        for filter in &self.filters {
            for part in ["clean=", "smudge=", "process=", "required=false"] {
                line.push_str(&format!(" -c {}", quoted(&format!("filter.{filter}.{part}"))));
            }
        }
        for argument in arguments {
            line.push(' ');
            line.push_str(&quoted(argument));
        }
        line
    }
}

/// The names of the filters in a list of settings. A name that cannot be written on a command line is
/// an error, because its filter would run: `-c` takes the text before the first `=` as the name of the
/// setting.
fn filters_of(settings: &[u8]) -> Result<Vec<String>, GitError> {
    let cannot_be_disabled = |name: &str| {
        GitError::Unusable(format!(
            "the git configuration has a content filter named `{}`, which cannot be switched off, so git \
             is not run; give the filter a name of letters and digits",
            name.escape_debug()
        ))
    };
    let mut filters = Vec::new();
    for key in settings.split(|it| *it == 0) {
        let Ok(key) = std::str::from_utf8(key) else {
            return Err(cannot_be_disabled(&String::from_utf8_lossy(key)));
        };
        let name = key.strip_prefix("filter.").and_then(|it| it.rsplit_once('.'));
        let Some((name, _)) = name else { continue };
        if name.contains('=') {
            return Err(cannot_be_disabled(name));
        }
        filters.push(name.to_owned());
    }
    filters.sort_unstable();
    filters.dedup();
    Ok(filters)
}

/// A running git. Dropping it kills git if it still runs, because its call has ended.
struct RunningGit(Arc<Task>);

impl Drop for RunningGit {
    fn drop(&mut self) {
        self.0.stop(StopReason::Abandoned, Duration::ZERO);
    }
}

fn is_plain(name: &str) -> bool {
    name.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_')
}

/// Quotes an argument so that a shell takes it literally.
fn quoted(argument: &str) -> String {
    format!("'{}'", argument.replace('\'', r"'\''"))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn a_filter_that_cannot_be_switched_off_is_an_error() {
        let found = filters_of(b"filter.lfs.clean\0filter.lfs.smudge\0filter.a.b c.process\0");
        assert_eq!(found.unwrap(), ["a.b c", "lfs"]);
        for settings in [&b"filter.a=b.clean\0"[..], b"filter.\xff.clean\0"] {
            let message = filters_of(settings).unwrap_err().to_string();
            assert!(message.contains("cannot be switched off"), "{message}");
        }
    }

    #[test]
    fn an_argument_is_one_shell_word_with_any_content() {
        assert_eq!(quoted("a b"), "'a b'");
        assert_eq!(quoted("it's; $(x)\n"), "'it'\\''s; $(x)\n'");
    }
}
