//! What programs do with the files they are given.
//!
//! Every program has a table of its options and operands (`tables/`). One parser reads a command by it
//! (`parser`), what its options say is collected (`collected`), its operands are taken as paths by that
//! (`operands`), and what comes out is the list of paths and how each is used (`handling`). Whatever a
//! table does not know is not understood: then the command may touch any file.

mod collected;
mod git_operands;
mod handling;
mod operands;
mod parser;
mod scripts;
mod tables;

pub(super) use handling::{Handling, handling_of, is_substitution};

use crate::shell::Word;

/// How a program uses a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// It reads what is there, or shows that it is there.
    Reads,
    /// It changes what is there.
    Writes,
    /// It puts files there whose names are known, and reads none.
    Puts,
    /// It puts files there whose names are not known: what is in an archive.
    Merges,
    /// Whatever it likes.
    Unknown,
}

impl Use {
    /// True when nothing there is changed.
    pub(super) fn only_reads(self) -> bool {
        self == Self::Reads
    }

    /// True when it is certain that something there is changed.
    pub(super) fn changes(self) -> bool {
        matches!(self, Self::Writes | Self::Puts | Self::Merges)
    }

    /// True when files are put there and none is read.
    pub(super) fn is_destination(self) -> bool {
        matches!(self, Self::Puts | Self::Merges)
    }
}

/// The table of a program, or of one of its subcommands.
#[derive(Clone, Copy, Debug)]
struct Program {
    names: &'static [&'static str],
    /// The options by what they take and do. Letters with `-`, long names with `--`; `-#` is a number.
    options: &'static [(Takes, &'static [&'static str])],
    operands: Operands,
    style: Style,
    /// True when it goes down into the directories it is given, whatever its options.
    descends: bool,
    /// The directory it works on when it is given no operand, as `ls` does.
    here: bool,
    /// Whether its destinations may lead elsewhere afterwards.
    links: Links,
    /// The first operand picks one of these.
    subcommands: &'static [Program],
}

/// What a table has where it says nothing else.
const PLAIN: Program = Program {
    names: &[],
    options: &[],
    operands: Operands::None,
    style: Style::Gnu,
    descends: false,
    here: false,
    links: Links::Never,
    subcommands: &[],
};

/// How options are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Style {
    /// Letters may be joined, long names shortened, and options stand anywhere before `--`.
    Gnu,
    /// The same, but long names are written out.
    Whole,
    /// As `Whole`, and the options end at the first operand: what follows belongs to another program.
    Leading,
    /// As `Gnu`, but the first word is joined letters without a `-`: `tar xzf a.tgz`.
    Bundled,
    /// Long names have one `-` or two, and letters are not joined: `find . -name x`.
    SingleDash,
    /// It runs the project's code. Whoever allows that allows what the code does, so its table only
    /// says what is certainly no path, and an option that is not known is nothing to ask for.
    Project,
}

