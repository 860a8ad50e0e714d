//! The sandbox of one command. The host and the supervisor both compile this file, so it uses nothing else.

use std::path::PathBuf;

/// How much the kernel holds a command to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum SandboxLevel {
    /// Nothing.
    #[default]
    None,
    /// Where it writes and which TCP connections it makes.
    Landlock,
    /// Its files, its processes and its network: it runs in namespaces of its own.
    Namespaces,
}

/// Whether a place is a file or a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PlaceKind {
    /// Anything but a directory.
    File,
    /// A directory.
    Directory,
}

/// A file or directory whose content the command cannot read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HiddenPlace {
    /// Its real path.
    pub(crate) path: PathBuf,
    /// What it is.
    pub(crate) kind: PlaceKind,
}

/// A place that does not exist and that the command cannot make. Its directory exists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MissingPlace {
    /// Its path, without links.
    pub(crate) path: PathBuf,
    /// What stands there while the command runs.
    pub(crate) kind: PlaceKind,
}

/// Where a command may write, before what is read-only is taken away.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum WritablePlaces {
    /// Wherever its user may.
    #[default]
    Everywhere,
    /// Below these directories alone.
    Below(Vec<PathBuf>),
}

/// Whom a command can reach.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum CommandNetwork {
    /// Everybody.
    #[default]
    Open,
    /// Nobody but its own processes.
    Closed,
    /// Its own processes, and what the host's proxy lets through.
    Proxied,
}

/// How much a command may use. None means no limit of ours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ResourceLimits {
    /// The CPU time of each process, in seconds.
    pub(crate) cpu_seconds: Option<u32>,
    /// The memory, in bytes.
    pub(crate) memory_bytes: Option<u64>,
    /// The number of processes and threads.
    pub(crate) processes: Option<u32>,
    /// The size of a file that it writes, in bytes.
    pub(crate) file_bytes: Option<u64>,
}

/// A limit that a command ran into.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LimitKind {
    /// [`ResourceLimits::cpu_seconds`].
    Cpu,
    /// [`ResourceLimits::memory_bytes`].
    Memory,
    /// [`ResourceLimits::processes`].
    Processes,
    /// [`ResourceLimits::file_bytes`].
    FileSize,
}

/// What a command is held to. All paths are absolute, real and exist, except for [`Self::missing`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SandboxPlan {
    /// The level to use. A supervisor that cannot use it does not start the command.
    pub(crate) level: SandboxLevel,
    /// What it cannot read.
    pub(crate) hidden: Vec<HiddenPlace>,
    /// What it cannot change, with everything below.
    pub(crate) read_only: Vec<PathBuf>,
    /// What it cannot make.
    pub(crate) missing: Vec<MissingPlace>,
    /// Where it may write.
    pub(crate) writable: WritablePlaces,
    /// What it may change though it lies in a place that is read-only.
    pub(crate) opened: Vec<PathBuf>,
    /// Whom it can reach.
    pub(crate) network: CommandNetwork,
    /// How much it may use.
    pub(crate) limits: ResourceLimits,
}
