//! Policy as a host gives it: options, files, and an engine that stands alone.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use napi::bindgen_prelude::Result;
use napi_derive::napi;
use serde_json::{Value, json};

use super::{
    envelope::{misuse, parsed, sealed},
    registry::NativeRegistry,
};
use crate::{
    error::{ErrorKind, ToolError},
    pipeline::{CallOptions, ToolCall},
    policy::{
        Layer, PermissionMode, PolicyConfig, PolicyEngine, PolicyError, PolicyPlaces, PolicySources,
    },
    policy_files::{project_policy_file, read_policy_file, user_policy_file},
    process::ProcessSettings,
    session::home_directory,
    shell::ShellDialect,
    tools::catalogue,
    workspace::Roots,
};

type Checked<T> = std::result::Result<T, ToolError>;

/// Where the rules of a registry come from; kept so that some of them can be replaced.
#[derive(Clone, Debug)]
pub(super) struct PolicySetup {
    pub(super) policy: Option<Value>,
    pub(super) allowed: Vec<String>,
    pub(super) disallowed: Vec<String>,
    pub(super) user_file: Option<PathBuf>,
    pub(super) project_file: Option<PathBuf>,
    /// What the files held when they were read.
    files: Vec<(Layer, PolicyConfig)>,
}

impl PolicySetup {
    /// The user's file is read unless the host names another one or none (an empty path); the project's
    /// only when the host trusts the project.
    pub(super) fn new(
        policy: Option<Value>,
        lists: (Vec<String>, Vec<String>),
        user_file: Option<&str>,
        trusted_project: Option<&Path>,
    ) -> Self {
        let user_file = match user_file {
            None => user_policy_file(),
            Some("") => None,
            Some(path) => Some(PathBuf::from(path)),
        };
        let (allowed, disallowed) = lists;
        let project_file = trusted_project.map(project_policy_file);
        let files = Vec::new();
        Self { policy, allowed, disallowed, user_file, project_file, files }
    }

    /// Reads the files, again where they were read before.
    fn read_files(&mut self) -> Checked<()> {
        let paths = [(Layer::Project, &self.project_file), (Layer::User, &self.user_file)];
        let mut files = Vec::new();
        for (layer, path) in paths {
            if let Some(path) = path
                && let Some(config) = read_policy_file(path, layer)?
            {
                files.push((layer, config));
            }
        }
        self.files = files;
        Ok(())
    }

    fn layers(&self) -> Checked<Vec<(Layer, PolicyConfig)>> {
        let mut layers = self.files.clone();
        if let Some(policy) = &self.policy {
            let config = PolicyConfig::from_json(policy, Layer::Options).map_err(refused)?;
            layers.push((Layer::Options, config));
        }
        let lists = PolicyConfig::from_lists(self.allowed.clone(), self.disallowed.clone());
        layers.push((Layer::Options, lists));
        Ok(layers)
    }

    /// The engine of these rules and those in the files.
    pub(super) fn engine(
        &mut self,
        mode: PermissionMode,
        mut places: PolicyPlaces,
    ) -> Checked<PolicyEngine> {
        places.protected = self.user_file.iter().chain(&self.project_file).cloned().collect();
        self.read_files()?;
        let (layers, tools) = (self.layers()?, Arc::new(catalogue()));
        PolicyEngine::new(PolicySources { layers, mode, places, tools }).map_err(refused)
    }
}

/// The surroundings of a workspace whose commands run like that.
pub(super) fn places_of(given: PathBuf, roots: &Roots, commands: &ProcessSettings) -> PolicyPlaces {
    let home = commands.environment.iter().find(|(name, _)| name == "HOME");
    PolicyPlaces {
        project: roots.first().to_owned(),
        project_as_given: Some(given),
        roots: roots.all().to_vec(),
        home: home_directory(),
        shell_home: home.map(|(_, value)| PathBuf::from(value)),
        shell: ShellDialect::of_program(&commands.shell),
        protected: Vec::new(),
    }
}

fn refused(error: PolicyError) -> ToolError {
    ToolError::new(ErrorKind::InvalidOptions, error.to_string())
}

/// A permission mode by its name.
pub(super) fn mode_of(name: &str) -> Checked<PermissionMode> {
    let modes = PermissionMode::ALL;
    modes.into_iter().find(|it| it.as_str() == name).ok_or_else(|| {
        let known = modes.map(|it| format!("`{}`", it.as_str())).join(", ");
        let message = format!("no permission mode is named `{name}`; there are {known}");
        ToolError::new(ErrorKind::InvalidOptions, message)
    })
}

#[napi]
impl NativeRegistry {
    /// What policy says of a call and why, as JSON.
    #[napi(catch_unwind)]
    pub fn explain(&self, name: String, input: String, session_id: Option<String>) -> String {
        sealed((|| {
            let input = parsed::<Value>(&input, ErrorKind::Validation)?;
            let options = CallOptions { session_id, ..CallOptions::default() };
            let verdict = self.pipeline.explain(ToolCall { name, input }, options)?;
            Ok(json!(verdict).to_string())
        })())
    }

