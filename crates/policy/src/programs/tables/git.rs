//! git, by its subcommands. Paths start in the current directory or at the top of the working tree.

use super::super::{
    Links, Operands, PLAIN, Program, Style,
    Takes::{
        self, Flag, ListedIn, MaybeText, Names, OnlyReads, Pattern, PatternsIn, Reads, Rewrites, Shows, Text,
        Unclear, UnclearValue, Within, Writes,
    },
    Use,
};

/// Options of `diff`, `log` and `show`.
const HISTORY: Program = Program {
    options: &[
        (Flag, &[
            "--oneline", "--graph", "--all", "--reverse", "--merges", "--no-merges",
            "--first-parent", "--no-pager", "--cached", "--staged", "--exit-code", "--follow",
            "--full-history", "--simplify-merges", "--no-decorate", "--no-color", "--no-renames",
            "--no-prefix", "--ignore-submodules", "-w", "--ignore-all-space", "-b",
            "--ignore-space-change", "--ignore-space-at-eol", "--ignore-cr-at-eol",
            "--ignore-blank-lines", "-i", "--regexp-ignore-case", "-E", "--extended-regexp", "-F",
            "--fixed-strings", "-P", "--perl-regexp", "--all-match", "--invert-grep", "-z",
            "--minimal", "--patience", "--histogram", "--indent-heuristic", "--full-index",
            "--pickaxe-all", "--pickaxe-regex", "--no-ext-diff", "--no-textconv", "-R", "-a",
            "--text", "--left-right", "--cherry-pick", "--cherry-mark", "--cherry", "--boundary",
            "--date-order", "--topo-order", "--author-date-order", "-g", "--walk-reflogs",
            "--merge-base", "--abbrev-commit", "--no-abbrev-commit", "--relative-date",
            "--show-signature", "--no-notes", "--parents", "--children", "--remove-empty",
            "--no-relative", "--no-indent-heuristic", "--dense", "--sparse", "--ancestry-path",
            "--use-mailmap", "--no-mailmap", "--mailmap", "--log-size", "--clear-decorations",
            "--source", "--no-walk", "--do-walk", "--show-pulls", "--single-worktree",
            "--ita-invisible-in-index", "-#", "--find-copies-harder", "--no-rename-empty",
            "--default-prefix", "-h", "--help",
        ]),
        (MaybeText, &[
            "--abbrev", "--color", "--decorate", "--relative", "--pretty", "--branches", "--tags",
            "--remotes", "-M", "--find-renames", "-C", "--find-copies", "-B", "--break-rewrites",
            "--notes", "--color-moved", "--color-moved-ws", "-X", "--dirstat", "-l",
            "--expand-tabs",
        ]),
        (Text, &[
            "-n", "--max-count", "--skip", "--since", "--after", "--until", "--before", "--author",
            "--committer", "--grep", "--grep-reflog", "--format", "--date", "--decorate-refs",
            "--decorate-refs-exclude", "--glob", "--exclude", "--encoding", "--diff-algorithm",
            "--anchored", "--diff-filter", "--src-prefix", "--dst-prefix", "--line-prefix",
            "--inter-hunk-context", "--ws-error-highlight", "--stat-width", "--stat-count",
            "--min-parents", "--max-parents", "--min-age", "--max-age", "-I",
            "--ignore-matching-lines", "--output-indicator-new", "--output-indicator-old",
            "--output-indicator-context", "--rotate-to", "--skip-to",
        ]),
        (Names, &[
            "--stat", "--shortstat", "--numstat", "--name-only", "--name-status", "--summary",
            "--raw", "-s", "--no-patch", "--compact-summary", "--quiet", "-q", "--cumulative",
        ]),
        (Shows, &[
            "-p", "-u", "--patch", "--patch-with-stat", "--patch-with-raw", "-c", "--cc", "-m",
            "--binary", "-W", "--function-context", "--full-diff", "-t", "--remerge-diff",
            "--ext-diff", "--textconv", "--no-index", "--dd", "--check",
        ]),
        (Takes::ShowsValue, &[
            "-U", "--unified", "-S", "-G", "--word-diff-regex", "--find-object", "--diff-merges",
        ]),
        (Takes::MaybeShows, &["--submodule", "--word-diff", "--color-words"]),
        (Writes, &["--output"]),
        (Reads, &["-O"]),
        (Unclear, &["--stdin", "--merge"]),
        (UnclearValue, &["-L"]),
    ],
    operands: Operands::Revisions,
    ..PLAIN
};

