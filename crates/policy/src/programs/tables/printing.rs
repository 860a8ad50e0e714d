//! Programs that turn documents and pictures into others.

use super::super::{
    Operands, PLAIN, Program, Style,
    Takes::{Flag, Reads, Text, Writes},
    Use,
};

const PANDOC: Program = Program {
    names: &["pandoc"],
    options: &[
        (Flag, &["-s", "--standalone", "--toc", "-N", "--quiet"]),
        (Text, &["-f", "--from", "-t", "--to", "-M", "--metadata", "-V", "--variable", "--wrap"]),
        (Reads, &["--template", "-c", "--css", "-H", "-B", "-A", "--bibliography"]),
        (Writes, &["-o", "--output"]),
    ],
    operands: Operands::Files(Use::Reads),
    ..PLAIN
};

const PDFTOTEXT: Program = Program {
    names: &["pdftotext", "ps2pdf", "pdfinfo"],
    options: &[
        (Flag, &["-layout", "-raw", "-nopgbrk", "-q", "-htmlmeta"]),
        (Text, &["-f", "-l", "-enc", "-r"]),
    ],
    operands: Operands::InThenOut,
    style: Style::SingleDash,
    ..PLAIN
};

pub(super) const PROGRAMS: &[Program] = &[PANDOC, PDFTOTEXT];
