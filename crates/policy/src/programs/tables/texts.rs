//! Programs that turn text into other text, some of them by scripts.

use super::super::{
    Language, Operands, PLAIN, Program, Style,
    Takes::{
        Flag, ListedIn, MaybeRewrites, MaybeText, MaybeWrites, NamedReads, PatternsIn, Reads,
        Rewrites, Script, Text, TwoTexts, Unclear, UnclearValue, Writes,
    },
    Use,
};

const SORT: Program = Program {
    names: &["sort", "gsort"],
    options: &[
        (Flag, &[
            "-b", "--ignore-leading-blanks", "-d", "--dictionary-order", "-f", "--ignore-case",
            "-g", "--general-numeric-sort", "-i", "--ignore-nonprinting", "-M", "--month-sort",
            "-h", "--human-numeric-sort", "-n", "--numeric-sort", "-R", "--random-sort", "-r",
            "--reverse", "-V", "--version-sort", "-c", "-C", "-m", "--merge", "-s", "--stable",
            "-u", "--unique", "-z", "--zero-terminated", "--debug", "--help", "--version",
        ]),
        (MaybeText, &["--check"]),
        (Text, &[
            "--sort", "-k", "--key", "-t", "--field-separator", "-S", "--buffer-size",
            "--batch-size", "--parallel",
        ]),
        (Reads, &["--random-source"]),
        (Writes, &["-o", "--output", "-T", "--temporary-directory"]),
        (ListedIn, &["--files0-from"]),
        (UnclearValue, &["--compress-program"]),
    ],
    operands: Operands::Files(Use::Reads),
    ..PLAIN
};

const UNIQ: Program = Program {
    names: &["uniq"],
    options: &[
        (Flag, &[
            "-c", "--count", "-d", "--repeated", "-D", "-i", "--ignore-case", "-u", "--unique",
            "-z", "--zero-terminated", "--help", "--version", "-#",
        ]),
        (MaybeText, &["--all-repeated", "--group"]),
        (Text, &["-f", "--skip-fields", "-s", "--skip-chars", "-w", "--check-chars"]),
    ],
    operands: Operands::InThenOut,
    ..PLAIN
};

const TR: Program = Program {
    names: &["tr"],
    options: &[(
        Flag,
        &[
            "-c", "-C", "--complement", "-d", "--delete", "-s", "--squeeze-repeats", "-t",
            "--truncate-set1", "--help", "--version",
        ],
    )],
    ..PLAIN
};

const SHUF: Program = Program {
    names: &["shuf"],
    options: &[
        (Flag, &["-r", "--repeat", "-z", "--zero-terminated", "-e", "--echo", "--help"]),
        (Text, &["-i", "--input-range", "-n", "--head-count"]),
        (Reads, &["--random-source"]),
        (Writes, &["-o", "--output"]),
    ],
    operands: Operands::Files(Use::Reads),
    ..PLAIN
};

const SED: Program = Program {
    names: &["sed", "gsed"],
    options: &[
        (Flag, &[
            "-n", "--quiet", "--silent", "--debug", "--follow-symlinks", "--posix", "-E", "-r",
            "--regexp-extended", "-s", "--separate", "--sandbox", "-u", "--unbuffered", "-z",
            "--null-data", "--help", "--version", "-b", "--binary",
        ]),
        (Text, &["-l", "--line-length"]),
        (Script, &["-e", "--expression"]),
        (PatternsIn, &["-f", "--file"]),
        (MaybeRewrites, &["-i", "--in-place"]),
    ],
    operands: Operands::ScriptThenFiles(Language::Sed),
    ..PLAIN
};

