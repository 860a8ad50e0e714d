//! What `createToolRegistry` is given, after the facade took its callbacks out.

use std::{collections::BTreeMap, path::PathBuf, sync::Arc, time::Duration};

use schemars::JsonSchema;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;

use super::{
    envelope::{parsed, plain_cause},
    hook::HookSpec,
    host_calls::HostCalls,
    policy::{PolicySetup, mode_of, places_of},
};
use crate::{
    confirm::SharedBus,
    definition::StructuredContent,
    error::{ErrorKind, ToolError},
    mcp::ServerIdentity,
    pipeline::{Limits, Pipeline},
    policy::PermissionMode,
    process::{OnTimeout, ProcessSettings, TaskManager, find_supervisor, supervisor_at},
    registry::ToolSource,
    session::{Environment, EnvironmentRules, ReadBeforeWrite, Sessions, home_directory},
    tool::{InputValidator, derived_schema, is_valid_name},
    tools::ToolSet,
    workspace::Roots,
};

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Options {
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
    trust_project: Option<bool>,
    /// Empty for none.
    #[serde(default)]
    user_policy_file: Option<String>,
    #[serde(default)]
    read_before_write: Option<bool>,
    #[serde(default)]
    hooks: Vec<HookSpec>,
    #[serde(default)]
    limits: Limits,
    #[serde(default)]
    env: BTreeMap<String, String>,
    /// `process.env` as the facade found it.
    process_env: BTreeMap<String, String>,
    #[serde(default)]
    shell: ShellOptions,
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
            // A host that names it wants it, so that nothing else will do.
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

/// What options make.
pub(super) struct Built {
    pub(super) pipeline: Pipeline,
    pub(super) identity: ServerIdentity,
    pub(super) structured_content: StructuredContent,
    pub(super) setup: PolicySetup,
}

/// Parses what a host gave, with messages that name the field at fault.
pub(super) fn read<T: DeserializeOwned + JsonSchema>(
    json: &str,
    noun: &'static str,
    kind: ErrorKind,
) -> Result<T, ToolError> {
    let wrong = |message| ToolError::new(kind, message);
    let validator = InputValidator::new(&derived_schema::<T>())
        .map_err(|err| ToolError::new(ErrorKind::Internal, err.to_string()))?;
    let value = parsed(json, kind)?;
    let value = validator.naming(noun).accept(value).map_err(|err| wrong(err.message))?;
    serde_json::from_value(value).map_err(|err| wrong(plain_cause(&err)))
}

impl Options {
    pub(super) fn build(
        self,
        bus: SharedBus,
        host_calls: &Arc<HostCalls>,
    ) -> Result<Built, ToolError> {
        let roots = Roots::new(&self.project_path, &self.additional_directories)?
            .with_home(home_directory());
        let read_before_write = match self.read_before_write {
            None | Some(true) => ReadBeforeWrite::Required,
            Some(false) => ReadBeforeWrite::NotRequired,
        };
        let commands = self.shell.settings(self.process_env, self.env)?;
        let places = places_of(self.project_path, &roots, &commands);
        let mut setup = PolicySetup::new(
            self.policy,
            (self.allowed_tools, self.disallowed_tools.clone()),
            self.user_policy_file.as_deref(),
            self.trust_project.unwrap_or_default().then(|| roots.first()),
        );
        let mode = self.permission_mode.as_deref().map_or(Ok(PermissionMode::Default), mode_of)?;
        let engine = setup.engine(mode, places)?;
        let tasks = TaskManager::new(commands);
        let sessions = Sessions::new(Arc::new(roots)).with(read_before_write).with_tasks(tasks);
        let mut pipeline = Pipeline::new(sessions, self.limits, bus, engine);
        for hook in self.hooks {
            pipeline.hooks.push(hook.build(host_calls)?);
        }
        for name in &self.toolsets {
            let set: ToolSet = name
                .parse()
                .map_err(|err: String| ToolError::new(ErrorKind::InvalidOptions, err))?;
            for tool in set.tools() {
                pipeline.registry.register(tool, ToolSource::Builtin(set.as_str()))?;
            }
        }
        // The others are rules alone.
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
        Ok(Built { pipeline, identity, structured_content, setup })
    }
}
