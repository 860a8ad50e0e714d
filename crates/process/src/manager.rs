//! The commands of a registry. The manager starts them, finds tasks by id, keeps the output of ended ones
//! within bounds, and ends all commands when the registry is closed.

mod command_spec;
mod start_agent;
mod start_command;

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Weak},
    time::Duration,
};

use parking_lot::Mutex;
use tokio::sync::OnceCell;

#[cfg(unix)]
use self::start_command::CommandEngine;
use super::{
    command_output::SpillState,
    ending::StopReason,
    events::{TaskEvent, TaskEventKind, TaskEvents},
    info::TaskInfo,
    output_files::OutputFiles,
    settings::ProcessSettings,
    task::{RunMode, Task},
};

#[cfg(unix)]
pub(crate) use self::command_spec::ServerPipes;
pub use self::{
    command_spec::{CommandRole, CommandSpec},
    start_agent::AgentTaskSpec,
    start_command::{MAX_COMMAND_BYTES, StartError},
};

/// How many background tasks may run at once.
pub(crate) const MAX_RUNNING: usize = 256;
/// How many ended commands are kept for their output. The oldest are dropped first.
const MAX_ENDED: usize = 256;
/// How many bytes the output files of ended commands may have together.
const MAX_ENDED_BYTES: u64 = 2 * 1024 * 1024 * 1024;
/// How long closing a registry waits for the supervisor to exit, which normally takes milliseconds.
#[cfg(unix)]
const SUPERVISOR_EXIT_TIMEOUT: Duration = Duration::from_secs(3);

/// Starts, finds and ends the commands of a registry.
#[derive(Debug)]
pub struct TaskManager {
    /// The settings of the registry for commands.
    pub settings: ProcessSettings,
    files: Arc<OutputFiles>,
    #[cfg(unix)]
    engine: Mutex<Option<Arc<CommandEngine>>>,
    tasks: Mutex<TaskTable>,
    events: TaskEvents,
    shut_down: OnceCell<()>,
    me: Weak<Self>,
}

#[derive(Debug, Default)]
struct TaskTable {
    /// Running commands by id, including foreground commands.
    running: HashMap<String, Arc<Task>>,
    /// Ended commands that are kept for their output, oldest first.
    ended: VecDeque<Arc<Task>>,
    /// How many background tasks are being started.
    starting: usize,
    next_task: u64,
    next_command: u64,
    closed: bool,
}

impl TaskManager {
    /// A manager without commands. The supervisor is started with the first command.
    pub fn new(settings: ProcessSettings) -> Arc<Self> {
        let files = Arc::new(OutputFiles::below(&settings.temporary));
        Arc::new_cyclic(|me| Self {
            settings,
            files,
            #[cfg(unix)]
            engine: Mutex::default(),
            tasks: Mutex::default(),
            events: TaskEvents::default(),
            shut_down: OnceCell::new(),
            me: Weak::clone(me),
        })
    }

    /// The path of the directory of output files, whether or not it exists yet.
    pub fn files(&self) -> &std::path::Path {
        self.files.directory()
    }

    /// Turns a foreground command into a background task. Returns false if it has ended or too many
    /// tasks run.
    pub(crate) fn promote(&self, task: &Arc<Task>) -> bool {
        let tasks = self.tasks.lock();
        if !tasks.running.contains_key(&task.id)
            || tasks.closed
            || tasks.background_tasks() >= MAX_RUNNING
        {
            return false;
        }
        task.send_to_background();
        self.events.record(TaskEventKind::Started, TaskInfo::of(task));
        true
    }

    /// The task with an id, running or kept, of any session.
    pub fn find(&self, id: &str) -> Option<Arc<Task>> {
        let tasks = self.tasks.lock();
        let found =
            tasks.running.get(id).or_else(|| tasks.ended.iter().find(|it| it.id == id)).cloned();
        found.filter(|it| it.run_mode() == RunMode::Background)
    }

    /// The task with an id, if this session started it. A session does not see the tasks of others.
    pub fn find_of(&self, session_id: &str, id: &str) -> Option<Arc<Task>> {
        self.find(id).filter(|it| *it.session_id == *session_id)
    }

    /// The tasks of this session, in the order in which they started.
    pub fn list_of(&self, session_id: &str) -> Vec<Arc<Task>> {
        let mut all = self.list();
        all.retain(|it| *it.session_id == *session_id);
        all
    }

    /// The commands of this session whose output can be read: its tasks, and the commands with an
    /// output file.
    pub fn outputs_of(&self, session_id: &str) -> Vec<Arc<Task>> {
        let has_output = |it: &Task| {
            it.run_mode() == RunMode::Background
                || matches!(it.spill_state(), SpillState::File { .. })
        };
        let tasks = self.tasks.lock();
        let all = tasks.running.values().chain(&tasks.ended);
        let mut found: Vec<_> =
            all.filter(|it| *it.session_id == *session_id && has_output(it)).cloned().collect();
        found.sort_by_key(|it| it.started_at);
        found
    }

    /// True when a file holds the output of a command of this session.
    pub fn is_output_of(&self, session_id: &str, file: &std::path::Path) -> bool {
        let tasks = self.tasks.lock();
        tasks
            .running
            .values()
            .chain(&tasks.ended)
            .filter(|it| *it.session_id == *session_id)
            .any(|it| matches!(it.spill_state(), SpillState::File { path, .. } if path == file))
    }

    /// All tasks of all sessions, running or kept, in the order in which they started. Only the host may see
    /// these.
    pub fn list(&self) -> Vec<Arc<Task>> {
        let tasks = self.tasks.lock();
        let mut all: Vec<_> = tasks
            .running
            .values()
            .chain(&tasks.ended)
            .filter(|it| it.run_mode() == RunMode::Background)
            .cloned()
            .collect();
        all.sort_by_key(|it| it.started_at);
        all
    }

