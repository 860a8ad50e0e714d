//! What a command does with files: the paths that it uses, and how.

use toolwright_shell::Word;

use super::{Use, collected::Collected, name_of, parser::parse, tables};

/// What a command does with files.
#[derive(Debug, Default)]
pub(crate) struct Handling {
    /// The paths that it names, or uses without naming them.
    pub(crate) uses: Vec<PathUse>,
    /// How it may use other files that its words do not show.
    pub(crate) beyond: Option<Use>,
    /// True when the paths that it changes may lead elsewhere afterwards: links, moved files, unpacked
    /// archives.
    pub(crate) links: bool,
}

/// One path of a command.
#[derive(Debug)]
pub(crate) struct PathUse {
    pub(crate) word: Word,
    pub(crate) used: Use,
    /// True when everything below it is used as well.
    pub(crate) below: bool,
    /// True for a path that may also start at the top of the working tree.
    pub(crate) from_top: bool,
}

/// Paths that are the input or output of the command, or no file.
const STREAMS: [&str; 6] = ["", "-", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/null"];

/// Finds what a command does with files. `hides_command` is true if it runs a command that its words do not
/// show.
pub(crate) fn handling_of(words: &[Word], hides_command: bool) -> Handling {
    let arguments = words.get(1..).unwrap_or_default();
    let Some(program) = name_of(words).and_then(tables::program) else {
        return Handling::of_unknown(arguments);
    };
    let read = parse(program, arguments);
    let mut handling = Handling { beyond: read.beyond, ..Handling::default() };
    let collected = Collected::of(&read);
    collected.options(&read, &mut handling);
    collected.operands(&mut handling, hides_command);
    handling.links = collected.links();
    if handling.beyond == Some(Use::Unknown) {
        handling.uses.extend(Handling::of_unknown(arguments).uses);
    }
    handling
}

impl Handling {
    /// For a program without a table, every word may be a path or contain one.
    fn of_unknown(arguments: &[Word]) -> Self {
        let mut handling = Self { beyond: Some(Use::Unknown), ..Self::default() };
        for word in arguments {
            handling.candidates(word);
        }
        handling
    }

    pub(super) fn add(&mut self, word: Word, used: Use, below: bool) {
        // `-` is the input or output, and `<(…)` is the output of another command.
        let is_stream = word.literal().is_some_and(|it| STREAMS.contains(&it));
        if !is_stream && !is_substitution(&word) {
            self.uses.push(PathUse { word, used, below, from_top: false });
        }
    }

    pub(super) fn add_from_top(&mut self, word: Word, used: Use, below: bool) {
        self.uses.push(PathUse { word, used, below, from_top: true });
    }

    /// Adds the paths that a word of an unknown program may contain: `--file=secret`, `if=secret`, `@secret`,
    /// `-fsecret`, `host:secret`.
    pub(super) fn candidates(&mut self, word: &Word) {
        let Some(text) = word.literal() else {
            return self.add(word.clone(), Use::Unknown, false);
        };
        let value = text.split_once('=').map(|(_, value)| value);
        let inner = value.unwrap_or(text);
        let file = inner.strip_prefix(['@', '<']);
        let joined = text.strip_prefix('-').and_then(|it| it.get(1..));
        let remote = inner.rsplit_once(':').map(|(_, path)| path);
        for path in [Some(text), value, file, joined, remote].into_iter().flatten() {
            self.add(Word::Literal(path.to_owned()), Use::Unknown, false);
        }
    }
}

/// True for a word that is only `<(…)` or `>(…)`.
pub(crate) fn is_substitution(word: &Word) -> bool {
    let written = match word {
        Word::Unknown { text, .. } if text.starts_with("<(") || text.starts_with(">(") => text,
        _ => return false,
    };
    let mut depth = 0_usize;
    let mut closes = written.char_indices().filter_map(|(at, it)| match it {
        '(' => {
            depth += 1;
            None
        }
        ')' => {
            depth = depth.saturating_sub(1);
            (depth == 0).then_some(at)
        }
        _ => None,
    });
    closes.next().is_some_and(|it| it + 1 == written.len())
}
