//! Finds the supervisor's program, which is installed in the same directory as the addon.

use std::path::{Path, PathBuf};

/// Why commands go without a supervisor. Told to the host: it is the one who can do something about it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoSupervisor {
    /// It is made for Linux, whose subreapers it needs.
    #[error("the supervisor is a program for Linux alone")]
    OtherSystem,
    /// It is in none of the places where it is looked for.
    #[error(
        "there is no file {}; put `{PROGRAM}` of the platform's package there, or name it with the option \
         `shell.supervisorPath`",
        quoted(.looked_at)
    )]
    Missing {
        /// Where it would be.
        looked_at: Vec<PathBuf>,
    },
    /// The host names a file that is not there.
    #[error("there is no file `{}`; name the program `{PROGRAM}` of the platform's package", .0.display())]
    NotThere(PathBuf),
    /// The host names a file in a directory that may be another one later.
    #[error("`{}` is no absolute path; name the program from the root on", .0.display())]
    Relative(PathBuf),
    /// What has its name is a directory or the like.
    #[error("`{}` is no regular file", .0.display())]
    NoFile(PathBuf),
    /// Archives, artifacts and file systems lose the bit.
    #[error("`{}` is not executable; set its executable bit (`chmod +x`)", .0.display())]
    NotExecutable(PathBuf),
    /// Anybody can put a file into a directory that all may write to, such as `/tmp`.
    #[error(
        "`{}` belongs to the user {owner} and not to whoever owns `{}`; give both the same owner",
        .program.display(),
        .neighbour.display()
    )]
    Foreign {
        /// The program.
        program: PathBuf,
        /// Its owner.
        owner: u32,
        /// The file beside which it was looked for.
        neighbour: PathBuf,
    },
    /// The system does not run it, as on a file system that is mounted with `noexec`.
    #[error("`{}` does not start: {cause}", .program.display())]
    NotStarted {
        /// The program.
        program: PathBuf,
        /// What the system says.
        cause: String,
    },
    /// It runs, and takes no commands.
    #[error("`{}` takes no commands", .0.display())]
    Stuck(PathBuf),
}

/// What the program is called.
const PROGRAM: &str = "toolwright-supervisor";

fn quoted(paths: &[PathBuf]) -> String {
    let paths: Vec<String> = paths.iter().map(|it| format!("`{}`", it.display())).collect();
    paths.join(" or ")
}

/// The program that a host names.
pub fn supervisor_at(program: &Path) -> Result<PathBuf, NoSupervisor> {
    if !cfg!(target_os = "linux") {
        return Err(NoSupervisor::OtherSystem);
    }
    if program.is_relative() {
        return Err(NoSupervisor::Relative(program.to_owned()));
    }
    runnable(program)
}

/// The program that was installed with this library.
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

/// The first program beside one of the files. One that is there and cannot be used is told of rather than
/// passed over: whoever put it there wants to know.
#[cfg(target_os = "linux")]
fn supervisor_beside(neighbours: impl Iterator<Item = PathBuf>) -> Result<PathBuf, NoSupervisor> {
    let mut looked_at = Vec::new();
    for neighbour in neighbours {
        let program = neighbour.with_file_name(PROGRAM);
        match runnable(&program).and_then(|it| of_the_same_hand(it, &neighbour)) {
            Err(NoSupervisor::NotThere(program)) => looked_at.push(program),
            found => return found,
        }
    }
    looked_at.dedup();
    // Nobody should be told to put a program where everybody can.
    let is_private = |program: &PathBuf| !program.parent().is_some_and(is_open_to_all);
    if looked_at.iter().any(is_private) {
        looked_at.retain(is_private);
    }
    Err(NoSupervisor::Missing { looked_at })
}

/// True for directories such as `/tmp`.
#[cfg(target_os = "linux")]
fn is_open_to_all(folder: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;

    folder.metadata().is_ok_and(|it| it.permissions().mode() & 0o002 != 0)
}

/// The program, where it is one that could be started.
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

/// The program, if it belongs to root, to this user or to the owner of its neighbour.
#[cfg(target_os = "linux")]
fn of_the_same_hand(program: PathBuf, neighbour: &Path) -> Result<PathBuf, NoSupervisor> {
    use std::os::unix::fs::MetadataExt as _;

    let owner_of = |path: &Path| path.metadata().ok().map(|it| it.uid());
    let trusted = [Some(0), Some(rustix::process::geteuid().as_raw()), owner_of(neighbour)];
    match owner_of(&program) {
        Some(owner) if !trusted.contains(&Some(owner)) => {
            Err(NoSupervisor::Foreign { program, owner, neighbour: neighbour.to_owned() })
        }
        Some(_) => Ok(program),
        None => Err(NoSupervisor::NotThere(program)),
    }
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
    fn this_code_knows_which_file_it_is_in() {
        assert_eq!(this_library(), std::env::current_exe().ok());
    }

    #[test]
    fn the_first_place_that_has_a_supervisor_counts() {
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
    fn nobody_is_told_to_put_it_where_everybody_can_write() {
        let [first, second] = [(); 2].map(|()| tempfile::tempdir().unwrap());
        fs::set_permissions(first.path(), fs::Permissions::from_mode(0o1777)).unwrap();
        let neighbours = [first.path().join("a.node"), second.path().join("app")].into_iter();
        let looked_at = vec![second.path().join(PROGRAM)];
        assert_eq!(supervisor_beside(neighbours), Err(NoSupervisor::Missing { looked_at }));
    }

    #[test]
    fn one_that_cannot_be_used_is_told_of_and_not_passed_over() {
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
    fn one_that_a_host_names_has_to_be_a_program_at_an_absolute_path() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("elsewhere");
        assert_eq!(supervisor_at(&path), Err(NoSupervisor::NotThere(path.clone())));
        file(folder.path(), "elsewhere", 0o755);
        assert_eq!(supervisor_at(&path), Ok(path));
        let relative = PathBuf::from("elsewhere");
        assert_eq!(supervisor_at(&relative), Err(NoSupervisor::Relative(relative)));
    }

    #[test]
    fn one_that_somebody_else_put_there_is_not_run() {
        // Only root can give files away, and to root those of anybody else are foreign.
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
        // Packages that were unpacked by another user belong to that user as a whole.
        std::os::unix::fs::chown(&neighbour, Some(4_242), None).unwrap();
        assert_eq!(supervisor_beside([neighbour].into_iter()), Ok(program));
    }
}
