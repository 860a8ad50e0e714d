//! Patterns of commands in rules: `git status:*`, `npm run test`, `git * main`.
//!
//! They are compared word by word with a parsed command and not with its text: `git status:*` matches
//! neither `git statusx` nor `git status; rm x`. The one exception is an exact line, which is compared as
//! text.

use toolwright_shell::{
    MAX_LINE_BYTES, Role, Segment, Setting, Word, analyse, running_programs::is_shell, setting_of,
    trimmed,
};

use super::command_words::{CommandWords, fits_glob};

/// Whether a rule applies to something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Match {
    /// It does not apply.
    No,
    /// It may apply; this is only known while the command runs.
    Possible,
    /// It certainly applies.
    Certain,
}

impl Match {
    pub(super) const fn certain_if(matches: bool) -> Self {
        if matches { Self::Certain } else { Self::No }
    }
}

/// A pattern of commands. `NAME=value` words before the program are variables that have to be set for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CommandPattern {
    /// Every command.
    Any,
    /// A command of exactly these words.
    Exact {
        /// The words of the command.
        words: Vec<String>,
        /// The text of the pattern as written, and with escapes removed.
        lines: [String; 2],
    },
    /// A whole line that is not one plain command: as written, and with escapes removed.
    Line([String; 2]),
    /// A command that begins with these words.
    Prefix(Vec<String>),
    /// A command that matches words with wildcards.
    Wildcard(Vec<PatternPiece>),
}

/// A part of a pattern with wildcards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PatternPiece {
    /// Exactly this word.
    Word(String),
    /// A word that matches this, where `*` stands for any text.
    Glob(String),
    /// One word or more.
    Words,
    /// Any number of words, at the end.
    Rest,
}

impl PatternPiece {
    /// The word, if it has no wildcard.
    pub(super) fn word(&self) -> Option<&str> {
        match self {
            Self::Word(word) => Some(word),
            Self::Glob(_) | Self::Words | Self::Rest => None,
        }
    }

    /// The variable that it sets and its value, if it sets one.
    fn setting(&self) -> Option<(&str, &str)> {
        match self {
            Self::Word(word) | Self::Glob(word) => setting_of(word),
            Self::Words | Self::Rest => None,
        }
    }
}

/// How many inner `*` a pattern may have. Each multiplies the work to match.
const MAX_INNER_WILDCARDS: usize = 3;
/// The longest pattern: the longest line that is read, with every character escaped.
const MAX_LENGTH: usize = 2 * MAX_LINE_BYTES;

