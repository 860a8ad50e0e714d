//! Reads the index of a Git repository: the names of the tracked files. Git itself is not run,
//! because this is needed before each command and must be fast.

use std::{io::Read as _, path::Path};

use toolwright_base::regular_file;

/// The largest index that is read. An index of 100,000 files has about 10 MB.
const MAX_BYTES: u64 = 64 * 1024 * 1024;
/// The size of an entry before its name.
const FIXED_BYTES: usize = 62;
/// Set in the flags of an entry that has two more bytes.
const IS_EXTENDED: u16 = 0x4000;

/// Calls `visit` with the path of each tracked file, relative to the top of the working tree.
/// Returns false if the index cannot be read, or has a format with compressed names.
pub fn visit_tracked(index: &Path, visit: &mut dyn FnMut(&[u8])) -> bool {
    let mut bytes = Vec::new();
    let Ok(file) = regular_file::open(index) else { return false };
    match file.take(MAX_BYTES + 1).read_to_end(&mut bytes) {
        Ok(read) if read as u64 <= MAX_BYTES => names_in(&bytes, visit).is_some(),
        _ => false,
    }
}

fn names_in(bytes: &[u8], visit: &mut dyn FnMut(&[u8])) -> Option<()> {
    let rest = bytes.strip_prefix(b"DIRC")?;
    let (version, rest) = rest.split_first_chunk::<4>()?;
    let (count, mut rest) = rest.split_first_chunk::<4>()?;
    if !matches!(u32::from_be_bytes(*version), 2 | 3) {
        return None;
    }
    for _ in 0..u32::from_be_bytes(*count) {
        let flags = u16::from_be_bytes(*rest.get(FIXED_BYTES - 2..)?.first_chunk::<2>()?);
        let start = if flags & IS_EXTENDED == 0 { FIXED_BYTES } else { FIXED_BYTES + 2 };
        let behind = rest.get(start..)?;
        let name = behind.get(..memchr::memchr(0, behind)?)?;
        visit(name);
        // Entries are padded to a multiple of eight bytes, with at least one NUL.
        rest = rest.get((start + name.len()) / 8 * 8 + 8..)?;
    }
    Some(())
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use std::process::Command;

    use pretty_assertions::assert_eq;
    use tempfile::TempDir;

    use super::*;

    fn tracked(index: &Path) -> Option<Vec<String>> {
        let mut names = Vec::new();
        let mut visit = |it: &[u8]| names.push(String::from_utf8_lossy(it).into_owned());
        visit_tracked(index, &mut visit).then_some(names)
    }

    #[test]
    fn the_names_of_tracked_files_are_read() {
        let directory = TempDir::new().unwrap();
        let git = |arguments: &[&str]| {
            let mut git = Command::new("git");
            git.current_dir(directory.path()).args(["-c", "core.excludesFile="]);
            assert!(git.args(arguments).output().unwrap().status.success(), "{arguments:?}");
        };
        git(&["init", "-q"]);
        let mut names: Vec<String> = (0..40).map(|it| format!("file{}", "x".repeat(it))).collect();
        names.push("later".to_owned());
        for name in &names {
            std::fs::write(directory.path().join(name), name).unwrap();
        }
        git(&["add", "file*"]);
        git(&["add", "-N", "later"]);
        let index = directory.path().join(".git/index");
        names.sort();
        assert_eq!(tracked(&index), Some(names));
        git(&["update-index", "--index-version", "4"]);
        assert_eq!(tracked(&index), None);
        let bytes = std::fs::read(&index).unwrap();
        std::fs::write(&index, bytes.get(..60).unwrap()).unwrap();
        assert_eq!(tracked(&index), None);
        assert_eq!(tracked(&directory.path().join("none")), None);
    }
}
