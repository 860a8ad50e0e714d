//! Parses the words of a command with the table of its program.

use toolwright_shell::Word;

use super::{
    Program, Style,
    Takes::{
        self, Command, Descends, DescendsFollowing, DescendsUnless, ExactDestination, Extracts,
        Flag, Follows, Links, ListedIn, Lists, MaybeReads, MaybeRewrites, MaybeShows, MaybeText,
        MaybeWrites, NamedReads, Names, NoPattern, OnlyReads, Pattern, PatternsIn, PutsHere, Reads,
        Rewrites, Shows, ShowsValue, StoresByName, Text, TwoTexts, Unclear, WritesThenText,
    },
    Use,
};

/// The options and operands of a command, in order.
#[derive(Debug)]
pub(super) struct Arguments {
    /// The table of the program or of its subcommand.
    pub(super) program: &'static Program,
    pub(super) items: Vec<Item>,
    /// How other files may be used, because a word is not in the table or may become an option.
    pub(super) beyond: Option<Use>,
}

/// An option or an operand.
#[derive(Debug)]
pub(super) enum Item {
    /// An option, with its value if it has one.
    Option(Takes, Option<Word>),
    /// Any other word, and whether it comes after `--`.
    Operand(Word, bool),
}

/// The words that are still to be read.
struct ArgumentWords<'w> {
    rest: std::slice::Iter<'w, Word>,
    read: Arguments,
}

/// Reads the words after the name of a program.
pub(super) fn parse(program: &'static Program, words: &[Word]) -> Arguments {
    let read = Arguments { program, items: Vec::new(), beyond: None };
    let mut words = ArgumentWords { rest: words.iter(), read };
    words.read_all();
    words.read
}

impl ArgumentWords<'_> {
    fn read_all(&mut self) {
        let mut is_first = true;
        let mut only_operands = false;
        while let Some(word) = self.rest.next() {
            let style = self.read.program.style;
            let bundled = std::mem::take(&mut is_first) && style == Style::Bundled;
            let Some(text) = word.literal().map(str::to_owned) else {
                self.unknown(word, only_operands);
                only_operands |= style == Style::Leading;
                continue;
            };
            if only_operands {
                self.read.items.push(Item::Operand(word.clone(), true));
            } else if text == "--" {
                only_operands = true;
            } else if text.len() > 1 && text.starts_with('-') {
                self.option(&text);
            } else if bundled && text.bytes().all(|it| it.is_ascii_alphanumeric()) {
                self.bundle(&text);
            } else if let Some(subcommand) = self.subcommand(&text) {
                self.read.program = subcommand;
                is_first = true;
            } else {
                self.read.items.push(Item::Operand(word.clone(), false));
                only_operands = style == Style::Leading;
            }
        }
    }

    /// The table of the subcommand that the first operand names.
    fn subcommand(&mut self, text: &str) -> Option<&'static Program> {
        let program = self.read.program;
        if program.subcommands.is_empty() {
            return None;
        }
        let found = program.subcommands.iter().find(|it| it.names.contains(&text));
        if found.is_none() && program.style != Style::Project {
            self.read.beyond = Some(Use::Unknown);
        }
        found
    }

    /// An unknown word may be an option as well, unless it starts like a path.
    fn unknown(&mut self, word: &Word, only_operands: bool) {
        let written = word.text();
        if !only_operands && written.starts_with('-') {
            let value = written.split_once('=').filter(|it| is_plain_name(it.0));
            match value.and_then(|(name, value)| Some((self.find(name)?, value))) {
                Some((takes, value)) if takes.has_value() => {
                    let value = Word::unknown(value, "is only partly known");
                    return self.push(takes, Some(value));
                }
                _ => self.may_be_any_option(),
            }
        } else if !only_operands && may_be_option(written) {
            self.may_be_any_option();
        }
        if !self.read.program.subcommands.is_empty() {
            self.read.beyond = Some(Use::Unknown);
        }
        self.read.items.push(Item::Operand(word.clone(), only_operands));
    }

    fn option(&mut self, text: &str) {
        let (name, joined) = match text.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (text, None),
        };
        let is_long = text.starts_with("--");
        if self.read.program.style == Style::SingleDash || is_long {
            return match (self.find(name), joined) {
                (Some(takes), Some(value)) if takes.has_value() => {
                    self.push(takes, Some(Word::Literal(value.to_owned())));
                }
                (Some(takes), None) => self.with_next(takes),
                _ => self.not_understood(text),
            };
        }
        if let Some(takes) = self.exactly(text) {
            return self.with_next(takes);
        }
        if text.len() > 2
            && let Some(takes) = self.exactly(name)
            && let (true, Some(value)) = (takes.has_value() && name.len() > 2, joined)
        {
            // `-webkit=x`: a long name with one `-`.
            return self.push(takes, Some(Word::Literal(value.to_owned())));
        }
        self.cluster(text);
    }

    /// `-rnA3`: letters up to the first that takes a value, and the value.
    fn cluster(&mut self, text: &str) {
        let letters = text.get(1..).unwrap_or_default();
        let mut rest = letters.chars();
        while let Some(letter) = rest.next() {
            let takes = self.exactly(&format!("-{letter}"));
            let is_number = letter.is_ascii_digit() && self.exactly("-#").is_some();
            match takes.or(is_number.then_some(Flag)) {
                None => return self.not_understood(text),
                Some(takes) if takes.has_value() => {
                    let value = rest.as_str();
                    if value.is_empty() {
                        self.with_next(takes);
                    } else {
                        self.with_value(takes, Word::Literal(value.to_owned()));
                    }
                    return;
                }
                Some(takes) => self.push(takes, None),
            }
        }
    }

    /// `xzfC`: each letter that takes a value takes one of the next words.
    fn bundle(&mut self, letters: &str) {
        for letter in letters.chars() {
            match self.exactly(&format!("-{letter}")) {
                Some(takes) => self.with_next(takes),
                None => self.not_understood(letters),
            }
        }
    }

    /// An option that takes its value from the next word, if it has one.
    fn with_next(&mut self, takes: Takes) {
        match takes {
            Command => {
                let mut before = None;
                for word in self.rest.by_ref() {
                    let last = before.replace(word.literal()).flatten();
                    match (last, word.literal()) {
                        (_, Some(";")) | (Some("{}"), Some("+")) => break,
                        _ => {}
                    }
                }
                self.push(takes, None);
            }
            MaybeText | MaybeReads | MaybeWrites | MaybeRewrites | MaybeShows => {
                self.push(takes, None);
            }
            _ if takes.has_value() => match self.rest.next().cloned() {
                Some(value) => {
                    // Without quotes it may become several words, some of which may be options.
                    if value.literal().is_none() && !is_quoted(value.text()) {
                        self.may_be_any_option();
                    }
                    self.with_value(takes, value);
                }
                None => self.push(takes, None),
            },
            _ => self.push(takes, None),
        }
    }

    /// An option with its first value.
    fn with_value(&mut self, takes: Takes, value: Word) {
        match takes {
            TwoTexts | WritesThenText => drop(self.rest.next()),
            NamedReads => {
                let file = self.rest.next().cloned();
                return self.push(Reads, file);
            }
            _ => {}
        }
        self.push(takes, Some(value));
    }

    fn push(&mut self, takes: Takes, value: Option<Word>) {
        self.read.items.push(Item::Option(takes, value));
    }

    fn not_understood(&mut self, text: &str) {
        if self.read.program.style == Style::Project {
            // The text after `=` may be a path for the project's code.
            self.read.items.push(Item::Operand(Word::Literal(text.to_owned()), false));
        } else {
            self.read.beyond = Some(Use::Unknown);
        }
    }

    /// Records that a word may become any option of the program.
    fn may_be_any_option(&mut self) {
        let worst = self.read.program.worst_option();
        if self.read.beyond != Some(Use::Unknown) {
            self.read.beyond = worst.or(self.read.beyond);
        }
    }

    fn exactly(&self, name: &str) -> Option<Takes> {
        let options = self.read.program.options.iter();
        options.filter(|it| it.1.contains(&name)).map(|it| it.0).next()
    }

    /// What an option takes, by its name or an abbreviation of it.
    fn find(&self, name: &str) -> Option<Takes> {
        let program = self.read.program;
        if let Some(takes) = self.exactly(name) {
            return Some(takes);
        }
        if program.style == Style::SingleDash {
            let other = name.strip_prefix("--").map(|it| format!("-{it}"));
            return other.and_then(|it| self.exactly(&it));
        }
        if !matches!(program.style, Style::Gnu | Style::Bundled) || !name.starts_with("--") {
            return None;
        }
        let mut like = program.options.iter().filter_map(|(takes, names)| {
            names.iter().any(|it| it.starts_with(name)).then_some(*takes)
        });
        // If the abbreviation is ambiguous, the program accepts none of them.
        like.next().filter(|first| like.all(|it| it == *first))
    }
}

