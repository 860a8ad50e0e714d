//! A workspace in a temporary directory, and a pipeline for it.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use serde_json::Value;
use tempfile::TempDir;
use toolwright_base::{ErrorKind, PermissionMode};
use toolwright_core::{Environment, EnvironmentRules, Sessions, ToolOutput, ToolSource};
use toolwright_files::Roots;
use toolwright_pipeline::{CallOptions, Limits, MessageBus, Pipeline, ToolCall};
use toolwright_policy::{PolicyEngine, PolicyPlaces, PolicySources};
use toolwright_process::{ProcessSettings, SandboxMode, SandboxSettings, TaskManager};
use toolwright_tools::{ToolSet, catalogue};

use crate::supervisor_program;

/// A workspace in a temporary directory, and a pipeline with every built-in tool. Calls are allowed, and
/// commands run without a sandbox.
pub struct TestBed {
    dir: TempDir,
    /// The directory for output files. It is outside the workspace, as in a host.
    temporary: TempDir,
    /// Runs the calls.
    pub pipeline: Pipeline,
}

impl Default for TestBed {
    fn default() -> Self {
        Self::new()
    }
}

impl TestBed {
    /// A bed with the default limits.
    pub fn new() -> Self {
        Self::with_limits(Limits::default())
    }

    /// A bed with other limits.
    pub fn with_limits(limits: Limits) -> Self {
        Self::with(limits, |_| {})
    }

    /// A bed with changed settings for commands.
    pub fn with_processes(change: impl FnOnce(&mut ProcessSettings)) -> Self {
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
        settings.supervisor = Ok(supervisor_program().to_owned());
        change(&mut settings);
        let roots = Roots::new(dir.path(), &[]).unwrap();
        let bus = Arc::new(MessageBus::without_listeners());
        let sources = PolicySources {
            mode: PermissionMode::BypassPermissions,
            places: PolicyPlaces::of_project(roots.first()),
            tools: catalogue().into(),
            ..PolicySources::default()
        };
        let policy = PolicyEngine::new(sources).unwrap();
        // These tests inspect commands from outside. The tests of the sandbox have their own bed.
        let sandbox = SandboxSettings { mode: SandboxMode::Off, ..SandboxSettings::default() };
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

    /// The root of the workspace.
    pub fn root(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap()
    }

    /// The directory for output files.
    pub fn temporary(&self) -> PathBuf {
        self.temporary.path().canonicalize().unwrap()
    }

    /// Writes a file in the workspace, and creates its directories. Returns its path.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.root().join(name);
        std::fs::create_dir_all(path.parent().unwrap_or(Path::new("/"))).unwrap();
        std::fs::write(&path, content).unwrap();
        path
    }

    /// Calls a tool.
    pub async fn call(&self, name: &str, input: Value) -> ToolOutput {
        self.call_with(name, input, CallOptions::default()).await
    }

    /// Calls a tool with options.
    pub async fn call_with(&self, name: &str, input: Value, options: CallOptions) -> ToolOutput {
        self.pipeline.call(ToolCall { name: name.to_owned(), input }, options).await
    }
}

/// The error kind of a failed call.
pub fn kind(output: &ToolOutput) -> Option<ErrorKind> {
    output.error.as_ref().map(|error| error.kind)
}

/// The structured data of a command's result.
pub fn command_facts(output: &ToolOutput) -> &Value {
    output.meta.get("toolwright/command").unwrap()
}
