//! The level `landlock`: restricts where a command may write, which TCP ports it may use, and which
//! processes it may signal. It cannot hide a file, nor protect a file inside a writable directory.

use std::{io, os::fd::OwnedFd, path::Path};

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible as _, PathBeneath,
    PathFd, Ruleset, RulesetAttr as _, RulesetCreatedAttr as _, Scope,
};
use toolwright_command_protocol::{CommandNetwork, SandboxPlan, WritablePlaces};

use crate::system_calls;

/// Devices that programs write to. Those that do not exist are skipped.
const DEVICES: [&str; 8] = [
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/tty",
    "/dev/ptmx",
    "/dev/pts",
];
/// Named shared memory.
const SHARED_MEMORY: &str = "/dev/shm";
/// The newest ABI version that this file supports. A kernel may have a newer one.
const NEWEST: u32 = 6;

/// The version of Landlock that the kernel has.
pub(crate) fn version() -> io::Result<u32> {
    system_calls::landlock_version()
}

/// The ruleset for the shell of a command. `None` if the plan contains nothing that the kernel's
/// Landlock can enforce.
pub(crate) fn ruleset(plan: &SandboxPlan) -> io::Result<Option<OwnedFd>> {
    let version = version()?.min(NEWEST);
    let abi = ABI::from(i32::try_from(version).unwrap_or_default());
    let writes = match &plan.writable {
        WritablePlaces::Everywhere => BitFlags::EMPTY,
        WritablePlaces::Below(_) => AccessFs::from_write(abi),
    };
    let ports = match plan.network {
        CommandNetwork::Open => BitFlags::EMPTY,
        CommandNetwork::Closed | CommandNetwork::Proxied => AccessNet::from_all(abi),
    };
    let scopes = Scope::from_all(abi);
    if writes.is_empty() && ports.is_empty() && scopes.is_empty() {
        return Ok(None);
    }
    // Every requested right exists in this ABI version, so any refusal is an error.
    let mut rules = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    if !writes.is_empty() {
        rules = rules.handle_access(writes).map_err(io::Error::other)?;
    }
    if !ports.is_empty() {
        rules = rules.handle_access(ports).map_err(io::Error::other)?;
    }
    if !scopes.is_empty() {
        rules = rules.scope(scopes).map_err(io::Error::other)?;
    }
    let mut created = rules.create().map_err(io::Error::other)?;
    if let WritablePlaces::Below(directories) = &plan.writable {
        let files = writes & AccessFs::from_file(abi);
        let rights = |path: &Path| if path.is_dir() { writes } else { files };
        let directories = directories.iter().map(|it| (it.as_path(), rights(it), true));
        let devices = DEVICES.iter().map(|it| (Path::new(it), files, false));
        for (path, access, is_needed) in
            directories.chain(devices).chain([(Path::new(SHARED_MEMORY), writes, false)])
        {
            let place = match PathFd::new(path) {
                Ok(place) => place,
                // A directory that no longer exists cannot be written to, and a device need not
                // exist.
                Err(_) if !is_needed || !path.exists() => continue,
                Err(error) => return Err(io::Error::other(error)),
            };
            created =
                created.add_rule(PathBeneath::new(place, access)).map_err(io::Error::other)?;
        }
    }
    Ok(created.into())
}