impl Takes {
    pub(super) fn has_value(self) -> bool {
        !matches!(
            self,
            Flag | Descends
                | DescendsFollowing
                | Follows
                | Rewrites
                | OnlyReads
                | Shows
                | Names
                | Links
                | Extracts
                | Lists
                | ExactDestination
                | PutsHere
                | StoresByName
                | NoPattern
                | Command
                | Unclear
        )
    }
}

impl Program {
    /// The strongest use of a file by any option of the program.
    fn worst_option(&self) -> Option<Use> {
        let harmless = |it: Takes| matches!(it, Flag | Text | MaybeText | TwoTexts | Names | Lists);
        let reads = |it: Takes| {
            matches!(
                it,
                Descends
                    | DescendsFollowing
                    | DescendsUnless(_)
                    | Follows
                    | OnlyReads
                    | Shows
                    | ShowsValue
                    | MaybeShows
                    | Reads
                    | MaybeReads
                    | NamedReads
                    | ListedIn
                    | Pattern
                    | NoPattern
                    | PatternsIn
            )
        };
        let options = || self.options.iter().map(|it| it.0);
        if self.style == Style::Project || (options().all(harmless) && self.subcommands.is_empty())
        {
            None
        } else if options().all(|it| harmless(it) || reads(it)) {
            Some(Use::Reads)
        } else {
            Some(Use::Unknown)
        }
    }
}

/// True for letters, digits and `-`, which the shell does not expand.
fn is_plain_name(name: &str) -> bool {
    name.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'-')
}

/// True for a word that expands to exactly one word.
fn is_quoted(written: &str) -> bool {
    let inner = written.strip_prefix('"').and_then(|it| it.strip_suffix('"'));
    // `"$@"` and `"${a[@]}"` become any number of words.
    inner.is_some_and(|it| {
        !it.contains(['"', '@', '*']) || it.starts_with("$(") && !it.contains('"')
    })
}

/// True when the word may expand to one that starts with `-`.
fn may_be_option(written: &str) -> bool {
    let starts_unknown = |it: &str| it.starts_with(['$', '`', '-', '{', '[', '?', '*']);
    let quoted = written.strip_prefix('"').unwrap_or(written);
    // Without quotes, a part after a space may start with `-`.
    starts_unknown(quoted) || (written.contains(['$', '`', '{']) && !is_quoted(written))
}
