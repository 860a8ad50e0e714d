//! A second, strict reading of a command line.
//!
//! The grammar in `syntax` understands nearly all of bash and sometimes misunderstands it. This
//! lexer understands little: lists, pipes, subshells, groups, `if`, `while`, `for`, plain
//! redirections, here-documents and `$(…)`. It gives up on everything else. A line is only ever
//! allowed by rule when both readings find the same words in the same commands.

mod documents;
mod words;

use documents::Document;

use super::{
    Shell,
    reading::{Direction, Reading, Span, names_descriptor},
};

/// How deep substitutions and subshells may be nested.
const MAX_DEPTH: usize = 16;

/// Redirections, the longer before those they begin with; what is left is `<`.
const REDIRECTIONS: [&str; 11] =
    ["&>>", "<<<", "<<-", "&>", ">>", ">|", ">&", "<>", "<&", "<<", ">"];

/// Why the lexer gave up.
pub(super) type GaveUp = &'static str;

/// What the lexer finds.
pub(super) struct Lexed {
    pub(super) reading: Reading,
    /// The variables of `for` loops.
    pub(super) loop_variables: Vec<Span>,
}

/// Reads a whole line.
pub(super) fn lex(line: &str, shell: Shell) -> Result<Lexed, GaveUp> {
    let mut lexer = Lexer {
        is_bash: shell == Shell::Bash,
        bytes: line.as_bytes(),
        line,
        at: 0,
        reading: Reading::default(),
        loop_variables: Vec::new(),
        documents: Vec::new(),
    };
    lexer.list(Ends::AtEndOfText, 0)?;
    if !lexer.documents.is_empty() {
        return Err("has a here-document without a body");
    }
    Ok(Lexed { reading: lexer.reading.sorted(), loop_variables: lexer.loop_variables })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Ends {
    AtEndOfText,
    AtParenthesis,
}

/// What may come next in a list.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Position {
    /// A command, and reserved words count.
    Start,
    /// A program, after assignments or redirections: reserved words are words.
    Program,
    /// Arguments of the command that was begun.
    Arguments,
    /// Nothing but redirections and operators, after `fi`, `done`, `}` or `)`.
    Closed,
}

struct Lexer<'a> {
    /// False when the line may be read by another shell, to which some of bash's signs mean other things.
    is_bash: bool,
    bytes: &'a [u8],
    line: &'a str,
    at: usize,
    reading: Reading,
    loop_variables: Vec<Span>,
    documents: Vec<Document>,
}

/// One simple command as it is being read.
#[derive(Default)]
struct Simple {
    words: Vec<Span>,
    assignments: Vec<Span>,
}

