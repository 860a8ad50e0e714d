//! The strict reading of a command line.
//!
//! The lexer understands everyday constructs: lists, pipes, subshells, groups, `if`, `while`, `for`, `case`,
//! `[[`, redirections, here-documents, `$(…)`, and expansions that cannot run code. It gives up on everything
//! else. It visits every character once, so its work is linear in the length of the line.

mod cases;
mod command_words;
mod documents;
mod expansions;
mod redirections;
mod test_expressions;
mod words;

use std::ops::Range;

use documents::HereDocument;
pub(crate) use redirections::BehindDocument;

use super::{
    dialect::ShellDialect,
    line_reading::{Evaluation, LineReading, SimpleCommand, TextSpan},
};

/// The maximum nesting of substitutions and subshells.
const MAX_DEPTH: usize = 16;

/// Why the lexer gave up, as the end of a sentence about the line.
pub(crate) type GaveUp = &'static str;

/// The result of lexing a line.
pub struct LexedLine {
    /// Its commands and words.
    pub reading: LineReading,
    /// The `for` loops.
    pub loops: Vec<ForLoop>,
    /// Redirections that are hidden from the grammar.
    pub(crate) behind_documents: Vec<BehindDocument>,
    /// The parts of the line between operators at the top level, in order.
    pub(crate) pieces: Vec<LinePiece>,
    /// Why the text after the last piece was not understood; `None` if the whole line was.
    pub gave_up: Option<GaveUp>,
}

/// A `for` loop over words.
pub struct ForLoop {
    pub variable: TextSpan,
    pub values: Vec<TextSpan>,
    /// The part of the line in which the variable is set.
    pub(crate) body: Range<usize>,
}

/// A part of a line between two operators that is not nested in anything.
#[derive(Clone, Copy)]
pub(crate) struct LinePiece {
    pub(crate) span: TextSpan,
    /// The number of operators, expansions and reserved words in it.
    pub(crate) tokens: usize,
}

/// Reads a line up to the first part that it does not understand.
pub fn lex(line: &str, shell: ShellDialect) -> LexedLine {
    let mut lexer = ShellLexer {
        is_bash: shell == ShellDialect::Bash,
        bytes: line.as_bytes(),
        line,
        at: 0,
        reading: LineReading::default(),
        loops: Vec::new(),
        open_loops: Vec::new(),
        documents: Vec::new(),
        behind_documents: Vec::new(),
        pieces: Vec::new(),
        piece_start: 0,
        tokens: 0,
        open: 0,
    };
    let mut gave_up = lexer.list(End::Text, 0).err();
    if gave_up.is_none() && !lexer.documents.is_empty() {
        gave_up = Some("has a here-document without a body");
    }
    if gave_up.is_none() {
        lexer.end_piece(lexer.at);
    }
    LexedLine {
        reading: lexer.reading.sorted(),
        loops: lexer.loops,
        behind_documents: lexer.behind_documents,
        pieces: lexer.pieces,
        gave_up,
    }
}

/// The required end of a list.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Text,
    Parenthesis,
    /// `;;` or `esac`.
    Case,
}

/// The actual end of a list.
#[derive(Clone, Copy, PartialEq, Eq)]
enum EndedBy {
    Text,
    Parenthesis,
    CaseOperator,
    Esac,
}

/// What may come next in a list.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CommandPosition {
    /// A command or a reserved word.
    Start,
    /// A program, after assignments or redirections. Reserved words have no meaning here.
    Program,
    /// A program after `time`, which is a reserved word in bash and a program in other shells. Only
    /// constructs with the same meaning in both are understood.
    Timed,
    /// An argument.
    Arguments,
    /// Only redirections and operators, after `fi`, `done`, `}` or `)`.
    Closed,
}

struct ShellLexer<'a> {
    /// False if another shell may read the line. Some operators have another meaning there than in bash.
    is_bash: bool,
    bytes: &'a [u8],
    line: &'a str,
    at: usize,
    reading: LineReading,
    loops: Vec<ForLoop>,
    /// The open loops: the index in `loops` for a `for` loop, `None` for others.
    open_loops: Vec<Option<usize>>,
    documents: Vec<HereDocument>,
    behind_documents: Vec<BehindDocument>,
    pieces: Vec<LinePiece>,
    piece_start: usize,
    /// The number of operators, expansions and reserved words in the current piece.
    tokens: usize,
    /// The number of open `if`, `while`, `for` and `{`.
    open: usize,
}

