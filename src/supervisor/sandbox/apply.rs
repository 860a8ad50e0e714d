//! Restricts a process before it starts the shell of a command, in the one order that works: what comes
//! later could forbid what came before.

use super::{SandboxError, SandboxLevel, SandboxPlan, capabilities};

/// Restricts process 1 of a sandbox in namespaces, after everything is mounted. The shell inherits all of it.
pub(crate) fn restrict_init(plan: &SandboxPlan, is_root: bool) -> Result<(), SandboxError> {
    let _ = plan;
    capabilities::drop_capabilities(is_root)
}

/// Restricts a keeper whose command has a sandbox without namespaces. The keeper has no other command, and
/// needs nothing that the command may not do.
pub(crate) fn restrict_keeper(plan: &SandboxPlan) -> Result<(), SandboxError> {
    if plan.level == SandboxLevel::Landlock {
        return Err(SandboxError("this supervisor cannot use Landlock".to_owned()));
    }
    Ok(())
}
