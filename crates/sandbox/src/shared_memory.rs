//! Gives a command its own shared memory of POSIX, whose objects are files in `/dev/shm`.

use toolwright_command_protocol::SandboxPlan;

use crate::plan_builder::PlanSources;

const SHARED_MEMORY: &str = "/dev/shm";

/// Makes `/dev/shm` the command's own, unless it needs a path in it. Returns a note if it does.
pub(crate) fn separate(plan: &mut SandboxPlan, from: &PlanSources<'_>) -> Option<String> {
    let of_plan = plan.hidden.iter().map(|it| &it.path).chain(&plan.read_only);
    let is_used = of_plan
        .chain(plan.missing.iter().map(|it| &it.path))
        .chain(&from.places.roots)
        .chain(&from.places.home)
        .chain(from.temporary)
        .chain(&from.settings.writable)
        .any(|it| it.starts_with(SHARED_MEMORY));
    plan.has_own_memory = !is_used;
    is_used.then(|| {
        format!(
            "shared memory of other programs: a directory of this workspace is in `{SHARED_MEMORY}`"
        )
    })
}
