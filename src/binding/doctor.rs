//! What `toolwright doctor` asks of the addon.

use std::path::Path;

use napi_derive::napi;

use super::envelope::sealed;
use crate::{
    error::{ErrorKind, ToolError},
    host::{InstallationFacts, parsed},
};

/// What this installation finds on its machine, as JSON.
#[napi(catch_unwind)]
pub fn installation_facts(process_env: String, project_path: String) -> String {
    sealed((|| {
        let variables = parsed(&process_env, ErrorKind::InvalidOptions)?;
        let facts = InstallationFacts::gather(variables, Path::new(&project_path))?;
        serde_json::to_string(&facts)
            .map_err(|err| ToolError::new(ErrorKind::Internal, err.to_string()))
    })())
}
