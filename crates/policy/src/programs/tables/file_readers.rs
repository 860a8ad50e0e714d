//! Programs that read the files they are given and write only to their output.

use super::super::{
    Operands, PLAIN, Program,
    Takes::{Flag, ListedIn, MaybeReads, MaybeText, Reads, Text, Unclear, UnclearValue, Writes},
    Use,
};

const READS: Program = Program { operands: Operands::Files(Use::Reads), ..PLAIN };

const CAT: Program = Program {
    names: &[
        "cat", "tac", "nl", "rev", "fold", "expand", "unexpand", "fmt", "pr", "paste", "column",
    ],
    options: &[
        (Flag, &[
            "-A", "--show-all", "-e", "-E", "--show-ends", "-T", "--show-tabs", "-u", "-v",
            "--show-nonprinting", "--number-nonblank", "-r", "--regex", "-a", "--initial", "-x",
            "-p", "-c", "-k", "--crown-margin", "--serial", "--zero-terminated", "-z", "-J",
            "--json", "--table", "--help", "--version", "-#",
        ]),
        (MaybeText, &["-t", "-n", "--number", "-s", "--squeeze-blank", "-b", "--before"]),
        (Text, &[
            "-w", "--width", "-l", "-i", "-h", "-d", "--delimiters", "--tabs", "--separator", "-f",
            "-N", "-o", "--output-separator", "--body-numbering", "--header-numbering",
            "--footer-numbering", "--line-increment", "--number-format", "--number-separator",
            "--number-width", "--starting-line-number", "--section-delimiter", "--join-blank-lines",
            "--columns", "--table-columns", "--header", "--prefix", "--goal", "-g",
        ]),
    ],
    ..READS
};

const HEAD: Program = Program {
    names: &["head", "tail"],
    options: &[
        (Flag, &[
            "-q", "--quiet", "--silent", "-v", "--verbose", "-z", "--zero-terminated", "-f", "-F",
            "--retry", "--debug", "-r", "--help", "--version", "-#",
        ]),
        (MaybeText, &["--follow"]),
        (Text, &[
            "-n", "--lines", "-c", "--bytes", "-s", "--sleep-interval", "--pid",
            "--max-unchanged-stats",
        ]),
    ],
    ..READS
};

const WC: Program = Program {
    names: &["wc"],
    options: &[
        (Flag, &[
            "-c", "--bytes", "-m", "--chars", "-l", "--lines", "-L", "--max-line-length", "-w",
            "--words", "--debug", "--help", "--version",
        ]),
        (Text, &["--total"]),
        (ListedIn, &["--files0-from"]),
    ],
    ..READS
};

const SUMS: Program = Program {
    names: &[
        "md5sum", "sha1sum", "sha224sum", "sha256sum", "sha384sum", "sha512sum", "b2sum", "cksum",
        "sum", "shasum", "md5", "b3sum",
    ],
    options: &[
        (Flag, &[
            "-b", "--binary", "--tag", "-t", "--text", "-z", "--zero", "--ignore-missing",
            "--quiet", "--status", "--strict", "-w", "--warn", "--raw", "--base64", "--untagged",
            "--debug", "-r", "-s", "--sysv", "-q", "--help", "--version",
        ]),
        (Text, &["-l", "--length", "-a", "--algorithm"]),
        // The file contains names of other files.
        (Unclear, &["-c", "--check"]),
    ],
    ..READS
};

const CUT: Program = Program {
    names: &["cut"],
    options: &[
        (Flag, &[
            "-n", "--complement", "-s", "--only-delimited", "-z", "--zero-terminated", "--help",
        ]),
        (Text, &[
            "-b", "--bytes", "-c", "--characters", "-d", "--delimiter", "-f", "--fields",
            "--output-delimiter",
        ]),
    ],
    ..READS
};

const JOIN: Program = Program {
    names: &["join", "tsort"],
    options: &[
        (Flag, &["-i", "--ignore-case", "--check-order", "--nocheck-order", "--header", "-z"]),
        (Text, &["-a", "-e", "-j", "-o", "-t", "-v", "-1", "-2"]),
    ],
    ..READS
};

