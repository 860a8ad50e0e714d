//! What a reading of a command line finds, by places in the text.

/// A piece of the line, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Span {
    pub(super) start: usize,
    pub(super) end: usize,
}

impl Span {
    /// The text there.
    pub(super) fn of(self, line: &str) -> &str {
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

/// True for what stands for a descriptor behind `>&` and `<&`: `1`, `-` and `1-`. Whatever else stands
/// there, `1-2` too, is a file.
pub(super) fn names_descriptor(target: &str) -> bool {
    let digits = target.strip_suffix('-').unwrap_or(target);
    !target.is_empty() && digits.bytes().all(|it| it.is_ascii_digit())
}

/// The words, assignments and redirections of a line; two readings agree when these are equal.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Reading {
    /// The words of each simple command, its program first.
    pub(super) commands: Vec<Vec<Span>>,
    /// Every `NAME=value` in front of a program, which the program sees.
    pub(super) environment: Vec<Span>,
    /// Every `NAME=value` that is a command of its own.
    pub(super) assignments: Vec<Span>,
    /// Every redirection that names a file.
    pub(super) redirections: Vec<(Span, Direction)>,
}

impl Reading {
    /// In the order of the text, so that readings can be compared.
    pub(super) fn sorted(mut self) -> Self {
        self.commands.sort();
        self.environment.sort_unstable();
        self.assignments.sort_unstable();
        self.redirections.sort_unstable();
        self
    }
}
