//! Programs that search files and directories.

use super::super::{
    Links, Operands, PLAIN, Program, Style,
    Takes::{
        Command, Descends, DescendsFollowing, DescendsUnless, Flag, Follows, ListedIn, MaybeText,
        NoPattern, OnlyReads, Pattern, PatternsIn, Reads, Rewrites, Text, Unclear, UnclearValue,
        Writes, WritesThenText,
    },
    Use,
};

const GREP: Program = Program {
    names: &["grep", "egrep", "fgrep"],
    options: &[
        (Flag, &[
            "-E", "--extended-regexp", "-F", "--fixed-strings", "-G", "--basic-regexp", "-P",
            "--perl-regexp", "-i", "--ignore-case", "-y", "--no-ignore-case", "-w", "--word-regexp",
            "-x", "--line-regexp", "-z", "--null-data", "-s", "--no-messages", "-v",
            "--invert-match", "-V", "--version", "--help", "-b", "--byte-offset", "-n",
            "--line-number", "--line-buffered", "-H", "--with-filename", "-h", "--no-filename",
            "-o", "--only-matching", "-q", "--quiet", "--silent", "-a", "--text", "-I", "-L",
            "--files-without-match", "-l", "--files-with-matches", "-c", "--count", "-T",
            "--initial-tab", "-Z", "--null", "-U", "--binary", "-u", "--unix-byte-offsets",
            "--no-group-separator", "-#",
        ]),
        (Text, &[
            "-A", "--after-context", "-B", "--before-context", "-C", "--context", "-m",
            "--max-count", "--label", "--binary-files", "--include", "--exclude", "--exclude-dir",
            "-D", "--devices", "--group-separator",
        ]),
        (MaybeText, &["--color", "--colour"]),
        (DescendsUnless(&["read", "skip"]), &["-d", "--directories"]),
        (Descends, &["-r", "--recursive"]),
        (DescendsFollowing, &["-R", "--dereference-recursive"]),
        (Pattern, &["-e", "--regexp"]),
        (PatternsIn, &["-f", "--file"]),
        (Reads, &["--exclude-from"]),
    ],
    operands: Operands::PatternThenFiles(Use::Reads),
    ..PLAIN
};

const ZGREP: Program =
    Program { names: &["zgrep", "zegrep", "zfgrep", "bzgrep", "xzgrep"], ..GREP };

const RIPGREP: Program = Program {
    names: &["rg", "ripgrep"],
    options: &[
        (Flag, &[
            "-n", "--line-number", "-N", "--no-line-number", "-i", "--ignore-case", "-S",
            "--smart-case", "-s", "--case-sensitive", "-F", "--fixed-strings", "-P", "--pcre2",
            "-w", "--word-regexp", "-x", "--line-regexp", "-v", "--invert-match", "-c", "--count",
            "--count-matches", "-l", "--files-with-matches", "--files-without-match", "-o",
            "--only-matching", "-U", "--multiline", "--multiline-dotall", "-a", "--text", "-H",
            "--with-filename", "-I", "--no-filename", "-h", "--help", "-V", "--version", "--hidden",
            "-.", "--no-hidden", "--no-ignore", "--no-ignore-vcs", "--no-ignore-parent",
            "--no-ignore-global", "--no-ignore-dot", "-u", "--unrestricted", "--json", "--vimgrep",
            "-q", "--quiet", "--column", "--no-column", "--heading", "--no-heading", "-0", "--null",
            "--null-data", "--stats", "--trim", "-p", "--pretty", "--passthru", "--passthrough",
            "--crlf", "--binary", "--no-messages", "--no-config", "--line-buffered",
            "--block-buffered", "--one-file-system", "--type-list", "--glob-case-insensitive",
            "--debug", "--trace", "-b", "--byte-offset", "--no-mmap", "--mmap", "--no-unicode",
            "--sort-files", "--no-follow", "--max-columns-preview", "--no-require-git",
            "--auto-hybrid-regex", "--include-zero",
        ]),
        (Text, &[
            "-A", "--after-context", "-B", "--before-context", "-C", "--context", "-m",
            "--max-count", "-g", "--glob", "--iglob", "-t", "--type", "-T", "--type-not", "-j",
            "--threads", "-M", "--max-columns", "--max-depth", "-d", "--maxdepth", "--max-filesize",
            "--sort", "--sortr", "--color", "--colors", "-E", "--encoding", "-r", "--replace",
            "--engine", "--context-separator", "--field-match-separator",
            "--field-context-separator", "--type-add", "--type-clear", "--regex-size-limit",
            "--dfa-size-limit", "--path-separator", "--hyperlink-format",
        ]),
        (Follows, &["-L", "--follow"]),
        (Pattern, &["-e", "--regexp"]),
        (PatternsIn, &["-f", "--file"]),
        (Reads, &["--ignore-file"]),
        // It lists files instead, so the first operand is a path.
        (NoPattern, &["--files"]),
        (Unclear, &["-z", "--search-zip"]),
        (UnclearValue, &["--pre", "--pre-glob", "--hostname-bin"]),
    ],
    operands: Operands::PatternThenFiles(Use::Reads),
    style: Style::Whole,
    descends: true,
    ..PLAIN
};