/// Shows names and messages, unless an option asks for more.
const LOG: Program = Program {
    names: &["log", "shortlog", "reflog", "whatchanged", "rev-list"],
    operands: Operands::Log,
    ..HISTORY
};

const DIFF: Program = Program {
    names: &["diff", "diff-tree", "diff-index", "diff-files", "range-diff"],
    ..HISTORY
};

/// Shows what a name stands for, which may be a file.
const SHOW: Program = Program { names: &["show"], operands: Operands::Objects, ..HISTORY };

/// Options with which subcommands that change files show them first.
const PATCHES: (Takes, &[&str]) =
    (Shows, &["-p", "--patch", "-i", "--interactive", "-e", "--edit"]);

const GREP: Program = Program {
    names: &["grep"],
    options: &[
        (Flag, &[
            "--cached", "--untracked", "--no-exclude-standard", "--exclude-standard", "-v",
            "--invert-match", "-i", "--ignore-case", "-w", "--word-regexp", "-a", "--text", "-I",
            "--textconv", "-r", "--recursive", "-E", "--extended-regexp", "-G", "-F",
            "--fixed-strings", "-P", "--perl-regexp", "-n", "--line-number", "--column", "-h", "-H",
            "--full-name", "-l", "--files-with-matches", "--name-only", "-L",
            "--files-without-match", "-z", "--null", "-o", "--only-matching", "-c", "--count",
            "--break", "--heading", "-p", "--show-function", "-W", "--function-context",
            "--all-match", "-q", "--quiet", "--and", "--or", "--not", "--recurse-submodules",
            "--no-index", "-#", "--no-color",
        ]),
        (MaybeText, &["--color"]),
        (Text, &[
            "-A", "--after-context", "-B", "--before-context", "-C", "--context", "-m",
            "--max-count", "--max-depth", "--threads",
        ]),
        (Pattern, &["-e"]),
        (PatternsIn, &["-f"]),
        (UnclearValue, &["-O", "--open-files-in-pager"]),
    ],
    operands: Operands::PatternThenRevisions,
    ..PLAIN
};

/// Options that many subcommands share and that are not about files.
const SHARED: &[&str] = &[
    "-q", "--quiet", "-v", "--verbose", "-n", "--dry-run", "-f", "--force", "-a", "--all",
    "--no-verify", "-h", "--help", "-s", "-d", "-D", "-m", "-M", "-r", "-l", "-k", "-z", "-u", "-t",
    "-X", "--progress", "--no-progress", "-A", "--short", "--porcelain", "--branch", "--long",
    "--hard", "--soft", "--mixed", "--keep", "--staged", "--cached", "-S", "-W", "--worktree",
    "--abort", "--continue", "--skip", "--quit", "--no-edit", "--amend", "--no-ff", "--ff-only",
    "--ff", "--squash", "--no-commit", "--rebase", "--no-rebase", "--prune", "--tags", "--no-tags",
    "--update", "--intent-to-add", "-N", "--refresh", "--delete", "--move", "--copy", "--list",
    "--show-current", "--detach", "--orphan", "--track", "--no-track", "--ours", "--theirs",
    "--merge", "--signoff", "--no-gpg-sign", "--allow-empty", "--allow-empty-message",
    "--reset-author", "--set-upstream", "--follow-tags", "--autostash", "--include-untracked",
    "--keep-index", "--no-stat", "--stat", "--autosquash", "--root", "--ignore-removal", "--no-all",
    "-y", "--ignored", "--no-optional-locks", "--show-stash", "--get", "--get-all", "--global",
    "--local", "--system", "--name-only", "--show-origin", "--show-scope", "--show-toplevel",
    "--show-prefix", "--show-cdup", "--git-dir", "--is-inside-work-tree", "--abbrev-ref",
    "--verify", "--others", "--modified", "--deleted", "--stage", "--exclude-standard",
    "--unmerged", "--killed", "--directory", "-o", "--full-name", "--error-unmatch", "--heads",
    "--symref", "--annotate", "--sign", "--unset", "--is-ancestor", "--count", "--init",
    "--recursive", "--remote", "--no-color", "--ignore-unmatch", "--sparse", "--no-guess",
    "--guess", "--mirror", "--bare", "--reapply-cherry-picks", "--only", "--include", "-#",
    "--no-pager", "--full-tree", "--tree", "--name-status", "--no-recurse-submodules",
    "--git-common-dir", "--absolute-git-dir", "--symbolic-full-name", "--is-bare-repository",
    "--unshallow", "-4", "-6",
];