impl Lexer<'_> {
    fn peek(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.at + ahead).copied()
    }

    fn starts_with(&self, text: &str) -> bool {
        self.bytes.get(self.at..).is_some_and(|rest| rest.starts_with(text.as_bytes()))
    }

    fn list(&mut self, ends: Ends, depth: usize) -> Result<(), GaveUp> {
        if depth > MAX_DEPTH {
            return Err("is nested too deep");
        }
        if !self.documents.is_empty() {
            return Err("opens a here-document and a substitution on one line");
        }
        let mut position = Position::Start;
        let mut command = Simple::default();
        loop {
            self.blanks();
            let Some(next) = self.peek(0) else {
                self.finish(&mut command);
                return if ends == Ends::AtEndOfText { Ok(()) } else { Err("has an open `(`") };
            };
            match next {
                b'\n' => {
                    self.finish(&mut command);
                    self.at += 1;
                    self.document_bodies()?;
                    position = Position::Start;
                }
                b';' | b'&' | b'|' if !self.starts_with("&>") => {
                    self.operator()?;
                    self.finish(&mut command);
                    position = Position::Start;
                }
                b'(' => {
                    if position != Position::Start || self.peek(1) == Some(b'(') {
                        return Err("uses `(` in a way that is not a subshell");
                    }
                    self.at += 1;
                    self.list(Ends::AtParenthesis, depth + 1)?;
                    position = Position::Closed;
                }
                b')' => {
                    self.finish(&mut command);
                    if ends == Ends::AtEndOfText || !self.documents.is_empty() {
                        return Err("has an unexpected `)`");
                    }
                    self.at += 1;
                    return Ok(());
                }
                _ if self.redirection(depth)? => {
                    if position == Position::Start {
                        position = Position::Program;
                    }
                }
                _ => position = self.word_in(position, &mut command, depth)?,
            }
        }
    }

    fn finish(&mut self, command: &mut Simple) {
        let Simple { words, assignments } = std::mem::take(command);
        if words.is_empty() {
            self.reading.assignments.extend(assignments);
        } else {
            self.reading.environment.extend(assignments);
            self.reading.commands.push(words);
        }
    }

    /// Spaces, tabs, comments and continued lines.
    fn blanks(&mut self) {
        loop {
            match self.peek(0) {
                Some(b' ' | b'\t') => self.at += 1,
                Some(b'\\') if self.peek(1) == Some(b'\n') => self.at += 2,
                // Only reached where a word could begin, which is where a comment can.
                Some(b'#') if self.at == 0 || self.follows_separator() => {
                    while self.peek(0).is_some_and(|it| it != b'\n') {
                        self.at += 1;
                    }
                }
                _ => return,
            }
        }
    }

    fn follows_separator(&self) -> bool {
        let before = self.at.checked_sub(1).and_then(|it| self.bytes.get(it));
        before.is_some_and(|it| b" \t\n;&|()".contains(it))
    }

    fn only_in_bash(&self) -> Result<(), GaveUp> {
        if self.is_bash { Ok(()) } else { Err("uses what only bash understands, in another shell") }
    }

    fn operator(&mut self) -> Result<(), GaveUp> {
        if [";;", ";&", "&&&", "|||"].iter().any(|it| self.starts_with(it)) {
            return Err("uses operators of `case`");
        }
        if self.starts_with("|&") {
            self.only_in_bash()?;
        }
        let two = ["&&", "||", "|&"].iter().any(|it| self.starts_with(it));
        self.at += if two { 2 } else { 1 };
        Ok(())
    }

    fn word_in(
        &mut self,
        position: Position,
        command: &mut Simple,
        depth: usize,
    ) -> Result<Position, GaveUp> {
        let word = self.word(depth)?;
        let text = word.of(self.line);
        match position {
            Position::Closed => Err("has a word after the end of a compound command"),
            Position::Arguments => {
                command.words.push(word);
                Ok(Position::Arguments)
            }
            Position::Start | Position::Program => {
                if position == Position::Start
                    && let Some(next) = self.reserved(text, depth)?
                {
                    return Ok(next);
                }
                if is_assignment(text) {
                    // To others `a+=/x` is a program.
                    if text.split_once('=').is_some_and(|(name, _)| name.ends_with('+')) {
                        self.only_in_bash()?;
                    }
                    command.assignments.push(word);
                    return Ok(Position::Program);
                }
                // `a[$(x)]=1` and `a=(…)` run or hide more than they show.
                if text.contains('=') && text.contains('[') {
                    return Err("assigns to an array");
                }
                // In a locale of single bytes, the bytes of `ê` are letters, and this sets a variable.
                if text.split_once('=').is_some_and(|(name, _)| !name.is_ascii()) {
                    return Err("may assign to a name that is not ASCII");
                }
                command.words.push(word);
                Ok(Position::Arguments)
            }
        }
    }

    fn reserved(&mut self, text: &str, depth: usize) -> Result<Option<Position>, GaveUp> {
        match text {
            "if" | "then" | "elif" | "else" | "while" | "until" | "do" | "!" | "{" => {
                Ok(Some(Position::Start))
            }
            "fi" | "done" | "}" => Ok(Some(Position::Closed)),
            "for" => self.for_loop(depth).map(Some),
            "case" | "esac" | "select" | "function" | "coproc" | "[[" | "]]" | "in" | "time" => {
                Err("uses a construct that is not looked into")
            }
            _ => Ok(None),
        }
    }

    /// `for NAME in WORD…`, up to the `;` or line end before `do`.
    fn for_loop(&mut self, depth: usize) -> Result<Position, GaveUp> {
        self.blanks();
        let variable = self.word(depth)?;
        self.loop_variables.push(variable);
        self.blanks();
        if self.word(depth)?.of(self.line) != "in" {
            return Err("uses a form of `for` that is not looked into");
        }
        loop {
            self.blanks();
            match self.peek(0) {
                Some(b';' | b'\n') => return Ok(Position::Start),
                Some(b'&' | b'|' | b'<' | b'>' | b'(' | b')') | None => {
                    return Err("uses a form of `for` that is not looked into");
                }
                Some(_) => {
                    self.word(depth)?;
                }
            }
        }
    }

    /// Reads a redirection if one is here.
    fn redirection(&mut self, depth: usize) -> Result<bool, GaveUp> {
        let digits = self.bytes.iter().skip(self.at).take_while(|it| it.is_ascii_digit()).count();
        match self.peek(digits) {
            Some(b'<' | b'>') if !matches!(self.peek(digits + 1), Some(b'(')) => {}
            Some(b'&') if digits == 0 && self.starts_with("&>") => {}
            _ => return Ok(false),
        }
        self.at += digits;
        let operator = REDIRECTIONS.into_iter().find(|it| self.starts_with(it)).unwrap_or("<");
        self.at += operator.len();
        // Others take `12` in `12>f` for a word.
        if digits > 1 || operator.starts_with("&>") || operator == "<<<" {
            self.only_in_bash()?;
        }
        self.blanks();
        match operator {
            "<<" | "<<-" => self.document_start(operator == "<<-")?,
            "<<<" => {
                self.word(depth)?;
            }
            _ => {
                let target = self.word(depth)?;
                let duplicates = matches!(operator, ">&" | "<&");
                let text = target.of(self.line);
                if duplicates && text.len() > 1 {
                    self.only_in_bash()?;
                }
                if !(duplicates && names_descriptor(text)) {
                    let reads = matches!(operator, "<" | "<&");
                    let direction = if reads { Direction::Reads } else { Direction::Writes };
                    self.reading.redirections.push((target, direction));
                }
            }
        }
        Ok(true)
    }
}

/// True for `NAME=…` and `NAME+=…`, where the name is written plainly.
pub(super) fn is_assignment(text: &str) -> bool {
    variable_of(text).is_some()
}

/// The variable that an assignment sets.
pub(super) fn variable_of(text: &str) -> Option<&str> {
    let (name, _) = text.split_once('=')?;
    let name = name.strip_suffix('+').unwrap_or(name);
    let is_name = name.starts_with(|it: char| it.is_ascii_alphabetic() || it == '_')
        && name.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_');
    is_name.then_some(name)
}
