//! What a reading of a command line finds, by places in the text.

/// A piece of the line, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TextSpan {
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl TextSpan {
    /// The text there.
    pub(crate) fn of(self, line: &str) -> &str {
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
pub(crate) fn names_descriptor(target: &str) -> bool {
    let digits = target.strip_suffix('-').unwrap_or(target);
    !target.is_empty() && digits.bytes().all(|it| it.is_ascii_digit())
}

/// The words, assignments and redirections of a line; two readings agree when these are equal.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct LineReading {
    /// Every simple command.
    pub(crate) commands: Vec<SimpleCommand>,
    /// Every `NAME=value` that is a command of its own.
    pub(crate) assignments: Vec<TextSpan>,
    /// Every redirection that names a file.
    pub(crate) redirections: Vec<(TextSpan, Direction)>,
    /// Every place where the shell works something out.
    pub(crate) evaluations: Vec<(TextSpan, Evaluation)>,
}

/// A simple command.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SimpleCommand {
    /// Its words, the program first.
    pub(crate) words: Vec<TextSpan>,
    /// Every `NAME=value` in front of the program, which the program sees.
    pub(crate) environment: Vec<TextSpan>,
}

/// What the shell works out by itself, which runs code where it goes wrong: both readings have to see
/// the same places, and the strict one looks into them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Evaluation {
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
    /// In the order of the text, so that readings can be compared.
    pub(crate) fn sorted(mut self) -> Self {
        self.commands.sort();
        self.assignments.sort_unstable();
        self.redirections.sort_unstable();
        self.evaluations.sort_unstable();
        self
    }

    /// Adds what was found in a piece of the line that begins at that place.
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
