//! Sockets of daemons that run programs for whoever asks. What they run is not in the sandbox, so a command
//! that is held to something must not reach them.

use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags, open};

use super::{CommandNetwork, SandboxError, SandboxPlan, WritablePlaces, plan_mounts::PlaceCover};

/// Below `/run`.
const OF_THE_SYSTEM: [&str; 8] = [
    "docker.sock",
    "podman/podman.sock",
    "containerd/containerd.sock",
    "crio/crio.sock",
    "buildkit/buildkitd.sock",
    "dbus/system_bus_socket",
    "systemd/private",
    "systemd/io.systemd.Manager",
];

/// Below `/run`: those that look names up for whoever asks, which carries words out of a network as well.
const THAT_LOOK_UP: [&str; 4] = [
    "nscd/socket",
    "systemd/resolve/io.systemd.Resolve",
    "systemd/resolve/io.systemd.Resolve.Monitor",
    "avahi-daemon/socket",
];

/// Below `/run/user/<id>`.
const OF_THE_USER: [&str; 7] = [
    "bus",
    "systemd",
    "docker.sock",
    "podman/podman.sock",
    "containerd-rootless",
    "buildkit/buildkitd.sock",
    "at-spi",
];

/// Hides those that exist, unless the plan holds the command to nothing that they could undo.
pub(crate) fn hide_daemon_sockets(
    plan: &SandboxPlan,
    cover: &mut PlaceCover,
    user: u32,
) -> Result<(), SandboxError> {
    let holds_nothing = plan.hidden.is_empty()
        && plan.read_only.is_empty()
        && plan.missing.is_empty()
        && plan.writable == WritablePlaces::Everywhere
        && plan.network == CommandNetwork::Open;
    if holds_nothing {
        return Ok(());
    }
    let that_look_up: &[&str] =
        if plan.network == CommandNetwork::Open { &[] } else { &THAT_LOOK_UP };
    let of_the_user = Path::new("/run/user").join(user.to_string());
    let all = OF_THE_SYSTEM
        .iter()
        .chain(that_look_up)
        .map(|it| Path::new("/run").join(it))
        .chain(OF_THE_USER.iter().map(|it| of_the_user.join(it)))
        .chain([PathBuf::from("/var/run/docker.sock")]);
    for path in all {
        // Following links: `/var/run` usually is one.
        if let Ok(place) = open(&path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty()) {
            cover.hide(&place).map_err(|cause| {
                SandboxError::refused(&format!("`{}` cannot be hidden", path.display()), cause)
            })?;
        }
    }
    Ok(())
}