const AG: Program = Program {
    names: &["ag"],
    options: &[
        (Flag, &[
            "-i", "--ignore-case", "-S", "--smart-case", "-s", "--case-sensitive", "-l",
            "--files-with-matches", "-L", "--files-without-matches", "-c", "--count", "-Q",
            "--literal", "-F", "--fixed-strings", "-w", "--word-regexp", "-v", "--invert-match",
            "--hidden", "-a", "--all-types", "-u", "--unrestricted", "-U", "--skip-vcs-ignores",
            "-t", "--all-text", "--nocolor", "--color", "--nogroup", "--group", "--noheading",
            "--heading", "--column", "--numbers", "--nonumbers", "-o", "--only-matching", "-r",
            "--recurse", "-n", "--norecurse", "-z", "--search-zip", "--stats", "--vimgrep",
            "--ackmate", "-0", "--null", "--print0", "--js", "--ts", "--python", "--rust", "--go",
            "--java", "--ruby", "--php", "--css", "--html", "--json", "--help", "--version",
        ]),
        (Text, &[
            "-A", "--after", "-B", "--before", "-C", "--context", "-m", "--max-count", "--depth",
            "--ignore", "--ignore-dir", "-G", "--file-search-regex", "-W", "--width", "--workers",
        ]),
        (Follows, &["-f", "--follow"]),
        (Pattern, &["-g"]),
        (Reads, &["-p", "--path-to-ignore"]),
        (UnclearValue, &["--pager"]),
    ],
    operands: Operands::PatternThenFiles(Use::Reads),
    style: Style::Whole,
    descends: true,
    ..PLAIN
};

const ACK: Program = Program {
    names: &["ack", "ack-grep", "ugrep"],
    options: &[
        (Flag, &[
            "-i", "--ignore-case", "-w", "--word-regexp", "-v", "--invert-match", "-l",
            "--files-with-matches", "-c", "--count", "-h", "--no-filename", "-H", "--with-filename",
            "-n", "-o", "-Q", "--literal", "-r", "-R", "--recurse", "--nocolor", "--color",
            "--nogroup", "--group", "--column", "--js", "--ts", "--python", "--rust", "--go",
            "--help", "--version",
        ]),
        (Text, &[
            "-A", "--after-context", "-B", "--before-context", "-C", "--context", "-m",
            "--max-count", "--type", "--ignore-dir", "--ignore-file",
        ]),
        (NoPattern, &["-f"]),
        (Pattern, &["-g", "-e"]),
        (Follows, &["--follow"]),
        (ListedIn, &["--files-from"]),
        (Unclear, &["-x"]),
        (UnclearValue, &["--pager", "--ackrc", "--output"]),
    ],
    operands: Operands::PatternThenFiles(Use::Reads),
    style: Style::Whole,
    descends: true,
    ..PLAIN
};

const FIND: Program = Program {
    names: &["find"],
    options: &[
        (Flag, &[
            "-P", "-H", "-a", "-and", "-o", "-or", "-not", "-true", "-false", "-print", "-print0",
            "-prune", "-quit", "-ls", "-empty", "-depth", "-d", "-xdev", "-mount", "-nouser",
            "-nogroup", "-daystart", "-noleaf", "-readable", "-writable", "-executable", "-warn",
            "-nowarn", "-ignore_readdir_race", "-noignore_readdir_race", "-help", "-version", "-O0",
            "-O1", "-O2", "-O3",
        ]),
        (Text, &[
            "-name", "-iname", "-path", "-ipath", "-wholename", "-iwholename", "-regex", "-iregex",
            "-regextype", "-lname", "-ilname", "-type", "-xtype", "-size", "-mtime", "-atime",
            "-ctime", "-mmin", "-amin", "-cmin", "-used", "-newermt", "-newerat", "-newerct",
            "-newerBt", "-perm", "-user", "-group", "-uid", "-gid", "-maxdepth", "-mindepth",
            "-links", "-inum", "-fstype", "-printf", "-context", "-D",
        ]),
        (Reads, &["-newer", "-anewer", "-cnewer", "-newermm", "-neweram", "-newercm", "-samefile"]),
        (Follows, &["-L", "-follow"]),
        (Rewrites, &["-delete"]),
        (Writes, &["-fprint", "-fprint0", "-fls"]),
        (WritesThenText, &["-fprintf"]),
        (ListedIn, &["-files0-from"]),
        (Command, &["-exec", "-execdir", "-ok", "-okdir"]),
    ],
    operands: Operands::StartingPoints,
    style: Style::SingleDash,
    descends: true,
    links: Links::Never,
    ..PLAIN
};

