//! Removes variables that change the meaning of a command line.
//!
//! Policy judges the text of a line: `ls` is the system's `ls`, and `cd src` leads to `src` in the
//! current directory. Some variables make that untrue, and a host inherits them from the process that
//! started it. Variables that only a shell reads are removed. From lists of directories, entries that
//! depend on the current directory are removed.

use std::{
    env,
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
};

/// The `PATH` of commands if the host has none. A shell's built-in default may contain `.`.
pub(super) const USUAL_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Variables with lists of directories from which programs and libraries are loaded. In each of them an
/// empty entry means the current directory.
const PLACES: [&str; 3] = ["PATH", "LD_LIBRARY_PATH", "GCONV_PATH"];

/// True for variables that make a shell run something other than the command line says.
pub(super) fn changes_the_shell(name: &str) -> bool {
    const NAMES: [&str; 17] = [
        // Files that the shell runs first.
        "BASH_ENV",
        "ENV",
        // Text that the shell runs along the way; `set -x` runs what is in PS4.
        "PROMPT_COMMAND",
        "PS4",
        // Options, as if the line began with `set` or `shopt`.
        "BASHOPTS",
        "BASH_COMPAT",
        "POSIXLY_CORRECT",
        "SHELLOPTS",
        // Where `cd` leads.
        "CDPATH",
        "OLDPWD",
        "PWD",
        // What a pattern matches, how words are split, which program a name means.
        "EXECIGNORE",
        "GLOBIGNORE",
        "IFS",
        // Where `enable -f` loads from and `set -x` writes to.
        "BASH_LOADABLES_PATH",
        "BASH_XTRACEFD",
        // What a redirection without a command runs in zsh.
        "NULLCMD",
    ];
    NAMES.contains(&name) || name.starts_with("BASH_FUNC_")
}

/// Removes entries that depend on the current directory from every list of directories, and adds a `PATH`
/// if there is none.
pub(super) fn with_fixed_places(variables: Vec<(OsString, OsString)>) -> Vec<(OsString, OsString)> {
    let mut kept: Vec<(OsString, OsString)> = variables
        .into_iter()
        .filter_map(|(name, value)| Some((cleaned(&name, value)?, name)))
        .map(|(value, name)| (name, value))
        .collect();
    if cfg!(unix) && !kept.iter().any(|(name, _)| name == "PATH") {
        kept.push(("PATH".into(), USUAL_PATH.into()));
    }
    kept
}

/// The cleaned value of a variable; `None` if nothing is left.
fn cleaned(name: &OsStr, value: OsString) -> Option<OsString> {
    if PLACES.iter().any(|it| name == *it) {
        let places = env::join_paths(fixed_places(&value)).ok()?;
        return (!places.is_empty()).then_some(places);
    }
    if name == "LD_PRELOAD" || name == "LD_AUDIT" {
        // A name without a slash is looked up in the directories of libraries.
        let text = value.to_string_lossy();
        let is_fixed = |it: &&str| !it.is_empty() && (!it.contains('/') || is_fixed(Path::new(it)));
        let libraries: Vec<&str> = text.split([':', ' ']).filter(is_fixed).collect();
        return (!libraries.is_empty()).then(|| libraries.join(":").into());
    }
    Some(value)
}

/// The directories of a list that do not depend on the current directory.
pub(super) fn fixed_places(list: &OsStr) -> impl Iterator<Item = PathBuf> {
    env::split_paths(list).filter(|it| is_fixed(it))
}

/// True for a path that means the same file in every process. `/proc/self/cwd` and `/dev/fd/9` do not,
/// although they are absolute.
fn is_fixed(place: &Path) -> bool {
    let moves = ["/proc", "/dev"].iter().any(|it| place.starts_with(it));
    place.is_absolute() && !(cfg!(unix) && moves)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn after(name: &str, value: &str) -> Option<String> {
        let variables = with_fixed_places(vec![(name.into(), value.into())]);
        let found = variables.into_iter().find(|(key, _)| key == name);
        found.map(|(_, value)| value.to_string_lossy().into_owned())
    }

    #[test]
    fn entries_that_depend_on_the_current_directory_are_removed() {
        for (name, value, wanted) in [
            ("PATH", ":/usr/bin:/bin", Some("/usr/bin:/bin")),
            ("PATH", "/usr/bin::/bin:", Some("/usr/bin:/bin")),
            ("PATH", ".:./bin:node_modules/.bin:~/bin:/bin", Some("/bin")),
            ("PATH", "/proc/self/cwd:/proc/thread-self/cwd/x:/dev/fd/3:/bin", Some("/bin")),
            ("PATH", "", Some(USUAL_PATH)),
            ("PATH", ".", Some(USUAL_PATH)),
            (
                "PATH",
                "/work/project/node_modules/.bin:/bin",
                Some("/work/project/node_modules/.bin:/bin"),
            ),
            ("LD_LIBRARY_PATH", ":/opt/lib", Some("/opt/lib")),
            ("LD_LIBRARY_PATH", ":", None),
            (
                "LD_PRELOAD",
                "libjemalloc.so ./evil.so:lib/evil.so /opt/a.so",
                Some("libjemalloc.so:/opt/a.so"),
            ),
            ("LD_PRELOAD", "./evil.so", None),
            ("PYTHONPATH", "src", Some("src")),
        ] {
            assert_eq!(after(name, value).as_deref(), wanted, "{name}={value}");
        }
    }
}
