//! What an installation finds on its machine, for `toolwright doctor`: the places it would use, and what is
//! missing. Looks at the disk, opens nothing and starts nothing.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use serde::Serialize;

use super::{
    host_plugins::{TOOLS_DIRECTORY_VARIABLE, plugin_directory},
    search_options::search_setup,
    store_options::default_path,
    web_options::WebOptions,
};
use crate::{
    error::ToolError,
    net::search::SearchSetup,
    policy_files::{project_policy_file, user_policy_file},
    process::find_supervisor,
    session::Environment,
};

/// What an installation finds. A path is the one that would be used, whether or not something is there.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct InstallationFacts {
    shell: PathBuf,
    supervisor: SupervisorFact,
    store_file: Option<PathBuf>,
    plugin_dir: Option<PathBuf>,
    user_policy_file: Option<PathBuf>,
    project_policy_file: PathBuf,
    search: SearchFact,
    git: Option<PathBuf>,
}

/// The program that commands run under.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
enum SupervisorFact {
    Program(PathBuf),
    /// This system has none, and cannot have one.
    OtherSystem,
    /// Why it cannot be used, and what to do.
    Problem(String),
}

/// The service that web search uses.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
enum SearchFact {
    Missing,
    Service(&'static str),
    /// Why the one that the environment names cannot be used.
    Problem(String),
}

impl InstallationFacts {
    /// Looks for everything, with the host's environment and the directory of a project.
    pub fn gather(
        process_env: BTreeMap<String, String>,
        project: &Path,
    ) -> Result<Self, ToolError> {
        let tools_directory = process_env.get(TOOLS_DIRECTORY_VARIABLE).cloned();
        let environment = Environment::of_host(process_env);
        let web = WebOptions::default().settings(&environment)?;
        let search = match search_setup(None, &environment, &web)? {
            SearchSetup::Missing => SearchFact::Missing,
            SearchSetup::Service(service) => SearchFact::Service(service.name()),
            SearchSetup::Unusable(cause) => SearchFact::Problem(cause),
        };
        let supervisor = match find_supervisor() {
            Ok(program) => SupervisorFact::Program(program),
            Err(_) if !cfg!(target_os = "linux") => SupervisorFact::OtherSystem,
            Err(cause) => SupervisorFact::Problem(cause.to_string()),
        };
        let plugins = plugin_directory(None, tools_directory.as_deref(), project);
        Ok(Self {
            shell: environment.shell(),
            supervisor,
            store_file: default_path(&environment),
            plugin_dir: plugins.path().map(Path::to_owned),
            user_policy_file: user_policy_file(),
            project_policy_file: project_policy_file(project),
            search,
            git: environment.find_program("git"),
        })
    }
}
