//! The facts that `toolwright doctor` gets from the addon.

use std::path::Path;

use napi_derive::napi;
use toolwright_base::{ErrorKind, ToolError};
use toolwright_host::{InstallationFacts, parsed};

use crate::envelope::sealed;

/// What this installation finds on the machine (shells, programs, sandbox support), as JSON.
#[napi(catch_unwind)]
pub fn installation_facts(process_env: String, project_path: String) -> String {
    sealed((|| {
        let variables = parsed(&process_env, ErrorKind::InvalidOptions)?;
        let facts = InstallationFacts::gather(variables, Path::new(&project_path))?;
        serde_json::to_string(&facts)
            .map_err(|err| ToolError::new(ErrorKind::Internal, err.to_string()))
    })())
}
