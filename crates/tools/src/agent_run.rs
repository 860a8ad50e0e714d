//! Runs an agent: opens a conversation for it, calls the host's function that runs it, and at its end closes
//! everything that the agent opened.
//!
//! An agent always runs in a separate task, even in the foreground. So its end is handled in one place,
//! whether it answers, is stopped, or the waiting call ends.

use std::{sync::Arc, time::Duration};

use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::{sync::oneshot, time::timeout};
use tokio_util::sync::CancellationToken;
use toolwright_base::{ErrorKind, PermissionMode, ToolError};
use toolwright_core::{
    BegunAgent, ChildSession, ForModel as _, HandlerName, HostHandler, NewAgent, Progress,
    ProgressSink, Session, SessionControl, ToolContext, ToolOutput,
};
use toolwright_process::{AgentTaskSpec, RunMode, StopReason, Task, TaskManager};
use toolwright_team::Membership;

use super::{
    agent_answer::{AgentAnswer, AgentFacts, AgentOutcome, ended, started},
    team_agents,
};

/// How long to wait after the grace period for the commands of an agent that has ended.
const PATIENCE: Duration = Duration::from_secs(3);

/// A checked call of `Agent`.
pub(super) struct AgentToRun {
    /// The input of the host's function, without `resume`.
    pub(super) request: Value,
    pub(super) prompt: String,
    pub(super) said: NewAgent,
    /// The agent to resume.
    pub(super) resume: Option<String>,
    pub(super) mode: Option<PermissionMode>,
    pub(super) run_mode: RunMode,
}

/// Runs an agent to its end, or starts it in the background.
pub(super) async fn run(
    plan: AgentToRun,
    cx: &ToolContext,
) -> Result<ToolOutput<AgentFacts>, ToolError> {
    let handler = cx.handlers.get(HandlerName::SpawnAgent).ok_or_else(no_spawner)?;
    let run_mode = plan.run_mode;
    let agent = OpenAgent::open(&plan, cx)?;
    let (record, task) = (agent.begun.record.clone(), Arc::clone(&agent.task));
    let mut request = plan.request;
    if plan.resume.is_some()
        && let Some(request) = request.as_object_mut()
    {
        let known_as = record.host_id.as_ref().unwrap_or(&record.id);
        request.insert("resume".to_owned(), json!(known_as));
    }
    let progress = match run_mode {
        RunMode::Foreground => CallProgress::of(cx),
        RunMode::Background => CallProgress::default(),
    };
    let sink = match run_mode {
        RunMode::Foreground => progress.sink(),
        RunMode::Background => output_of(Arc::clone(&task)),
    };
    // The token of the call is cancelled at the end of the call, but the agent may end later.
    let cx_of_agent =
        ToolContext { progress: sink, cancel: CancellationToken::new(), ..cx.clone() };
    let (report, reported) = oneshot::channel();
    let running = agent.run(Arc::clone(handler), request, cx_of_agent, run_mode);
    tokio::spawn(async move {
        // There is no receiver in the background, or if the call has ended.
        let _ = report.send(running.await);
    });
    if run_mode == RunMode::Background {
        return Ok(started(&record, &task));
    }
    let grace = cx.session.shared.tasks.settings.grace;
    let waiting = WaitingCall { task: &task, grace, progress };
    let outcome = reported.await;
    drop(waiting);
    let gone = |_| ToolError::new(ErrorKind::Agent, format!("agent `{}` was given up", record.id));
    Ok(ended(&record, &task, outcome.unwrap_or_else(|it| AgentOutcome::Failed(gone(it)))))
}

/// The error without a function that runs agents. It advises the model to work without agents, and the host
/// how to enable them.
fn no_spawner() -> ToolError {
    let message = "no agent can be started here; do the work yourself";
    ToolError::new(ErrorKind::Agent, message).allowed_by(
        "a host can allow it by the function `handlers.spawnAgent`, or by installing \
         `@anthropic-ai/claude-agent-sdk`, which is then used",
    )
}

/// A call that waits for its agent. If the call ends first, the agent is stopped.
struct WaitingCall<'a> {
    task: &'a Task,
    grace: Duration,
    progress: CallProgress,
}

