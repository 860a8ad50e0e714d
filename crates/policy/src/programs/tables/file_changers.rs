//! Programs that change the files they are given, by name.

use super::super::{
    Links, Operands, PLAIN, Program,
    Takes::{Descends, Flag, Follows, MaybeText, PatternsIn, Reads, Text, UnclearValue},
    Use,
};

const WRITES: Program = Program { operands: Operands::Files(Use::Writes), ..PLAIN };

const RM: Program = Program {
    names: &["rm", "trash", "trash-put", "rimraf"],
    options: &[
        (Flag, &[
            "-f", "--force", "-i", "-I", "--one-file-system", "--no-preserve-root", "-d", "--dir",
            "-v", "--verbose", "--help", "--version",
        ]),
        (MaybeText, &["--interactive", "--preserve-root"]),
        (Descends, &["-r", "-R", "--recursive"]),
    ],
    ..WRITES
};

const TRASH: Program = Program { names: &["rmdir", "unlink"], ..MKDIR };

const MKDIR: Program = Program {
    names: &["mkdir", "mkfifo"],
    options: &[
        (Flag, &[
            "-p", "--parents", "-v", "--verbose", "-Z", "--ignore-fail-on-non-empty", "--help",
            "--version",
        ]),
        (MaybeText, &["--context"]),
        (Text, &["-m", "--mode"]),
    ],
    ..WRITES
};

const TOUCH: Program = Program {
    names: &["touch"],
    options: &[
        (Flag, &[
            "-a", "-c", "--no-create", "-f", "-h", "--no-dereference", "-m", "--help", "--version",
        ]),
        (Text, &["-d", "--date", "-t", "--time"]),
        (Reads, &["-r", "--reference"]),
    ],
    ..WRITES
};

const TEE: Program = Program {
    names: &["tee", "sponge"],
    options: &[
        (Flag, &["-a", "--append", "-i", "--ignore-interrupts", "-p", "--help", "--version"]),
        (MaybeText, &["--output-error"]),
    ],
    ..WRITES
};

const TRUNCATE: Program = Program {
    names: &["truncate", "shred", "fallocate"],
    options: &[
        (Flag, &[
            "-c", "--no-create", "-f", "--force", "-u", "-v", "--verbose", "-x", "--exact", "-z",
            "--zero", "--io-blocks", "--help", "--version",
        ]),
        (MaybeText, &["--remove"]),
        (Text, &["-s", "--size", "-n", "--iterations", "-l", "--length", "-o", "--offset"]),
        (Reads, &["-r", "--reference", "--random-source"]),
    ],
    ..WRITES
};

const CHMOD: Program = Program {
    names: &["chmod", "chown", "chgrp", "chattr", "chflags"],
    options: &[
        (Flag, &[
            "-c",
            "--changes",
            "-f",
            "--silent",
            "--quiet",
            "-v",
            "--verbose",
            "--no-preserve-root",
            "--preserve-root",
            "--dereference",
            "-h",
            "--no-dereference",
            "-P",
            "--help",
            "--version",
            // Modes that look like options: `chmod -x file`.
            "-x",
            "-w",
            "-r",
            "-X",
            "-s",
            "-t",
            "-rw",
            "-rx",
            "-wx",
            "-rwx",
        ]),
        (Text, &["--from"]),
        (Descends, &["-R", "--recursive"]),
        (Follows, &["-L", "-H"]),
        (PatternsIn, &["--reference"]),
    ],
    operands: Operands::PatternThenFiles(Use::Writes),
    ..PLAIN
};

const SETFACL: Program = Program {
    names: &["setfacl", "setfattr"],
    options: &[
        (Flag, &["-b", "-k", "-n", "-d"]),
        (Descends, &["-R", "--recursive"]),
        (Text, &["-m", "-x", "-v"]),
        (UnclearValue, &["-M", "-X", "--restore"]),
    ],
    ..WRITES
};

const MOUNT: Program = Program {
    names: &["mount", "umount", "losetup", "bindfs"],
    options: &[(Flag, &["-r", "-w", "-v", "--bind", "--rbind", "-B", "-R"]), (Text, &["-t", "-o"])],
    operands: Operands::FilesThenDestination(Use::Writes),
    descends: true,
    links: Links::Always,
    ..PLAIN
};

const DD: Program = Program { names: &["dd"], operands: Operands::Pairs, ..PLAIN };

const PATCH: Program = Program {
    names: &["patch"],
    options: &[
        (Flag, &[
            "-b", "--backup", "-f", "--force", "-N", "--forward", "-R", "--reverse", "-s", "-t",
            "--dry-run", "-u", "-l", "-E", "-#",
        ]),
        (Text, &["-p", "--strip", "-F", "--fuzz", "-z", "-V"]),
        (Reads, &["-i", "--input"]),
        (super::super::Takes::Writes, &["-o", "--output", "-r", "--reject-file"]),
        (super::super::Takes::Within, &["-d", "--directory"]),
    ],
    operands: Operands::ExtractsFirst,
    links: Links::Always,
    ..PLAIN
};

const MKTEMP: Program = Program {
    names: &["mktemp", "tempfile"],
    options: &[
        (Flag, &["-d", "--directory", "-u", "--dry-run", "-q", "--quiet", "-t"]),
        (MaybeText, &["--tmpdir"]),
        (Text, &["--suffix"]),
        (super::super::Takes::Puts, &["-p"]),
    ],
    ..WRITES
};

const SPLIT: Program = Program {
    names: &["split", "csplit"],
    options: &[
        (Flag, &["-d", "-x", "-e", "-u", "--verbose", "-k", "-s", "-z", "-#"]),
        (MaybeText, &["--numeric-suffixes", "--hex-suffixes"]),
        (Text, &[
            "-a", "-b", "-C", "-l", "-n", "-t", "--bytes", "--lines", "--number",
            "--additional-suffix",
        ]),
        (UnclearValue, &["--filter"]),
    ],
    operands: Operands::InThenOut,
    ..PLAIN
};

const FORMATTERS: Program = Program {
    names: &["clang-format", "shfmt"],
    options: &[
        (Flag, &["-d", "-l", "-s", "--dry-run", "--Werror", "-n"]),
        (Text, &["-style", "--style", "-ln", "-bn", "-ci", "--assume-filename"]),
        (super::super::Takes::Rewrites, &["-w", "-i"]),
    ],
    operands: Operands::Files(Use::Reads),
    ..PLAIN
};

pub(super) const PROGRAMS: &[Program] = &[
    RM, TRASH, MKDIR, TOUCH, TEE, TRUNCATE, CHMOD, SETFACL, MOUNT, DD, PATCH, MKTEMP, SPLIT,
    FORMATTERS,
];