const FD: Program = Program {
    names: &["fd", "fdfind"],
    options: &[
        (Flag, &[
            "-H", "--hidden", "-I", "--no-ignore", "-u", "--unrestricted", "--no-ignore-vcs", "-s",
            "--case-sensitive", "-i", "--ignore-case", "-g", "--glob", "--regex", "-F",
            "--fixed-strings", "-a", "--absolute-path", "-p", "--full-path", "-0", "--print0", "-l",
            "--list-details", "-1", "-q", "--quiet", "--prune", "--one-file-system",
            "--strip-cwd-prefix", "-h", "--help", "-V", "--version", "--show-errors",
        ]),
        (Text, &[
            "-t", "--type", "-e", "--extension", "-E", "--exclude", "-d", "--max-depth",
            "--min-depth", "--exact-depth", "-S", "--size", "--changed-within", "--changed-before",
            "-o", "--owner", "-c", "--color", "-j", "--threads", "--max-results",
            "--path-separator", "--and", "--format",
        ]),
        (Follows, &["-L", "--follow"]),
        (Reads, &["--ignore-file"]),
        (UnclearValue, &[
            "-x", "--exec", "-X", "--exec-batch", "-C", "--base-directory", "--search-path",
        ]),
    ],
    operands: Operands::PatternThenFiles(Use::Reads),
    style: Style::Whole,
    descends: true,
    ..PLAIN
};

const LOCATE: Program = Program {
    names: &["locate", "which", "whereis", "type", "mdfind"],
    options: &[(Flag, &["-a", "-p", "-P", "-t", "-f", "-b", "-m", "-s", "-i", "-c", "-l"])],
    ..PLAIN
};

const LS: Program = Program {
    names: &["ls", "dir", "vdir", "exa", "eza", "lsd", "ll"],
    options: &[
        (Flag, &[
            "-a", "--all", "-A", "--almost-all", "--author", "-b", "--escape", "-B",
            "--ignore-backups", "-c", "-C", "-d", "--directory", "-D", "--dired", "-f", "-F",
            "--file-type", "--full-time", "-g", "--group-directories-first", "-G", "--no-group",
            "-h", "--human-readable", "--si", "-H", "--dereference-command-line",
            "--dereference-command-line-symlink-to-dir", "-i", "--inode", "-k", "--kibibytes", "-l",
            "--long", "-m", "-n", "--numeric-uid-gid", "-N", "--literal", "-o", "-p", "-q",
            "--hide-control-chars", "--show-control-chars", "-Q", "--quote-name", "-r", "--reverse",
            "-s", "--size", "-S", "-t", "-u", "-U", "-v", "-x", "-X", "-Z", "--context", "-1",
            "--zero", "--help", "--version", "--git", "--icons", "--no-permissions", "-@",
        ]),
        (MaybeText, &["--color", "--colour", "--hyperlink", "--classify"]),
        (Text, &[
            "--block-size", "--format", "--hide", "--indicator-style", "-I", "--ignore",
            "--quoting-style", "--sort", "--time", "--time-style", "-T", "--tabsize", "-w",
            "--width", "--level",
        ]),
        (Descends, &["-R", "--recursive", "--tree", "--recurse"]),
        (Follows, &["-L", "--dereference"]),
    ],
    operands: Operands::Files(Use::Reads),
    here: true,
    ..PLAIN
};

const TREE: Program = Program {
    names: &["tree"],
    options: &[
        (Flag, &[
            "-a", "-d", "-f", "-x", "-i", "-A", "-S", "-q", "-N", "-Q", "-p", "-u", "-g", "-s",
            "-h", "--si", "--du", "-D", "-F", "--inodes", "--device", "-v", "-t", "-c", "-U", "-r",
            "--dirsfirst", "--filesfirst", "-n", "-C", "-J", "-X", "--noreport", "--prune",
            "--matchdirs", "--ignore-case", "--gitignore", "--metafirst", "--nolinks", "--help",
            "--version",
        ]),
        (Text, &["-L", "-P", "-I", "--filelimit", "--timefmt", "--charset", "--sort", "-T", "-H"]),
        (Follows, &["-l"]),
        (Reads, &["--gitfile", "--infofile"]),
        (Writes, &["-o"]),
        (ListedIn, &["--fromfile", "--fromtabfile"]),
        (Unclear, &["-R", "--info"]),
    ],
    operands: Operands::Files(Use::Reads),
    style: Style::Whole,
    descends: true,
    here: true,
    ..PLAIN
};

