//! Hides the sockets of daemons that run programs for their clients, some by typing into a
//! terminal. Such a program would run outside the sandbox, so a restricted command must not reach
//! these sockets. A command with its own network must not reach any socket of another process,
//! because the process behind it may forward data to the network.

use std::{
    ffi::OsStr,
    fs::{self, File},
    io::{self, Read as _, Seek as _},
    os::{fd::OwnedFd, unix::ffi::OsStrExt as _},
    path::{Path, PathBuf},
};

use rustix::fs::{FileType, Mode, OFlags, fstat, open};
use toolwright_command_protocol::{CommandNetwork, SandboxPlan};

use super::{SandboxError, is_unrestricted, plan_mounts::MountedPlan};

/// System sockets, relative to `/run`.
const OF_THE_SYSTEM: [&str; 9] = [
    "docker.sock",
    "podman/podman.sock",
    "containerd/containerd.sock",
    "crio/crio.sock",
    "buildkit/buildkitd.sock",
    "dbus/system_bus_socket",
    "systemd/private",
    "systemd/io.systemd.Manager",
    "screen",
];

/// The user's sockets, relative to `/run/user/<id>`.
const OF_THE_USER: [&str; 10] = [
    "bus",
    "systemd",
    "docker.sock",
    "podman/podman.sock",
    "containerd-rootless",
    "buildkit/buildkitd.sock",
    "at-spi",
    "emacs",
    "i3",
    "hypr",
];

/// Prefixes of names in `/run/user/<id>`: sockets of window managers, terminals and editors.
const OF_PROGRAMS: [&str; 4] = ["sway-ipc.", "kitty", "vscode-ipc-", "vscode-git-"];

/// The most sockets of other processes that are hidden from a command with its own network.
const MAX_SOCKETS: usize = 1_024;

/// Lists the Unix sockets of a process's network. An open descriptor keeps listing the network in
/// which it was opened.
pub(crate) const LISTENING_SOCKETS: &str = "/proc/net/unix";

/// Finds the daemon sockets that one command must not reach.
#[derive(Default)]
pub(crate) struct DaemonSockets {
    /// The list of sockets of the network outside the sandbox.
    listening: Option<File>,
    /// The user id outside the sandbox.
    user: u32,
}

impl DaemonSockets {
    /// `listening` is [`LISTENING_SOCKETS`], opened outside the sandbox's network.
    pub(crate) fn new(listening: Option<File>, user: u32) -> Self {
        Self { listening, user }
    }

    /// Hides the sockets that exist and are not hidden yet. Does nothing for an unrestricted plan.
    pub(crate) fn hide(
        &self,
        plan: &SandboxPlan,
        mounts: &mut MountedPlan,
    ) -> Result<(), SandboxError> {
        for (path, place) in self.open_all(plan)? {
            if mounts.numbers.is_covered(&place) {
                continue;
            }
            let number = mounts.cover.hide(&place).map_err(|cause| {
                SandboxError::refused(&format!("`{}` cannot be hidden", path.display()), cause)
            })?;
            mounts.numbers.note_cover(number);
        }
        Ok(())
    }

    /// True when every socket that exists is hidden.
    pub(crate) fn are_hidden(&self, plan: &SandboxPlan, mounts: &MountedPlan) -> bool {
        self.open_all(plan)
            .is_ok_and(|it| it.iter().all(|(_, place)| mounts.numbers.is_covered(place)))
    }

    /// Opens the sockets that exist and that the command must not reach. For a hidden socket this
    /// opens its cover.
    fn open_all(&self, plan: &SandboxPlan) -> Result<Vec<(PathBuf, OwnedFd)>, SandboxError> {
        if is_unrestricted(plan) {
            return Ok(Vec::new());
        }
        let user = self.user;
        let of_the_user = Path::new("/run/user").join(user.to_string());
        let of_programs = entries(&of_the_user).filter(|it| {
            let name = it.file_name().map(OsStr::as_bytes).unwrap_or_default();
            OF_PROGRAMS.iter().any(|start| name.starts_with(start.as_bytes()))
        });
        let others = if plan.network == CommandNetwork::Open {
            Vec::new()
        } else {
            listening(self.listening.as_ref())?
        };
        let names_of_user = if of_the_user.exists() { OF_THE_USER.as_slice() } else { &[] };
        let all = OF_THE_SYSTEM
            .iter()
            .map(|it| Path::new("/run").join(it))
            .chain(names_of_user.iter().map(|it| of_the_user.join(it)))
            .chain([PathBuf::from("/var/run/docker.sock"), format!("/tmp/emacs{user}").into()])
            .map(|it| (it, false));
        // Directories are not hidden here, because the command may have sockets in them. Another
        // process may see a different file under the same path, so anything that is not a socket is
        // skipped.
        let of_terminals = entries(Path::new(&format!("/tmp/tmux-{user}")));
        let only_sockets = of_programs.chain(of_terminals).chain(others).map(|it| (it, true));
        let opened = all.chain(only_sockets).filter_map(|(path, is_only_socket)| {
            // Follows symbolic links: `/var/run` usually is one.
            let place = open(&path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()).ok()?;
            (!is_only_socket || is_socket(&place)).then_some((path, place))
        });
        Ok(opened.collect())
    }
}

fn is_socket(place: &OwnedFd) -> bool {
    fstat(place).is_ok_and(|it| FileType::from_raw_mode(it.st_mode) == FileType::Socket)
}

fn entries(directory: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    fs::read_dir(directory).into_iter().flatten().flatten().map(|it| it.path())
}

/// The paths at which processes listen, from the list of sockets.
fn listening(sockets: Option<&File>) -> Result<Vec<PathBuf>, SandboxError> {
    let mut list = Vec::new();
    let read = match sockets {
        Some(mut file) => file.rewind().and_then(|()| file.read_to_end(&mut list)),
        None => Err(io::ErrorKind::NotFound.into()),
    };
    read.map_err(|cause| SandboxError::refused("the sockets of others cannot be listed", cause))?;
    let paths: Vec<PathBuf> = list.split(|it| *it == b'\n').filter_map(listening_path).collect();
    if paths.len() > MAX_SOCKETS {
        return Err(SandboxError(format!(
            "there are more than {MAX_SOCKETS} sockets of others, and no more are hidden"
        )));
    }
    Ok(paths)
}

/// The path in a line of the list, if a process listens there. Datagram sockets receive without
/// listening.
fn listening_path(line: &[u8]) -> Option<PathBuf> {
    const LISTENS: &[u8] = b"00010000";
    const DATAGRAMS: &[u8] = b"0002";
    let mut columns = line.splitn(7, |it| *it == b' ').skip(3);
    let (flags, kind) = (columns.next()?, columns.next()?);
    // The inode number before the path is padded with spaces.
    let numbered = columns.nth(1)?.trim_ascii_start();
    let path = numbered.splitn(2, |it| *it == b' ').nth(1)?;
    let is_reachable = path.first() == Some(&b'/') && (flags == LISTENS || kind == DATAGRAMS);
    is_reachable.then(|| OsStr::from_bytes(path).into())
}
