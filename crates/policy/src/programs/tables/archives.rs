//! Programs that pack and unpack archives.

use super::super::{
    Links, Operands, PLAIN, Program, Style,
    Takes::{
        Archive, Descends, Extracts, Flag, Follows, ListedIn, Lists, MaybeText, OnlyReads, Puts,
        Reads, Text, Unclear, UnclearValue, WithinFromHere, Writes,
    },
    Use,
};

const TAR: Program = Program {
    names: &["tar", "gtar", "bsdtar"],
    options: &[
        (Extracts, &["-x", "--extract", "--get"]),
        (Lists, &["-t", "--list"]),
        (Flag, &[
            "-c", "--create", "-r", "--append", "-u", "--update", "-A", "--catenate",
            "--concatenate", "-d", "--diff", "--compare", "--delete", "-z", "--gzip", "--gunzip",
            "--ungzip", "-j", "--bzip2", "-J", "--xz", "--lzip", "--lzma", "--lzop", "--zstd", "-Z",
            "--compress", "-a", "--auto-compress", "--no-auto-compress", "-v", "--verbose", "-p",
            "--preserve-permissions", "--same-permissions", "--no-same-permissions", "--same-owner",
            "--no-same-owner", "-o", "-k", "--keep-old-files", "--keep-newer-files",
            "--skip-old-files", "--overwrite", "--overwrite-dir", "-U", "--unlink-first",
            "--recursive-unlink", "--remove-files", "-W", "--verify", "-m", "--touch", "-l",
            "--check-links", "--one-file-system", "--no-recursion", "--recursion",
            "--numeric-owner", "--wildcards", "--no-wildcards", "--anchored", "--no-anchored",
            "--ignore-case", "-S", "--sparse", "-R", "--block-number", "--totals", "-w",
            "--interactive", "--confirmation", "-i", "--ignore-zeros", "--null", "--exclude-vcs",
            "--exclude-vcs-ignores", "--exclude-backups", "--exclude-caches", "--acls", "--xattrs",
            "--selinux", "-B", "--read-full-records", "--show-transformed-names", "--help",
            "--version", "--no-null", "-s", "--preserve-order", "--ignore-failed-read",
        ]),
        (MaybeText, &["--checkpoint", "--atime-preserve", "--backup", "--occurrence", "--index"]),
        (Text, &[
            "--exclude", "--exclude-tag", "--exclude-ignore", "--strip-components", "--transform",
            "--xform", "--owner", "--group", "--mode", "--mtime", "-b", "--blocking-factor",
            "--record-size", "-H", "--format", "-L", "--tape-length", "-N", "--newer",
            "--after-date", "--newer-mtime", "-V", "--label", "--level", "--sort", "--suffix",
            "--warning", "-K", "--starting-file", "--pax-option", "--quoting-style",
            "--no-quote-chars", "--clamp-mtime",
        ]),
        (Archive, &["-f", "--file"]),
        (WithinFromHere, &["-C", "--directory", "--cd"]),
        (Follows, &["-h", "--dereference", "--hard-dereference"]),
        (Reads, &["-X", "--exclude-from"]),
        (Writes, &["-g", "--listed-incremental", "--index-file"]),
        (ListedIn, &["-T", "--files-from", "--add-file"]),
        (UnclearValue, &[
            "-I", "--use-compress-program", "--to-command", "--checkpoint-action", "-F",
            "--info-script", "--new-volume-script", "--rsh-command", "--rmt-command", "--owner-map",
            "--group-map", "--volno-file", "--one-top-level",
        ]),
        (OnlyReads, &["-O", "--to-stdout"]),
        (Unclear, &[
            "-P", "--absolute-names", "-M", "--multi-volume", "-G", "--incremental", "-n", "--seek",
        ]),
    ],
    operands: Operands::Members,
    style: Style::Bundled,
    descends: true,
    links: Links::ByOption,
    ..PLAIN
};

