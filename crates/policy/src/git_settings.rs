//! Which git commands change the settings of a repository. The file of the settings is protected, because
//! settings name programs that git runs. A line that may run such a command needs to write the file.

use toolwright_shell::{Word, running_programs::GIT_OPTIONS_WITH_VALUE};

use super::programs::name_of;

/// Subcommands that write to the settings. `checkout` and `switch` record which remote branch a new branch
/// follows.
const ALWAYS: [&str; 9] = [
    "config",
    "remote",
    "checkout",
    "switch",
    "submodule",
    "init",
    "worktree",
    "sparse-checkout",
    "lfs",
];

/// Other subcommands, with the options that make them write to the settings.
const BY_OPTION: [(&str, &[&str]); 5] = [
    ("push", &["-u", "--set-upstream"]),
    ("pull", &["--set-upstream"]),
    ("fetch", &["--set-upstream"]),
    ("maintenance", &["start", "register", "unregister", "stop"]),
    (
        "branch",
        &[
            "-u",
            "--set-upstream-to",
            "--unset-upstream",
            "-t",
            "--track",
            "-m",
            "-M",
            "--move",
            "-c",
            "-C",
            "--copy",
            "-d",
            "-D",
            "--delete",
            "--edit-description",
        ],
    ),
];

/// True for a git command that changes the settings of a repository, or may do so.
pub(super) fn changes_git_settings(words: &[Word]) -> bool {
    if name_of(words) != Some("git") {
        return false;
    }
    let mut rest = words.iter().skip(1);
    let subcommand = loop {
        match rest.next().and_then(Word::literal) {
            Some(option) if GIT_OPTIONS_WITH_VALUE.contains(&option) => drop(rest.next()),
            Some(option) if option.starts_with('-') => {}
            Some(subcommand) => break subcommand,
            None => return false,
        }
    };
    if ALWAYS.contains(&subcommand) {
        return true;
    }
    let Some((_, options)) = BY_OPTION.iter().find(|it| it.0 == subcommand) else { return false };
    let names = |given: &str, option: &str| {
        given == option
            || given.strip_prefix(option).is_some_and(|it| it.starts_with('='))
            // Letters may be joined: `-fu`.
            || (option.len() == 2
                && option.starts_with('-')
                && given.starts_with('-')
                && !given.starts_with("--")
                && option.chars().nth(1).is_some_and(|letter| given.contains(letter)))
    };
    rest.any(|it| {
        it.literal().is_none_or(|given| options.iter().any(|option| names(given, option)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_that_change_the_settings_are_recognized() {
        let changes = |line: &str| {
            let words: Vec<Word> = line.split(' ').map(|it| Word::Literal(it.to_owned())).collect();
            changes_git_settings(&words)
        };
        for line in [
            "git config user.name x",
            "git -C sub remote add origin x",
            "/usr/bin/git push -u origin main",
            "git push -fu origin main",
            "git branch --set-upstream-to=origin/main",
            "git -c a=b checkout -b x origin/x",
            "git submodule add x",
            "git branch -D old",
        ] {
            assert!(changes(line), "{line}");
        }
        for line in [
            "git commit -m config",
            "git push origin main",
            "git branch --list",
            "git log --oneline",
            "git",
            "git --version",
            "config git",
        ] {
            assert!(!changes(line), "{line}");
        }
    }
}