const STAT: Program = Program {
    names: &["stat", "readlink", "realpath", "namei", "lsattr", "getfacl", "getfattr", "pathchk"],
    options: &[
        (Flag, &[
            "-L", "--dereference", "--file-system", "-t", "--terse", "-e",
            "--canonicalize-existing", "-m", "--canonicalize-missing", "--canonicalize", "-n",
            "--no-newline", "-q", "--quiet", "-s", "--strip", "--no-symlinks", "-v", "--verbose",
            "-z", "--zero", "-P", "--physical", "--logical", "--silent", "-l", "-x", "-p", "--help",
            "--version", "-F",
        ]),
        // Some versions take a format here, others no value.
        (MaybeText, &["-f", "--cached"]),
        (Text, &["-c", "--format", "--printf"]),
        (Reads, &["--relative-to", "--relative-base"]),
        (Unclear, &["-R", "-d"]),
    ],
    ..READS
};

const DUMPS: Program = Program {
    names: &["od", "hexdump", "hd", "strings", "nm", "objdump", "readelf", "size", "ldd"],
    options: &[
        (Flag, &[
            "-a", "--all", "-b", "-c", "-d", "-f", "--print-file-name", "-h", "-i", "-l", "-o",
            "-r", "-x", "-v", "--output-duplicates", "--traditional", "-C", "--canonical",
            "--include-all-whitespace", "-D", "-T", "-g", "-u", "-V", "--version", "--help", "-p",
            "-S", "-W", "--demangle", "-#",
        ]),
        (MaybeText, &["-w", "--width", "--strings"]),
        (Text, &[
            "-A", "--address-radix", "-j", "--skip-bytes", "-N", "--read-bytes", "-t", "--format",
            "--endian", "-n", "--bytes", "--length", "-s", "--skip", "-e", "--encoding", "--radix",
            "--target", "--output-separator",
        ]),
        (Reads, &["--format-file"]),
    ],
    ..READS
};

const BASE64: Program = Program {
    names: &["base64", "base32", "basenc"],
    options: &[
        (Flag, &[
            "-d", "-D", "--decode", "--ignore-garbage", "--base64", "--base64url", "--base32",
            "--base16", "--z85", "--help", "--version",
        ]),
        (Text, &["-w", "--wrap", "-b", "--break"]),
        // On some systems `-i` and `-o` name files.
        (MaybeReads, &["-i"]),
        (Reads, &["--input"]),
        (Writes, &["-o", "--output"]),
    ],
    ..READS
};

const FILE: Program = Program {
    names: &["file"],
    options: &[
        (Flag, &[
            "-v", "--version", "-b", "--brief", "-c", "--checking-printout", "-E", "-h",
            "--no-dereference", "-i", "--mime", "--mime-type", "--mime-encoding", "-I", "-k",
            "--keep-going", "-L", "--dereference", "-l", "--list", "-n", "--no-buffer", "-N",
            "--no-pad", "-p", "--preserve-date", "-r", "--raw", "-s", "--special-files", "-S",
            "--no-sandbox", "-0", "--print0", "-d", "--debug", "--apple", "--extension", "--help",
            "-z", "-Z",
        ]),
        (Text, &["-e", "--exclude", "--exclude-quiet", "-F", "--separator", "-P", "--parameter"]),
        (Reads, &["-m", "--magic-file"]),
        (ListedIn, &["-f", "--files-from"]),
        (Unclear, &["-C", "--compile", "--uncompress", "--uncompress-noreport"]),
    ],
    ..READS
};

const PAGERS: Program = Program {
    names: &["less", "more", "most"],
    options: &[
        (Flag, &[
            "-N", "-n", "-S", "-R", "-r", "-F", "-X", "-E", "-e", "-i", "-I", "-M", "-m", "-q",
            "-Q", "-s", "-u", "-g", "-f", "-d", "-p", "-c", "-l", "-#", "--help", "--version",
        ]),
        (Writes, &["-o", "-O", "--log-file", "--LOG-FILE"]),
        (UnclearValue, &["-k", "-T", "-t", "--lesskey-file", "--tag"]),
    ],
    ..READS
};

const XXD: Program = Program {
    names: &["xxd"],
    options: &[
        (Flag, &[
            "-a", "-autoskip", "-b", "-bits", "-C", "-capitalize", "-d", "-e", "-E", "-i",
            "-include", "-p", "-ps", "-plain", "-postscript", "-r", "-revert", "-u", "-uppercase",
            "-v", "-version", "-h", "-help", "-t",
        ]),
        (Text, &[
            "-c", "-cols", "-g", "-groupsize", "-l", "-len", "-n", "-name", "-o", "-offset", "-s",
            "-seek", "-R",
        ]),
    ],
    operands: Operands::InThenOut,
    ..PLAIN
};

pub(super) const PROGRAMS: &[Program] =
    &[CAT, HEAD, WC, SUMS, CUT, JOIN, STAT, DUMPS, BASE64, FILE, PAGERS, XXD];
