//! The effects of a command's options, and the files that they name.

use toolwright_shell::Word;

use super::{
    Links, Operands, Program, Style, Takes, Use,
    handling::Handling,
    parser::{Arguments, Item},
};

/// The longest directory that a path is joined to.
const MAX_DIRECTORY_BYTES: usize = 1_024;

/// The collected options and operands of a command.
pub(super) struct Collected<'r> {
    pub(super) program: &'static Program,
    takes: Vec<Takes>,
    pub(super) operands: Vec<Operand<'r>>,
    /// The directory in which it works, if an option names one.
    pub(super) within: Option<Word>,
    /// The directory into which files are written, if an option names one.
    pub(super) destination: Option<Word>,
    pub(super) scripts: Vec<&'r Word>,
}

/// An operand: its path from the directory in which the program is at that point, and as written.
pub(super) struct Operand<'r> {
    pub(super) word: Word,
    pub(super) written: &'r Word,
    pub(super) is_behind_dashes: bool,
}

impl<'r> Collected<'r> {
    pub(super) fn of(read: &'r Arguments) -> Self {
        let within = read.items.iter().filter_map(|it| match it {
            Item::Option(Takes::Within, Some(value)) => Some(value),
            _ => None,
        });
        let within = within.fold(None, |before, it| Some(below(before.as_ref(), it)));
        let mut directory = within.clone();
        let mut collected = Self {
            program: read.program,
            takes: Vec::new(),
            operands: Vec::new(),
            within,
            destination: None,
            scripts: Vec::new(),
        };
        for item in &read.items {
            match item {
                Item::Option(takes, value) => {
                    let value = value.as_ref();
                    collected.note(match takes {
                        Takes::DescendsUnless(others)
                            if value
                                .and_then(Word::literal)
                                .is_some_and(|it| others.contains(&it)) =>
                        {
                            Takes::Flag
                        }
                        other => *other,
                    });
                    match (takes, value) {
                        (Takes::WithinFromHere, Some(to)) => {
                            directory = Some(below(directory.as_ref(), to));
                        }
                        (Takes::Puts, Some(to)) => {
                            collected.destination = Some(below(directory.as_ref(), to));
                        }
                        (Takes::Script, Some(script)) => collected.scripts.push(script),
                        _ => {}
                    }
                }
                Item::Operand(written, is_behind_dashes) => {
                    let word = below(directory.as_ref(), written);
                    let is_behind_dashes = *is_behind_dashes;
                    collected.operands.push(Operand { word, written, is_behind_dashes });
                }
            }
        }
        if directory.is_some() && read.program.style == Style::Bundled {
            // The directory into which an archive is unpacked.
            collected.destination = directory;
        }
        collected
    }

    /// Records each effect once, because a line may repeat an option thousands of times.
    fn note(&mut self, takes: Takes) {
        if !self.has(takes) {
            self.takes.push(takes);
        }
    }

    pub(super) fn has(&self, takes: Takes) -> bool {
        self.takes.contains(&takes)
    }

    pub(super) fn descends(&self) -> bool {
        self.program.descends
            || self.has(Takes::Descends)
            || self.has(Takes::DescendsFollowing)
            || self.takes.iter().any(|it| matches!(it, Takes::DescendsUnless(_)))
    }

    pub(super) fn links(&self) -> bool {
        match self.program.links {
            Links::Never => false,
            Links::ByOption => {
                self.descends() || self.has(Takes::Links) || self.has(Takes::Extracts)
            }
            Links::Always => true,
        }
    }

