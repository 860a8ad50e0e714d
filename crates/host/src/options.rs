//! The options of a registry. The host's functions are represented by numbers.

use std::{collections::BTreeMap, path::PathBuf, sync::Arc, time::Duration};

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use toolwright_base::{ErrorKind, SHOWN_NAME, ToolError, is_valid_name, shortened};
use toolwright_core::{
    Environment, EnvironmentRules, ForModel as _, ReadBeforeWrite, Sessions, ToolSource,
    home_directory,
};
use toolwright_files::Roots;
use toolwright_mcp::{McpServerConfig, ServerIdentity};
use toolwright_pipeline::{Limits, Pipeline, RememberGrants, SharedBus, StructuredContent};
use toolwright_process::{OnTimeout, ProcessSettings, TaskManager, find_supervisor, supervisor_at};
use toolwright_search::IndexPool;
use toolwright_store::{KnownSettings, ProjectKey, SettingSpec};
use toolwright_tools::{Experiment, ToolSet};
use toolwright_web::WebClient;

use super::{
    HostFunction,
    hook_spec::HookSpec,
    host_handler::handlers_of,
    host_plugins::{HostPlugins, TOOLS_DIRECTORY_VARIABLE},
    index_options::IndexOptions,
    mcp_servers::HostMcpServers,
    policy_setup::{PolicySetup, permission_mode, policy_places},
    sandbox_options::SandboxOption,
    search_options::{SearchServiceOptions, search_setup},
    store_options::{StoreKind, StoreOptions},
    web_options::WebOptions,
};

/// The options with which a host creates a registry.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct HostOptions {
    project_path: PathBuf,
    #[serde(default)]
    additional_directories: Vec<PathBuf>,
    #[serde(default)]
    toolsets: Vec<String>,
    #[schemars(length(min = 1))]
    server_name: String,
    version: String,
    #[serde(default)]
    instructions: Option<String>,
    #[serde(default)]
    structured_content: bool,
    #[serde(default)]
    policy: Option<Value>,
    #[serde(default)]
    permission_mode: Option<String>,
    #[serde(default)]
    allowed_tools: Vec<String>,
    #[serde(default)]
    disallowed_tools: Vec<String>,
    #[serde(default)]
    remember_grants: RememberGrants,
    #[serde(default)]
    project_id: Option<String>,
    #[serde(default)]
    settings: BTreeMap<String, SettingSpec>,
    #[serde(default)]
    trust_project: Option<bool>,
    /// Empty for none.
    #[serde(default)]
    user_policy_file: Option<String>,
    /// Empty for none.
    #[serde(default)]
    plugin_dir: Option<String>,
    #[serde(default)]
    watch_plugins: Option<bool>,
    #[serde(default)]
    read_before_write: Option<bool>,
    /// The numbers of the functions in the option `handlers`.
    #[serde(default)]
    handlers: BTreeMap<String, u32>,
    #[serde(default)]
    store: StoreOptions,
    /// The kind of store, which the facade determines.
    #[serde(default)]
    store_kind: StoreKind,
    #[serde(default)]
    hooks: Vec<HookSpec>,
    #[serde(default)]
    limits: Limits,
    #[serde(default)]
    env: BTreeMap<String, String>,
    /// The content of `process.env`.
    process_env: BTreeMap<String, String>,
    #[serde(default)]
    shell: ShellOptions,
    #[serde(default)]
    sandbox: SandboxOption,
    #[serde(default)]
    web: WebOptions,
    #[serde(default)]
    search: Option<SearchServiceOptions>,
    #[serde(default)]
    mcp_servers: BTreeMap<String, McpServerConfig>,
    #[serde(default)]
    index: IndexOptions,
    /// The pool through which registries of the same workspace share an index.
    #[serde(skip)]
    index_pool: IndexPool,
}

/// How commands are run.
#[derive(Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct ShellOptions {
    path: Option<PathBuf>,
    supervisor_path: Option<PathBuf>,
    allow_env: Vec<String>,
    on_timeout: OnTimeout,
    #[schemars(range(max = 60_000))]
    grace_ms: Option<u32>,
    #[schemars(range(min = 1, max = 2_147_483_647))]
    idle_timeout_ms: Option<u32>,
    #[schemars(range(min = 65_536, max = 1_099_511_627_776_u64))]
    max_output_file_bytes: Option<u64>,
}

impl ShellOptions {
    fn settings(
        self,
        host: BTreeMap<String, String>,
        set: BTreeMap<String, String>,
    ) -> Result<ProcessSettings, ToolError> {
        let environment = Environment::of_host(host);
        let shell = match &self.path {
            None => environment.shell(),
            Some(asked) => environment
                .shell_named(asked)
                .map_err(|cause| ToolError::new(ErrorKind::InvalidOptions, cause))?,
        };
        let rules = EnvironmentRules { allowed: self.allow_env, set };
        let mut settings = ProcessSettings::new(
            shell,
            environment.for_commands(&rules),
            environment.temporary_directory().to_owned(),
        );
        settings.helper_shell = environment.system_shell();
        settings.helper_environment = environment.for_hooks();
        let milliseconds = |it: u32| Duration::from_millis(it.into());
        settings.supervisor = match self.supervisor_path {
            None => find_supervisor(),
            // If the host chooses a program, there is no fallback.
            Some(program) => Ok(supervisor_at(&program).map_err(|cause| {
                let message = format!("`shell.supervisorPath`: {cause}");
                ToolError::new(ErrorKind::InvalidOptions, message)
            })?),
        };
        settings.on_timeout = self.on_timeout;
        settings.idle_timeout = self.idle_timeout_ms.map(milliseconds);
        settings.grace = self.grace_ms.map_or(settings.grace, milliseconds);
        settings.max_file_bytes = self.max_output_file_bytes.unwrap_or(settings.max_file_bytes);
        Ok(settings)
    }
}

