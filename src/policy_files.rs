//! The policy files of the user and of the project: where they are, and how they are read.
//!
//! This is not a part of `policy`, because that does no I/O and gets its configurations as values.

use std::{
    io::{self, Read as _},
    path::{Path, PathBuf},
};

use crate::{
    error::{ErrorKind, ToolError},
    policy::{Layer, PolicyConfig},
    regular_file,
    session::configuration_directory,
};

/// The largest policy file that is read.
const MAX_BYTES: u64 = 1024 * 1024;

/// The user's own policy file, which holds for every project.
pub fn user_policy_file() -> Option<PathBuf> {
    Some(configuration_directory()?.join("toolwright").join("policy.json"))
}

/// The policy file of a project.
pub fn project_policy_file(project: &Path) -> PathBuf {
    project.join(".toolwright").join("policy.json")
}

/// Reads a policy file; `None` if it does not exist.
pub fn read_policy_file(path: &Path, layer: Layer) -> Result<Option<PolicyConfig>, ToolError> {
    let wrong = |cause: String| {
        let way_out = match layer {
            Layer::User => "; `userPolicyFile: false` does without it",
            _ => "",
        };
        let message =
            format!("the policy file `{}` cannot be used: {cause}{way_out}", path.display());
        ToolError::new(ErrorKind::InvalidOptions, message)
    };
    let bad_size = || wrong(format!("it has to be a file of at most {MAX_BYTES} bytes"));
    let file = match regular_file::open(path) {
        Ok(file) => file,
        Err(err) if err.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(err) if regular_file::other_kind(&err).is_some() => return Err(bad_size()),
        Err(err) => return Err(wrong(err.to_string())),
    };
    let mut text = String::new();
    let read = file.take(MAX_BYTES + 1).read_to_string(&mut text);
    let read = read.map_err(|err| wrong(err.to_string()))?;
    if read as u64 > MAX_BYTES {
        return Err(bad_size());
    }
    let json = serde_json::from_str(&text).map_err(|err| wrong(err.to_string()))?;
    PolicyConfig::from_json(&json, layer).map(Some).map_err(|err| wrong(err.to_string()))
}
