//! Mounts a plan. A hidden path is covered by a file or directory that cannot be read. A read-only
//! path is mounted onto itself, read-only.

use std::{
    collections::{BTreeSet, HashSet},
    io,
    os::fd::OwnedFd,
    path::{Path, PathBuf},
};

use rustix::{
    fs::{CWD, FileType},
    mount::{OpenTreeFlags, open_tree},
};
use toolwright_command_protocol::{SandboxPlan, WritablePlaces};

use super::{
    SandboxError,
    mount_calls::{
        NO_DEVICES, READ_ONLY, attach, change, clone_of, closed_directory, make_read_only,
        open_place, wait_for_replacement,
    },
    mount_numbers::{MountNumbers, number_of, top_mount},
    pins::pinned_directories,
};
use crate::system_calls::MountAttributes;

/// Mounts that stay writable when everything else is read-only. They belong to this sandbox alone.
const OWN_MOUNTS: [&str; 2] = ["/proc", "/dev/pts"];

/// How often a change is retried while another program replaces the file.
const MAX_REPLACEMENTS: usize = 40;

/// A change to one path. If a path has several changes, the later variant is mounted on top.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum PlaceChange {
    /// Mounted onto itself, so that it cannot be renamed.
    Pinned,
    /// Like [`Self::ReadOnly`], but the path need not exist.
    MadeImpossible,
    ReadOnly,
    Opened,
    Hidden,
}

impl PlaceChange {
    const fn words(self) -> &'static str {
        match self {
            Self::Pinned => "cannot be protected from renaming",
            Self::MadeImpossible | Self::ReadOnly => "cannot be made read-only",
            Self::Opened => "cannot be made writable",
            Self::Hidden => "cannot be hidden",
        }
    }

    /// True if the path need not exist any more.
    fn allows_gone(self) -> bool {
        self != Self::ReadOnly
    }
}

/// The mounts of a plan in the mount namespace of this process.
#[derive(Default)]
pub(crate) struct MountedPlan {
    /// The mount on top of each changed path.
    pub(crate) numbers: MountNumbers,
    are_writes_bounded: bool,
    pub(crate) cover: PlaceCover,
}

impl MountedPlan {
    /// Mounts the parts of the plan that are not mounted yet. Earlier mounts may be old: a path
    /// that was replaced or created since then is mounted again.
    pub(crate) fn mount_all(&mut self, plan: &SandboxPlan) -> Result<(), SandboxError> {
        // This is the state before this call. It cannot be computed in the loop below: one path may
        // have two changes, and a new mount may have the id of a mount that is gone.
        let changes = place_changes(plan);
        let writable = match &plan.writable {
            WritablePlaces::Below(places) => places.as_slice(),
            WritablePlaces::Everywhere => &[],
        };
        let places = changes.iter().map(|it| it.0).chain(writable.iter().map(PathBuf::as_path));
        let before: HashSet<&Path> = places.filter(|it| self.numbers.is_on_top(it)).collect();
        if let WritablePlaces::Below(places) = &plan.writable {
            if self.are_writes_bounded {
                let is_held = |it: &Path| before.contains(it);
                let replaced = places.iter().filter(|it| it.parent().is_some() && !is_held(it));
                for path in replaced {
                    let number = keep_writable(path)?;
                    self.numbers.note(path, number);
                }
            } else {
                bound_writes(places, &mut self.numbers)?;
            }
        }
        self.are_writes_bounded = true;
        for (path, change) in changes {
            if !(before.contains(path) && self.numbers.is_on_top(path)) {
                self.change(path, change)?;
            }
        }
        Ok(())
    }

    /// True if every mount of the plan is still in place. Paths that do not exist need no mount.
    pub(crate) fn is_intact(&self, plan: &SandboxPlan) -> bool {
        let is_held = |path: &Path| self.numbers.is_on_top(path);
        let is_gone = |path: &Path| matches!(open_place(path), Ok(None));
        let are_writable = match &plan.writable {
            WritablePlaces::Below(places) => {
                places.iter().all(|it| it.parent().is_none() || is_held(it) || is_gone(it))
            }
            WritablePlaces::Everywhere => true,
        };
        are_writable
            && place_changes(plan)
                .into_iter()
                .all(|(path, change)| is_held(path) || change.allows_gone() && is_gone(path))
    }

