//! Finds the supervisor's program, which is installed in the same directory as the addon.

use std::path::PathBuf;

/// The supervisor's program, if it is there and can be executed.
#[cfg(target_os = "linux")]
pub fn supervisor_beside_this_library() -> Option<PathBuf> {
    use std::os::unix::fs::PermissionsExt as _;

    let program = this_library()?.with_file_name("toolwright-supervisor");
    let metadata = program.metadata().ok()?;
    (metadata.is_file() && metadata.permissions().mode() & 0o111 != 0).then_some(program)
}

/// The supervisor needs a subreaper, which only Linux has.
#[cfg(not(target_os = "linux"))]
pub fn supervisor_beside_this_library() -> Option<PathBuf> {
    None
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
mod tests {
    use super::*;

    #[test]
    fn this_code_knows_which_file_it_is_in() {
        assert_eq!(this_library(), std::env::current_exe().ok());
    }
}
