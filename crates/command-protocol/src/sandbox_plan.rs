//! The plan of a command's sandbox: paths and numbers. The host makes it, and the supervisor applies it.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::wire;

/// The longest plan in bytes. A longer plan is not sent.
pub const MAX_PLAN_BYTES: usize = 64 * 1024 * 1024;

/// How much the kernel restricts a command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub enum PlaceKind {
    /// Anything but a directory.
    File,
    /// A directory.
    Directory,
}

/// A file or directory whose content the command cannot read.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct HiddenPlace {
    /// Its real path.
    #[serde(with = "wire::path")]
    pub path: PathBuf,
    /// Whether it is a file or a directory.
    pub kind: PlaceKind,
}

/// A path that does not exist and that the command cannot create. Its parent directory exists.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct MissingPlace {
    /// Its path, without symbolic links.
    #[serde(with = "wire::path")]
    pub path: PathBuf,
    /// The kind of placeholder that is there while the command runs.
    pub kind: PlaceKind,
}

/// Where a command may write, apart from read-only paths.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub enum WritablePlaces {
    /// Everywhere its user may write.
    #[default]
    Everywhere,
    /// Only below these directories.
    Below(#[serde(with = "wire::paths")] Vec<PathBuf>),
}

/// Which hosts a command can reach.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
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
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub struct SandboxPlan {
    /// The level to use. If the supervisor cannot provide it, it does not start the command.
    pub level: SandboxLevel,
    /// Paths that it cannot read.
    pub hidden: Vec<HiddenPlace>,
    /// Paths that it cannot change, including everything below them.
    #[serde(with = "wire::paths")]
    pub read_only: Vec<PathBuf>,
    /// Paths that it cannot create.
    pub missing: Vec<MissingPlace>,
    /// Where it may write.
    pub writable: WritablePlaces,
    /// Paths that it may change although they are inside a read-only path.
    #[serde(with = "wire::paths")]
    pub opened: Vec<PathBuf>,
    /// Which hosts it can reach.
    pub network: CommandNetwork,
    /// True if `/dev/shm` is empty at its start, and removed with it.
    pub has_own_memory: bool,
    /// The resources that it may use.
    pub limits: ResourceLimits,
}

impl SandboxPlan {
    /// Encodes the plan.
    pub fn encode(&self) -> Vec<u8> {
        wire::encode(self)
    }

    /// Decodes a plan. `None` if the bytes are not exactly one plan.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        wire::decode(bytes)
    }
}

#[cfg(test)]
mod tests {
    use std::{ffi::OsString, os::unix::ffi::OsStringExt as _};

    use super::*;

    #[test]
    fn a_plan_survives_encoding_and_truncated_bytes_are_rejected() {
        let path = |text: &[u8]| PathBuf::from(OsString::from_vec(text.to_vec()));
        let plan = SandboxPlan {
            level: SandboxLevel::Namespaces,
            hidden: vec![
                HiddenPlace { path: path(b"/a/\xff\n"), kind: PlaceKind::File },
                HiddenPlace { path: path(b"/b"), kind: PlaceKind::Directory },
            ],
            read_only: vec![path(b"/c"), path(b"/d/e")],
            missing: vec![MissingPlace { path: path(b"/f"), kind: PlaceKind::Directory }],
            writable: WritablePlaces::Below(vec![path(b"/g"), path(b"")]),
            opened: vec![path(b"/c/h")],
            network: CommandNetwork::Proxied,
            has_own_memory: true,
            limits: ResourceLimits {
                cpu_seconds: Some(u32::MAX),
                memory_bytes: None,
                processes: Some(0),
                file_bytes: Some(u64::MAX),
            },
        };
        let bytes = plan.encode();
        assert_eq!(SandboxPlan::decode(&bytes), Some(plan));
        for length in 0..bytes.len() {
            assert_eq!(bytes.get(..length).and_then(SandboxPlan::decode), None, "{length}");
        }
        assert_eq!(SandboxPlan::decode(&[bytes, vec![0]].concat()), None);
        let empty = SandboxPlan::default();
        assert_eq!(SandboxPlan::decode(&empty.encode()), Some(empty));
    }
}
