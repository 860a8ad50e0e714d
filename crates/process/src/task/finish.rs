//! The end of a task.

use std::{io, path::PathBuf, sync::atomic::Ordering};

use toolwright_command_protocol::EndReport;

use super::Task;
use crate::ending::{CommandEnding, KeeperTrouble};

/// The failure of a command that no keeper accepted.
const NOT_ACCEPTED: &str = "the supervisor is gone";

impl Task {
    /// Records the end of the command as its keeper reports it.
    pub(crate) fn finish(&self, ended: EndReport) {
        let failure = ended
            .sandbox_error
            .clone()
            .or_else(|| ended.spawn_error.map(|it| io::Error::from_raw_os_error(it).to_string()));
        let was_stopped = self.keeper_was_stopped.load(Ordering::Relaxed);
        let trouble = was_stopped.then_some(KeeperTrouble::Stopped);
        self.end(ended, failure, trouble);
    }

    /// The targets that an ended command was not allowed to reach, each with the reason. Only the
    /// first few are known.
    pub fn refused_targets(&self) -> &[(String, String)] {
        self.refused_targets.get().map(Vec::as_slice).unwrap_or_default()
    }

    /// Records the end of a task without a process, with the reason why it failed, if it did.
    pub fn finish_without_process(&self, failure: Option<String>) {
        self.end(EndReport::default(), failure, None);
    }

    /// Records the end of a command whose keeper is gone. Without a keeper it was never started.
    pub(crate) fn finish_lost(&self, survivors: u32) {
        let ended = EndReport { survivors, ..EndReport::default() };
        match self.keeper.get() {
            Some(_) => self.end(ended, None, Some(KeeperTrouble::Killed)),
            None => self.end(ended, Some(NOT_ACCEPTED.to_owned()), None),
        }
    }

    fn end(&self, ended: EndReport, failure: Option<String>, trouble: Option<KeeperTrouble>) {
        let _ = self.ending.set(self.ending_of(ended, failure, trouble));
        self.output.lock().settle();
        #[cfg(unix)]
        self.connection.lock().take();
        let proxy = self.proxy.lock().take();
        let _ = self.refused_targets.set(proxy.map(|it| it.refused()).unwrap_or_default());
        if let Some(manager) = self.manager.upgrade() {
            manager.ended(&self.id);
        }
        self.progress.send_modify(|it| it.has_ended = true);
    }

    pub(super) fn ending_of(
        &self,
        ended: EndReport,
        failure: Option<String>,
        trouble: Option<KeeperTrouble>,
    ) -> CommandEnding {
        CommandEnding {
            exit_code: ended.exit_code,
            signal: ended.signal,
            failure,
            trouble,
            stopped_for: self.stop_reason.get().copied(),
            leftovers: ended.stopped,
            survivors: ended.survivors,
            held_output: ended.held_output,
            limit_hit: ended.limit_hit,
            cwd: ended.cwd.map(path_of),
            duration: self.started.elapsed(),
        }
    }
}

#[cfg(unix)]
fn path_of(bytes: Vec<u8>) -> PathBuf {
    use std::os::unix::ffi::OsStringExt as _;
    std::ffi::OsString::from_vec(bytes).into()
}

#[cfg(not(unix))]
fn path_of(bytes: Vec<u8>) -> PathBuf {
    String::from_utf8_lossy(&bytes).into_owned().into()
}
