//! The commands of a registry: starts them, finds them by id, forgets old ones, ends all.

mod start_command;

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
    time::Duration,
};

use tokio::sync::OnceCell;

#[cfg(unix)]
use self::start_command::CommandEngine;
pub use self::start_command::{CommandRole, CommandSpec, MAX_COMMAND_BYTES, StartError};
use super::{
    command_output::SpillState,
    ending::StopReason,
    events::{TaskEvent, TaskEventKind, TaskEvents},
    info::TaskInfo,
    output_files::OutputFiles,
    settings::ProcessSettings,
    task::{RunMode, Task},
};

/// How many tasks may run at once.
pub const MAX_RUNNING: usize = 256;
/// How many ended commands are remembered for their output; the oldest are forgotten first.
const MAX_ENDED: usize = 256;
/// How many bytes their files may have together.
const MAX_ENDED_BYTES: u64 = 2 * 1024 * 1024 * 1024;
/// How long the end of the supervisor is waited for when a registry is closed; it takes milliseconds.
#[cfg(unix)]
const SUPERVISOR_PATIENCE: Duration = Duration::from_secs(3);

/// The commands of a registry.
#[derive(Debug)]
pub struct TaskManager {
    /// How commands are run.
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
    /// Everything that runs, in the foreground too.
    running: HashMap<String, Arc<Task>>,
    /// What has ended and is remembered, oldest first.
    ended: VecDeque<Arc<Task>>,
    /// Tasks that are being started.
    starting: usize,
    next_task: u64,
    next_command: u64,
    closed: bool,
}

impl TaskManager {
    /// No commands yet; nothing is started before the first.
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

    /// The directory of output files, whether or not it exists yet.
    pub fn files(&self) -> &std::path::Path {
        self.files.directory()
    }

    /// Lets a foreground command go on as a task; false when it has ended, or when too many run.
    pub fn promote(&self, task: &Arc<Task>) -> bool {
        let tasks = self.lock();
        if !tasks.running.contains_key(&task.id)
            || tasks.closed
            || tasks.running_tasks() >= MAX_RUNNING
        {
            return false;
        }
        task.send_to_background();
        self.events.tell(TaskEventKind::Started, TaskInfo::of(task));
        true
    }

    /// The task of an id, running or remembered, whichever conversation started it.
    pub fn find(&self, id: &str) -> Option<Arc<Task>> {
        let tasks = self.lock();
        let found =
            tasks.running.get(id).or_else(|| tasks.ended.iter().find(|it| it.id == id)).cloned();
        found.filter(|it| it.run_mode() == RunMode::Background)
    }

    /// The task of an id, where this conversation started it: another one's tasks are unknown to it.
    pub fn find_of(&self, session_id: &str, id: &str) -> Option<Arc<Task>> {
        self.find(id).filter(|it| *it.session_id == *session_id)
    }

    /// Every task that this conversation started, in the order in which they started.
    pub fn list_of(&self, session_id: &str) -> Vec<Arc<Task>> {
        let mut all = self.list();
        all.retain(|it| *it.session_id == *session_id);
        all
    }

    /// True when a file holds the output of a command that this conversation ran.
    pub fn is_output_of(&self, session_id: &str, file: &std::path::Path) -> bool {
        let tasks = self.lock();
        tasks
            .running
            .values()
            .chain(&tasks.ended)
            .filter(|it| *it.session_id == *session_id)
            .any(|it| matches!(it.spill_state(), SpillState::File { path, .. } if path == file))
    }