const SHARED_TEXTS: &[&str] = &[
    "--message", "--author", "--date", "--depth", "--sort", "--format", "--contains",
    "--no-contains", "--merged", "--no-merged", "--points-at", "--strategy", "--strategy-option",
    "--onto", "--set-upstream-to", "--shallow-since", "--jobs", "-j", "--fixup", "--source",
    "--since", "--cleanup", "--trailer", "--origin", "--filter",
];

/// Takes only names of commits, branches and remotes.
const NAMES: Program = Program {
    names: &[
        "branch", "remote", "rev-parse", "describe", "tag", "merge-base", "name-rev",
        "symbolic-ref", "for-each-ref", "show-ref", "var", "version", "help", "gc", "fsck", "prune",
        "count-objects", "notes", "show-branch", "update-ref", "cherry", "check-ref-format",
        "maintenance", "repack", "pack-refs", "init",
    ],
    options: &[
        (Flag, SHARED),
        (Text, SHARED_TEXTS),
        (MaybeText, &["--color", "--column", "--abbrev"]),
    ],
    operands: Operands::ProjectArguments(0),
    style: Style::Project,
    ..PLAIN
};

/// Settings of git, many of which name a program that git runs.
const CONFIG: Program = Program {
    names: &["config"],
    options: &[
        (OnlyReads, &[
            "--get", "--get-all", "--get-regexp", "--get-urlmatch", "--get-color", "--get-colorbool",
            "-l", "--list",
        ]),
        (Rewrites, &[
            "--add", "--replace-all", "--unset", "--unset-all", "--rename-section",
            "--remove-section", "-e", "--edit",
        ]),
        (Flag, &[
            "--global", "--system", "--local", "--worktree", "-z", "--null", "--name-only",
            "--show-origin", "--show-scope", "--show-names", "--includes", "--no-includes", "--bool",
            "--int", "--bool-or-int", "--path", "--expiry-date", "--fixed-value", "--all",
            "--regexp", "--append", "-h", "--help",
        ]),
        (Text, &["-t", "--type", "--default", "--comment", "--value", "--url"]),
        (MaybeText, &["--no-type"]),
        (Writes, &["-f", "--file"]),
        (Text, &["--blob"]),
    ],
    operands: Operands::Settings,
    ..PLAIN
};

/// Talks to another repository. An option or the URL may name a program for that.
const TRANSPORT: Program = Program {
    names: &["fetch", "push", "ls-remote"],
    options: &[
        (Flag, SHARED),
        (Text, SHARED_TEXTS),
        (Flag, &[
            "--atomic", "--append", "--refetch", "--multiple", "--prune-tags", "--update-head-ok",
            "--update-shallow", "--verify-signatures", "--no-force-with-lease", "--no-signed",
            "--thin", "--no-thin", "--get-url", "--refs", "--exit-code", "-P",
            "--no-write-fetch-head", "--write-fetch-head",
        ]),
        (MaybeText, &["--force-with-lease", "--recurse-submodules", "--signed", "--color"]),
        (Text, &["--push-option", "--repo", "--refmap", "--negotiation-tip", "--server-option"]),
        (UnclearValue, &["--upload-pack", "--receive-pack", "--exec"]),
    ],
    operands: Operands::Remotes,
    ..PLAIN
};

