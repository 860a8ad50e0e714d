//! The plan of a command's sandbox: paths and numbers. The host makes it, and the supervisor applies it.

use std::path::PathBuf;

/// How much the kernel restricts a command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum SandboxLevel {
    /// Not at all.
    #[default]
    None,
    /// Restricts where it writes and which TCP connections it makes.
    Landlock,
    /// Restricts its files, its processes and its network: it runs in its own namespaces.
    Namespaces,
}

/// Whether a path is a file or a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlaceKind {
    /// Anything but a directory.
    File,
    /// A directory.
    Directory,
}

/// A file or directory whose content the command cannot read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HiddenPlace {
    /// Its real path.
    pub path: PathBuf,
    /// Whether it is a file or a directory.
    pub kind: PlaceKind,
}

/// A path that does not exist and that the command cannot create. Its parent directory exists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingPlace {
    /// Its path, without symbolic links.
    pub path: PathBuf,
    /// The kind of placeholder that is there while the command runs.
    pub kind: PlaceKind,
}

/// Where a command may write, apart from read-only paths.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum WritablePlaces {
    /// Everywhere its user may write.
    #[default]
    Everywhere,
    /// Only below these directories.
    Below(Vec<PathBuf>),
}

/// Which hosts a command can reach.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CommandNetwork {
    /// All hosts.
    #[default]
    Open,
    /// Only its own processes.
    Closed,
    /// Its own processes, and the hosts that the host's proxy allows.
    Proxied,
}

/// The resources that a command may use. `None` means that toolwright sets no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ResourceLimits {
    /// The CPU time of each process, in seconds.
    pub cpu_seconds: Option<u32>,
    /// The memory, in bytes.
    pub memory_bytes: Option<u64>,
    /// The number of processes and threads.
    pub processes: Option<u32>,
    /// The size of a file that it writes, in bytes.
    pub file_bytes: Option<u64>,
}

/// A limit that a command reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitKind {
    /// [`ResourceLimits::cpu_seconds`].
    Cpu,
    /// [`ResourceLimits::memory_bytes`].
    Memory,
    /// [`ResourceLimits::processes`].
    Processes,
    /// [`ResourceLimits::file_bytes`].
    FileSize,
}

/// The restrictions of one command. All paths are absolute, contain no symbolic links, and exist,
/// except for [`Self::missing`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SandboxPlan {
    /// The level to use. If the supervisor cannot provide it, it does not start the command.
    pub level: SandboxLevel,
    /// Paths that it cannot read.
    pub hidden: Vec<HiddenPlace>,
    /// Paths that it cannot change, including everything below them.
    pub read_only: Vec<PathBuf>,
    /// Paths that it cannot create.
    pub missing: Vec<MissingPlace>,
    /// Where it may write.
    pub writable: WritablePlaces,
    /// Paths that it may change although they are inside a read-only path.
    pub opened: Vec<PathBuf>,
    /// Which hosts it can reach.
    pub network: CommandNetwork,
    /// The resources that it may use.
    pub limits: ResourceLimits,
}
