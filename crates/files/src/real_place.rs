//! Determines where a path leads when the system opens it, even if it does not exist yet.

use std::{
    ffi::OsString,
    io,
    path::{Component, Path, PathBuf},
};

/// The number of links that Linux follows.
const MAX_LINKS: usize = 40;

/// The path without links that an absolute path leads to. Links are followed component by
/// component, as the system does. So `link/..` is the directory above the link's target, and a
/// dangling link leads to the path that would be created. `None` if it cannot be determined.
pub fn real_place(path: &Path) -> Option<PathBuf> {
    // Usually the path exists, and a single call is enough.
    if let Ok(place) = path.canonicalize() {
        return Some(place);
    }
    let mut place = PathBuf::new();
    let mut open = Vec::new();
    push_reversed(&mut open, path);
    let (mut links, mut is_missing) = (0, false);
    while let Some(name) = open.pop() {
        let name = Path::new(&name);
        match name.components().next() {
            Some(Component::Normal(_)) => {}
            // The missing component may be created as a link, so its parent is unknown.
            Some(Component::ParentDir) if is_missing => return None,
            Some(Component::ParentDir) => {
                place.pop();
                continue;
            }
            Some(Component::CurDir) | None => continue,
            Some(Component::RootDir | Component::Prefix(_)) => {
                place.push(name);
                continue;
            }
        }
        place.push(name);
        if is_missing {
            continue;
        }
        match place.symlink_metadata() {
            Ok(metadata) if metadata.is_symlink() => {
                links += 1;
                if links > MAX_LINKS {
                    return None;
                }
                let target = place.read_link().ok()?;
                place.pop();
                push_reversed(&mut open, &target);
            }
            Ok(_) => {}
            Err(err) => match err.kind() {
                // A name that is too long cannot exist. An example is a commit message taken for a
                // path.
                io::ErrorKind::NotFound
                | io::ErrorKind::NotADirectory
                | io::ErrorKind::InvalidFilename => is_missing = true,
                _ => return None,
            },
        }
    }
    Some(place)
}

fn push_reversed(open: &mut Vec<OsString>, path: &Path) {
    open.extend(path.components().rev().map(|it| it.as_os_str().to_owned()));
}

#[cfg(all(test, unix))]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use std::{fs, os::unix::fs::symlink};

    use tempfile::TempDir;

    use super::*;

    #[test]
    fn a_path_leads_to_the_file_that_the_system_opens() {
        let dir = TempDir::new().unwrap();
        let root = dir.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("data/sub")).unwrap();
        fs::create_dir_all(root.join("src")).unwrap();
        fs::write(root.join("data/secret"), "").unwrap();
        symlink("data/sub", root.join("link")).unwrap();
        symlink("../.git/hooks/post-commit", root.join("src/log")).unwrap();
        symlink(root.join("new"), root.join("src/absolute")).unwrap();
        symlink("log", root.join("src/twice")).unwrap();
        symlink("circle", root.join("circle")).unwrap();
        for (asked, wanted) in [
            ("data/secret", Some("data/secret")),
            ("link/../secret", Some("data/secret")),
            ("link/../none", Some("data/none")),
            ("src/./../data//secret", Some("data/secret")),
            ("src/log", Some(".git/hooks/post-commit")),
            ("src/twice", Some(".git/hooks/post-commit")),
            ("src/absolute/x", Some("new/x")),
            ("none/a/b", Some("none/a/b")),
            ("none/../secret", None),
            ("src/log/../x", None),
            ("circle", None),
        ] {
            assert_eq!(real_place(&root.join(asked)), wanted.map(|it| root.join(it)), "{asked}");
        }
        let message = root.join("a long message ".repeat(500));
        assert_eq!(real_place(&message), Some(message));
    }
}