    /// Changes one path. If another program replaces the file meanwhile, the new file is changed.
    fn change(&mut self, path: &Path, change: PlaceChange) -> Result<(), SandboxError> {
        let refused = |cause: io::Error| {
            SandboxError::refused(&format!("`{}` {}", path.display(), change.words()), cause)
        };
        for _ in 0..MAX_REPLACEMENTS {
            let opened =
                if change.allows_gone() { open_place(path) } else { open_replaced_place(path) };
            let Some(place) = opened.map_err(refused)? else {
                self.numbers.note(path, None);
                if change.allows_gone() {
                    return Ok(());
                }
                break;
            };
            let mounted = match change {
                PlaceChange::Pinned => mount_again(&place),
                PlaceChange::MadeImpossible | PlaceChange::ReadOnly => mount_read_only(&place),
                PlaceChange::Opened => mount_writable(&place),
                PlaceChange::Hidden => self.cover.hide(&place),
            };
            match mounted {
                Ok(Some(number)) if top_mount(path) == Some(number) => {
                    self.numbers.note(path, Some(number));
                    return Ok(());
                }
                Ok(None) => {
                    self.numbers.note(path, None);
                    return Ok(());
                }
                // A removed file cannot be mounted on.
                Ok(Some(_)) => {}
                Err(cause) if cause.kind() == io::ErrorKind::NotFound => {}
                Err(cause) => return Err(refused(cause)),
            }
        }
        Err(SandboxError(format!(
            "`{}` was replaced or removed while the command was started; run it again",
            path.display()
        )))
    }
}

/// Opens a path whose file may be missing for a moment because another program is replacing it.
fn open_replaced_place(path: &Path) -> io::Result<Option<OwnedFd>> {
    let mut opened = open_place(path);
    if matches!(opened, Ok(None)) {
        wait_for_replacement(|| {
            opened = open_place(path);
            !matches!(opened, Ok(None))
        });
    }
    opened
}

/// Makes a path writable again that was replaced after everything else became read-only.
fn keep_writable(path: &Path) -> Result<Option<u64>, SandboxError> {
    let place = open_place(path);
    place.and_then(|it| it.map_or(Ok(None), |it| mount_writable(&it))).map_err(|cause| {
        SandboxError::refused(&format!("`{}` cannot stay writable", path.display()), cause)
    })
}

/// The changes of a plan, outer paths before inner ones.
fn place_changes(plan: &SandboxPlan) -> Vec<(&Path, PlaceChange)> {
    let opened: HashSet<&Path> = plan.opened.iter().map(PathBuf::as_path).collect();
    let hidden = plan.hidden.iter().map(|it| (it.path.as_path(), PlaceChange::Hidden));
    let missing = plan.missing.iter().map(|it| (it.path.as_path(), PlaceChange::MadeImpossible));
    // A read-only path that is also opened gets no mount. A mount would keep programs from
    // replacing the file.
    let read_only = plan.read_only.iter().map(PathBuf::as_path).filter(|it| !opened.contains(it));
    let held: Vec<(&Path, PlaceChange)> =
        hidden.chain(missing).chain(read_only.map(|it| (it, PlaceChange::ReadOnly))).collect();
    let is_held: HashSet<&Path> = plan.read_only.iter().map(PathBuf::as_path).collect();
    let reopened =
        opened.iter().filter(|it| !is_held.contains(*it)).map(|it| (*it, PlaceChange::Opened));
    let pins = pinned_directories(held.iter().map(|(path, _)| *path))
        .into_iter()
        .map(|it| (it, PlaceChange::Pinned));
    let changes: BTreeSet<_> = held.iter().copied().chain(reopened).chain(pins).collect();
    changes.into_iter().collect()
}