const DU: Program = Program {
    names: &["du"],
    options: &[
        (Flag, &[
            "-0", "--null", "--apparent-size", "-b", "--bytes", "-c", "--total", "-D",
            "--dereference-args", "-H", "-h", "--human-readable", "--inodes", "-k", "-l",
            "--count-links", "-m", "-P", "--no-dereference", "-S", "--separate-dirs", "--si", "-s",
            "--summarize", "-x", "--one-file-system", "--help", "--version",
        ]),
        (Text, &[
            "-B", "--block-size", "-d", "--max-depth", "-t", "--threshold", "--exclude",
            "--time-style",
        ]),
        (MaybeText, &["--time"]),
        (Descends, &["-a", "--all"]),
        (Follows, &["-L", "--dereference"]),
        (Reads, &["-X", "--exclude-from"]),
        (ListedIn, &["--files0-from"]),
    ],
    operands: Operands::Files(Use::Reads),
    here: true,
    ..PLAIN
};

const DIFF: Program = Program {
    names: &["diff", "colordiff", "diff3", "sdiff"],
    options: &[
        (Flag, &[
            "--normal", "-q", "--brief", "-s", "--report-identical-files", "-c", "-u", "-e", "--ed",
            "-n", "--rcs", "-y", "--side-by-side", "--left-column", "--suppress-common-lines", "-p",
            "--show-c-function", "-t", "--expand-tabs", "-T", "--initial-tab", "-l", "--paginate",
            "--no-dereference", "-N", "--new-file", "--unidirectional-new-file",
            "--ignore-file-name-case", "--no-ignore-file-name-case", "-i", "--ignore-case", "-E",
            "--ignore-tab-expansion", "-Z", "--ignore-trailing-space", "-b",
            "--ignore-space-change", "-w", "--ignore-all-space", "-B", "--ignore-blank-lines", "-a",
            "--text", "--strip-trailing-cr", "-d", "--minimal", "--speed-large-files", "--help",
            "-v", "--version", "-#",
        ]),
        (MaybeText, &["--context", "--unified", "--color"]),
        (Text, &[
            "-C", "-U", "--label", "-L", "-W", "--width", "--tabsize", "-x", "--exclude", "-S",
            "--starting-file", "-I", "--ignore-matching-lines", "-F", "--show-function-line", "-D",
            "--ifdef", "--GTYPE-group-format", "--line-format", "--old-line-format",
            "--new-line-format", "--unchanged-line-format", "--old-group-format",
            "--new-group-format", "--unchanged-group-format", "--changed-group-format", "--palette",
            "--horizon-lines",
        ]),
        // It follows links while it descends.
        (DescendsFollowing, &["-r", "--recursive"]),
        (Reads, &["--from-file", "--to-file", "-X", "--exclude-from"]),
        (Writes, &["-o", "--output"]),
        (UnclearValue, &["--diff-program", "--merge"]),
    ],
    operands: Operands::Files(Use::Reads),
    // It compares two directories file by file.
    descends: true,
    ..PLAIN
};

const CMP: Program = Program {
    names: &["cmp", "comm"],
    options: &[
        (Flag, &[
            "-b", "--print-bytes", "-l", "--verbose", "-s", "--quiet", "--silent", "-1", "-2", "-3",
            "--check-order", "--nocheck-order", "--total", "-z", "--zero-terminated", "--help",
            "--version", "-v",
        ]),
        (Text, &["-i", "--ignore-initial", "-n", "--bytes", "--output-delimiter"]),
    ],
    operands: Operands::Files(Use::Reads),
    ..PLAIN
};

const ONLY_SHOWN: Program = Program {
    names: &["bat", "batcat"],
    options: &[
        (Flag, &[
            "-n", "--number", "-p", "--plain", "-A", "--show-all", "-d", "--diff", "-h", "--help",
            "-V", "--version", "-L", "--list-languages", "-u", "-f", "-P", "--no-pager",
        ]),
        (Text, &[
            "-l", "--language", "-H", "--highlight-line", "-r", "--line-range", "--style",
            "--theme", "--color", "--paging", "--decorations", "--wrap", "--tabs", "--file-name",
            "--terminal-width",
        ]),
        (UnclearValue, &["--pager"]),
        (OnlyReads, &["--binary"]),
    ],
    operands: Operands::Files(Use::Reads),
    style: Style::Whole,
    ..PLAIN
};

pub(super) const PROGRAMS: &[Program] =
    &[GREP, ZGREP, RIPGREP, AG, ACK, FIND, FD, LOCATE, LS, TREE, DU, DIFF, CMP, ONLY_SHOWN];
