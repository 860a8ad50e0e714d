//! Patterns of commands in rules: `git status:*`, `npm run test`, `git * main`.
//!
//! They are compared word by word with a parsed command, never with its text: `git status:*` is no
//! prefix of `git statusx` or of `git status; rm x`. The one exception is an exact line, which is
//! equal or not.

use super::command::{Role, Segment, Word, analyse, trimmed};

/// How sure it is that a rule speaks about something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Match {
    /// It does not.
    No,
    /// It may, depending on what is only known while the command runs.
    Possible,
    /// It does.
    Certain,
}

impl Match {
    pub(super) const fn certain_if(matches: bool) -> Self {
        if matches { Self::Certain } else { Self::No }
    }
}

/// A pattern of one command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CommandPattern {
    /// Every command.
    Any,
    /// These words and no others.
    Exact {
        /// The words of the command.
        words: Vec<String>,
        /// The text it was written as.
        lines: [String; 2],
    },
    /// A whole line that is more than one plain command, as written and without escapes.
    Line([String; 2]),
    /// These words and whatever follows.
    Prefix(Vec<String>),
    /// Words with wildcards.
    Wildcard(Vec<Piece>),
}

/// A part of a pattern with wildcards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    /// This word.
    Word(String),
    /// A word like this, where `*` stands for any text.
    Glob(String),
    /// One word or more.
    Words,
    /// Whatever follows.
    Rest,
}

impl Piece {
    /// The word it is, if it is one.
    pub(super) fn word(&self) -> Option<&str> {
        match self {
            Self::Word(word) => Some(word),
            Self::Glob(_) | Self::Words | Self::Rest => None,
        }
    }
}

/// Each inner `*` multiplies the ways to match.
const MAX_INNER_WILDCARDS: usize = 3;
const MAX_LENGTH: usize = 16_384;

impl CommandPattern {
    /// Reads what stands between the parentheses of a rule.
    pub(super) fn parse(text: &str, home: Option<&str>) -> Result<Self, String> {
        let text = trimmed(text);
        if text.is_empty() || text.len() > MAX_LENGTH {
            return Err("the pattern is empty or too long".to_owned());
        }
        if matches!(text, "*" | ":*") {
            return Ok(Self::Any);
        }
        if let Some(prefix) = text.strip_suffix(":*").filter(|it| !has_wildcard(it)) {
            return words_of(&unescaped(prefix), home).map(Self::Prefix).ok_or_else(|| {
                format!("`{prefix}` is not one plain command; every command is judged on its own")
            });
        }
        if !has_wildcard(text) {
            let plain = unescaped(text);
            let words = words_of(text, home).or_else(|| words_of(&plain, home));
            let lines = [text.to_owned(), plain];
            return Ok(match words {
                Some(words) => Self::Exact { words, lines },
                None => Self::Line(lines),
            });
        }
        Self::wildcard(text)
    }

    fn wildcard(text: &str) -> Result<Self, String> {
        if text.contains(['$', ';', '&', '|', '<', '>', '`', '(', ')', '\n', '"', '\'', '\\']) {
            return Err(format!(
                "`{text}` mixes `*` with operators or quotes; every command is judged on its own, \
                 and `\\*` is a plain star"
            ));
        }
        let prefix = text.strip_suffix(":*");
        let words: Vec<&str> = prefix.unwrap_or(text).split_whitespace().collect();
        let mut pieces = Vec::new();
        for (place, word) in words.iter().enumerate() {
            let is_last = place + 1 == words.len();
            match *word {
                "*" if is_last => pieces.push(Piece::Rest),
                "*" => pieces.push(Piece::Words),
                glob if glob.contains('*') => {
                    pieces.push(Piece::Glob(glob.to_owned()));
                    if is_last && glob.ends_with('*') {
                        pieces.push(Piece::Rest);
                    }
                }
                word => pieces.push(Piece::Word(word.to_owned())),
            }
        }
        if prefix.is_some() && pieces.last() != Some(&Piece::Rest) {
            pieces.push(Piece::Rest);
        }
        if pieces.iter().filter(|it| **it == Piece::Words).count() > MAX_INNER_WILDCARDS {
            return Err(format!("`{text}` has more than {MAX_INNER_WILDCARDS} inner wildcards"));
        }
        Ok(Self::Wildcard(pieces))
    }

    /// The program that the pattern is about, if it is about one.
    pub(super) fn program(&self) -> Option<&str> {
        match self {
            Self::Any | Self::Line(_) => None,
            Self::Exact { words, .. } | Self::Prefix(words) => words.first().map(String::as_str),
            Self::Wildcard(pieces) => match pieces.first() {
                Some(Piece::Word(word)) => Some(word),
                _ => None,
            },
        }
    }

    /// The whole lines that the pattern is equal to.
    pub(super) fn lines(&self) -> &[String] {
        match self {
            Self::Exact { lines, .. } | Self::Line(lines) => lines,
            Self::Any | Self::Prefix(_) | Self::Wildcard(_) => &[],
        }
    }

    /// If the pattern permits the command: how many of its words it names.
    pub(super) fn permits(&self, segment: &Segment) -> Option<usize> {
        let words = &segment.words;
        match self {
            Self::Any => Some(0),
            Self::Line(_) => None,
            Self::Exact { words: named, .. } => {
                let equal = named.len() == words.len() && begins_with(words, named);
                equal.then_some(named.len())
            }
            // Whatever follows may be another command.
            Self::Prefix(_) | Self::Wildcard(_) if segment.hides_command => None,
            Self::Prefix(named) => begins_with(words, named).then_some(named.len()),
            Self::Wildcard(pieces) => fits(pieces, words).then_some(0),
        }
    }