/// The message may be read from a file, which is then shown.
const COMMIT: Program = Program {
    names: &["commit"],
    options: &[
        (Flag, &[
            "-a", "--all", "-q", "--quiet", "--amend", "--no-edit", "-e", "--edit", "-n",
            "--no-verify", "--verify", "-s", "--signoff", "--allow-empty", "--allow-empty-message",
            "--dry-run", "--short", "--branch", "--porcelain", "--long", "-z", "--null",
            "--reset-author", "-i", "--include", "-o", "--only", "--status", "--no-status",
            "--no-gpg-sign", "--no-signoff",
        ]),
        (MaybeText, &["-S", "--gpg-sign", "-u", "--untracked-files"]),
        (Text, &[
            "-m", "--message", "-C", "--reuse-message", "-c", "--reedit-message", "--fixup",
            "--squash", "--author", "--date", "--cleanup", "--trailer",
        ]),
        (Shows, &["-p", "--patch", "-v", "--verbose"]),
        (Reads, &["-F", "--file", "-t", "--template"]),
        (ListedIn, &["--pathspec-from-file"]),
        (Flag, &["--pathspec-file-nul"]),
    ],
    operands: Operands::Named(Use::Reads),
    ..PLAIN
};

const STATUS: Program = Program {
    names: &["status", "check-ignore", "ls-tree", "check-attr"],
    options: &[
        (Flag, &[
            "-s", "--short", "-b", "--branch", "--show-stash", "--long", "-z", "-r", "-t", "-d",
            "-l", "--name-only", "--full-tree", "--ahead-behind", "--no-ahead-behind", "--renames",
            "--no-renames", "--no-optional-locks", "-a", "-n",
        ]),
        (Shows, &["-v", "--verbose"]),
        (MaybeText, &[
            "--porcelain", "-u", "--untracked-files", "--ignored", "--column", "--abbrev",
            "--ignore-submodules", "--find-renames",
        ]),
    ],
    operands: Operands::Named(Use::Reads),
    ..PLAIN
};

const LS_FILES: Program = Program {
    names: &["ls-files"],
    options: &[
        (Flag, &[
            "-c", "--cached", "-d", "--deleted", "-m", "--modified", "-o", "--others", "-i",
            "--ignored", "-s", "--stage", "-u", "--unmerged", "-k", "--killed", "-z", "-t", "-v",
            "-f", "--full-name", "--exclude-standard", "--error-unmatch", "--deduplicate",
            "--directory", "--eol",
        ]),
        (Text, &["-x", "--exclude", "--format", "--abbrev"]),
        (Reads, &["-X", "--exclude-from", "--exclude-per-directory"]),
    ],
    operands: Operands::Pathspecs(Use::Reads),
    ..PLAIN
};

/// Puts files of other commits into the working tree.
const CHECKOUT: Program = Program {
    names: &[
        "checkout", "restore", "switch", "reset", "merge", "pull", "rebase", "cherry-pick",
        "revert", "checkout-index", "read-tree", "sparse-checkout",
    ],
    options: &[
        (Flag, SHARED),
        (Text, SHARED_TEXTS),
        PATCHES,
        // Creates a branch from the current commit.
        (Names, &["-b", "-B", "-c", "-C"]),
        (MaybeText, &["--conflict", "--gpg-sign", "--recurse-submodules"]),
        (ListedIn, &["--pathspec-from-file"]),
        (UnclearValue, &["-x", "--exec"]),
    ],
    operands: Operands::Restored,
    links: Links::Always,
    ..PLAIN
};

const STASH: Program = Program {
    names: &["stash"],
    options: STASHED,
    operands: Operands::Restored,
    links: Links::Always,
    subcommands: &[
        Program { names: &["drop", "clear"], options: &[(Flag, &["-q", "--quiet"])], ..PLAIN },
        Program { names: &["list"], operands: Operands::Log, ..HISTORY },
        Program { names: &["show"], ..HISTORY },
        Program {
            names: &["push", "save", "pop", "apply", "branch", "create", "store"],
            options: STASHED,
            operands: Operands::Restored,
            links: Links::Always,
            ..PLAIN
        },
    ],
    ..PLAIN
};