impl Drop for WaitingCall<'_> {
    fn drop(&mut self) {
        self.progress.end();
        self.task.stop(StopReason::Abandoned, self.grace);
    }
}

/// Forwards the progress of an agent to the waiting call. It ends with the call, although the agent may still
/// run for a moment: no progress is expected after the end of a call, and an MCP client waits until all of it
/// has arrived.
#[derive(Clone, Default)]
struct CallProgress(Arc<Mutex<Option<ProgressSink>>>);

impl CallProgress {
    fn of(cx: &ToolContext) -> Self {
        Self(Arc::new(Mutex::new(Some(cx.progress.clone()).filter(ProgressSink::is_watched))))
    }

    fn sink(&self) -> ProgressSink {
        if self.0.lock().is_none() {
            return ProgressSink::default();
        }
        let progress = self.clone();
        ProgressSink::new(move |news| {
            let sink = progress.0.lock().clone();
            if let Some(sink) = sink {
                sink.send(news);
            }
        })
    }

    fn end(&self) {
        drop(self.0.lock().take());
    }
}

/// A running agent, and everything that is closed when it ends.
struct OpenAgent {
    begun: BegunAgent,
    task: Arc<Task>,
    /// The conversation of the agent.
    session: Arc<Session>,
    sessions: Arc<dyn SessionControl>,
    /// Its place in a team.
    _membership: Option<Membership>,
}

impl OpenAgent {
    fn open(plan: &AgentToRun, cx: &ToolContext) -> Result<Self, ToolError> {
        let shared = &cx.session.shared;
        let (parent_id, said) = (cx.session.id.as_str(), plan.said.clone());
        let begun = match &plan.resume {
            Some(id) => shared.agents.resume(parent_id, id, said),
            None => shared.agents.begin(parent_id, said),
        }
        .for_model()?;
        for forgotten in &begun.forgotten {
            cx.sessions.forget_child(forgotten);
        }
        let id = begun.record.id.clone();
        let (membership, task) = match Self::seat_and_task(plan, &id, cx) {
            Ok(given) => given,
            Err(error) => {
                if plan.resume.is_none() {
                    begun.discard();
                }
                return Err(error);
            }
        };
        let parent_id = parent_id.to_owned();
        let session = cx.sessions.open_child(ChildSession { id, parent_id, mode: plan.mode });
        let sessions = Arc::clone(&cx.sessions);
        Ok(Self { begun, task, session, sessions, _membership: membership })
    }

    /// Its place in a team, if it has one, and its task.
    fn seat_and_task(
        plan: &AgentToRun,
        id: &str,
        cx: &ToolContext,
    ) -> Result<(Option<Membership>, Arc<Task>), ToolError> {
        let membership = team_agents::membership_of(&plan.said, id, cx)?;
        let task = cx
            .session
            .shared
            .tasks
            .start_agent(AgentTaskSpec {
                agent_id: id.to_owned(),
                prompt: plan.prompt.clone(),
                description: plan.said.description.clone(),
                session_id: cx.session.id.clone(),
                run_mode: plan.run_mode,
            })
            .for_model()?;
        Ok((membership, task))
    }

    /// Calls the host's function that runs the agent, and waits until everything that the agent started has
    /// ended.
    async fn run(
        mut self,
        handler: Arc<dyn HostHandler>,
        request: Value,
        cx: ToolContext,
        run_mode: RunMode,
    ) -> AgentOutcome {
        let record = &self.begun.record;
        let facts = json!({
            "sessionId": record.id,
            "parentSessionId": record.parent_id,
            "agentId": record.id,
            "depth": record.depth,
            "projectPath": self.session.shared.files.roots.first(),
            "background": run_mode == RunMode::Background,
        });
        let answered = self.answer_of(handler.as_ref(), &request, facts, &cx).await;
        let outcome = self.outcome(answered);
        self.close().await;
        let (answer, failure) = match &outcome {
            AgentOutcome::Answered(answer) => {
                let failure = answer.is_error.then(|| "the agent reported a failure".to_owned());
                (Some(answer), failure)
            }
            AgentOutcome::Failed(error) => (None, Some(error.message.clone())),
            AgentOutcome::Stopped(_, answer) => (answer.as_ref(), None),
        };
        if let Some(answer) = answer.filter(|_| run_mode == RunMode::Background) {
            self.append(answer.text()).await;
        }
        let task = Arc::clone(&self.task);
        // The agent must be closed before its task ends, because a caller that waits for the task may then
        // start another agent.
        drop(self);
        task.finish_without_process(failure);
        outcome
    }