    /// Whether the pattern, as a limit, is about the command. A limit on `rm` is one on `/bin/rm`,
    /// and what cannot be known may be anything.
    pub(super) fn limits(&self, segment: &Segment) -> Match {
        let Some(program) = segment.words.first() else { return Match::No };
        if matches!(self, Self::Any) {
            return Match::Certain;
        }
        if segment.role == Role::Neutral || matches!(self, Self::Line(_)) {
            return Match::No;
        }
        let Some(program) = program.literal() else { return Match::Possible };
        let words = self.without_directory(program, &segment.words);
        let certain = match self {
            Self::Any | Self::Line(_) => false,
            Self::Exact { words: named, .. } => {
                named.len() == words.len() && begins_with(&words, named)
            }
            Self::Prefix(named) => begins_with(&words, named),
            Self::Wildcard(pieces) => fits(pieces, &words),
        };
        if certain {
            return Match::Certain;
        }
        let is_possible = self.is_about(&words) || self.may_be_hidden_in(segment);
        if is_possible { Match::Possible } else { Match::No }
    }

    fn without_directory(&self, program: &str, words: &[Word]) -> Vec<Word> {
        let mut words = words.to_vec();
        let names_directory = self.program().is_some_and(|it| it.contains('/'));
        if !names_directory && let Some(first) = words.first_mut() {
            let name = program.rsplit('/').next().unwrap_or(program);
            *first = Word::Literal(name.to_owned());
        }
        words
    }

    /// The same program, with words that are unknown or in between: `git -C x push`.
    fn is_about(&self, words: &[Word]) -> bool {
        let has_unknown = words.iter().any(|it| it.literal().is_none());
        let same_program = |name: &str| words.first().and_then(Word::literal) == Some(name);
        match self {
            Self::Any | Self::Line(_) => false,
            Self::Exact { words: named, .. } => {
                named.first().is_some_and(|it| same_program(it)) && has_unknown
            }
            Self::Prefix(named) => may_begin_with(words, named),
            Self::Wildcard(_) => has_unknown && self.program().is_none_or(same_program),
        }
    }

    fn may_be_hidden_in(&self, segment: &Segment) -> bool {
        let mut arguments = segment.words.iter().skip(1);
        let program = segment.words.first().and_then(Word::literal).unwrap_or_default();
        // A shell runs what comes from its input; others only what they are told.
        let reads_commands = matches!(program.rsplit('/').next(), Some("sh" | "bash" | "dash"));
        let is_named = |word: &Word| match (word.literal(), self.program()) {
            (Some(text), Some(program)) => text.contains(program),
            _ => true,
        };
        segment.hides_command && (reads_commands || arguments.any(is_named))
    }
}

fn begins_with(words: &[Word], named: &[String]) -> bool {
    named.len() <= words.len()
        && named.iter().zip(words).all(|(name, word)| word.literal() == Some(name))
}

/// The named words may come first: at the first difference stands an option, which may take the next
/// word, or something unknown.
fn may_begin_with(words: &[Word], named: &[String]) -> bool {
    let differs = named.iter().zip(words).find(|(name, word)| word.literal() != Some(name));
    let is_open =
        differs.is_some_and(|(_, word)| word.literal().is_none_or(|it| it.starts_with('-')));
    let mut literals = words.iter().filter_map(Word::literal);
    is_open
        && (words.iter().any(|it| it.literal().is_none())
            || named.iter().all(|name| literals.any(|it| it == name)))
}

fn fits(pieces: &[Piece], words: &[Word]) -> bool {
    let Some((piece, pieces)) = pieces.split_first() else { return words.is_empty() };
    if *piece == Piece::Rest {
        return true;
    }
    let Some((word, rest)) = words.split_first() else { return false };
    let Some(text) = word.literal() else { return false };
    match piece {
        Piece::Word(name) => text == name && fits(pieces, rest),
        Piece::Glob(glob) => fits_glob(glob, text) && fits(pieces, rest),
        Piece::Words => fits(pieces, rest) || fits(&[&[Piece::Words], pieces].concat(), rest),
        Piece::Rest => true,
    }
}

/// `*` stands for any text within the word.
fn fits_glob(glob: &str, text: &str) -> bool {
    let mut parts = glob.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    for part in middle {
        let Some(at) = rest.find(part) else { return false };
        rest = rest.get(at + part.len()..).unwrap_or_default();
    }
    rest.ends_with(last)
}

/// The words of a text that is one plain command of known words.
fn words_of(text: &str, home: Option<&str>) -> Option<Vec<String>> {
    let analysis = analyse(text, home);
    let is_plain = analysis.redirections.is_empty()
        && analysis.segments.iter().filter(|it| it.within.is_none()).count() == 1;
    let segment = analysis.segments.first().filter(|_| is_plain)?;
    // What is doubtful about a command is judged when it is run; here only its words count.
    let covers = segment.text == trimmed(text);
    let words: Option<Vec<String>> =
        segment.words.iter().map(|it| it.literal().map(str::to_owned)).collect();
    words.filter(|_| covers)
}

/// True with a `*` that is not escaped.
fn has_wildcard(text: &str) -> bool {
    let mut escaped = false;
    text.chars().any(|it| {
        let is_wildcard = it == '*' && !escaped;
        escaped = it == '\\' && !escaped;
        is_wildcard
    })
}

/// A line as a pattern of itself.
pub(super) fn escaped(line: &str) -> String {
    trimmed(line).replace('\\', "\\\\").replace('*', "\\*")
}

fn unescaped(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(next) = characters.next() {
        match (next, characters.peek()) {
            ('\\', Some('*' | '\\')) => result.extend(characters.next()),
            _ => result.push(next),
        }
    }
    result
}
