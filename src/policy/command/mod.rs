//! What a command line runs, as far as its text tells.
//!
//! Pure and total: every text gets an answer, and the answer to what is not understood is that it is
//! not understood. Two readings are made, a broad one by grammar and a strict one by hand; only where
//! they agree is a line free of doubt.

mod builtin;
mod lexer;
mod reading;
mod shell;
mod syntax;
mod variable;
mod word;
mod wrapper;

pub use reading::Direction;
use reading::Reading;
pub use shell::Shell;
pub use word::Word;
use wrapper::{Wrapped, Wrapper};

use crate::terminal::is_confusing;

/// Longer lines are not looked into.
const MAX_BYTES: usize = 8_192;
/// How deep scripts in scripts and wrappers in wrappers are followed.
const MAX_DEPTH: usize = 8;
/// A line of more commands than a person would read.
const MAX_SEGMENTS: usize = 512;

/// What a line runs and touches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Analysis {
    /// Every simple command, wherever it stands.
    pub segments: Vec<Segment>,
    /// Every file that a redirection names.
    pub redirections: Vec<Redirection>,
    /// Why the line may do more than its segments say; empty when it cannot.
    pub doubts: Vec<String>,
    /// Every change of the directory.
    pub moves: Vec<Move>,
    /// True with a loop, in which what stands first may run after what stands last.
    pub loops: bool,
}

/// A change of the directory that relative paths start from. It may fail or happen in a subshell, so that
/// the directory before it may count as well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Move {
    /// The place of the command among the segments.
    pub segment: usize,
    /// Where it leads.
    pub to: Destination,
}

/// Where a change of the directory leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Destination {
    /// To this directory, from the one before.
    Directory(String),
    /// Home.
    Home,
    /// Somewhere.
    Unknown,
}

/// One simple command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// The command as it is written, or as a wrapper would run it.
    pub text: String,
    /// The program and its arguments.
    pub words: Vec<Word>,
    /// What it takes to allow it.
    pub role: Role,
    /// The wrapper that runs it.
    pub within: Option<Within>,
    /// True when the program runs something that its words do not tell.
    pub hides_command: bool,
}

/// What a segment is to the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It needs a permission.
    Command,
    /// It only runs another segment, which needs the permission: `timeout 5 …`.
    Wrapper,
    /// It does nothing: `true`, `:`.
    Neutral,
}

/// Where a wrapped command stands in its wrapper.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Within {
    /// The wrapper's place among the segments.
    pub segment: usize,
    /// The place of the program among the wrapper's words.
    pub word: usize,
}

/// A file that is opened by the shell itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redirection {
    /// The file.
    pub target: Word,
    /// What is done with it.
    pub direction: Direction,
    /// How many segments stand before it.
    pub after: usize,
}

/// Takes a command line of bash apart. `home` is what `~` stands for.
pub fn analyse(line: &str, home: Option<&str>) -> Analysis {
    analyse_for(Shell::Bash, line, home)
}

/// Takes a command line apart as a shell would.
pub fn analyse_for(shell: Shell, line: &str, home: Option<&str>) -> Analysis {
    let mut analysis = Analysis::default();
    if shell == Shell::Other {
        analysis.doubt("is run by a shell that is not bash");
    }
    analysis.read(line, home, Nesting { depth: 0, within: None, shell });
    analysis.doubts.dedup();
    analysis
}

#[derive(Clone, Copy)]
struct Nesting {
    depth: usize,
    within: Option<Within>,
    shell: Shell,
}

impl Analysis {
    fn doubt(&mut self, why: impl Into<String>) {
        self.doubts.push(why.into());
    }

    fn read(&mut self, line: &str, home: Option<&str>, nesting: Nesting) {
        if line.len() > MAX_BYTES {
            return self.doubt("is too long to be looked into");
        }
        if let Some(character) = line.chars().find(|it| is_confusing(*it)) {
            self.doubt(format!("contains the character U+{:04X}", u32::from(character)));
        }
        let Some(parsed) = syntax::parse(line) else {
            return self.doubt("is too tangled to be parsed");
        };
        self.loops |= parsed.loops;
        for hazard in &parsed.hazards {
            self.doubt(*hazard);
        }
        match lexer::lex(line, nesting.shell) {
            Err(why) => self.doubt(why),
            Ok(lexed) if lexed.reading != parsed.reading => {
                // Whatever either reading sees can be denied.
                self.doubt("can be read in more than one way");
                self.take(&lexed.reading, line, home, nesting);
            }
            Ok(lexed) => {
                for variable in lexed.loop_variables {
                    self.check_variable(variable.of(line), variable::is_local);
                }
            }
        }
        self.take(&parsed.reading, line, home, nesting);
    }

