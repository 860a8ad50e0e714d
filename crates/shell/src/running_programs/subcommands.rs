//! Programs with some subcommands that run what their arguments name, such as `docker exec`, and others
//! that do not, such as `docker ps`.

use crate::Word;

/// Options of git itself that take a value in the next word. The subcommand comes after them.
pub const GIT_OPTIONS_WITH_VALUE: [&str; 6] =
    ["-C", "-c", "--config-env", "--git-dir", "--namespace", "--work-tree"];

/// A program with subcommands.
struct Family {
    programs: &'static [&'static str],
    /// Subcommands that run nothing that their arguments name. Some run what files of the project name, as
    /// `make` does.
    plain: &'static [&'static str],
    /// Subcommands with nested subcommands, and which of those are plain.
    nested: &'static [(&'static str, &'static [&'static str])],
    /// Options with a value that may come before a nested subcommand.
    nested_options: &'static [&'static str],
    /// Prefixes of options with which the program loads or runs something.
    loading: &'static [&'static str],
    /// True when such an option may come anywhere, so that any unknown word may be one.
    is_open: bool,
}

const FAMILIES: [Family; 2] = [
    Family {
        programs: &["docker", "nerdctl", "podman"],
        plain: &[
            "build", "commit", "cp", "diff", "events", "export", "history", "images", "import",
            "info", "inspect", "kill", "load", "login", "logout", "logs", "pause", "port", "ps",
            "pull", "push", "rename", "restart", "rm", "rmi", "save", "search", "start", "stats",
            "stop", "tag", "top", "unpause", "update", "version", "wait",
        ],
        nested: &[
            ("builder", &["build", "prune"]),
            ("buildx", &["build", "du", "inspect", "ls", "prune", "version"]),
            (
                "compose",
                &[
                    "build", "config", "create", "down", "events", "images", "kill", "logs", "ls",
                    "pause", "port", "ps", "pull", "push", "restart", "rm", "start", "stats",
                    "stop", "top", "unpause", "up", "version", "wait",
                ],
            ),
            (
                "container",
                &[
                    "cp", "diff", "inspect", "kill", "list", "logs", "ls", "pause", "port",
                    "prune", "ps", "rename", "restart", "rm", "start", "stats", "stop", "top",
                    "unpause", "wait",
                ],
            ),
            ("context", &["inspect", "ls", "show"]),
            (
                "image",
                &[
                    "build", "history", "inspect", "list", "ls", "prune", "pull", "push", "rm",
                    "save", "tag",
                ],
            ),
            ("manifest", &["inspect"]),
            ("network", &["connect", "create", "disconnect", "inspect", "ls", "prune", "rm"]),
            ("system", &["df", "events", "info", "prune"]),
            ("volume", &["create", "inspect", "ls", "prune", "rm"]),
        ],
        nested_options: &[
            "--env-file",
            "--file",
            "--profile",
            "--project-directory",
            "--project-name",
            "-f",
            "-p",
        ],
        loading: &[],
        is_open: false,
    },
    Family {
        programs: &["kubectl"],
        plain: &[
            "annotate",
            "api-resources",
            "api-versions",
            "apply",
            "autoscale",
            "cluster-info",
            "cordon",
            "cp",
            "create",
            "delete",
            "describe",
            "diff",
            "drain",
            "events",
            "explain",
            "expose",
            "get",
            "label",
            "logs",
            "patch",
            "port-forward",
            "replace",
            "scale",
            "taint",
            "top",
            "uncordon",
            "version",
            "wait",
        ],
        nested: &[
            ("auth", &["can-i", "whoami"]),
            (
                "config",
                &[
                    "current-context",
                    "get-clusters",
                    "get-contexts",
                    "get-users",
                    "use-context",
                    "view",
                ],
            ),
            ("rollout", &["history", "pause", "restart", "resume", "status", "undo"]),
            ("set", &["env", "image", "resources", "selector", "serviceaccount"]),
        ],
        nested_options: &[],
        // A configuration may name programs that provide credentials.
        loading: &["--kubeconfig"],
        is_open: true,
    },
];

/// True for a program with subcommands that run what their arguments name.
pub fn has_subcommands(program: &str) -> bool {
    FAMILIES.iter().any(|it| it.programs.contains(&program))
}

/// True when a command of such a program may run what its arguments name.
pub(crate) fn may_run_another(program: &str, words: &[Word]) -> bool {
    let Some(family) = FAMILIES.iter().find(|it| it.programs.contains(&program)) else {
        return false;
    };
    let loads = |it: &Word| match it.literal() {
        Some(text) => family.loading.iter().any(|it| text.starts_with(it)),
        None => family.is_open,
    };
    // What follows `--` is a command: `kubectl create job x --image=y -- z`.
    let has_command = words.iter().any(|it| it.literal() == Some("--"));
    has_command || words.iter().any(loads) || !family.is_plain(words.get(1..).unwrap_or_default())
}

impl Family {
    /// True when the words begin with a plain subcommand. An option before it is not accepted, because it
    /// may load something.
    fn is_plain(&self, words: &[Word]) -> bool {
        let Some((first, rest)) = words.split_first() else { return true };
        let Some(first) = first.literal() else { return false };
        if matches!(first, "--version" | "--help" | "help") || self.plain.contains(&first) {
            return true;
        }
        let Some((_, plain)) = self.nested.iter().find(|it| it.0 == first) else { return false };
        let mut rest = rest.iter();
        loop {
            let Some(word) = rest.next().map(Word::literal) else { return true };
            match word {
                Some(option) if self.nested_options.contains(&option) => {
                    if rest.next().and_then(Word::literal).is_none() {
                        return false;
                    }
                }
                Some(subcommand) => return plain.contains(&subcommand),
                None => return false,
            }
        }
    }
}