    /// Puts another policy in the place of the host's; one that is wrong changes nothing.
    #[napi(catch_unwind)]
    pub fn set_policy(&self, policy: String) -> String {
        sealed((|| {
            let policy = parsed::<Option<Value>>(&policy, ErrorKind::InvalidOptions)?;
            self.change_policy(|setup| {
                setup.policy = policy;
                Ok(())
            })
        })())
    }

    /// Reads the policy files again.
    #[napi(catch_unwind)]
    pub fn reload_policy(&self) -> String {
        sealed(self.change_policy(PolicySetup::read_files))
    }

    /// Lets tools run without asking.
    #[napi(catch_unwind)]
    pub fn allow(&self, rules: Vec<String>) -> String {
        sealed(self.change_policy(|setup| {
            setup.allowed.extend(rules);
            Ok(())
        }))
    }

    /// Changes what happens to calls that no rule decides.
    #[napi(catch_unwind)]
    pub fn set_permission_mode(&self, mode: String) -> String {
        sealed((|| {
            let mode = mode_of(&mode)?;
            self.pipeline.policy.change(|sources| sources.mode = mode).map_err(refused)?;
            Ok("{}".to_owned())
        })())
    }

    /// Rules that do not do what they look like, as JSON.
    #[napi(catch_unwind)]
    pub fn lint_policy(&self) -> String {
        json!(self.pipeline.policy.get().lint_beside(&self.names())).to_string()
    }

    /// Rules that name no tool, as JSON.
    #[napi(catch_unwind)]
    pub fn unknown_tools(&self) -> String {
        json!(self.pipeline.policy.get().unknown_tools(&self.names())).to_string()
    }

    /// Switches tools off: no model is told of them, and calls are refused.
    #[napi(catch_unwind)]
    pub fn disable(&self, names: Vec<String>) -> String {
        sealed(self.pipeline.registry.disable(&names).map(|()| "{}".to_owned()))
    }

    /// Switches tools on, also those that `disallowedTools` names.
    #[napi(catch_unwind)]
    pub fn enable(&self, names: Vec<String>) -> String {
        sealed((|| {
            self.pipeline.registry.enable(&names)?;
            let engine = self.pipeline.policy.get();
            let tools = &engine.sources().tools;
            self.change_policy(|setup| {
                // `mcp__server` is `mcp__server__*`.
                let plain = |it: &str| it.trim().trim_end_matches("__*").to_owned();
                let is_one = |it: &str| names.iter().any(|name| tools.is_same(it, &plain(name)));
                setup.disallowed.retain(|it| !is_one(&plain(it)));
                Ok(())
            })
        })())
    }
}

impl NativeRegistry {
    fn change_policy(
        &self,
        change: impl FnOnce(&mut PolicySetup) -> Checked<()>,
    ) -> Checked<String> {
        let mut kept = self.setup();
        let mut setup = kept.clone();
        change(&mut setup)?;
        let layers = setup.layers()?;
        self.pipeline.policy.change(|sources| sources.layers = layers).map_err(refused)?;
        *kept = setup;
        Ok("{}".to_owned())
    }
}

/// A policy engine that stands alone.
#[napi]
pub struct NativePolicyEngine(PolicyEngine);

#[napi]
impl NativePolicyEngine {
    /// Compiles a policy, or throws the text of an error envelope.
    #[napi(constructor, catch_unwind)]
    pub fn new(policy: String, project_path: String, mode: Option<String>) -> Result<Self> {
        (|| {
            let policy = parsed::<Value>(&policy, ErrorKind::InvalidOptions)?;
            let config = PolicyConfig::from_json(&policy, Layer::Options).map_err(refused)?;
            let mode = mode.as_deref().map_or(Ok(PermissionMode::Default), mode_of)?;
            let places =
                PolicyPlaces { home: home_directory(), ..PolicyPlaces::of_project(project_path) };
            let (layers, tools) = (vec![(Layer::Options, config)], Arc::new(catalogue()));
            let sources = PolicySources { layers, mode, places, tools };
            PolicyEngine::new(sources).map(Self).map_err(refused)
        })()
        .map_err(|error: ToolError| napi::Error::from_reason(misuse(&error)))
    }

    /// What the policy says of a call, as JSON.
    #[napi(catch_unwind)]
    pub fn evaluate(&self, tool: String, params: String) -> String {
        sealed((|| {
            let params = parsed::<Value>(&params, ErrorKind::Validation)?;
            Ok(json!(self.0.evaluate(&tool, &params)).to_string())
        })())
    }

    /// `low`, `medium` or `high`.
    #[napi(catch_unwind)]
    pub fn risk_level(&self, tool: String) -> String {
        self.0.risk_level(&tool).for_people().to_owned()
    }

    /// Rules that do not do what they look like, as JSON.
    #[napi(catch_unwind)]
    pub fn lint(&self) -> String {
        json!(self.0.lint()).to_string()
    }
}

/// The JSON Schema of the policy file.
#[napi(catch_unwind)]
pub fn policy_schema() -> String {
    json!(PolicyConfig::schema()).to_string()
}
