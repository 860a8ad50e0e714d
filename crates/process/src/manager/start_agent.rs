//! Starts a task without a process: an agent, which a function of the host runs.

use std::sync::{Arc, Weak};

use super::{StartError, TaskManager};
use crate::{
    command_output::CommandOutput,
    ending::StopReason,
    sandbox::AppliedSandbox,
    task::{NewTask, RunMode, Task, TaskKind},
};

/// An agent to run as a task.
#[derive(Clone, Debug)]
pub struct AgentTaskSpec {
    /// The id of the agent.
    pub agent_id: String,
    /// The prompt.
    pub prompt: String,
    /// A short description of its work.
    pub description: String,
    /// The session that starts it.
    pub session_id: String,
    /// Whether a call waits for it.
    pub run_mode: RunMode,
}

impl TaskManager {
    /// Adds a task that the caller runs. The caller adds its output, stops it when
    /// [`Task::stopped`] resolves, and records its end.
    pub fn start_agent(&self, spec: AgentTaskSpec) -> Result<Arc<Task>, StartError> {
        let (id, file_name, slot) = self.next_names(spec.run_mode)?;
        let files = Arc::clone(&self.files);
        let mut output = CommandOutput::new(files, file_name, self.settings.max_file_bytes);
        if spec.run_mode == RunMode::Background {
            output.spill();
        }
        let task = Arc::new(Task::new(NewTask {
            id,
            kind: TaskKind::Agent { id: spec.agent_id.into() },
            command: spec.prompt.into(),
            description: Some(spec.description.into()),
            session_id: spec.session_id.into(),
            not_contained: None,
            run_mode: spec.run_mode,
            output,
            errors: None,
            #[cfg(unix)]
            connection: None,
            proxy: None,
            sandbox: AppliedSandbox::default(),
            manager: Weak::clone(&self.me),
        }));
        let mut tasks = self.tasks.lock();
        tasks.running.insert(task.id.clone(), Arc::clone(&task));
        if let Some(slot) = slot {
            slot.release_to_task(&mut tasks);
        }
        let closed = tasks.closed;
        drop(tasks);
        task.note_accepted(None);
        if closed {
            // The registry was closed meanwhile, and may not have stopped it.
            task.stop(StopReason::Asked, self.settings.grace);
        }
        Ok(task)
    }

    /// Stops every task of a session, including those that a call waits for, and returns them. Does
    /// not wait for their end.
    pub fn stop_of_session(&self, session_id: &str, reason: StopReason) -> Vec<Arc<Task>> {
        let mut running: Vec<Arc<Task>> = self.tasks.lock().running.values().cloned().collect();
        running.retain(|it| *it.session_id == *session_id);
        for task in &running {
            task.stop(reason, self.settings.grace);
        }
        running
    }
}