/// The parts of a registry.
pub(super) struct Assembled {
    pub(super) pipeline: Pipeline,
    pub(super) identity: ServerIdentity,
    pub(super) structured_content: StructuredContent,
    pub(super) setup: PolicySetup,
    pub(super) plugins: HostPlugins,
    pub(super) mcp_servers: HostMcpServers,
}

impl HostOptions {
    /// Sets the pool of shared indexes.
    #[must_use]
    pub fn sharing(mut self, pool: &IndexPool) -> Self {
        self.index_pool = pool.clone();
        self
    }

    /// Builds the parts. `function` returns the host's function with a number.
    pub(super) fn assemble(
        self,
        bus: SharedBus,
        function: &dyn Fn(u32) -> Arc<dyn HostFunction>,
    ) -> Result<Assembled, ToolError> {
        let roots = Roots::new(&self.project_path, &self.additional_directories)
            .for_model()?
            .with_home(home_directory());
        let read_before_write = match self.read_before_write {
            None | Some(true) => ReadBeforeWrite::Required,
            Some(false) => ReadBeforeWrite::NotRequired,
        };
        let environment = Environment::of_host(self.process_env.clone());
        let store = self.store.build(self.store_kind, &environment, function)?;
        let plugins = HostPlugins::new(
            self.plugin_dir.as_deref(),
            self.process_env.get(TOOLS_DIRECTORY_VARIABLE).map(String::as_str),
            self.watch_plugins.unwrap_or_default(),
            roots.first(),
        );
        let web = self.web.settings(&environment)?;
        let search = search_setup(self.search, &environment, &web)?;
        let mcp_servers = HostMcpServers::new(self.mcp_servers, roots.first(), web.clone())?;
        let experiments = experiments_of(&self.process_env);
        let commands = self.shell.settings(self.process_env, self.env)?;
        let mut places = policy_places(self.project_path, &roots, &commands);
        places.made_by_host.clone_from(&store.files);
        places.protected = store.files;
        // Plugin files are code that runs later.
        places.protected.extend(plugins.protected_places());
        let mut setup = PolicySetup::new(
            self.policy,
            self.allowed_tools,
            self.disallowed_tools.clone(),
            self.user_policy_file.as_deref(),
            self.trust_project.unwrap_or_default().then(|| roots.first()),
        );
        let mode = permission_mode(self.permission_mode.as_deref())?;
        let engine = setup.engine(mode, places)?;
        let tasks = TaskManager::new(commands);
        let known_settings = KnownSettings::default()
            .with(self.settings)
            .map_err(|cause| invalid(format!("option `settings`: {cause}")))?;
        let sessions = Sessions::new(Arc::new(roots))
            .with(read_before_write)
            .with_tasks(tasks)
            .with_sandbox(self.sandbox.settings()?)
            .with_store(store.store)
            .with_web(WebClient::new(web))
            .with_search(search)
            .with_indexes(&self.index_pool, self.index.settings())
            .with_agent_limits(self.limits.of_agents())
            .with_project(self.project_id.as_deref().map(project_of).transpose()?, known_settings);
        let mut pipeline = Pipeline::new(sessions, self.limits, bus, engine);
        pipeline.remember_grants = self.remember_grants;
        let handlers = handlers_of(&self.handlers, function)?;
        pipeline.handlers = Arc::new(mcp_servers.with_resources(handlers));
        for hook in self.hooks {
            pipeline.hooks.push(hook.build(function)?);
        }
        for name in &self.toolsets {
            let set: ToolSet = name
                .parse()
                .map_err(|err: String| ToolError::new(ErrorKind::InvalidOptions, err))?;
            for tool in set.tools_with(&experiments) {
                pipeline.registry.register(tool, ToolSource::Builtin(set.as_str()))?;
            }
        }
        // Entries with a pattern for the input are rules only; the tool stays enabled.
        let is_name = |it: &String| is_valid_name(it.strip_suffix('*').unwrap_or(it));
        let named = self.disallowed_tools.iter().map(|it| it.trim().to_owned()).filter(is_name);
        pipeline.registry.disable(&named.collect::<Vec<_>>())?;
        let identity = ServerIdentity {
            name: self.server_name,
            version: self.version,
            instructions: self.instructions,
        };
        let structured_content = if self.structured_content {
            StructuredContent::Sent
        } else {
            StructuredContent::LeftOut
        };
        Ok(Assembled { pipeline, identity, structured_content, setup, plugins, mcp_servers })
    }
}

fn project_of(id: &str) -> Result<ProjectKey, ToolError> {
    ProjectKey::of_id(id).ok_or_else(|| {
        let shown = shortened(id, SHOWN_NAME);
        invalid(format!(
            "option `projectId` must be 1 to 64 letters, digits, `.`, `_` or `-`, got `{shown}`"
        ))
    })
}

fn invalid(message: String) -> ToolError {
    ToolError::new(ErrorKind::InvalidOptions, message)
}

/// The environment variable that enables teams of agents, as in Claude Code.
const AGENT_TEAMS: &str = "CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS";

fn experiments_of(environment: &BTreeMap<String, String>) -> Vec<Experiment> {
    let value = environment.get(AGENT_TEAMS).map(|it| it.trim().to_ascii_lowercase());
    let is_on = matches!(value.as_deref(), Some("1" | "true" | "yes" | "on"));
    is_on.then_some(Experiment::AgentTeams).into_iter().collect()
}
