//! What programs do with the files in their arguments.
//!
//! Every program has a table of its options and operands (`tables/`). A parser reads a command by its table
//! (`parser`). Then the options are collected (`collected`), the operands are turned into paths
//! (`operands`), and the result is a list of paths with the use of each (`handling`). A command with an
//! option that its table does not list may touch any file.

mod collected;
mod git_operands;
mod handling;
mod operands;
mod parser;
mod scripts;
mod tables;

use toolwright_shell::Word;

pub(super) use handling::{Handling, handling_of, is_substitution};

/// How a program uses a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// It reads the file, or shows that it exists.
    Reads,
    /// It changes or deletes the file.
    Writes,
    /// It writes files with known names to it, and reads none.
    Puts,
    /// It writes files with unknown names to it, such as those in an archive.
    Merges,
    /// It may read or change it.
    Unknown,
}

impl Use {
    /// True when it certainly changes nothing.
    pub(super) fn only_reads(self) -> bool {
        self == Self::Reads
    }

    /// True when it certainly changes something.
    pub(super) fn changes(self) -> bool {
        matches!(self, Self::Writes | Self::Puts | Self::Merges)
    }

    /// True when files are written to it and none is read.
    pub(super) fn is_destination(self) -> bool {
        matches!(self, Self::Puts | Self::Merges)
    }
}

/// The table of a program, or of one of its subcommands.
#[derive(Clone, Copy, Debug)]
struct Program {
    names: &'static [&'static str],
    /// The options, by what they take and do. `-#` stands for a number.
    options: &'static [(Takes, &'static [&'static str])],
    operands: Operands,
    style: Style,
    /// True when it always descends into directories.
    descends: bool,
    /// True when it works on the current directory if it has no operand, as `ls` does.
    here: bool,
    /// Whether its destinations may lead elsewhere afterwards.
    links: Links,
    /// The first operand picks one of these.
    subcommands: &'static [Program],
}

/// The defaults of a table.
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
    /// Letters may be joined, long names may be abbreviated, and options may come anywhere before `--`.
    Gnu,
    /// The same, but long names are not abbreviated.
    Whole,
    /// As `Whole`, but options end at the first operand, because the rest belongs to another program.
    Leading,
    /// As `Gnu`, but the first word may be letters without a `-`: `tar xzf a.tgz`.
    Bundled,
    /// Long names have one `-` or two, and letters are not joined: `find . -name x`.
    SingleDash,
    /// It runs the project's code. A permission for the program covers what the code does, so the table only
    /// lists what is certainly not a path, and an unknown option does not ask.
    Project,
}

/// What an option takes and does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Takes {
    /// No value; nothing about files.
    Flag,
    /// No value; the program descends into directories.
    Descends,
    /// No value; it descends into directories and follows links out of them.
    DescendsFollowing,
    /// No value; it follows links while it descends.
    Follows,
    /// No value; the operands are changed: `sed -i`.
    Rewrites,
    /// The same with an optional joined value: `sed -i.bak`.
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
    /// No value; it unpacks the archive.
    Extracts,
    /// No value; it only reads the archive.
    Lists,
    /// No value; the last operand is not a directory: `cp -T`.
    ExactDestination,
    /// No value; what it fetches is stored under the last name of the URL.
    StoresByName,
    /// No value; it writes files into the current directory, with names that the server chooses.
    PutsHere,
    /// A value that is not a path.
    Text,
    /// A value that is not a path, and that has to be joined.
    MaybeText,
    /// Two values that are not paths: `jq --arg name text`.
    TwoTexts,
    /// A value that decides whether it descends into directories. With these values it does not.
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
    /// The directory into which files are written.
    Puts,
    /// The directory in which it works.
    Within,
    /// The directory in which it works from here on: `tar -C`.
    WithinFromHere,
    /// The archive that is read or written.
    Archive,
    /// A file with a list of more files.
    ListedIn,
    /// A pattern. The first operand is then not a pattern.
    Pattern,
    /// No value; the first operand is not a pattern.
    NoPattern,
    /// A file with patterns. The first operand is then not a pattern.
    PatternsIn,
    /// A script. The first operand is then not a script.
    Script,
    /// A file that is read, or a pattern of such: `curl -T '{a,b}'`.
    Uploads,
    /// Data, or a file after `@`: `curl -d @file`.
    Data,
    /// Data, or a file after `=@` or `=<`: `curl -F name=@file`.
    Form,
    /// A command up to `;`, which is judged separately.
    Command,
    /// No value. What it does is not described here, or it runs code.
    Unclear,
    /// The same with a value.
    UnclearValue,
}

/// What the operands are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Operands {
    /// They are not paths.
    None,
    /// All of them are paths.
    Files(Use),
    /// The first is a pattern or a mode, unless an option has given it.
    PatternThenFiles(Use),
    /// The first is a script in this language, unless an option has given it.
    ScriptThenFiles(Language),
    /// The last is the destination. The others are used like this.
    FilesThenDestination(Use),
    /// The same, but a path may be on another host: `host:path`.
    RemoteThenDestination,
    /// The first is read, the second written.
    InThenOut,
    /// The first is an archive that is written, the others go into it.
    ArchiveThenFiles,
    /// The first is an archive that is unpacked.
    ExtractsFirst,
    /// Files that go into or come out of the archive that an option names.
    Members,
    /// `if=file of=file`.
    Pairs,
    /// URLs, which may be those of local files.
    Addresses,
    /// URLs. What they lead to is stored under the last name of the URL.
    Downloads,
    /// Starting points, and an expression.
    StartingPoints,
    /// The operators and operands of `test`.
    TestExpression,
    /// This many words, and then arguments of the project's code, which may be paths.
    ProjectArguments(usize),
    /// The same, but the files are changed. Without any, all files in the current directory are.
    FormattedFiles,
    /// The same, and files may be written as URLs.
    CloudArguments,
    /// A file with code, and its arguments. Without a file, the code is read from the input.
    CodeFile,
    /// Revisions and paths of git; the content is shown.
    Revisions,
    /// The same. A name that may be a file is also taken as one.
    Objects,
    /// The same, but content is only shown if an option says so.
    Log,
    /// Revisions and paths of git, which are written to the working tree.
    Restored,
    /// Paths of git, used like this. Without any, it is the whole working tree.
    Pathspecs(Use),
    /// The same. Without any, it is none.
    Named(Use),
    /// A repository, and names of branches.
    Remotes,
    /// A repository, and the directory into which it is cloned.
    Cloned,
    /// A setting of git and its value. Without a value, the setting is only shown.
    Settings,
    /// A pattern, and then revisions and paths of git, whose content is searched.
    PatternThenRevisions,
    /// A command, which is judged separately if it is known.
    Wrapped,
    /// Anything. The program may use any file.
    Unclear,
}

/// A language of scripts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Language {
    Awk,
    Jq,
    Sed,
}

/// Whether the paths that a program changes may lead elsewhere afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Links {
    Never,
    /// If it descends into directories, or an option says so.
    ByOption,
    Always,
}

/// The name of a command's program, without its directory.
pub(super) fn name_of(words: &[Word]) -> Option<&str> {
    let program = words.first()?.literal()?;
    program.rsplit('/').next()
}