    /// Adds the files that options name.
    pub(super) fn options(&self, read: &Arguments, handling: &mut Handling) {
        for item in &read.items {
            let Item::Option(takes, value) = item else { continue };
            let Some(value) = value else {
                self.flag(*takes, handling);
                continue;
            };
            let word = &below(self.within.as_ref(), value);
            match takes {
                Takes::Reads | Takes::MaybeReads | Takes::PatternsIn => {
                    handling.add(word.clone(), Use::Reads, false);
                    // `zip -x@list`, `gh api -F name=@file`.
                    if let Some((_, file)) = value.literal().and_then(|it| it.split_once('@')) {
                        handling.add(Word::Literal(file.to_owned()), Use::Reads, false);
                    }
                }
                Takes::Writes | Takes::MaybeWrites | Takes::WritesThenText => {
                    handling.add(word.clone(), Use::Writes, false);
                }
                Takes::Puts => handling.add(word.clone(), Use::Puts, self.descends()),
                Takes::Archive => {
                    let reads = self.has(Takes::Extracts) || self.has(Takes::Lists);
                    let used = if reads { Use::Reads } else { Use::Writes };
                    handling.add(word.clone(), used, false);
                }
                Takes::ListedIn => {
                    handling.add(word.clone(), Use::Reads, false);
                    handling.beyond.get_or_insert(self.used_by_default());
                }
                // The program expands patterns itself.
                Takes::Uploads if value.text().contains(['{', '[']) => {
                    handling.beyond.get_or_insert(Use::Reads);
                }
                Takes::Uploads => handling.add(word.clone(), Use::Reads, false),
                Takes::Data => data(value, handling),
                Takes::Form => form(value, handling),
                Takes::UnclearValue => {
                    handling.candidates(word);
                    handling.beyond = Some(Use::Unknown);
                }
                _ => {}
            }
        }
        if self.descends() && (self.has(Takes::Follows) || self.has(Takes::DescendsFollowing)) {
            handling.beyond.get_or_insert(self.used_by_default());
        }
    }

    fn flag(&self, takes: Takes, handling: &mut Handling) {
        match takes {
            Takes::Unclear | Takes::UnclearValue => handling.beyond = Some(Use::Unknown),
            Takes::PutsHere => self.unpack(handling),
            _ => {}
        }
    }

    /// How operands are used, if options change that.
    pub(super) fn used(&self, used: Use) -> Use {
        if self.has(Takes::Rewrites) || self.has(Takes::MaybeRewrites) {
            Use::Writes
        } else if self.has(Takes::OnlyReads) {
            Use::Reads
        } else {
            used
        }
    }

    fn used_by_default(&self) -> Use {
        match self.program.operands {
            Operands::Files(used) | Operands::PatternThenFiles(used) => self.used(used),
            Operands::StartingPoints if !self.has(Takes::Rewrites) => Use::Reads,
            Operands::Members if !self.has(Takes::Extracts) => Use::Reads,
            Operands::PatternThenRevisions | Operands::Revisions | Operands::Log => Use::Reads,
            _ => Use::Unknown,
        }
    }
}

/// A path, joined to the directory to which the program changes first.
pub(super) fn below(directory: Option<&Word>, path: &Word) -> Word {
    match (directory, path) {
        (None, _) => path.clone(),
        (_, Word::Literal(path)) if path.starts_with('/') || path.is_empty() => {
            Word::Literal(path.clone())
        }
        (Some(Word::Literal(directory)), Word::Literal(path))
            if directory.len() <= MAX_DIRECTORY_BYTES =>
        {
            Word::Literal(format!("{directory}/{path}"))
        }
        (Some(directory), path) => {
            let start = Some(directory.text()).filter(|it| it.len() <= MAX_DIRECTORY_BYTES);
            let text = format!("{}/{}", start.unwrap_or("…"), path.text());
            Word::unknown(&text, "is only partly known")
        }
    }
}

/// `@file`, or the data itself. An unknown word may start with `@`.
fn data(word: &Word, handling: &mut Handling) {
    match word.literal() {
        Some(text) => {
            // `name@file` for `--data-urlencode`.
            if let Some((_, file)) = text.split_once('@') {
                handling.add(Word::Literal(file.to_owned()), Use::Reads, false);
            }
        }
        None if word.text().trim_start_matches('"').starts_with(['$', '@', '`']) => {
            handling.add(word.clone(), Use::Reads, false);
        }
        None => {}
    }
}

/// `name=@file;type=…`, `name=<file`.
fn form(word: &Word, handling: &mut Handling) {
    let Some(text) = word.literal() else {
        return handling.add(word.clone(), Use::Reads, false);
    };
    // `name=@a,b;headers=@c`: every part between these characters may be a file.
    for part in text.split([';', ',']).filter(|_| text.contains(['@', '<'])) {
        let value = part.split_once('=').map_or(part, |it| it.1).trim_start_matches(['@', '<']);
        handling.add(Word::Literal(value.to_owned()), Use::Reads, false);
    }
}
