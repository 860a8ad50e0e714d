//! The sources of a registry's policy: the host's options and the policy files. They are kept so that one of them
//! can be replaced without the others.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use serde_json::Value;
use toolwright_base::{ErrorKind, PermissionMode, ToolError};
use toolwright_core::home_directory;
use toolwright_files::Roots;
use toolwright_pipeline::{project_policy_file, read_policy_file, user_policy_file};
use toolwright_policy::{
    Layer, PolicyConfig, PolicyEngine, PolicyError, PolicyPlaces, PolicySources,
};
use toolwright_process::ProcessSettings;
use toolwright_shell::ShellDialect;
use toolwright_tools::catalogue;

/// Where the rules of a registry come from.
#[derive(Clone, Debug)]
pub(super) struct PolicySetup {
    /// The host's policy, unparsed.
    pub(super) policy: Option<Value>,
    /// The rules of `allowedTools`, and those that were added later.
    pub(super) allowed: Vec<String>,
    /// The rules of `disallowedTools`.
    pub(super) disallowed: Vec<String>,
    user_file: Option<PathBuf>,
    project_file: Option<PathBuf>,
    /// The content of the files when they were last read.
    files: Vec<(Layer, PolicyConfig)>,
}

impl PolicySetup {
    /// The default user file is used unless the host sets another path; an empty path means no file. The project's
    /// file is used only if the host trusts the project.
    pub(super) fn new(
        policy: Option<Value>,
        allowed: Vec<String>,
        disallowed: Vec<String>,
        user_file: Option<&str>,
        trusted_project: Option<&Path>,
    ) -> Self {
        let user_file = match user_file {
            None => user_policy_file(),
            Some("") => None,
            Some(path) => Some(PathBuf::from(path)),
        };
        let project_file = trusted_project.map(project_policy_file);
        Self { policy, allowed, disallowed, user_file, project_file, files: Vec::new() }
    }

    /// Reads the policy files.
    pub(super) fn read_files(&mut self) -> Result<(), ToolError> {
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

    /// All rules, by layer.
    pub(super) fn layers(&self) -> Result<Vec<(Layer, PolicyConfig)>, ToolError> {
        let mut layers = self.files.clone();
        if let Some(policy) = &self.policy {
            let config = PolicyConfig::from_json(policy, Layer::Options).map_err(refused)?;
            layers.push((Layer::Options, config));
        }
        let lists = PolicyConfig::from_lists(self.allowed.clone(), self.disallowed.clone());
        layers.push((Layer::Options, lists));
        Ok(layers)
    }

    /// The first engine of the registry. The policy files are also protected from tools.
    pub(super) fn engine(
        &mut self,
        mode: PermissionMode,
        mut places: PolicyPlaces,
    ) -> Result<PolicyEngine, ToolError> {
        places.protected.extend(self.user_file.iter().chain(&self.project_file).cloned());
        self.read_files()?;
        let (layers, tools) = (self.layers()?, Arc::new(catalogue()));
        PolicyEngine::new(PolicySources { layers, mode, places, tools }).map_err(refused)
    }
}

/// An engine with one policy, without a registry.
pub fn stand_alone_engine(
    policy: &Value,
    project_path: String,
    mode: Option<&str>,
) -> Result<PolicyEngine, ToolError> {
    let config = PolicyConfig::from_json(policy, Layer::Options).map_err(refused)?;
    let mode = permission_mode(mode)?;
    let places = PolicyPlaces { home: home_directory(), ..PolicyPlaces::of_project(project_path) };
    let (layers, tools) = (vec![(Layer::Options, config)], Arc::new(catalogue()));
    PolicyEngine::new(PolicySources { layers, mode, places, tools }).map_err(refused)
}

/// The directories that rules refer to, for a workspace and the settings of its commands.
pub(super) fn policy_places(
    project_as_given: PathBuf,
    roots: &Roots,
    commands: &ProcessSettings,
) -> PolicyPlaces {
    let home = commands.environment.iter().find(|(name, _)| name == "HOME");
    PolicyPlaces {
        project: roots.first().to_owned(),
        project_as_given: Some(project_as_given),
        roots: roots.all().to_vec(),
        home: home_directory(),
        shell_home: home.map(|(_, value)| PathBuf::from(value)),
        shell: ShellDialect::of_program(&commands.shell),
        protected: Vec::new(),
        made_by_host: Vec::new(),
    }
}

/// The permission mode with this name, or the default mode without a name.
pub(super) fn permission_mode(name: Option<&str>) -> Result<PermissionMode, ToolError> {
    let Some(name) = name else { return Ok(PermissionMode::Default) };
    let modes = PermissionMode::ALL;
    modes.into_iter().find(|it| it.as_str() == name).ok_or_else(|| {
        let known = modes.map(|it| format!("`{}`", it.as_str())).join(", ");
        let message = format!("no permission mode is named `{name}`; there are {known}");
        ToolError::new(ErrorKind::InvalidOptions, message)
    })
}

/// The error of an invalid policy.
#[expect(clippy::needless_pass_by_value, reason = "used as an argument of map_err")]
pub(super) fn refused(error: PolicyError) -> ToolError {
    ToolError::new(ErrorKind::InvalidOptions, error.to_string())
}