    /// Every task that runs or is remembered, in the order in which they started. This is the host's
    /// view, across conversations.
    pub fn list(&self) -> Vec<Arc<Task>> {
        let tasks = self.lock();
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

    /// How many tasks run or are being started.
    pub fn running(&self) -> usize {
        self.lock().running_tasks()
    }

    /// Makes a function hear every event that is kept, and then every one that comes.
    pub fn on_event(&self, listener: impl Fn(&TaskEvent) + Send + Sync + 'static) {
        self.events.listen(Box::new(listener));
    }

    /// Has the reading thread look at every command again.
    pub(super) fn look_again(&self) {
        #[cfg(unix)]
        if let Some(engine) = &*self.engine.lock().unwrap_or_else(PoisonError::into_inner) {
            engine.reactor.wake();
        }
    }

    /// Takes note that somebody runs a command.
    pub(super) fn taken(&self, task: &Task) {
        // Under the lock, so that no end is told before.
        let tasks = self.lock();
        if task.run_mode() == RunMode::Background {
            self.events.tell(TaskEventKind::Started, TaskInfo::of(task));
        }
        drop(tasks);
    }

    /// Takes note of a command's end.
    pub(super) fn ended(&self, id: &str) {
        let mut tasks = self.lock();
        let Some(task) = tasks.running.remove(id) else { return };
        if !task.is_taken() {
            // It never was one.
            drop(tasks);
            remove_file_of(&task);
            return;
        }
        let is_task = task.run_mode() == RunMode::Background;
        if is_task {
            self.events.tell(TaskEventKind::Ended, TaskInfo::of(&task));
        }
        if is_task || task.spill_state() != SpillState::None {
            tasks.ended.push_back(task);
        }
        let forgotten = tasks.forget_old();
        drop(tasks);
        for task in forgotten {
            remove_file_of(&task);
        }
    }

    /// Remembers a foreground command whose output became a file after its end.
    pub fn remember(&self, task: &Arc<Task>) {
        let mut tasks = self.lock();
        if !tasks.ended.iter().any(|it| it.id == task.id) {
            tasks.ended.push_back(Arc::clone(task));
        }
    }

    /// Ends every command and removes every file without waiting for anything: nobody is left who could.
    pub fn abandon(&self) {
        self.stop_all(StopReason::Abandoned);
        self.events.clear();
        self.files.remove();
        #[cfg(unix)]
        if let Some(me) = self.me.upgrade() {
            // Whoever is starting a command holds the locks, and may have to wait for the supervisor.
            let _ =
                std::thread::Builder::new().stack_size(64 * 1024).spawn(move || me.take_engine());
        }
    }

    /// Lets no command start any more, and begins to end those that run.
    fn stop_all(&self, reason: StopReason) -> Vec<Arc<Task>> {
        let mut tasks = self.lock();
        tasks.closed = true;
        let running: Vec<_> = tasks.running.values().cloned().collect();
        drop(tasks);
        for task in &running {
            task.stop(reason, self.settings.grace);
        }
        running
    }

    /// Ends every command and removes every file; gives when all are gone, or have had time to be,
    /// however often it is asked for.
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
        self.lock().ended.clear();
        self.events.clear();
        self.files.remove();
        #[cfg(unix)]
        let _ = tokio::time::timeout(SUPERVISOR_PATIENCE, self.let_engine_go()).await;
    }

    #[cfg(unix)]
    async fn let_engine_go(&self) {
        let Some(me) = self.me.upgrade() else { return };
        // Whoever is starting a command holds the locks, and may have to wait for the supervisor.
        let let_go = tokio::task::spawn_blocking(move || me.take_engine());
        if let Ok(Some(supervisor)) = let_go.await {
            // Nothing is ever sent: it is closed.
            let _ = supervisor.await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, TaskTable> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for TaskManager {
    fn drop(&mut self) {
        for task in self.lock().running.values() {
            task.stop(StopReason::Abandoned, self.settings.grace);
        }
    }
}

impl TaskTable {
    fn running_tasks(&self) -> usize {
        self.starting
            + self.running.values().filter(|it| it.run_mode() == RunMode::Background).count()
    }

    /// Takes out what is beyond the bounds, oldest first.
    fn forget_old(&mut self) -> Vec<Arc<Task>> {
        let mut bytes: u64 = self.ended.iter().map(|it| file_bytes(it)).sum();
        let mut forgotten = Vec::new();
        while self.ended.len() > MAX_ENDED || bytes > MAX_ENDED_BYTES && self.ended.len() > 1 {
            let Some(oldest) = self.ended.pop_front() else { break };
            bytes -= file_bytes(&oldest);
            forgotten.push(oldest);
        }
        forgotten
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