impl ShellLexer<'_> {
    fn peek(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.at + ahead).copied()
    }

    fn starts_with(&self, text: &str) -> bool {
        self.bytes.get(self.at..).is_some_and(|rest| rest.starts_with(text.as_bytes()))
    }

    fn list(&mut self, end: End, depth: usize) -> Result<EndedBy, GaveUp> {
        check_depth(depth)?;
        if !self.documents.is_empty() {
            return Err("opens a here-document and a substitution on one line");
        }
        let mut position = CommandPosition::Start;
        let mut command = SimpleCommand::default();
        loop {
            self.blanks();
            let Some(next) = self.peek(0) else {
                self.finish(&mut command);
                return match end {
                    End::Text => Ok(EndedBy::Text),
                    End::Parenthesis => Err("has an open `(`"),
                    End::Case => Err("has a `case` without an end"),
                };
            };
            match next {
                b'\n' => {
                    self.finish(&mut command);
                    self.tokens += 1;
                    self.at += 1;
                    self.document_bodies(depth)?;
                    self.split(depth, self.at);
                    position = CommandPosition::Start;
                }
                b';' if end == End::Case && self.case_operator()? => {
                    self.finish(&mut command);
                    return Ok(EndedBy::CaseOperator);
                }
                b';' | b'&' | b'|' if !self.starts_with("&>") => {
                    let before = self.at;
                    self.operator()?;
                    self.finish(&mut command);
                    self.split(depth, before);
                    position = CommandPosition::Start;
                }
                b'(' => {
                    self.check_subshell(position)?;
                    self.tokens += 1;
                    self.at += 1;
                    self.list(End::Parenthesis, depth + 1)?;
                    position = CommandPosition::Closed;
                }
                b')' => {
                    self.finish(&mut command);
                    if end != End::Parenthesis || !self.documents.is_empty() {
                        return Err("has an unexpected `)`");
                    }
                    self.at += 1;
                    return Ok(EndedBy::Parenthesis);
                }
                _ if self.redirection(depth)? => {
                    if position == CommandPosition::Start {
                        position = CommandPosition::Program;
                    }
                }
                _ => match self.word_in(position, &mut command, depth)? {
                    Some(next) => position = next,
                    None if end == End::Case && self.documents.is_empty() => {
                        return Ok(EndedBy::Esac);
                    }
                    None => return Err("has an unexpected `esac`"),
                },
            }
        }
    }

    fn check_subshell(&self, position: CommandPosition) -> Result<(), GaveUp> {
        if position == CommandPosition::Start && self.peek(1) == Some(b'(') {
            return Err("evaluates arithmetic in `((…))`, where variables may hold code");
        }
        if position == CommandPosition::Arguments && self.peek(1) == Some(b')') {
            return Err("defines a function");
        }
        if position == CommandPosition::Start {
            Ok(())
        } else {
            Err("uses `(` in a way that is not a subshell")
        }
    }

    fn finish(&mut self, command: &mut SimpleCommand) {
        let command = std::mem::take(command);
        if command.words.is_empty() {
            self.reading.assignments.extend(command.environment);
        } else {
            self.reading.commands.push(command);
        }
    }

    /// Ends the current piece if nothing is open.
    fn split(&mut self, depth: usize, end: usize) {
        if depth == 0 && self.open == 0 && self.documents.is_empty() {
            self.end_piece(end);
        }
    }

    fn end_piece(&mut self, end: usize) {
        let span = TextSpan { start: self.piece_start, end };
        self.pieces.push(LinePiece { span, tokens: self.tokens });
        self.piece_start = self.at;
        self.tokens = 0;
    }

    /// Skips spaces, tabs, comments and continued lines.
    fn blanks(&mut self) {
        loop {
            match self.peek(0) {
                Some(b' ' | b'\t') => self.at += 1,
                Some(b'\\') if self.peek(1) == Some(b'\n') => self.at += 2,
                // A comment can only begin at the start of a word.
                Some(b'#') if self.at == 0 || self.follows_separator() => {
                    while self.peek(0).is_some_and(|it| it != b'\n') {
                        self.at += 1;
                    }
                }
                _ => return,
            }
        }
    }

    /// The same with newlines, inside constructs that may continue on the next line.
    fn blanks_and_lines(&mut self) -> Result<(), GaveUp> {
        self.blanks();
        while self.peek(0) == Some(b'\n') {
            if !self.documents.is_empty() {
                return Err("opens a here-document inside another construct");
            }
            self.at += 1;
            self.blanks();
        }
        Ok(())
    }

    fn follows_separator(&self) -> bool {
        let before = self.at.checked_sub(1).and_then(|it| self.bytes.get(it));
        before.is_some_and(|it| b" \t\n;&|()".contains(it))
    }

    fn only_in_bash(&self) -> Result<(), GaveUp> {
        if self.is_bash { Ok(()) } else { Err("uses a feature of bash in another shell") }
    }

    fn operator(&mut self) -> Result<(), GaveUp> {
        if [";;", ";&", "&&&", "|||"].iter().any(|it| self.starts_with(it)) {
            return Err("uses operators of `case`");
        }
        if self.starts_with("|&") {
            self.only_in_bash()?;
        }
        self.tokens += 1;
        let two = ["&&", "||", "|&"].iter().any(|it| self.starts_with(it));
        self.at += if two { 2 } else { 1 };
        Ok(())
    }
}

/// Limits the recursion of the lexer.
const fn check_depth(depth: usize) -> Result<(), GaveUp> {
    if depth > MAX_DEPTH { Err("is nested too deep") } else { Ok(()) }
}

/// True for `NAME=…` and `NAME+=…`.
pub(crate) fn is_assignment(text: &str) -> bool {
    variable_of(text).is_some()
}

/// The variable that an assignment sets.
pub(crate) fn variable_of(text: &str) -> Option<&str> {
    let (name, _) = text.split_once('=')?;
    let name = name.strip_suffix('+').unwrap_or(name);
    is_variable_name(name).then_some(name)
}

/// True for the plain name of a variable.
pub(crate) fn is_variable_name(text: &str) -> bool {
    text.starts_with(|it: char| it.is_ascii_alphabetic() || it == '_')
        && text.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_')
}
