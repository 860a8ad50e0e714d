//! Programs that copy, move or link files.

use super::super::{
    Links, Operands, PLAIN, Program, Style,
    Takes::{
        self, Descends, ExactDestination, Flag, Follows, ListedIn, MaybeText, Puts, Reads,
        Rewrites, Text, Unclear, UnclearValue, Writes,
    },
    Use,
};

const CP: Program = Program {
    names: &["cp", "gcp"],
    options: &[
        (Flag, &[
            "--attributes-only", "-b", "--copy-contents", "--debug", "-f", "--force", "-i",
            "--interactive", "-H", "-n", "--no-clobber", "-p", "--parents", "--remove-destination",
            "--strip-trailing-slashes", "-u", "-v", "--verbose", "--keep-directory-symlink", "-x",
            "--one-file-system", "-Z", "-c", "--help", "--version",
        ]),
        (MaybeText, &["--backup", "--preserve", "--reflink", "--sparse", "--update", "--context"]),
        (Text, &["--no-preserve", "-S", "--suffix"]),
        (Descends, &["-r", "-R", "--recursive", "-a", "--archive"]),
        (Follows, &["-L", "--dereference"]),
        (Takes::Links, &["-s", "--symbolic-link", "-l", "--link", "-d", "-P", "--no-dereference"]),
        (ExactDestination, &["-T", "--no-target-directory"]),
        (Puts, &["-t", "--target-directory"]),
    ],
    operands: Operands::FilesThenDestination(Use::Reads),
    links: Links::ByOption,
    ..PLAIN
};

const MV: Program = Program {
    names: &["mv", "gmv"],
    options: &[
        (Flag, &[
            "-b", "--debug", "--exchange", "-f", "--force", "-i", "--interactive", "-n",
            "--no-clobber", "--no-copy", "--strip-trailing-slashes", "-u", "-v", "--verbose", "-Z",
            "--context", "--help", "--version",
        ]),
        (MaybeText, &["--backup", "--update"]),
        (Text, &["-S", "--suffix"]),
        (ExactDestination, &["-T", "--no-target-directory"]),
        (Puts, &["-t", "--target-directory"]),
    ],
    operands: Operands::FilesThenDestination(Use::Writes),
    descends: true,
    links: Links::Always,
    ..PLAIN
};

const LN: Program = Program {
    names: &["ln", "link"],
    options: &[
        (Flag, &[
            "-b", "-d", "-F", "--directory", "-f", "--force", "-i", "--interactive", "-L",
            "--logical", "-n", "--no-dereference", "-P", "--physical", "-r", "--relative", "-s",
            "--symbolic", "-v", "--verbose", "--help", "--version",
        ]),
        (MaybeText, &["--backup"]),
        (Text, &["-S", "--suffix"]),
        (Flag, &["-T", "--no-target-directory"]),
        (Puts, &["-t", "--target-directory"]),
    ],
    operands: Operands::FilesThenDestination(Use::Writes),
    links: Links::Always,
    ..PLAIN
};

const INSTALL: Program = Program {
    names: &["install", "ginstall"],
    options: &[
        (Flag, &[
            "-b", "-c", "-C", "--compare", "-D", "-p", "--preserve-timestamps", "-s", "--strip",
            "-v", "--verbose", "--debug", "-Z", "--help", "--version",
        ]),
        (MaybeText, &["--backup"]),
        (Text, &["-g", "--group", "-m", "--mode", "-o", "--owner", "-S", "--suffix"]),
        (ExactDestination, &["-T", "--no-target-directory"]),
        (Puts, &["-t", "--target-directory"]),
        // All operands are directories.
        (Rewrites, &["-d", "--directory"]),
        (UnclearValue, &["--strip-program"]),
    ],
    operands: Operands::FilesThenDestination(Use::Reads),
    ..PLAIN
};

const RSYNC: Program = Program {
    names: &["rsync"],
    options: &[
        (Flag, &[
            "-v", "--verbose", "-q", "--quiet", "-c", "--checksum", "-a", "--archive", "-r",
            "--recursive", "-R", "--relative", "-b", "--backup", "-u", "--update", "--inplace",
            "-d", "--dirs", "-l", "--links", "--safe-links", "-H", "--hard-links", "-p", "--perms",
            "-E", "--executability", "-A", "--acls", "-X", "--xattrs", "-o", "--owner", "-g",
            "--group", "--devices", "--specials", "-D", "-t", "--times", "-O", "-J", "-S",
            "--sparse", "-n", "--dry-run", "-W", "--whole-file", "-x", "--one-file-system",
            "--existing", "--ignore-existing", "--delete", "--delete-before", "--delete-during",
            "--delete-after", "--delete-excluded", "--force", "--partial", "-m",
            "--prune-empty-dirs", "--numeric-ids", "-I", "--ignore-times", "--size-only", "-z",
            "--compress", "-C", "--cvs-exclude", "-0", "--stats", "-h", "--human-readable",
            "--progress", "-P", "-i", "--itemize-changes", "--list-only", "-4", "-6", "--no-perms",
            "--no-owner", "--no-group", "--help", "--version", "--mkpath",
        ]),
        (Text, &[
            "--exclude", "--include", "--max-size", "--min-size", "--timeout", "--bwlimit",
            "--chmod", "--chown", "-B", "--block-size", "--info", "--debug", "--out-format",
            "--port", "--suffix", "-M", "--modify-window",
        ]),
        (Follows, &["-L", "--copy-links", "-k", "--copy-dirlinks", "--copy-unsafe-links", "-K"]),
        (Reads, &[
            "--exclude-from", "--include-from", "--password-file", "--link-dest", "--compare-dest",
            "--copy-dest",
        ]),
        (Writes, &[
            "--log-file", "--write-batch", "--only-write-batch", "--backup-dir", "--partial-dir",
            "-T", "--temp-dir",
        ]),
        (ListedIn, &["--files-from", "--read-batch"]),
        (UnclearValue, &["-e", "--rsh", "--rsync-path", "-f", "--filter"]),
        (Unclear, &["--daemon", "-F"]),
    ],
    operands: Operands::RemoteThenDestination,
    descends: true,
    links: Links::Always,
    ..PLAIN
};

const SCP: Program = Program {
    names: &["scp"],
    options: &[
        (Flag, &[
            "-3", "-4", "-6", "-A", "-B", "-C", "-O", "-p", "-q", "-R", "-s", "-T", "-v", "-r",
        ]),
        (Text, &["-c", "-l", "-P", "-X", "-J"]),
        (Reads, &["-i"]),
        (UnclearValue, &["-F", "-o", "-S", "-D"]),
    ],
    operands: Operands::RemoteThenDestination,
    style: Style::Whole,
    descends: true,
    links: Links::Always,
    ..PLAIN
};

pub(super) const PROGRAMS: &[Program] = &[CP, MV, LN, INSTALL, RSYNC, SCP];