const ZIP: Program = Program {
    names: &["zip"],
    options: &[
        (Flag, &[
            "-q", "--quiet", "-v", "--verbose", "-j", "--junk-paths", "-m", "--move", "-u",
            "--update", "-f", "--freshen", "-d", "--delete", "-9", "-0", "-1", "-2", "-3", "-4",
            "-5", "-6", "-7", "-8", "-l", "-o", "-X", "--no-extra", "-D", "--no-dir-entries", "-y",
            "--symlinks", "-F", "-FF", "-e", "--encrypt", "-g", "-h",
        ]),
        // It follows links while it descends. `-x` takes words up to `@` or the end of the line.
        (super::super::Takes::DescendsFollowing, &["-r", "--recurse-paths", "-R"]),
        (ListedIn, &["-@"]),
        (Text, &["-n", "-P", "--password", "-s", "--split-size"]),
        (Reads, &["-i", "--include", "-x", "--exclude"]),
        (Writes, &["-O", "--out", "--output-file"]),
        (UnclearValue, &["-TT", "--unzip-command", "-b"]),
        (Unclear, &["-T", "--test"]),
    ],
    operands: Operands::ArchiveThenFiles,
    style: Style::Whole,
    ..PLAIN
};

const UNZIP: Program = Program {
    names: &["unzip"],
    options: &[
        (Flag, &[
            "-o", "-n", "-q", "-qq", "-a", "-aa", "-j", "-C", "-L", "-X", "-u", "-f", "-B", "-K",
            "-:",
        ]),
        (Lists, &["-l", "-v", "-t", "-z", "-Z", "-p", "-c", "-Z1"]),
        (Text, &["-x", "-P"]),
        (Puts, &["-d"]),
    ],
    operands: Operands::ExtractsFirst,
    style: Style::Whole,
    links: Links::Always,
    ..PLAIN
};

const ZIPINFO: Program = Program {
    names: &[
        "zipinfo", "zcat", "bzcat", "xzcat", "zstdcat", "gzcat", "zless", "zmore", "zdiff", "zcmp",
    ],
    options: &[(Flag, &["-1", "-l", "-h", "-t", "-v", "-f", "-q", "-c", "-u", "--help"])],
    operands: Operands::Files(Use::Reads),
    ..PLAIN
};

const GZIP: Program = Program {
    names: &[
        "gzip", "gunzip", "bzip2", "bunzip2", "xz", "unxz", "zstd", "unzstd", "lz4", "brotli",
        "compress",
    ],
    options: &[
        (Flag, &[
            "-d", "--decompress", "--uncompress", "-f", "--force", "-k", "--keep", "-n",
            "--no-name", "-N", "--name", "-q", "--quiet", "-v", "--verbose", "-1", "-2", "-3", "-4",
            "-5", "-6", "-7", "-8", "-9", "-0", "-e", "--extreme", "--fast", "--best", "-z",
            "--compress", "--rsyncable", "--rm", "--ultra", "-s", "--help", "-h", "-V", "--version",
            "-#",
        ]),
        (Text, &["-S", "--suffix", "-T", "--threads", "-F", "--format", "-M", "--memlimit"]),
        (OnlyReads, &["-c", "--stdout", "--to-stdout", "-l", "--list", "-t", "--test"]),
        (Descends, &["-r", "--recursive"]),
        (Writes, &["-o"]),
        (Reads, &["-D", "--patch-from"]),
        (ListedIn, &["--files", "--files0", "--filelist"]),
    ],
    operands: Operands::Files(Use::Writes),
    ..PLAIN
};

const SEVEN_ZIP: Program = Program {
    names: &["7z", "7za", "7zr"],
    style: Style::Leading,
    operands: Operands::Unclear,
    subcommands: &[
        Program {
            names: &["l", "t"],
            operands: Operands::Files(Use::Reads),
            style: Style::Whole,
            ..PLAIN
        },
        Program {
            names: &["a", "u"],
            operands: Operands::ArchiveThenFiles,
            options: &[(Flag, &["-y", "-r"])],
            style: Style::Whole,
            descends: true,
            ..PLAIN
        },
        Program {
            names: &["x", "e"],
            operands: Operands::ExtractsFirst,
            options: &[(Flag, &["-y", "-aoa", "-aos"]), (Puts, &["-o"])],
            style: Style::Whole,
            links: Links::Always,
            ..PLAIN
        },
    ],
    ..PLAIN
};

const CPIO: Program = Program {
    names: &["cpio", "pax", "ar"],
    operands: Operands::Unclear,
    links: Links::Always,
    ..PLAIN
};

pub(super) const PROGRAMS: &[Program] = &[TAR, ZIP, UNZIP, ZIPINFO, GZIP, SEVEN_ZIP, CPIO];