    /// How many background tasks run or are being started.
    pub fn running(&self) -> usize {
        self.tasks.lock().background_tasks()
    }

    /// Passes every kept event to a listener, and from then on every new one.
    pub fn on_event(&self, listener: impl Fn(&TaskEvent) + Send + Sync + 'static) {
        self.events.listen(Box::new(listener));
    }

    /// Passes every new event to a watcher, until the registry is closed.
    pub fn watch_events(&self, watcher: impl Fn(&TaskEvent) + Send + Sync + 'static) {
        self.events.watch(Box::new(watcher));
    }

    /// Wakes the reading thread, so that it checks every command again.
    pub(super) fn wake_reader(&self) {
        #[cfg(unix)]
        if let Some(engine) = &*self.engine.lock() {
            engine.reactor.wake();
        }
    }

    /// Records that a command has been accepted and runs.
    pub(super) fn note_accepted(&self, task: &Task) {
        // Under the lock, so that the end is not recorded before the start.
        let tasks = self.tasks.lock();
        if task.run_mode() == RunMode::Background {
            self.events.record(TaskEventKind::Started, TaskInfo::of(task));
        }
        drop(tasks);
    }

    /// Moves an ended command from the running to the kept ones.
    pub(super) fn ended(&self, id: &str) {
        let mut tasks = self.tasks.lock();
        let Some(task) = tasks.running.remove(id) else { return };
        if !task.is_accepted() {
            // It was never started, so there is nothing to keep.
            drop(tasks);
            remove_file_of(&task);
            return;
        }
        let is_task = task.run_mode() == RunMode::Background;
        if is_task {
            self.events.record(TaskEventKind::Ended, TaskInfo::of(&task));
        }
        if is_task || task.spill_state() != SpillState::None {
            tasks.ended.push_back(task);
        }
        let removed = tasks.remove_oldest();
        drop(tasks);
        for task in removed {
            remove_file_of(&task);
        }
    }

    /// Keeps a foreground command whose output was written to a file after its end.
    pub fn remember(&self, task: &Arc<Task>) {
        let mut tasks = self.tasks.lock();
        if !tasks.ended.iter().any(|it| it.id == task.id) {
            tasks.ended.push_back(Arc::clone(task));
        }
    }

    /// Stops every command and removes every file without waiting, because the host is exiting.
    pub fn abandon(&self) {
        self.stop_all(StopReason::Abandoned);
        self.events.clear();
        self.files.remove();
        #[cfg(unix)]
        if let Some(me) = self.me.upgrade() {
            // A thread that is starting a command holds the lock, and may be waiting for the supervisor.
            let _ =
                std::thread::Builder::new().stack_size(64 * 1024).spawn(move || me.take_engine());
        }
    }

    /// Refuses new commands from now on, and stops the running ones. Does not wait for their end.
    fn stop_all(&self, reason: StopReason) -> Vec<Arc<Task>> {
        let mut tasks = self.tasks.lock();
        tasks.closed = true;
        let running: Vec<_> = tasks.running.values().cloned().collect();
        drop(tasks);
        for task in &running {
            task.stop(reason, self.settings.grace);
        }
        running
    }

    /// Stops every command and removes every file. Returns once all commands have ended or their
    /// grace period is over. Further calls wait for the same shutdown.
    pub async fn shut_down(&self) {
        self.shut_down.get_or_init(|| self.end_all()).await;
    }

    async fn end_all(&self) {
        let running = self.stop_all(StopReason::Asked);
        let patience = self.settings.grace + Duration::from_secs(3);
        let gone = async {
            for task in &running {
                task.ended().await;
            }
        };
        let _ = tokio::time::timeout(patience, gone).await;
        self.tasks.lock().ended.clear();
        self.events.clear();
        self.files.remove();
        #[cfg(unix)]
        let _ = tokio::time::timeout(SUPERVISOR_EXIT_TIMEOUT, self.release_engine()).await;
    }

    #[cfg(unix)]
    async fn release_engine(&self) {
        let Some(me) = self.me.upgrade() else { return };
        // A thread that is starting a command holds the lock, and may be waiting for the supervisor.
        let exit = tokio::task::spawn_blocking(move || me.take_engine());
        if let Ok(Some(exited)) = exit.await {
            // The channel is only ever closed.
            let _ = exited.await;
        }
    }
}

impl Drop for TaskManager {
    fn drop(&mut self) {
        for task in self.tasks.lock().running.values() {
            task.stop(StopReason::Abandoned, self.settings.grace);
        }
    }
}

impl TaskTable {
    fn background_tasks(&self) -> usize {
        self.starting
            + self.running.values().filter(|it| it.run_mode() == RunMode::Background).count()
    }

    /// Removes ended commands beyond the bounds, oldest first, and returns them.
    fn remove_oldest(&mut self) -> Vec<Arc<Task>> {
        let mut bytes: u64 = self.ended.iter().map(|it| file_bytes(it)).sum();
        let mut removed = Vec::new();
        while self.ended.len() > MAX_ENDED || bytes > MAX_ENDED_BYTES && self.ended.len() > 1 {
            let Some(oldest) = self.ended.pop_front() else { break };
            bytes -= file_bytes(&oldest);
            removed.push(oldest);
        }
        removed
    }
}

fn remove_file_of(task: &Task) {
    if let SpillState::File { path, .. } = task.spill_state() {
        let _ = std::fs::remove_file(path);
    }
}

fn file_bytes(task: &Task) -> u64 {
    match task.spill_state() {
        SpillState::File { bytes, .. } => bytes,
        SpillState::None | SpillState::Failed(_) => 0,
    }
}