const STASHED: &[(Takes, &[&str])] = &[(Flag, SHARED), (Text, SHARED_TEXTS), PATCHES];

const ADD: Program = Program {
    names: &["add", "stage"],
    options: &[(Flag, SHARED), (Text, &["--chmod"]), (ListedIn, &["--pathspec-from-file"])],
    operands: Operands::Named(Use::Reads),
    ..PLAIN
};

const RM: Program = Program {
    names: &["rm", "clean"],
    options: &[
        (Flag, &[
            "-q", "--quiet", "-n", "--dry-run", "-f", "--force", "-d", "-x", "-X", "-i", "-r",
            "--ignore-unmatch", "--sparse", "-ff",
        ]),
        (Takes::OnlyReads, &["--cached"]),
        (Text, &["-e", "--exclude"]),
        (ListedIn, &["--pathspec-from-file"]),
    ],
    operands: Operands::Pathspecs(Use::Puts),
    ..PLAIN
};

const MV: Program = Program {
    names: &["mv"],
    options: &[(Flag, &["-f", "--force", "-k", "-n", "--dry-run", "-v", "--verbose"])],
    operands: Operands::FilesThenDestination(Use::Writes),
    descends: true,
    links: Links::Always,
    ..PLAIN
};

const BLAME: Program = Program {
    names: &["blame", "annotate", "praise"],
    options: &[
        (Flag, &[
            "-b", "--root", "--show-stats", "-l", "-t", "-p", "--porcelain", "--line-porcelain",
            "--incremental", "-c", "-f", "-n", "-s", "-e", "-w", "--show-name", "--show-number",
            "--show-email",
        ]),
        (MaybeText, &["-M", "-C", "--color-lines"]),
        (Text, &["-L", "--since", "--date", "--reverse", "--abbrev", "--ignore-rev"]),
        (Reads, &["--contents", "-S", "--ignore-revs-file"]),
    ],
    operands: Operands::Named(Use::Reads),
    ..PLAIN
};

/// Takes a tree or a blob by its name, and shows all of it.
const OBJECTS: Program = Program {
    names: &[
        "format-patch", "cat-file", "archive", "fast-export", "bundle", "hash-object",
        "unpack-file",
    ],
    operands: Operands::Unclear,
    options: &[(Flag, &["-p", "-t", "-s", "-e"])],
    ..PLAIN
};

/// Unpacks a whole working tree.
const CLONE: Program = Program {
    names: &["clone"],
    options: &[
        (Flag, SHARED),
        (Text, SHARED_TEXTS),
        (Text, &["-b"]),
        (UnclearValue, &[
            "-c", "--config", "--upload-pack", "--template", "--reference", "--separate-git-dir",
        ]),
    ],
    operands: Operands::Cloned,
    links: Links::Always,
    ..PLAIN
};

const WORKTREE: Program = Program {
    names: &[
        "worktree", "submodule", "apply", "am", "subtree", "lfs", "update-index", "bisect",
        "filter-branch", "difftool", "mergetool",
    ],
    operands: Operands::Unclear,
    links: Links::Always,
    ..PLAIN
};

const GIT: Program = Program {
    names: &["git"],
    options: &[
        (Flag, &[
            "--no-pager", "-P", "-p", "--paginate", "--version", "-v", "--help", "-h", "--bare",
            "--no-replace-objects", "--literal-pathspecs", "--no-optional-locks", "--no-advice",
        ]),
        (Within, &["-C"]),
        (UnclearValue, &[
            "-c", "--config-env", "--exec-path", "--git-dir", "--work-tree", "--namespace",
        ]),
    ],
    style: Style::Leading,
    subcommands: &[
        LOG, DIFF, SHOW, GREP, NAMES, CONFIG, TRANSPORT, COMMIT, STATUS, LS_FILES, CHECKOUT, STASH, ADD, RM,
        MV, BLAME,
        OBJECTS, CLONE, WORKTREE,
    ],
    ..PLAIN
};

pub(super) const PROGRAMS: &[Program] = &[GIT];
