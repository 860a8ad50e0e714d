//! The policy files of the user and of the project: where they are, and how they are read.
//!
//! This is not part of `policy`, which does no I/O and receives its configurations as values.

use std::{
    fs::File,
    io::{self, Read as _},
    path::{Path, PathBuf},
};

use toolwright_base::{ErrorKind, ToolError, regular_file};
#[cfg(target_os = "linux")]
use toolwright_command_protocol::is_placeholder_time;
use toolwright_core::configuration_directory;
use toolwright_policy::{Layer, PolicyConfig};

/// The largest policy file that is read.
const MAX_BYTES: u64 = 1024 * 1024;

/// The user's policy file, which applies to every project.
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
            Layer::User => "; `userPolicyFile: false` ignores it",
            _ => "",
        };
        let message =
            format!("the policy file `{}` cannot be used: {cause}{way_out}", path.display());
        ToolError::new(ErrorKind::InvalidOptions, message)
    };
    let bad_size = || wrong(format!("it must be a file of at most {MAX_BYTES} bytes"));
    let file = match regular_file::open(path) {
        Ok(file) => file,
        Err(err) if err.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(err) if regular_file::other_kind(&err).is_some() => return Err(bad_size()),
        Err(err) => return Err(wrong(err.to_string())),
    };
    let mut text = String::new();
    let read = (&file).take(MAX_BYTES + 1).read_to_string(&mut text);
    let read = read.map_err(|err| wrong(err.to_string()))?;
    if read == 0 && is_placeholder(&file) {
        return Ok(None);
    }
    if read as u64 > MAX_BYTES {
        return Err(bad_size());
    }
    let json = serde_json::from_str(&text).map_err(|err| wrong(err.to_string()))?;
    PolicyConfig::from_json(&json, layer).map(Some).map_err(|err| wrong(err.to_string()))
}

/// True for a placeholder. A sandbox of any host puts it there while a command runs, so that the
/// command cannot create the file.
#[cfg(target_os = "linux")]
fn is_placeholder(file: &File) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    file.metadata().is_ok_and(|it| is_placeholder_time(it.mtime(), it.mtime_nsec()))
}

#[cfg(not(target_os = "linux"))]
const fn is_placeholder(_: &File) -> bool {
    false
}

#[cfg(all(test, target_os = "linux"))]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::*;

    #[test]
    fn a_placeholder_is_not_a_policy_file() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("policy.json");
        let file = File::create(&path).unwrap();
        assert!(read_policy_file(&path, Layer::User).is_err());
        let time = SystemTime::UNIX_EPOCH - Duration::from_secs(1_234_567_891);
        file.set_modified(time + Duration::from_nanos(123_456_789)).unwrap();
        assert!(read_policy_file(&path, Layer::User).unwrap().is_none());
    }
}