/// Makes everything read-only except these paths.
fn bound_writes(places: &[PathBuf], numbers: &mut MountNumbers) -> Result<(), SandboxError> {
    let refused = |path: &Path, cause: io::Error| {
        SandboxError::refused(&format!("`{}` cannot stay writable", path.display()), cause)
    };
    if places.iter().any(|it| it.parent().is_none()) {
        return Ok(());
    }
    let mut kept: Vec<(&Path, OwnedFd)> = Vec::new();
    let mut sorted: Vec<&Path> = places.iter().map(PathBuf::as_path).collect();
    sorted.push(Path::new("/dev/shm"));
    sorted.sort_unstable();
    for path in sorted {
        if kept.iter().any(|(above, _)| path.starts_with(above)) {
            continue;
        }
        if let Some(place) = open_place(path).map_err(|it| refused(path, it))? {
            kept.push((path, clone_of(&place).map_err(|it| refused(path, it))?));
        }
    }
    let everything = open_place(Path::new("/"))
        .and_then(|it| it.ok_or_else(|| io::ErrorKind::NotFound.into()))
        .and_then(|it| make_read_only(&it));
    everything.map_err(|it| SandboxError::refused("`/` cannot be made read-only", it))?;
    for path in OWN_MOUNTS {
        if let Ok(Some(place)) = open_place(Path::new(path)) {
            let writable = MountAttributes { set: 0, clear: READ_ONLY, is_recursive: false };
            change(&place, writable).map_err(|it| refused(Path::new(path), it))?;
        }
    }
    for (path, copy) in kept {
        let place =
            open_place(path).and_then(|it| it.ok_or_else(|| io::ErrorKind::NotFound.into()));
        place.and_then(|it| attach(&copy, &it)).map_err(|it| refused(path, it))?;
        numbers.note(path, number_of(&copy));
    }
    Ok(())
}

/// Mounts a path onto itself. Returns the id of the mount, as the functions below do.
fn mount_again(place: &OwnedFd) -> io::Result<Option<u64>> {
    let copy = clone_of(place)?;
    attach(&copy, place)?;
    Ok(number_of(&copy))
}

fn mount_read_only(place: &OwnedFd) -> io::Result<Option<u64>> {
    let copy = clone_of(place)?;
    make_read_only(&copy)?;
    attach(&copy, place)?;
    Ok(number_of(&copy))
}

/// Mounts a path writable again. A file system that the machine has mounted read-only stays
/// read-only.
fn mount_writable(place: &OwnedFd) -> io::Result<Option<u64>> {
    let copy = clone_of(place)?;
    let writable = MountAttributes { set: 0, clear: READ_ONLY, is_recursive: false };
    match change(&copy, writable) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(None),
        Err(error) => Err(error),
        Ok(()) => {
            attach(&copy, place)?;
            Ok(number_of(&copy))
        }
    }
}

/// Covers for hidden paths: a device that cannot be opened, a directory that cannot be read, and
/// copies of them.
#[derive(Default)]
pub(crate) struct PlaceCover {
    file: Option<OwnedFd>,
    directory: Option<OwnedFd>,
}

impl PlaceCover {
    /// Hides a path, whatever kind of file it is now. Returns the id of the mount.
    pub(crate) fn hide(&mut self, place: &OwnedFd) -> io::Result<Option<u64>> {
        let kind = FileType::from_raw_mode(rustix::fs::fstat(place)?.st_mode);
        let (first, make): (_, fn() -> io::Result<OwnedFd>) = match kind {
            FileType::Symlink => return Err(io::Error::other("it has become a symbolic link")),
            FileType::Directory => (&mut self.directory, closed_directory),
            _ => (&mut self.file, closed_file),
        };
        // A mount can only be copied while it is attached.
        let copy = first.as_ref().and_then(|it| clone_of(it).ok());
        let is_copy = copy.is_some();
        let cover = copy.map_or_else(make, Ok)?;
        attach(&cover, place)?;
        let number = number_of(&cover);
        if !is_copy {
            *first = Some(cover);
        }
        Ok(number)
    }
}

/// A device on a mount that forbids devices: not even root can read or write it.
fn closed_file() -> io::Result<OwnedFd> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC;
    let copy = open_tree(CWD, "/dev/null", flags)?;
    let set = NO_DEVICES | READ_ONLY;
    change(&copy, MountAttributes { set, clear: 0, is_recursive: false })?;
    Ok(copy)
}
