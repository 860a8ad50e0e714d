//! Detects which sandbox this machine allows, by making one.

use std::ffi::CString;

use toolwright_command_protocol::{LandlockSupport, SandboxSupport, SandboxTrouble};

use super::{
    cgroup::GroupParent, init_link::InitMessage, landlock, limits, namespaces::PreparedInit,
};
use crate::environments::Environments;

/// Returns what this machine allows. Leaves nothing behind.
pub(crate) fn probe() -> SandboxSupport {
    let (group, namespaces) = (GroupParent::find(), try_namespaces());
    SandboxSupport {
        landlock: landlock::version().map_or_else(
            |error| LandlockSupport::Refused(error.raw_os_error().unwrap_or_default()),
            LandlockSupport::Version,
        ),
        limits_processes: namespaces.is_ok() && limits::can_limit_processes()
            || group.as_ref().is_some_and(|it| it.limits_processes),
        limits_memory: group.is_some_and(|it| it.limits_memory),
        namespaces,
    }
}

/// Makes a sandbox in namespaces as for a command, and discards it.
fn try_namespaces() -> Result<(), SandboxTrouble> {
    let nothing = Environments { commands: Vec::new(), helpers: Vec::new() };
    let init = PreparedInit::fork(&nothing, &CString::default(), None)
        .map_err(|error| SandboxTrouble::NotMade(error.raw_os_error().unwrap_or_default()))?;
    let answer = InitMessage::receive(&init.link);
    init.discard();
    match answer {
        Ok(Some(InitMessage::Ready)) => Ok(()),
        Ok(Some(InitMessage::Refused(reason))) => Err(SandboxTrouble::Refused(reason)),
        Ok(_) => Err(SandboxTrouble::Refused("its first process ended".to_owned())),
        Err(error) => Err(SandboxTrouble::Refused(error.to_string())),
    }
}
