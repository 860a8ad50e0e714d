//! Finds the supervisor's program, which is installed in the same directory as the addon.

use std::path::{Path, PathBuf};

/// Why commands run without a supervisor. Reported to the host, which can fix it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoSupervisor {
    /// The supervisor needs subreapers, which only Linux has.
    #[error("the supervisor runs only on Linux")]
    OtherSystem,
    /// No file exists at the expected paths.
    #[error(
        "there is no file {}; put `{PROGRAM}` of the platform's package there, or name it with the option \
         `shell.supervisorPath`",
        quoted(.looked_at)
    )]
    Missing {
        /// The expected paths.
        looked_at: Vec<PathBuf>,
    },
    /// The host configured a file that does not exist.
    #[error("there is no file `{}`; name the program `{PROGRAM}` of the platform's package", .0.display())]
    NotThere(PathBuf),
    /// The host configured a relative path. The current directory may change later.
    #[error("`{}` is no absolute path; start it with `/`", .0.display())]
    Relative(PathBuf),
    /// The path is a directory or another special file.
    #[error("`{}` is no regular file", .0.display())]
    NoFile(PathBuf),
    /// The executable bit is missing. Archives, CI artifacts and some file systems lose it.
    #[error("`{}` is not executable; set its executable bit (`chmod +x`)", .0.display())]
    NotExecutable(PathBuf),
    /// The owner is not trusted. Any user can put a file into a world-writable directory such as
    /// `/tmp`.
    #[error(
        "`{}` belongs to the user {owner}, who does not own `{}`; give both files the same owner",
        .program.display(),
        .neighbour.display()
    )]
    Foreign {
        /// The program.
        program: PathBuf,
        /// Its owner.
        owner: u32,
        /// The file next to which it was found.
        neighbour: PathBuf,
    },
    /// The system refuses to run it, for example on a file system that is mounted with `noexec`.
    #[error("`{}` does not start: {cause}", .program.display())]
    NotStarted {
        /// The program.
        program: PathBuf,
        /// The system's error message.
        cause: String,
    },
    /// It runs, but accepts no commands.
    #[error("`{}` accepts no commands", .0.display())]
    Stuck(PathBuf),
}

/// The name of the program.
const PROGRAM: &str = "toolwright-supervisor";

fn quoted(paths: &[PathBuf]) -> String {
    let paths: Vec<String> = paths.iter().map(|it| format!("`{}`", it.display())).collect();
    paths.join(" or ")
}

/// Checks the program that a host configured.
pub fn supervisor_at(program: &Path) -> Result<PathBuf, NoSupervisor> {
    if !cfg!(target_os = "linux") {
        return Err(NoSupervisor::OtherSystem);
    }
    if program.is_relative() {
        return Err(NoSupervisor::Relative(program.to_owned()));
    }
    runnable(program)
}

/// Finds the program that was installed with this library.
#[cfg(target_os = "linux")]
pub fn find_supervisor() -> Result<PathBuf, NoSupervisor> {
    let neighbours = [this_library(), std::env::current_exe().ok()];
    supervisor_beside(neighbours.into_iter().flatten())
}

/// The supervisor needs a subreaper, which only Linux has.
#[cfg(not(target_os = "linux"))]
pub fn find_supervisor() -> Result<PathBuf, NoSupervisor> {
    Err(NoSupervisor::OtherSystem)
}

/// Finds the first program next to one of the files. A program that exists but cannot be used is an
/// error. It is not skipped, because the user put it there on purpose.
#[cfg(target_os = "linux")]
fn supervisor_beside(neighbours: impl Iterator<Item = PathBuf>) -> Result<PathBuf, NoSupervisor> {
    let mut looked_at = Vec::new();
    for neighbour in neighbours {
        let program = neighbour.with_file_name(PROGRAM);
        match runnable(&program).and_then(|it| with_trusted_owner(it, &neighbour)) {
            Err(NoSupervisor::NotThere(program)) => looked_at.push(program),
            found => return found,
        }
    }
    looked_at.dedup();
    // The error must not suggest a world-writable directory.
    let is_private = |program: &PathBuf| !program.parent().is_some_and(is_world_writable);
    if looked_at.iter().any(is_private) {
        looked_at.retain(is_private);
    }
    Err(NoSupervisor::Missing { looked_at })
}

/// True for world-writable directories such as `/tmp`.
#[cfg(target_os = "linux")]
fn is_world_writable(folder: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;

    folder.metadata().is_ok_and(|it| it.permissions().mode() & 0o002 != 0)
}

/// Returns the program if it is an executable file.
#[cfg(unix)]
fn runnable(program: &Path) -> Result<PathBuf, NoSupervisor> {
    use std::os::unix::fs::PermissionsExt as _;

    let program = program.to_owned();
    match program.metadata() {
        Err(_) => Err(NoSupervisor::NotThere(program)),
        Ok(it) if !it.is_file() => Err(NoSupervisor::NoFile(program)),
        Ok(it) if it.permissions().mode() & 0o111 == 0 => Err(NoSupervisor::NotExecutable(program)),
        Ok(_) => Ok(program),
    }
}

#[cfg(not(unix))]
fn runnable(_program: &Path) -> Result<PathBuf, NoSupervisor> {
    Err(NoSupervisor::OtherSystem)
}

