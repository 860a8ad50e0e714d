//! Mounts what a plan says: over what is hidden, something that cannot be read; over what is read-only, the
//! same thing again, read-only.

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

use super::{
    SandboxError, SandboxPlan, WritablePlaces,
    mount_calls::{
        NO_DEVICES, READ_ONLY, attach, change, clone_of, closed_directory, make_read_only,
        open_place, wait_for_replacement,
    },
    mount_numbers::{MountNumbers, number_of, top_mount},
    pins::pinned_directories,
};
use crate::system_calls::MountAttributes;

/// Mounts that stay writable where everything else is read-only. They are of this sandbox alone.
const OWN_MOUNTS: [&str; 2] = ["/proc", "/dev/pts"];

/// How often a place is changed that somebody replaces meanwhile.
const MAX_REPLACEMENTS: usize = 40;

/// What happens to one place. Where several things happen to the same one, the later of these is on top.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum PlaceChange {
    /// Mounted onto itself, so that it cannot be renamed.
    Pinned,
    /// As [`Self::ReadOnly`], but nothing is lost if it is gone.
    MadeImpossible,
    ReadOnly,
    Opened,
    Hidden,
}

impl PlaceChange {
    const fn words(self) -> &'static str {
        match self {
            Self::Pinned => "cannot be kept from being renamed",
            Self::MadeImpossible | Self::ReadOnly => "cannot be made read-only",
            Self::Opened => "cannot be made writable",
            Self::Hidden => "cannot be hidden",
        }
    }

    /// Whether nothing is lost if the place does not exist any more.
    fn allows_gone(self) -> bool {
        self != Self::ReadOnly
    }
}

/// What is mounted for a plan, in the mount namespace of this process.
#[derive(Default)]
pub(crate) struct MountedPlan {
    /// The mount on top of each place that was changed.
    pub(crate) numbers: MountNumbers,
    are_writes_bounded: bool,
    pub(crate) cover: PlaceCover,
}

impl MountedPlan {
    /// Mounts what the plan says and is not mounted yet. It may have been mounted some time ago: a place that was
    /// replaced or made since then is held all the same.
    pub(crate) fn hold(&mut self, plan: &SandboxPlan) -> Result<(), SandboxError> {
        // Of what was mounted before, and not of what is mounted now: one place may be changed twice, and what is mounted
        // now may have the number of a mount that is gone.
        let changes = place_changes(plan);
        let writable = match &plan.writable {
            WritablePlaces::Below(places) => places.as_slice(),
            WritablePlaces::Everywhere => &[],
        };
        let places = changes.iter().map(|it| it.0).chain(writable.iter().map(PathBuf::as_path));
        let before: HashSet<&Path> = places.filter(|it| self.numbers.hold(it)).collect();
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
            if !(before.contains(path) && self.numbers.hold(path)) {
                self.change(path, change)?;
            }
        }
        Ok(())
    }

    /// True when nothing of what the plan says has to be mounted anew, because every place is as it was. What does not
    /// exist need not be held.
    pub(crate) fn still_holds(&self, plan: &SandboxPlan) -> bool {
        let is_held = |path: &Path| self.numbers.hold(path);
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

    /// Changes one place. Somebody may replace it meanwhile: then what came in its place is changed.
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
                // Nothing can be mounted on what was removed.
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

/// Opens a place that somebody may be replacing: for a moment there is none.
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

/// Makes a place writable again that was replaced since everything else became read-only.
fn keep_writable(path: &Path) -> Result<Option<u64>, SandboxError> {
    let place = open_place(path);
    place.and_then(|it| it.map_or(Ok(None), |it| mount_writable(&it))).map_err(|cause| {
        SandboxError::refused(&format!("`{}` cannot stay writable", path.display()), cause)
    })
}

/// What happens to which place, outer places before inner ones.
fn place_changes(plan: &SandboxPlan) -> Vec<(&Path, PlaceChange)> {
    let opened: HashSet<&Path> = plan.opened.iter().map(PathBuf::as_path).collect();
    let hidden = plan.hidden.iter().map(|it| (it.path.as_path(), PlaceChange::Hidden));
    let missing = plan.missing.iter().map(|it| (it.path.as_path(), PlaceChange::MadeImpossible));
    // What is opened as a whole stays as it is: a mount there would keep programs from replacing it.
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

/// Makes everything read-only but these places.
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

/// Mounts a place onto itself. Returns the number of the mount, as those below do.
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

/// Mounts a place writable again. What the machine itself has mounted read-only stays so.
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

/// What is mounted over hidden places: one device that cannot be opened, one directory that cannot be read,
/// and copies of them.
#[derive(Default)]
pub(crate) struct PlaceCover {
    file: Option<OwnedFd>,
    directory: Option<OwnedFd>,
}

impl PlaceCover {
    /// Hides a place, whatever it is by now. Returns the number of the mount.
    pub(crate) fn hide(&mut self, place: &OwnedFd) -> io::Result<Option<u64>> {
        let kind = FileType::from_raw_mode(rustix::fs::fstat(place)?.st_mode);
        let (first, make): (_, fn() -> io::Result<OwnedFd>) = match kind {
            FileType::Symlink => return Err(io::Error::other("it is a link by now")),
            FileType::Directory => (&mut self.directory, closed_directory),
            _ => (&mut self.file, closed_file),
        };
        // A mount can only be copied while it is mounted somewhere.
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

/// A device file where devices cannot be opened: not even root reads or writes it.
fn closed_file() -> io::Result<OwnedFd> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC;
    let copy = open_tree(CWD, "/dev/null", flags)?;
    let set = NO_DEVICES | READ_ONLY;
    change(&copy, MountAttributes { set, clear: 0, is_recursive: false })?;
    Ok(copy)
}
