//! State that lasts as long as a registry and is shared by all its conversations.

use std::sync::Arc;

use toolwright_files::Roots;
use toolwright_process::{ProcessSettings, SandboxSettings, TaskManager};
use toolwright_store::ProjectKey;
use toolwright_web::{SearchSetup, WebClient, WebSettings};

use super::{Environment, EnvironmentRules, FileState, MailSlot, StoredState};
use crate::agents::AgentBook;

/// The session of calls without a session id.
pub const DEFAULT_SESSION: &str = "default";

/// The prefix of the session ids of MCP clients.
pub const MCP_SESSION: &str = "mcp-";

/// The state that all conversations of one registry share, by subject.
#[derive(Clone, Debug)]
pub struct SharedState {
    /// The files, and what is known about them.
    pub files: FileState,
    /// Memories, todos and settings.
    pub stored: StoredState,
    /// Running commands, and ended ones.
    pub tasks: Arc<TaskManager>,
    /// The sandbox settings of commands.
    pub sandbox: Arc<SandboxSettings>,
    /// Fetches pages.
    pub web: WebClient,
    /// Searches the web.
    pub search: SearchSetup,
    /// Running agents, and agents that can be resumed.
    pub agents: Arc<AgentBook>,
    /// Messages between conversations, if the registry has any.
    pub mail: Arc<MailSlot>,
}

impl SharedState {
    /// The state of a new registry. Commands run in the environment of this process.
    pub(super) fn new(roots: Arc<Roots>) -> Self {
        let environment = Environment::of_process();
        let mut settings = ProcessSettings::new(
            environment.shell(),
            environment.for_commands(&EnvironmentRules::default()),
            environment.temporary_directory().to_owned(),
        );
        settings.helper_shell = environment.system_shell();
        settings.helper_environment = environment.for_hooks();
        Self {
            stored: StoredState::new(ProjectKey::of_directory(roots.first())),
            files: FileState::new(roots),
            tasks: TaskManager::new(settings),
            sandbox: Arc::default(),
            web: WebClient::new(WebSettings::from_environment(&|name| environment.text_of(name))),
            search: SearchSetup::Missing,
            agents: Arc::default(),
            mail: Arc::default(),
        }
    }
}