/// What an option takes and does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Takes {
    /// No value; nothing about files.
    Flag,
    /// No value; makes the program go down into directories.
    Descends,
    /// No value; makes it go down into directories and leave them by links.
    DescendsFollowing,
    /// No value; links that are met on the way down are followed.
    Follows,
    /// No value; the operands are changed: `sed -i`.
    Rewrites,
    /// The same, where a value may be joined: `sed -i.bak`.
    MaybeRewrites,
    /// No value; the operands are only read: `gzip -c`.
    OnlyReads,
    /// No value; contents are shown: `git log -p`.
    Shows,
    /// The same with a value: `git log -S text`.
    ShowsValue,
    /// The same with a value that has to be joined.
    MaybeShows,
    /// No value; only names and numbers are shown: `git diff --stat`.
    Names,
    /// No value; destinations are links afterwards: `cp -s`.
    Links,
    /// No value; files come out of the archive.
    Extracts,
    /// No value; the archive is only looked at.
    Lists,
    /// No value; the last operand is no directory to put files into: `cp -T`.
    ExactDestination,
    /// No value; what is fetched is stored under the last name of its address.
    StoresByName,
    /// No value; writes files with names of the remote's choice into the directory it is in.
    PutsHere,
    /// A value that is no path.
    Text,
    /// A value that is no path, and that has to be joined.
    MaybeText,
    /// Two values that are no paths: `jq --arg name text`.
    TwoTexts,
    /// A value that decides whether it goes down into directories; these do not.
    DescendsUnless(&'static [&'static str]),
    /// A file that is read.
    Reads,
    /// A file that is read, joined to the option.
    MaybeReads,
    /// A text and a file that is read: `jq --slurpfile name file`.
    NamedReads,
    /// A file that is written.
    Writes,
    /// A file that is written, joined to the option.
    MaybeWrites,
    /// A file that is written and a text: `find -fprintf file format`.
    WritesThenText,
    /// The directory that files are put into.
    Puts,
    /// The directory that it works in.
    Within,
    /// The directory that it works in from here on: `tar -C`.
    WithinFromHere,
    /// The archive that is read or written.
    Archive,
    /// A file with a list of more files.
    ListedIn,
    /// A pattern, so that the first operand is none.
    Pattern,
    /// No value; the first operand is no pattern.
    NoPattern,
    /// A file with patterns, so that the first operand is none.
    PatternsIn,
    /// A script, so that the first operand is none.
    Script,
    /// A file that is read, or a pattern of such: `curl -T '{a,b}'`.
    Uploads,
    /// Data that is a file behind `@`: `curl -d @file`.
    Data,
    /// Data that is a file behind `=@` or `=<`: `curl -F name=@file`.
    Form,
    /// A command up to `;`, which is judged by itself.
    Command,
    /// No value, but what it does is not described here, or it runs code.
    Unclear,
    /// The same with a value.
    UnclearValue,
}

/// What the words behind the options are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operands {
    /// No paths.
    None,
    /// All are paths.
    Files(Use),
    /// The first is a pattern or a mode, unless an option gave it.
    PatternThenFiles(Use),
    /// The first is a script in this language, unless an option gave it.
    ScriptThenFiles(Language),
    /// The last is where the others go, which are used like this.
    FilesThenDestination(Use),
    /// The same, where a path may be on another host: `host:path`.
    RemoteThenDestination,
    /// The first is read, the second written.
    InThenOut,
    /// The first is an archive that is written, the others go into it.
    ArchiveThenFiles,
    /// The first is an archive that files come out of.
    ExtractsFirst,
    /// What goes into or comes out of an archive that an option names.
    Members,
    /// `if=file of=file`.
    Pairs,
    /// Addresses, which may be those of local files.
    Addresses,
    /// Addresses whose content is stored under its last name.
    Downloads,
    /// Starting points, and the signs of an expression.
    StartingPoints,
    /// The operators and operands of `test`.
    TestExpression,
    /// So many words, and then what the project's code is given, which may be paths.
    ProjectArguments(usize),
    /// The same, but the files are changed; without any, all here.
    FormattedFiles,
    /// The same, and files may be written as addresses.
    CloudArguments,
    /// A file with code, and its arguments. Without a file, the code comes from the input.
    CodeFile,
    /// Revisions and paths of git; the content is shown.
    Revisions,
    /// The same, and of a name that may be a file's, the file.
    Objects,
    /// The same, but the content is only shown when an option says so.
    Log,
    /// Revisions and paths of git; what they name is put into the working tree.
    Restored,
    /// Paths of git, used like this; without any, all of the working tree.
    Pathspecs(Use),
    /// The same; without any, none.
    Named(Use),
    /// A repository, and names of branches.
    Remotes,
    /// A repository and the directory that it is unpacked into.
    Cloned,
    /// A setting of git and its value; without a value it is only shown.
    Settings,
    /// A pattern, and then revisions and paths of git, whose content is searched.
    PatternThenRevisions,
    /// A command, which is judged by itself where it can be seen.
    Wrapped,
    /// Whatever they are, they may lead to any file.
    Unclear,
}

/// A language of scripts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Language {
    Awk,
    Jq,
    Sed,
}

/// Whether what a program leaves behind may lead elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Links {
    Never,
    /// When it goes down into directories, or an option says so.
    ByOption,
    Always,
}

/// The name of a command's program, without the directory it lies in.
pub(super) fn name_of(words: &[Word]) -> Option<&str> {
    let program = words.first()?.literal()?;
    program.rsplit('/').next()
}
