//! Facts about an installation, for `toolwright doctor`: the files and programs it would use, and what is missing.
//! Only checks what exists; opens and starts nothing.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use serde::Serialize;
use toolwright_base::ToolError;
use toolwright_core::Environment;
use toolwright_pipeline::{project_policy_file, user_policy_file};
use toolwright_process::find_supervisor;
use toolwright_web::SearchSetup;

use super::{
    host_plugins::{TOOLS_DIRECTORY_VARIABLE, plugin_directory},
    search_options::search_setup,
    store_options::default_path,
    web_options::WebOptions,
};

/// Facts about an installation. A path is the one that would be used, whether or not it exists.
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
    /// There is no supervisor for this operating system.
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
    /// Why the service in the environment variables cannot be used.
    Problem(String),
}

impl InstallationFacts {
    /// Collects the facts for the host's environment and a project directory.
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