const AWK: Program = Program {
    names: &["awk", "gawk", "mawk", "nawk", "original-awk"],
    options: &[
        (Flag, &[
            "-b", "--characters-as-bytes", "-c", "--traditional", "-C", "--copyright", "-h",
            "--help", "-k", "--csv", "-M", "--bignum", "-n", "--non-decimal-data", "-N",
            "--use-lc-numeric", "-O", "--optimize", "-P", "--posix", "-r", "--re-interval", "-s",
            "--no-optimize", "-S", "--sandbox", "-t", "--lint-old", "-V", "--version",
        ]),
        (MaybeText, &["-L", "--lint"]),
        (Text, &["-F", "--field-separator", "-v", "--assign"]),
        (Script, &["-e", "--source"]),
        (PatternsIn, &["-f", "--file", "-E", "--exec"]),
        (MaybeWrites, &["-d", "--dump-variables", "-o", "--pretty-print", "-p", "--profile"]),
        (UnclearValue, &["-i", "--include", "-l", "--load", "-D", "--debug"]),
    ],
    operands: Operands::ScriptThenFiles(Language::Awk),
    ..PLAIN
};

const JQ: Program = Program {
    names: &["jq", "gojq", "jaq"],
    options: &[
        (Flag, &[
            "-n", "--null-input", "-R", "--raw-input", "-s", "--slurp", "-c", "--compact-output",
            "-r", "--raw-output", "--raw-output0", "-j", "--join-output", "-a", "--ascii-output",
            "-S", "--sort-keys", "-C", "--color-output", "-M", "--monochrome-output", "--tab",
            "--unbuffered", "--stream", "--stream-errors", "--seq", "-e", "--exit-status", "-V",
            "--version", "-h", "--help", "--args", "--jsonargs", "--build-configuration",
        ]),
        (Text, &["--indent"]),
        (TwoTexts, &["--arg", "--argjson"]),
        (NamedReads, &["--slurpfile", "--rawfile", "--argfile"]),
        (PatternsIn, &["-f", "--from-file"]),
        (UnclearValue, &["-L", "--library-path"]),
    ],
    operands: Operands::ScriptThenFiles(Language::Jq),
    style: Style::Whole,
    ..PLAIN
};

const YQ: Program = Program {
    names: &["yq", "xq", "tomlq"],
    options: &[
        (Flag, &[
            "-n", "--null-input", "-r", "--raw-output", "--unwrapScalar", "-C", "--colors", "-M",
            "--no-colors", "-N", "--no-doc", "-P", "--prettyPrint", "-e", "--exit-status", "-j",
            "--tojson", "-y", "--yaml-output", "-Y", "--yaml-roundtrip-output", "-c", "-s", "-S",
            "-v", "--verbose", "-V", "--version", "-h", "--help", "-t", "--toml-output", "-x",
            "--xml-output", "-a",
        ]),
        (Text, &[
            "-o", "--output-format", "-p", "--input-format", "-I", "--indent", "--width", "-w",
        ]),
        (TwoTexts, &["--arg", "--argjson"]),
        (NamedReads, &["--slurpfile", "--rawfile"]),
        (Rewrites, &["-i", "--inplace", "--in-place"]),
        (PatternsIn, &["--from-file"]),
        (UnclearValue, &["--split-exp", "--split-exp-file", "-f", "--front-matter", "-L"]),
    ],
    operands: Operands::ScriptThenFiles(Language::Jq),
    style: Style::Whole,
    ..PLAIN
};

const ICONV: Program = Program {
    names: &["iconv", "dos2unix", "unix2dos"],
    options: &[
        (Flag, &["-c", "-l", "--list", "-s", "--silent", "--verbose", "--help", "-q"]),
        (Text, &["-f", "--from-code", "-t", "--to-code"]),
        (Writes, &["-o", "--output"]),
        (Unclear, &["-n", "--newfile"]),
    ],
    operands: Operands::Files(Use::Unknown),
    ..PLAIN
};

const ENVSUBST: Program = Program {
    names: &["envsubst", "seq", "yes", "factor", "numfmt", "expr"],
    options: &[
        (Flag, &["-w", "-v", "--variables", "--version", "--help", "-#", "-l", "--mathlib"]),
        (Text, &["-s", "--separator", "-f", "--format", "--to", "--from", "--field", "-e"]),
    ],
    ..PLAIN
};

pub(super) const PROGRAMS: &[Program] = &[SORT, UNIQ, TR, SHUF, SED, AWK, JQ, YQ, ICONV, ENVSUBST];