impl CommandPattern {
    /// Reads the text between the parentheses of a rule.
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
                "*" if is_last => pieces.push(PatternPiece::Rest),
                "*" => pieces.push(PatternPiece::Words),
                glob if glob.contains('*') => {
                    pieces.push(PatternPiece::Glob(glob.to_owned()));
                    if is_last && glob.ends_with('*') {
                        pieces.push(PatternPiece::Rest);
                    }
                }
                word => pieces.push(PatternPiece::Word(word.to_owned())),
            }
        }
        if prefix.is_some() && pieces.last() != Some(&PatternPiece::Rest) {
            pieces.push(PatternPiece::Rest);
        }
        if pieces.iter().filter(|it| **it == PatternPiece::Words).count() > MAX_INNER_WILDCARDS {
            return Err(format!("`{text}` has more than {MAX_INNER_WILDCARDS} inner wildcards"));
        }
        Ok(Self::Wildcard(pieces))
    }

    /// The program that the pattern names, if it names one.
    pub(super) fn program(&self) -> Option<&str> {
        match self {
            Self::Any | Self::Line(_) => None,
            Self::Exact { words, .. } | Self::Prefix(words) => {
                without_settings(words).first().map(String::as_str)
            }
            Self::Wildcard(pieces) => match pieces.get(settings_in(pieces)..)?.first() {
                Some(PatternPiece::Word(word)) => Some(word),
                _ => None,
            },
        }
    }

    /// The whole lines that the pattern matches as text.
    pub(super) fn lines(&self) -> &[String] {
        match self {
            Self::Exact { lines, .. } | Self::Line(lines) => lines,
            Self::Any | Self::Prefix(_) | Self::Wildcard(_) => &[],
        }
    }

    /// The number of words that the pattern names, if it permits the command; otherwise `None`. Variables that
    /// are set for the command have to be named too, unless they are harmless.
    pub(super) fn permits(&self, segment: &Segment) -> Option<usize> {
        let words = CommandWords::of(segment);
        if self.names_settings(&segment.environment) != Match::Certain
            || !segment.environment.iter().all(|it| it.is_harmless() || self.names_setting(it))
        {
            return None;
        }
        match self {
            Self::Any => Some(0),
            Self::Line(_) => None,
            Self::Exact { words: named, .. } => {
                let named = without_settings(named);
                let equal = named.len() == words.len() && words.begin_with(named);
                equal.then_some(named.len())
            }
            // The remaining words may be another command.
            Self::Prefix(_) | Self::Wildcard(_) if segment.hides_command => None,
            Self::Prefix(named) => {
                let named = without_settings(named);
                words.begin_with(named).then_some(named.len())
            }
            Self::Wildcard(pieces) => words.fit(without_piece_settings(pieces)).then_some(0),
        }
    }

    /// Whether the pattern, as a limit, applies to the command. A limit on `rm` also applies to `/bin/rm`. If the
    /// program is an unknown word, every limit may apply.
    pub(super) fn limits(&self, segment: &Segment) -> Match {
        let Some(program) = segment.words.first() else { return Match::No };
        if matches!(self, Self::Any) {
            return Match::Certain;
        }
        let is_neutral = segment.role == Role::Neutral && self.program().is_none();
        if is_neutral || matches!(self, Self::Line(_)) {
            return Match::No;
        }
        let Some(program) = program.literal() else { return Match::Possible };
        let names_directory = self.program().is_some_and(|it| it.contains('/'));
        let words = if names_directory {
            CommandWords::of(segment)
        } else {
            let name = program.rsplit('/').next().unwrap_or(program);
            CommandWords { program: Some(name), words: &segment.words }
        };
        let is_certain = match self {
            Self::Any | Self::Line(_) => false,
            Self::Exact { words: named, .. } => {
                let named = without_settings(named);
                named.len() == words.len() && words.begin_with(named)
            }
            Self::Prefix(named) => words.begin_with(without_settings(named)),
            Self::Wildcard(pieces) => words.fit(without_piece_settings(pieces)),
        };
        let is_possible = || self.is_about(words) || self.may_be_hidden_in(segment);
        let found = match is_certain {
            true => Match::Certain,
            false if is_possible() => Match::Possible,
            false => Match::No,
        };
        found.min(self.names_settings(&segment.environment))
    }

    /// Whether the variables that the pattern names are set to the values that it names.
    fn names_settings(&self, environment: &[Setting]) -> Match {
        let one = |name: &str, fits: &dyn Fn(&str) -> bool| match environment
            .iter()
            .rev()
            .find(|it| it.name == name)
            .map(|it| it.value.literal())
        {
            None => Match::No,
            Some(None) => Match::Possible,
            Some(Some(value)) => Match::certain_if(fits(value)),
        };
        let certainties: Vec<Match> = match self {
            Self::Any | Self::Line(_) => Vec::new(),
            Self::Exact { words, .. } | Self::Prefix(words) => words
                .iter()
                .map_while(|it| setting_of(it))
                .map(|(name, wanted)| one(name, &|it| it == wanted))
                .collect(),
            Self::Wildcard(pieces) => pieces
                .iter()
                .map_while(PatternPiece::setting)
                .map(|(name, wanted)| one(name, &|it| fits_glob(wanted, it)))
                .collect(),
        };
        certainties.into_iter().min().unwrap_or(Match::Certain)
    }

    fn names_setting(&self, setting: &Setting) -> bool {
        let is_named = |it: (&str, &str)| it.0 == setting.name;
        match self {
            Self::Any | Self::Line(_) => false,
            Self::Exact { words, .. } | Self::Prefix(words) => {
                words.iter().map_while(|it| setting_of(it)).any(is_named)
            }
            Self::Wildcard(pieces) => pieces.iter().map_while(PatternPiece::setting).any(is_named),
        }
    }

    /// True when the pattern may apply although the words differ: the program is the same, with unknown words or
    /// with options in between, as in `git -C x push`.
    fn is_about(&self, words: CommandWords) -> bool {
        let has_unknown = || words.words.iter().any(|it| it.literal().is_none());
        let same_program = |name: &str| words.get(0) == Some(name);
        match self {
            Self::Any | Self::Line(_) => false,
            Self::Exact { words: named, .. } => {
                without_settings(named).first().is_some_and(|it| same_program(it)) && has_unknown()
            }
            Self::Prefix(named) => words.may_begin_with(without_settings(named)),
            Self::Wildcard(_) => self.program().is_none_or(same_program) && has_unknown(),
        }
    }

    fn may_be_hidden_in(&self, segment: &Segment) -> bool {
        let mut arguments = segment.words.iter().skip(1);
        let program = segment.words.first().and_then(Word::literal).unwrap_or_default();
        // A shell may run what it reads from its input; other programs only run what their words name.
        let reads_commands = is_shell(program.rsplit('/').next().unwrap_or(program));
        let is_named = |word: &Word| match (word.literal(), self.program()) {
            (Some(text), Some(program)) => text.contains(program),
            _ => true,
        };
        segment.hides_command && (reads_commands || arguments.any(is_named))
    }
}

/// The words of a pattern after its variables.
fn without_settings(words: &[String]) -> &[String] {
    let count = words.iter().take_while(|it| setting_of(it).is_some()).count();
    words.get(count..).unwrap_or_default()
}

fn settings_in(pieces: &[PatternPiece]) -> usize {
    pieces.iter().take_while(|it| it.setting().is_some()).count()
}

fn without_piece_settings(pieces: &[PatternPiece]) -> &[PatternPiece] {
    pieces.get(settings_in(pieces)..).unwrap_or_default()
}

/// The words of a text that is one plain command of known words.
fn words_of(text: &str, home: Option<&str>) -> Option<Vec<String>> {
    let analysis = analyse(text, home);
    let is_plain = analysis.redirections.is_empty()
        && analysis.segments.iter().filter(|it| it.within.is_none()).count() == 1;
    let segment = analysis.segments.first().filter(|_| is_plain)?;
    // Doubts about the command do not matter here; they count when it runs.
    let before = trimmed(text).strip_suffix(&segment.text)?;
    let settings = segment.environment.iter();
    let settings = settings.map(|it| Some(format!("{}={}", it.name, it.value.literal()?)));
    let words = segment.words.iter().map(|it| it.literal().map(str::to_owned));
    let covers = match segment.environment.first() {
        Some(first) => before.starts_with(&format!("{}=", first.name)),
        None => before.is_empty(),
    };
    let words: Option<Vec<String>> = settings.chain(words).collect();
    words.filter(|_| covers)
}

/// True for text with a `*` that is not escaped.
fn has_wildcard(text: &str) -> bool {
    let mut escaped = false;
    text.chars().any(|it| {
        let is_wildcard = it == '*' && !escaped;
        escaped = it == '\\' && !escaped;
        is_wildcard
    })
}

/// The pattern that matches exactly this line.
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
