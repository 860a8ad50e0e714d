//! How much a command may use, by limits on each of its processes, and which of them it came up against.
//!
//! Memory is limited by `RLIMIT_DATA`, which counts what a process can write to and shares with nobody.
//! `RLIMIT_AS` would count addresses, of which Node.js and Java reserve gigabytes that they never use.

use std::{
    fs::{self, File},
    io::Write as _,
};

use rustix::process::{Resource, Rlimit, getrlimit};

use super::{
    cgroup::{CommandGroup, GroupParent},
    plan::{LimitKind, ResourceLimits, SandboxLevel, SandboxPlan},
};

/// Ids of processes below this one are not given a second time, so that many come on top of a limit.
const RESERVED_IDS: u32 = 300;
/// Where the highest id of a process is set. Since Linux 6.14 every process namespace has its own.
const HIGHEST_ID: &str = "/proc/sys/kernel/pid_max";
/// What the name of a command's cgroup begins with.
const GROUP_NAME: &str = "toolwright-command-";

/// The limits that every process of a command has. Those on memory are left out where a cgroup holds them.
pub(crate) fn process_limits(
    limits: &ResourceLimits,
    level: SandboxLevel,
    memory_is_held: bool,
) -> Vec<(Resource, Rlimit)> {
    let mut all = Vec::new();
    let mut add = |resource, soft: u64, hard: u64| {
        // Nobody can raise what this process has.
        let allowed = getrlimit(resource).maximum.unwrap_or(u64::MAX);
        let limit = Rlimit { current: Some(soft.min(allowed)), maximum: Some(hard.min(allowed)) };
        all.push((resource, limit));
    };
    if let Some(seconds) = limits.cpu_seconds.map(u64::from) {
        // SIGXCPU at the first, SIGKILL at the second, for programs that take no notice.
        add(Resource::Cpu, seconds, seconds + 1);
    }
    if let Some(bytes) = limits.file_bytes {
        add(Resource::Fsize, bytes, bytes);
    }
    if let Some(bytes) = limits.memory_bytes
        && !memory_is_held
    {
        add(Resource::Data, bytes, bytes);
    }
    if let Some(count) = limits.processes.map(u64::from)
        && level == SandboxLevel::Namespaces
        && counts_by_namespace()
    {
        // Elsewhere all processes of the user count, also those that run already. One more is for init.
        add(Resource::Nproc, count + 1, count + 1);
    }
    all
}

/// True where `RLIMIT_NPROC` counts the processes of a user namespace apart from those of others.
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

/// True where the number of a command's processes can be limited, in namespaces of its own. For root the kernel
/// does not count, so that only the ids can run out.
pub(crate) fn can_limit_processes() -> bool {
    let is_root = rustix::process::geteuid().is_root();
    has_own_ids() || !is_root && counts_by_namespace()
}

fn has_own_ids() -> bool {
    kernel_version() >= Some((6, 14))
}

/// Opens the setting of the highest id of this process namespace, before it becomes read-only. To be called
/// once its `/proc` is mounted; none where the setting is that of the machine.
pub(crate) fn open_highest_id() -> Option<File> {
    has_own_ids().then(|| File::options().write(true).open(HIGHEST_ID).ok()).flatten()
}

/// Limits the number of processes of a namespace, whoever's they are, by its highest id.
pub(crate) fn limit_ids(highest_id: Option<File>, limits: &ResourceLimits) {
    if let (Some(mut setting), Some(count)) = (highest_id, limits.processes) {
        // If it fails, ordinary users are still limited.
        let _ = setting.write_all(count.saturating_add(RESERVED_IDS).to_string().as_bytes());
    }
}

/// The limit that ended a shell, by the signal or by the exit code that stands for one.
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
pub(crate) struct HeldLimits {
    limits: ResourceLimits,
    group: Option<CommandGroup>,
    /// True where the group limits the memory.
    pub(crate) holds_memory: bool,
}

impl HeldLimits {
    /// Makes a cgroup if one is needed and allowed: for the memory of all processes together, and for their
    /// number where they are in no namespace of their own.
    pub(crate) fn of(plan: &SandboxPlan) -> Self {
        let limits = plan.limits;
        let counts = limits.processes.is_some() && plan.level != SandboxLevel::Namespaces;
        let parent = (limits.memory_bytes.is_some() || counts).then(GroupParent::find).flatten();
        let parent = parent.filter(|it| counts || it.limits_memory);
        let name = format!("{GROUP_NAME}{}", std::process::id());
        let made = parent.and_then(|parent| Some((parent.make(&name, &limits).ok()?, parent)));
        let holds_memory = made.as_ref().is_some_and(|(_, parent)| parent.limits_memory);
        Self { limits, group: made.map(|(group, _)| group), holds_memory }
    }

    /// The limits as process 1 of a sandbox in namespaces has them, which the keeper has put into the group.
    pub(crate) fn inside(plan: &SandboxPlan) -> Self {
        let limits = plan.limits;
        let holds_memory = limits.memory_bytes.is_some()
            && fs::read_to_string("/proc/self/cgroup").is_ok_and(|it| {
                it.lines().any(|it| it.starts_with("0::") && it.contains(GROUP_NAME))
            });
        Self { limits, group: None, holds_memory }
    }

    /// The group of the command, if it has one.
    pub(crate) const fn group(&self) -> Option<&CommandGroup> {
        self.group.as_ref()
    }

    /// The limit that the command came up against, if it is known to have: by how its shell ended, by its
    /// cgroup, or by the number of processes that it had.
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

impl Drop for HeldLimits {
    fn drop(&mut self) {
        if let Some(group) = &self.group {
            group.remove();
        }
    }
}

/// True when this is about as many processes as may be. Some end between the fork that failed and the count.
fn is_full(limits: &ResourceLimits, processes: usize) -> bool {
    limits.processes.is_some_and(|it| processes >= it as usize - it as usize / 8)
}
