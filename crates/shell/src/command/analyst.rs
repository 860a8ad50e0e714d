//! Turns the readings of a line, and of the scripts nested in it, into an [`Analysis`].

use std::sync::Arc;

use toolwright_base::is_confusing;

use super::{
    Analysis, Doubt, Move, Redirection, Role, Segment, Setting, Within, builtin,
    variable::{self, is_local},
    wrapper::{self, Inner, Wrapped, Wrapper},
};
use crate::{
    Direction, LineReading, PlainNames, ReadingWork, ShellDialect, TOO_COMPLEX, TextSpan, Word,
    lex, read_by_grammar,
};

/// How many doubts are kept. A person reads only the first few.
const MAX_DOUBTS: usize = 32;

/// The cost of looking at one variable, in copied bytes.
const COST_OF_SETTING: usize = 64;

/// An analysis under construction.
pub(crate) struct Analyst<'h> {
    analysis: Analysis,
    home: Option<&'h str>,
    work: ReadingWork,
}

/// The context of a nested command or script.
#[derive(Clone, Copy)]
struct Nesting<'n> {
    depth: usize,
    within: Option<Within>,
    shell: ShellDialect,
    /// The variables that are set for everything in it.
    environment: &'n Arc<[Setting]>,
}

impl<'h> Analyst<'h> {
    pub(crate) fn analyse(
        shell: ShellDialect,
        line: &str,
        home: Option<&'h str>,
    ) -> (Analysis, ReadingWork) {
        let mut analyst =
            Self { analysis: Analysis::default(), home, work: ReadingWork::default() };
        if shell == ShellDialect::Other {
            analyst.doubt("is run by a shell that is not bash");
        }
        let environment = &Arc::from([]);
        analyst.read(line, Nesting { depth: 0, within: None, shell, environment });
        analyst.judge_printing();
        (analyst.analysis, analyst.work)
    }

    /// Programs that only print need a permission if the line redirects to files.
    fn judge_printing(&mut self) {
        let harmless = ["/dev/null", "/dev/stdout", "/dev/stderr"];
        let mut targets = self.analysis.redirections.iter().map(|it| it.target.literal());
        if targets.all(|it| it.is_some_and(|it| harmless.contains(&it))) {
            return;
        }
        let printing = self.analysis.segments.iter_mut();
        for segment in printing.filter(|it| builtin::only_prints(&it.words)) {
            segment.role = Role::Command;
        }
    }

    fn doubt(&mut self, why: impl Into<String>) {
        self.doubt_of(None, why.into());
    }

    fn doubt_of(&mut self, segment: Option<usize>, why: String) {
        let doubt = Doubt { why, segment };
        if self.analysis.doubts.len() < MAX_DOUBTS && !self.analysis.doubts.contains(&doubt) {
            self.analysis.doubts.push(doubt);
        }
    }

    /// Records that a part of the line was not read.
    fn leave_unread(&mut self, why: &'static str) {
        self.doubt(why);
        self.analysis.unread.get_or_insert(why);
    }

    fn read(&mut self, line: &str, nesting: Nesting) {
        if let Err(why) = self.work.read(line.len()) {
            return self.leave_unread(why);
        }
        if let Some(character) = line.chars().find(|it| is_confusing(*it)) {
            self.doubt(format!("contains the character U+{:04X}", u32::from(character)));
        }
        let lexed = lex(line, nesting.shell);
        let is_understood = lexed.gave_up.is_none();
        let parsed = read_by_grammar(line, &lexed, &mut self.work);
        self.analysis.loops |= parsed.loops;
        if let Some(why) = lexed.gave_up {
            self.doubt(why);
        }
        for hazard in &parsed.hazards {
            self.doubt(*hazard);
        }
        if !parsed.reads_rest {
            self.leave_unread(TOO_COMPLEX);
        }
        let agree = lexed.reading == parsed.reading;
        if !parsed.confirms {
            self.doubt("is too long to be read twice");
            self.analysis.loops = true;
        } else if is_understood && !agree {
            self.doubt("can be read in more than one way");
        }
        for it in &lexed.loops {
            self.check_variable(it.variable.of(line), is_local);
        }
        let names = if is_understood && agree {
            PlainNames::of(line, &lexed)
        } else {
            PlainNames::default()
        };
        // Commands of either reading can be denied.
        if !agree && (is_understood || !parsed.confirms) {
            self.take(&lexed.reading, line, &names, nesting);
        }
        self.take(&parsed.reading, line, &names, nesting);
    }

    fn take(&mut self, reading: &LineReading, line: &str, names: &PlainNames, nesting: Nesting) {
        for assignment in &reading.assignments {
            let setting = self.setting(*assignment, line);
            self.check_variable(&setting.name, |it| is_local(it) || setting.is_harmless());
        }
        let mut redirections = reading.redirections.iter().peekable();
        for command in &reading.commands {
            let first = command.environment.first().into_iter().chain(command.words.first()).min();
            let start = first.map_or(0, |it| it.start);
            while let Some((target, direction)) = redirections.next_if(|it| it.0.start < start) {
                self.redirection(*target, line, names, *direction);
            }
            let text = match (command.words.first(), command.words.last()) {
                (Some(first), Some(last)) => line.get(first.start..last.end).unwrap_or_default(),
                _ => "",
            };
            let spans = command.words.iter().chain(&command.environment);
            let size: usize = spans.map(|it| it.end - it.start).sum();
            if !self.may_copy(text.len() + size, nesting.depth) {
                return;
            }
            let own = command.environment.iter().map(|it| self.setting(*it, line)).collect();
            let environment = joined(nesting.environment, own);
            let words = command.words.iter().map(|it| self.word(*it, line, names)).collect();
            self.segment(text.to_owned(), words, &environment, nesting);
        }
        for (target, direction) in redirections {
            self.redirection(*target, line, names, *direction);
        }
    }

