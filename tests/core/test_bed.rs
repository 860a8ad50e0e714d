//! A workspace in a temporary directory and a pipeline over it.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use serde_json::Value;
use tempfile::TempDir;
use toolwright::{
    confirm::MessageBus,
    error::ErrorKind,
    pipeline::{CallOptions, Limits, Pipeline, ToolCall},
    policy::{PermissionMode, PolicyEngine, PolicyPlaces, PolicySources},
    process::{ProcessSettings, SandboxMode, SandboxSettings, TaskManager},
    registry::ToolSource,
    session::{Environment, EnvironmentRules, Sessions},
    tool::ToolOutput,
    tools::{ToolSet, catalogue},
    workspace::Roots,
};

pub(crate) struct TestBed {
    dir: TempDir,
    /// Where output files go; outside the workspace, as in a host.
    temporary: TempDir,
    pub(crate) pipeline: Pipeline,
}

impl TestBed {
    pub(crate) fn new() -> Self {
        Self::with_limits(Limits::default())
    }

    pub(crate) fn with_limits(limits: Limits) -> Self {
        Self::with(limits, |_| {})
    }

    /// A bed whose commands are run in another way than usual.
    pub(crate) fn with_processes(change: impl FnOnce(&mut ProcessSettings)) -> Self {
        Self::with(Limits::default(), change)
    }

    fn with(limits: Limits, change: impl FnOnce(&mut ProcessSettings)) -> Self {
        let dir = TempDir::new().unwrap();
        let temporary = TempDir::new().unwrap();
        let environment = Environment::of_process();
        let mut settings = ProcessSettings::new(
            environment.shell(),
            environment.for_commands(&EnvironmentRules::default()),
            temporary.path().to_owned(),
        );
        settings.helper_shell = environment.system_shell();
        settings.helper_environment = environment.for_hooks();
        settings.supervisor = Ok(env!("CARGO_BIN_EXE_toolwright-supervisor").into());
        change(&mut settings);
        let roots = Roots::new(dir.path(), &[]).unwrap();
        let bus = Arc::new(MessageBus::deaf());
        let sources = PolicySources {
            mode: PermissionMode::BypassPermissions,
            places: PolicyPlaces::of_project(roots.first()),
            tools: catalogue().into(),
            ..PolicySources::default()
        };
        let policy = PolicyEngine::new(sources).unwrap();
        // Commands of these tests are looked at from outside; those of the sandbox have a bed of their own.
        let mut sandbox = SandboxSettings::default();
        sandbox.mode = SandboxMode::Off;
        let sessions = Sessions::new(roots.into())
            .with_tasks(TaskManager::new(settings))
            .with_sandbox(sandbox);
        let pipeline = Pipeline::new(sessions, limits, bus, policy);
        for set in ToolSet::ALL {
            for tool in set.tools() {
                pipeline.registry.register(tool, ToolSource::Builtin(set.as_str())).unwrap();
            }
        }
        Self { dir, temporary, pipeline }
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap()
    }

    pub(crate) fn temporary(&self) -> PathBuf {
        self.temporary.path().canonicalize().unwrap()
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.root().join(name);
        std::fs::create_dir_all(path.parent().unwrap_or(Path::new("/"))).unwrap();
        std::fs::write(&path, content).unwrap();
        path
    }

    pub(crate) async fn call(&self, name: &str, input: Value) -> ToolOutput {
        self.call_with(name, input, CallOptions::default()).await
    }

    pub(crate) async fn call_with(
        &self,
        name: &str,
        input: Value,
        options: CallOptions,
    ) -> ToolOutput {
        self.pipeline.call(ToolCall { name: name.to_owned(), input }, options).await
    }
}

/// Why a call failed, if it did.
pub(crate) fn kind(output: &ToolOutput) -> Option<ErrorKind> {
    output.error.as_ref().map(|error| error.kind)
}

/// What the answer to a command says of it as data.
pub(crate) fn command_facts(output: &ToolOutput) -> &Value {
    output.meta.get("toolwright/command").unwrap()
}