    /// The answer of the host's function; `None` if it was asked to stop and did not answer in time.
    async fn answer_of(
        &self,
        handler: &dyn HostHandler,
        request: &Value,
        facts: Value,
        cx: &ToolContext,
    ) -> Option<Result<Value, ToolError>> {
        let shared = &self.session.shared;
        let (limit, grace) = (shared.agents.limits.timeout, shared.tasks.settings.grace);
        let stop = CancellationToken::new();
        let mut answering = Box::pin(handler.call_until_stopped(request, facts, cx, &stop));
        tokio::select! {
            biased;
            () = self.task.stopped() => {}
            answer = &mut answering => return Some(answer),
            () = tokio::time::sleep(limit) => self.task.stop(StopReason::Timeout, grace),
        }
        // Closed first, so that the agent makes no more calls and running calls end. They would delay the end
        // of the agent.
        self.sessions.close_child(&self.session.id);
        stop.cancel();
        timeout(grace, answering).await.ok()
    }

    fn outcome(&mut self, answered: Option<Result<Value, ToolError>>) -> AgentOutcome {
        let read = answered.map(|it| it.and_then(AgentAnswer::read));
        if let Some(Ok(AgentAnswer { host_id: Some(id), .. })) = &read {
            self.begun.keep_host_id(id.clone());
        }
        match (self.task.stop_reason(), read) {
            (Some(reason), read) => AgentOutcome::Stopped(reason, read.and_then(Result::ok)),
            (None, Some(Ok(answer))) => AgentOutcome::Answered(answer),
            (None, Some(Err(error))) => AgentOutcome::Failed(error),
            (None, None) => AgentOutcome::Stopped(StopReason::Abandoned, None),
        }
    }

    /// Closes the conversation of the agent, and waits until everything that it started has ended.
    async fn close(&self) {
        self.sessions.close_child(&self.session.id);
        let tasks: &TaskManager = &self.session.shared.tasks;
        let left = tasks.stop_of_session(&self.session.id, StopReason::Abandoned);
        let gone = async {
            for task in &left {
                task.ended().await;
            }
        };
        let todos = self.session.shared.stored.session_todos(&self.session.id);
        // If the store does not respond, the list stays, which does no harm.
        let (_, _) = tokio::join!(
            timeout(tasks.settings.grace + PATIENCE, gone),
            timeout(PATIENCE, todos.replace(&[])),
        );
    }

    /// Appends the agent's answer to the output of its task.
    async fn append(&self, answer: String) {
        let task = Arc::clone(&self.task);
        let (head, tail) = task.ends();
        let last = tail.last().or(head.last());
        let gap = if last.is_none_or(|it| *it == b'\n') { "" } else { "\n" };
        let written = format!("{gap}{answer}\n");
        // This fails only on a panic; the output then lacks the answer.
        let _ = tokio::task::spawn_blocking(move || task.append(written.as_bytes())).await;
    }
}

impl Drop for OpenAgent {
    /// Also runs if the runtime drops the agent before its end.
    fn drop(&mut self) {
        self.sessions.close_child(&self.session.id);
        let tasks = &self.session.shared.tasks;
        drop(tasks.stop_of_session(&self.session.id, StopReason::Abandoned));
    }
}

/// Writes the progress of a background agent to the output of its task. It is written at once, on the host's
/// thread, so that an agent that writes endlessly waits for the disk and does not fill the memory.
fn output_of(task: Arc<Task>) -> ProgressSink {
    ProgressSink::new(move |progress| {
        if let Progress::Output { text } = progress {
            task.append(text.as_bytes());
        }
    })
}