    fn word(&self, span: TextSpan, line: &str, names: &PlainNames) -> Word {
        Word::read(span.of(line), self.home).spelled(names.spelling(span, line))
    }

    /// Counts bytes that are about to be copied; false if they are too many.
    fn may_copy(&mut self, bytes: usize, depth: usize) -> bool {
        match self.work.copy(bytes, self.analysis.segments.len(), depth) {
            Ok(()) => true,
            Err(why) => {
                self.leave_unread(why);
                false
            }
        }
    }

    fn setting(&self, assignment: TextSpan, line: &str) -> Setting {
        let (name, value) = assignment.of(line).split_once('=').unwrap_or_default();
        // The value before `+=` is not known.
        let value = match name.strip_suffix('+') {
            Some(_) => Word::unknown(value, "is added to another"),
            None => Word::read(value, self.home),
        };
        Setting { name: name.trim_end_matches('+').to_owned(), value }
    }

    fn redirection(
        &mut self,
        target: TextSpan,
        line: &str,
        names: &PlainNames,
        direction: Direction,
    ) {
        let size = target.end - target.start;
        if let Err(why) = self.work.copy(size, self.analysis.redirections.len(), 0) {
            return self.leave_unread(why);
        }
        let (target, after) = (self.word(target, line, names), self.analysis.segments.len());
        self.analysis.redirections.push(Redirection { target, direction, after });
    }

    fn check_variable(&mut self, name: &str, is_fine: impl Fn(&str) -> bool) {
        if !is_fine(name) {
            self.doubt(format!("sets `{name}`, which {}", variable::danger(name)));
        }
    }

    fn segment(
        &mut self,
        text: String,
        words: Vec<Word>,
        environment: &Arc<[Setting]>,
        nesting: Nesting,
    ) {
        // Every variable is checked for every command.
        if !self.may_copy(COST_OF_SETTING * environment.len(), nesting.depth) {
            return;
        }
        let program = words.first().and_then(Word::literal).unwrap_or_default();
        if nesting.shell == ShellDialect::Posix && program == "builtin" {
            self.doubt("uses `builtin`, which is a program to some shells");
        }
        if let Some(hazard) = builtin::hazard(&words) {
            self.doubt(format!("uses `{program}`, which {hazard}"));
        }
        let place = self.analysis.segments.len();
        let is_plain = self.check_environment(place, &words, environment);
        let to = builtin::destination(&words);
        self.analysis.moves.extend(to.map(|to| Move { segment: place, to }));
        let inner = wrapper::unwrap(&words);
        let is_wrapper = matches!(
            inner,
            Wrapped::Command(_, Wrapper::Transparent) | Wrapped::Script(_, Wrapper::Transparent, _)
        );
        let role = match is_plain {
            true if is_wrapper => Role::Wrapper,
            true if builtin::is_neutral(&words) => Role::Neutral,
            _ => Role::Command,
        };
        self.analysis.segments.push(Segment {
            text,
            words,
            environment: Arc::clone(environment),
            role,
            within: nesting.within,
            hides_command: inner == Wrapped::Hidden,
        });
        self.inner(inner, place, environment, nesting);
    }

    /// Adds the commands that a command runs, if it is a wrapper.
    fn inner(
        &mut self,
        inner: Wrapped,
        place: usize,
        environment: &Arc<[Setting]>,
        nesting: Nesting,
    ) {
        let inside = |word| Nesting {
            depth: nesting.depth + 1,
            within: Some(Within { segment: place, word }),
            environment,
            ..nesting
        };
        match inner {
            Wrapped::Nothing | Wrapped::Hidden => {}
            Wrapped::Command(commands, _) => {
                for Inner { at, words, environment: own } in commands {
                    let text = shown(&words);
                    if !self.may_copy(2 * text.len(), nesting.depth) {
                        return;
                    }
                    self.segment(text, words, &joined(environment, own), inside(at));
                }
            }
            Wrapped::Script(script, _, shell) => {
                let shell = shell.unwrap_or(nesting.shell);
                self.read(&script, Nesting { shell, ..inside(usize::MAX) });
            }
        }
    }

    /// Adds a doubt for every variable of a command that is not harmless; true if there are none.
    fn check_environment(&mut self, place: usize, words: &[Word], settings: &[Setting]) -> bool {
        let program = words.first().and_then(Word::literal);
        // `IFS= read` only affects the builtin `read`, which runs nothing.
        let is_fine =
            |it: &Setting| it.is_harmless() || (it.name == "IFS" && program == Some("read"));
        let mut others: Vec<&str> =
            settings.iter().filter(|it| !is_fine(it)).map(|it| it.name.as_str()).collect();
        // The worst ones come first, because the first doubt is the one that people are shown.
        others.sort_by_key(|it| !variable::decides_what_runs(it));
        for name in &others {
            let why = format!("sets `{name}`, which {} and no rule names", variable::danger(name));
            self.doubt_of(Some(place), why);
        }
        others.is_empty()
    }
}

/// The variables of a command, added to those of the command or script around it.
fn joined(outer: &Arc<[Setting]>, own: Vec<Setting>) -> Arc<[Setting]> {
    if own.is_empty() {
        return Arc::clone(outer);
    }
    outer.iter().cloned().chain(own).collect()
}

/// The words as one line, to be shown to a person.
fn shown(words: &[Word]) -> String {
    let texts: Vec<&str> = words.iter().map(Word::text).collect();
    texts.join(" ")
}