    fn take(&mut self, reading: &Reading, line: &str, home: Option<&str>, nesting: Nesting) {
        for assignment in &reading.environment {
            let name = lexer::variable_of(assignment.of(line)).unwrap_or_default();
            self.check_variable(name, variable::is_harmless);
        }
        for assignment in &reading.assignments {
            let name = lexer::variable_of(assignment.of(line)).unwrap_or_default();
            self.check_variable(name, |it| variable::is_local(it) || variable::is_harmless(it));
        }
        let mut redirections = reading.redirections.iter().peekable();
        for command in &reading.commands {
            let start = command.first().map_or(0, |it| it.start);
            while let Some((target, direction)) = redirections.next_if(|it| it.0.start < start) {
                self.redirection(target.of(line), *direction, home);
            }
            let text = match (command.first(), command.last()) {
                (Some(first), Some(last)) => line.get(first.start..last.end).unwrap_or_default(),
                _ => "",
            };
            let words = command.iter().map(|it| Word::read(it.of(line), home)).collect();
            self.segment(text.to_owned(), words, home, nesting);
        }
        for (target, direction) in redirections {
            self.redirection(target.of(line), *direction, home);
        }
    }

    fn redirection(&mut self, target: &str, direction: Direction, home: Option<&str>) {
        let (target, after) = (Word::read(target, home), self.segments.len());
        self.redirections.push(Redirection { target, direction, after });
    }

    fn check_variable(&mut self, name: &str, is_fine: impl Fn(&str) -> bool) {
        if !is_fine(name) {
            self.doubt(format!("sets `{name}`, which other commands may see"));
        }
    }

    fn segment(&mut self, text: String, words: Vec<Word>, home: Option<&str>, nesting: Nesting) {
        if self.segments.len() >= MAX_SEGMENTS || nesting.depth > MAX_DEPTH {
            return self.doubt("runs more commands than are looked into");
        }
        if nesting.shell == Shell::Posix && words.first().and_then(Word::literal) == Some("builtin")
        {
            self.doubt("uses `builtin`, which is a program to some shells");
        }
        if let Some(hazard) = builtin::hazard(&words) {
            let name = words.first().and_then(Word::literal).unwrap_or_default();
            self.doubt(format!("uses `{name}`, which {hazard}"));
        }
        let place = self.segments.len();
        self.moves.extend(builtin::destination(&words).map(|to| Move { segment: place, to }));
        let role = if builtin::is_neutral(&words) { Role::Neutral } else { Role::Command };
        let inner = wrapper::unwrap(&words);
        self.segments.push(Segment {
            text,
            words,
            role,
            within: nesting.within,
            hides_command: inner == Wrapped::Hidden,
        });
        let mut is_transparent = |wrapper: Wrapper| {
            if wrapper == Wrapper::Transparent
                && let Some(segment) = self.segments.get_mut(place)
            {
                segment.role = Role::Wrapper;
            }
        };
        let inside = |word, shell| Nesting {
            depth: nesting.depth + 1,
            within: Some(Within { segment: place, word }),
            shell,
        };
        match inner {
            Wrapped::Nothing | Wrapped::Hidden => {}
            Wrapped::Command(commands, wrapper) => {
                is_transparent(wrapper);
                for command in commands {
                    let text = shown(&command.words);
                    self.segment(text, command.words, home, inside(command.at, nesting.shell));
                }
            }
            Wrapped::Script(script, wrapper, shell) => {
                is_transparent(wrapper);
                let shell = shell.unwrap_or(nesting.shell);
                self.read(&script, home, inside(usize::MAX, shell));
            }
        }
    }
}

/// True for programs that no rule about the start of their command allows: what they run is not looked
/// into, or they are builtins that run code.
pub(super) fn is_never_allowed(program: &str) -> bool {
    let words = [program, "x"].map(|it| Word::Literal(it.to_owned()));
    // `set -e` is fine.
    wrapper::is_runner(program) || (program != "set" && builtin::hazard(&words).is_some())
}

/// The words as one line for a person.
fn shown(words: &[Word]) -> String {
    let texts: Vec<&str> = words.iter().map(Word::text).collect();
    texts.join(" ")
}

/// The line without what the shell leaves away before and after it. Nothing else is left away: a
/// no-break space at the end is a part of the last word.
pub(super) fn trimmed(line: &str) -> &str {
    let trimmed = line.trim_matches([' ', '\t', '\n']);
    // `x\ ` is not `x\`.
    if trimmed.ends_with('\\') { line } else { trimmed }
}
