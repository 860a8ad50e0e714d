//! Resource limits on each process of a command, and detection of the limit that it reached.
//!
//! Memory is limited by `RLIMIT_DATA`, which counts private writable memory. `RLIMIT_AS` would
//! count addresses, of which Node.js and Java reserve gigabytes that they never use.

use std::{
    fs::{self, File},
    io::Write as _,
};

use rustix::process::{Resource, Rlimit, getrlimit};
use toolwright_command_protocol::{LimitKind, ResourceLimits, SandboxLevel, SandboxPlan};

use super::cgroup::{CommandGroup, GroupParent};

/// The kernel does not reuse process ids below this one, so this many are added to a limit.
const RESERVED_IDS: u32 = 300;
/// The setting for the highest process id. Since Linux 6.14 every PID namespace has its own.
const HIGHEST_ID: &str = "/proc/sys/kernel/pid_max";
/// The prefix of the names of commands' cgroups.
const GROUP_NAME: &str = "toolwright-command-";

/// The limits of every process of a command. The limit on memory is left out if a cgroup enforces
/// it.
pub(crate) fn process_limits(
    limits: &ResourceLimits,
    level: SandboxLevel,
    group_limits_memory: bool,
) -> Vec<(Resource, Rlimit)> {
    let mut all = Vec::new();
    let mut add = |resource, soft: u64, hard: u64| {
        // A process cannot raise its own hard limit.
        let allowed = getrlimit(resource).maximum.unwrap_or(u64::MAX);
        let limit = Rlimit { current: Some(soft.min(allowed)), maximum: Some(hard.min(allowed)) };
        all.push((resource, limit));
    };
    if let Some(seconds) = limits.cpu_seconds.map(u64::from) {
        // SIGXCPU at the soft limit, then SIGKILL at the hard limit for programs that ignore it.
        add(Resource::Cpu, seconds, seconds + 1);
    }
    if let Some(bytes) = limits.file_bytes {
        add(Resource::Fsize, bytes, bytes);
    }
    if let Some(bytes) = limits.memory_bytes
        && !group_limits_memory
    {
        add(Resource::Data, bytes, bytes);
    }
    if let Some(count) = limits.processes.map(u64::from)
        && level == SandboxLevel::Namespaces
        && counts_by_namespace()
    {
        // Otherwise the kernel counts all processes of the user, also those outside the sandbox.
        // The extra one is PID 1.
        add(Resource::Nproc, count + 1, count + 1);
    }
    all
}

/// True if `RLIMIT_NPROC` counts the processes of each user namespace separately.
fn counts_by_namespace() -> bool {
    kernel_version() >= Some((5, 14))
}

fn kernel_version() -> Option<(u32, u32)> {
    version_of(rustix::system::uname().release().to_str().ok()?)
}

fn version_of(release: &str) -> Option<(u32, u32)> {
    let mut numbers = release.split(|it: char| !it.is_ascii_digit());
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

/// True if the number of a command's processes can be limited in its namespaces. The kernel does
/// not apply `RLIMIT_NPROC` to root, so for root only the highest process id limits it.
pub(crate) fn can_limit_processes() -> bool {
    let is_root = rustix::process::geteuid().is_root();
    has_own_ids() || !is_root && counts_by_namespace()
}

fn has_own_ids() -> bool {
    kernel_version() >= Some((6, 14))
}

/// Opens the setting for the highest process id of this PID namespace before it becomes read-only.
/// Must be called after its `/proc` is mounted. `None` if the setting applies to the whole machine.
pub(crate) fn open_highest_id() -> Option<File> {
    has_own_ids().then(|| File::options().write(true).open(HIGHEST_ID).ok()).flatten()
}

/// Limits the number of processes in a PID namespace, of all users, by its highest process id.
pub(crate) fn limit_ids(highest_id: Option<File>, limits: &ResourceLimits) {
    if let (Some(mut setting), Some(count)) = (highest_id, limits.processes) {
        // If this fails, ordinary users are still limited.
        let _ = setting.write_all(count.saturating_add(RESERVED_IDS).to_string().as_bytes());
    }
}

/// The limit that ended a shell, derived from its signal or from an exit code that stands for a
/// signal.
fn limit_of_status(
    limits: &ResourceLimits,
    exit_code: Option<i32>,
    signal: Option<i32>,
) -> Option<LimitKind> {
    let signal = signal.or_else(|| exit_code.map(|it| it - 128))?;
    match signal {
        libc::SIGXCPU if limits.cpu_seconds.is_some() => Some(LimitKind::Cpu),
        libc::SIGXFSZ if limits.file_bytes.is_some() => Some(LimitKind::FileSize),
        _ => None,
    }
}

/// The limits of one command while it runs, and its cgroup.
#[derive(Default)]
pub(crate) struct CommandLimits {
    limits: ResourceLimits,
    group: Option<CommandGroup>,
    /// True if the group limits the memory.
    pub(crate) group_limits_memory: bool,
}

impl CommandLimits {
    /// Makes a cgroup if one is needed and possible: to limit the memory of all processes together,
    /// or their number if they are in no PID namespace.
    pub(crate) fn of(plan: &SandboxPlan) -> Self {
        let limits = plan.limits;
        let counts = limits.processes.is_some() && plan.level != SandboxLevel::Namespaces;
        let parent = (limits.memory_bytes.is_some() || counts).then(GroupParent::find).flatten();
        let parent = parent.filter(|it| counts || it.limits_memory);
        let name = format!("{GROUP_NAME}{}", std::process::id());
        let made = parent.and_then(|parent| Some((parent.make(&name, &limits).ok()?, parent)));
        let group_limits_memory = made.as_ref().is_some_and(|(_, parent)| parent.limits_memory);
        Self { limits, group: made.map(|(group, _)| group), group_limits_memory }
    }

    /// The limits inside namespaces, for PID 1. The keeper has already moved it into the group.
    pub(crate) fn inside(plan: &SandboxPlan) -> Self {
        let limits = plan.limits;
        let group_limits_memory = limits.memory_bytes.is_some()
            && fs::read_to_string("/proc/self/cgroup").is_ok_and(|it| {
                it.lines().any(|it| it.starts_with("0::") && it.contains(GROUP_NAME))
            });
        Self { limits, group: None, group_limits_memory }
    }

    /// The group of the command, if it has one.
    pub(crate) const fn group(&self) -> Option<&CommandGroup> {
        self.group.as_ref()
    }

    /// The limit that the command reached, if known: from how its shell ended, from its cgroup, or
    /// from the number of its processes.
    pub(crate) fn hit(
        &self,
        exit_code: Option<i32>,
        signal: Option<i32>,
        processes: usize,
    ) -> Option<LimitKind> {
        limit_of_status(&self.limits, exit_code, signal)
            .or_else(|| self.group.as_ref().and_then(CommandGroup::limit_hit))
            .or_else(|| is_full(&self.limits, processes).then_some(LimitKind::Processes))
    }
}

impl Drop for CommandLimits {
    fn drop(&mut self) {
        if let Some(group) = &self.group {
            group.remove();
        }
    }
}

/// True if this is close to the allowed number of processes. Some processes end between the fork
/// that failed and the count.
fn is_full(limits: &ResourceLimits, processes: usize) -> bool {
    limits.processes.is_some_and(|it| processes >= it as usize - it as usize / 8)
}