/// Returns the program if [`is_trusted_owner`] accepts its owner.
#[cfg(target_os = "linux")]
fn with_trusted_owner(program: PathBuf, neighbour: &Path) -> Result<PathBuf, NoSupervisor> {
    match owner_of(&program) {
        Some(owner) if is_trusted_owner(owner, neighbour) => Ok(program),
        Some(owner) => {
            Err(NoSupervisor::Foreign { program, owner, neighbour: neighbour.to_owned() })
        }
        None => Err(NoSupervisor::NotThere(program)),
    }
}

/// True for root, for this user and for the owner of the neighbouring file.
#[cfg(target_os = "linux")]
fn is_trusted_owner(owner: u32, neighbour: &Path) -> bool {
    owner == 0 || owner == rustix::process::geteuid().as_raw() || owner_of(neighbour) == Some(owner)
}

#[cfg(target_os = "linux")]
fn owner_of(path: &Path) -> Option<u32> {
    use std::os::unix::fs::MetadataExt as _;

    path.metadata().ok().map(|it| it.uid())
}

/// The file that this code was loaded from, according to the kernel. The addon's JavaScript loader tries
/// several paths and cannot tell which of them was used.
#[cfg(target_os = "linux")]
fn this_library() -> Option<PathBuf> {
    let here = this_library as *const () as usize;
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    maps.lines().find_map(|line| {
        let (range, rest) = line.split_once(' ')?;
        let (from, to) = range.split_once('-')?;
        let address = |it| usize::from_str_radix(it, 16).ok();
        (address(from)?..address(to)?).contains(&here).then_some(())?;
        let path = rest.get(rest.find('/')?..)?;
        // The kernel adds this to the name of a file that was replaced while it is in use.
        Some(PathBuf::from(path.strip_suffix(" (deleted)").unwrap_or(path)))
    })
}

#[cfg(all(test, target_os = "linux"))]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt as _};

    use super::*;

    fn file(folder: &Path, name: &str, mode: u32) -> PathBuf {
        let path = folder.join(name);
        fs::write(&path, "").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        path
    }

    #[test]
    fn this_library_is_the_test_binary() {
        assert_eq!(this_library(), std::env::current_exe().ok());
    }

    #[test]
    fn the_first_directory_with_a_supervisor_is_used() {
        let [first, second] = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let neighbours = || [first.path().join("a.node"), second.path().join("app")].into_iter();
        assert_eq!(
            supervisor_beside(neighbours()),
            Err(NoSupervisor::Missing {
                looked_at: [&first, &second].map(|it| it.path().join(PROGRAM)).into(),
            })
        );
        let beside_the_program = file(second.path(), PROGRAM, 0o755);
        assert_eq!(supervisor_beside(neighbours()), Ok(beside_the_program));
        let beside_the_library = file(first.path(), PROGRAM, 0o755);
        assert_eq!(supervisor_beside(neighbours()), Ok(beside_the_library));
    }

    #[test]
    fn no_world_writable_directory_is_suggested() {
        let [first, second] = [(); 2].map(|()| tempfile::tempdir().unwrap());
        fs::set_permissions(first.path(), fs::Permissions::from_mode(0o1777)).unwrap();
        let neighbours = [first.path().join("a.node"), second.path().join("app")].into_iter();
        let looked_at = vec![second.path().join(PROGRAM)];
        assert_eq!(supervisor_beside(neighbours), Err(NoSupervisor::Missing { looked_at }));
    }

    #[test]
    fn an_unusable_program_is_reported_and_not_skipped() {
        let [first, second] = [(); 2].map(|()| tempfile::tempdir().unwrap());
        file(second.path(), PROGRAM, 0o755);
        let neighbours = || [first.path().join("a.node"), second.path().join("app")].into_iter();
        let lost_its_bit = file(first.path(), PROGRAM, 0o644);
        assert_eq!(
            supervisor_beside(neighbours()),
            Err(NoSupervisor::NotExecutable(lost_its_bit.clone()))
        );
        fs::remove_file(&lost_its_bit).unwrap();
        fs::create_dir(&lost_its_bit).unwrap();
        assert_eq!(supervisor_beside(neighbours()), Err(NoSupervisor::NoFile(lost_its_bit)));
    }

    #[test]
    fn a_configured_program_must_be_executable_and_its_path_absolute() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("elsewhere");
        assert_eq!(supervisor_at(&path), Err(NoSupervisor::NotThere(path.clone())));
        file(folder.path(), "elsewhere", 0o755);
        assert_eq!(supervisor_at(&path), Ok(path));
        let relative = PathBuf::from("elsewhere");
        assert_eq!(supervisor_at(&relative), Err(NoSupervisor::Relative(relative)));
    }

    #[test]
    fn a_program_of_another_user_is_not_run() {
        // Only root can change the owner of a file. Files of other users are not trusted by root.
        if !rustix::process::geteuid().is_root() {
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let neighbour = file(folder.path(), "a.node", 0o644);
        let program = file(folder.path(), PROGRAM, 0o755);
        std::os::unix::fs::chown(&program, Some(4_242), None).unwrap();
        assert_eq!(
            supervisor_beside([neighbour.clone()].into_iter()),
            Err(NoSupervisor::Foreign {
                program: program.clone(),
                owner: 4_242,
                neighbour: neighbour.clone(),
            })
        );
        // If another user unpacked the whole package, all its files belong to that user.
        std::os::unix::fs::chown(&neighbour, Some(4_242), None).unwrap();
        assert_eq!(supervisor_beside([neighbour].into_iter()), Ok(program));
    }
}
