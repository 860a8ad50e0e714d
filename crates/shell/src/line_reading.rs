//! The result of reading a command line: spans of its text.

/// A part of the line, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TextSpan {
    /// The first byte.
    pub start: usize,
    /// The byte behind the last one.
    pub end: usize,
}

impl TextSpan {
    /// The text of the span.
    pub fn of(self, line: &str) -> &str {
        line.get(self.start..self.end).unwrap_or_default()
    }
}

/// Whether a redirection reads or writes its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Direction {
    /// `< file`.
    Reads,
    /// `> file`, `>> file`, `&> file` and `<> file`.
    Writes,
}

/// True for a target of `>&` or `<&` that is a descriptor: `1`, `-` or `1-`. Any other target, such as
/// `1-2`, is a file.
pub(crate) fn names_descriptor(target: &str) -> bool {
    let digits = target.strip_suffix('-').unwrap_or(target);
    !target.is_empty() && digits.bytes().all(|it| it.is_ascii_digit())
}

/// The words, assignments and redirections of a line; two readings agree when these are equal.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct LineReading {
    /// Every simple command, including those inside substitutions and compound commands.
    pub commands: Vec<SimpleCommand>,
    /// Every `NAME=value` that is not in front of a program.
    pub assignments: Vec<TextSpan>,
    /// Every redirection that names a file.
    pub redirections: Vec<(TextSpan, Direction)>,
    /// Every place where the shell evaluates something.
    pub evaluations: Vec<(TextSpan, Evaluation)>,
}

/// A program with its arguments and variables.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct SimpleCommand {
    /// Its words, the program first.
    pub words: Vec<TextSpan>,
    /// Every `NAME=value` in front of the program. The program gets these variables.
    pub environment: Vec<TextSpan>,
}

/// A construct that the shell evaluates, which may run code. Both readings must find the same ones. The lexer
/// has checked their content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Evaluation {
    /// `$((1 + 2))`.
    Arithmetic,
    /// `${name}`, with or without an operator.
    Expansion,
    /// `case … esac`.
    Case,
    /// `$'…'`.
    Quote,
}

impl LineReading {
    /// Sorts everything by its place in the text, so that readings can be compared.
    pub(crate) fn sorted(mut self) -> Self {
        self.commands.sort();
        self.assignments.sort_unstable();
        self.redirections.sort_unstable();
        self.evaluations.sort_unstable();
        self
    }

    /// Adds what was found in a part of the line that begins at `start`.
    pub(crate) fn add(&mut self, piece: Self, start: usize) {
        let moved = |it: TextSpan| TextSpan { start: it.start + start, end: it.end + start };
        let all = |it: Vec<TextSpan>| it.into_iter().map(moved).collect();
        self.commands.extend(
            piece
                .commands
                .into_iter()
                .map(|it| SimpleCommand { words: all(it.words), environment: all(it.environment) }),
        );
        self.assignments.extend(piece.assignments.into_iter().map(moved));
        self.redirections.extend(piece.redirections.into_iter().map(|it| (moved(it.0), it.1)));
        self.evaluations.extend(piece.evaluations.into_iter().map(|it| (moved(it.0), it.1)));
    }
}
