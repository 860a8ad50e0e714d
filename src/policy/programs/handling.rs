//! From the options and operands of a command to the paths it uses.

use super::{
    super::command::Word,
    Language, Links, Operands, Program, Style, Takes, Use, git_words, name_of,
    parser::{Arguments, Item, parse},
    scripts, tables,
};

/// What a command does with files.
#[derive(Debug, Default)]
pub(in crate::policy) struct Handling {
    /// The paths it names, or works on without naming them.
    pub(in crate::policy) uses: Vec<PathUse>,
    /// How it may use files beyond these, where its words do not tell.
    pub(in crate::policy) beyond: Option<Use>,
    /// True when what it changes may lead elsewhere afterwards: links, what was moved, archives.
    pub(in crate::policy) links: bool,
}

/// One path of a command.
#[derive(Debug)]
pub(in crate::policy) struct PathUse {
    pub(in crate::policy) word: Word,
    pub(in crate::policy) used: Use,
    /// True when what lies below is used as well.
    pub(in crate::policy) below: bool,
    /// True for a path that may start at the top of the working tree as well.
    pub(in crate::policy) from_top: bool,
}

/// What a command does with files. `hides_command` when it runs one that cannot be seen.
pub(in crate::policy) fn handling_of(words: &[Word], hides_command: bool) -> Handling {
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
    /// Every word of a command that is not known may be a path, or have one in it.
    fn of_unknown(arguments: &[Word]) -> Self {
        let mut handling = Self { beyond: Some(Use::Unknown), ..Self::default() };
        for word in arguments {
            handling.candidates(word);
        }
        handling
    }

    fn add(&mut self, word: Word, used: Use, below: bool) {
        // `-` is the input or the output, and `<(…)` what another command writes.
        if word.literal() != Some("-") && word.literal() != Some("") && !is_substitution(&word) {
            self.uses.push(PathUse { word, used, below, from_top: false });
        }
    }

    fn add_from_top(&mut self, word: Word, used: Use, below: bool) {
        self.uses.push(PathUse { word, used, below, from_top: true });
    }

    /// The paths that may be in a word of which nothing is known: `--file=secret`, `if=secret`,
    /// `@secret`, `-fsecret`, `host:secret`.
    fn candidates(&mut self, word: &Word) {
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

/// What the options of a command say together.
struct Collected<'r> {
    program: &'static Program,
    takes: Vec<Takes>,
    operands: Vec<Operand<'r>>,
    /// The directory that it works in, by an option.
    within: Option<Word>,
    /// Where files are put, by an option.
    destination: Option<Word>,
    scripts: Vec<&'r Word>,
}

/// An operand, and the directory that the program is in by then.
struct Operand<'r> {
    word: Word,
    written: &'r Word,
    is_behind_dashes: bool,
}

impl<'r> Collected<'r> {
    fn of(read: &'r Arguments) -> Self {
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
                    collected.takes.push(match takes {
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
            // Where an archive is unpacked.
            collected.destination = directory;
        }
        collected
    }

    fn has(&self, takes: Takes) -> bool {
        self.takes.contains(&takes)
    }

    fn descends(&self) -> bool {
        self.program.descends
            || self.has(Takes::Descends)
            || self.has(Takes::DescendsFollowing)
            || self.takes.iter().any(|it| matches!(it, Takes::DescendsUnless(_)))
    }

    fn links(&self) -> bool {
        match self.program.links {
            Links::Never => false,
            Links::ByOption => {
                self.descends() || self.has(Takes::Links) || self.has(Takes::Extracts)
            }
            Links::Always => true,
        }
    }

    /// The files that options name.
    fn options(&self, read: &Arguments, handling: &mut Handling) {
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

    /// How operands are used where options change that.
    fn used(&self, used: Use) -> Use {
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

    fn operands(&self, handling: &mut Handling, hides_command: bool) {
        let all = self.operands.as_slice();
        match self.program.operands {
            Operands::None => {}
            Operands::Wrapped if !hides_command => {}
            Operands::Wrapped | Operands::Unclear => {
                handling.beyond = Some(Use::Unknown);
            }
            Operands::Files(used) => self.files(all, used, handling),
            Operands::PatternThenFiles(used) => {
                self.files(self.behind_pattern(), used, handling);
            }
            Operands::ScriptThenFiles(language) => self.script(language, handling),
            Operands::FilesThenDestination(used) => self.destination(used, handling),
            Operands::RemoteThenDestination => self.remote(handling),
            Operands::InThenOut => {
                for (place, it) in all.iter().enumerate() {
                    let used = if place == 0 { Use::Reads } else { Use::Writes };
                    handling.add(it.word.clone(), used, false);
                }
            }
            Operands::ArchiveThenFiles => {
                if let Some((archive, files)) = all.split_first() {
                    handling.add(archive.word.clone(), Use::Writes, false);
                    self.files(files, Use::Reads, handling);
                }
            }
            Operands::ExtractsFirst => {
                if let Some(archive) = all.first() {
                    handling.add(archive.word.clone(), Use::Reads, false);
                }
                if !self.has(Takes::Lists) {
                    self.unpack(handling);
                }
            }
            Operands::Members => {
                if self.has(Takes::Extracts) {
                    self.unpack(handling);
                } else if !self.has(Takes::Lists) {
                    self.files(all, Use::Reads, handling);
                }
            }
            Operands::Pairs => self.pairs(handling),
            Operands::Addresses | Operands::Downloads => self.addresses(handling),
            Operands::StartingPoints => self.starting_points(handling),
            Operands::TestExpression => {
                for it in all.iter().filter(|it| is_not_operator(it.written)) {
                    handling.add(it.word.clone(), Use::Reads, false);
                }
            }
            Operands::ProjectArguments(texts) => self.project(texts, handling),
            Operands::CodeFile => {
                let is_elsewhere = [Takes::Names, Takes::Pattern, Takes::PatternsIn]
                    .iter()
                    .any(|it| self.has(*it));
                let file = all.first().and_then(|it| it.written.literal());
                if !is_elsewhere && matches!(file, None | Some("-")) {
                    handling.beyond = Some(Use::Unknown);
                }
                self.project(0, handling);
            }
            Operands::FormattedFiles => self.formatted(handling),
            Operands::CloudArguments => {
                for text in all.iter().filter_map(|it| it.written.literal()) {
                    if let Some((_, path)) =
                        text.split_once("file://").or(text.split_once("fileb://"))
                    {
                        handling.add(Word::Literal(path.to_owned()), Use::Reads, false);
                    }
                }
                self.project(1, handling);
            }
            Operands::Revisions => {
                let shows = self.shows() || !self.has(Takes::Names);
                self.revisions(all, shows, handling);
            }
            Operands::Log => self.revisions(all, self.shows(), handling),
            Operands::Cloned => self.cloned(handling),
            Operands::PatternThenRevisions => {
                self.revisions(self.behind_pattern(), true, handling);
            }
            Operands::Restored => {
                for it in all {
                    for word in git_words::paths_in(it.written, it.is_behind_dashes) {
                        handling.add_from_top(word, Use::Puts, true);
                    }
                }
                let only_names = self.has(Takes::Names) && all.len() < 2;
                if !only_names && !all.iter().any(|it| it.is_behind_dashes) {
                    handling.add_from_top(Word::Literal(".".to_owned()), Use::Puts, true);
                }
            }
            Operands::Pathspecs(used) | Operands::Named(used) => {
                for it in all {
                    handling.add_from_top(git_words::pathspec(&it.word), self.used(used), true);
                }
                if all.is_empty() && self.program.operands == Operands::Pathspecs(used) {
                    let everything = Word::Literal(".".to_owned());
                    handling.add_from_top(everything, self.used(used), true);
                }
            }
        }
    }

    fn shows(&self) -> bool {
        [Takes::Shows, Takes::ShowsValue, Takes::MaybeShows].iter().any(|it| self.has(*it))
    }

    fn files(&self, operands: &[Operand], used: Use, handling: &mut Handling) {
        let searches =
            matches!(self.program.operands, Operands::PatternThenFiles(_)) && self.descends();
        if operands.is_empty() && (self.program.here || searches) {
            let here = below(self.within.as_ref(), &Word::Literal(".".to_owned()));
            handling.add(here, self.used(used), self.descends());
        }
        for it in operands {
            handling.add(it.word.clone(), self.used(used), self.descends());
        }
    }

    /// The operands without the pattern, if one of them is it.
    fn behind_pattern(&self) -> &[Operand<'r>] {
        let is_given =
            [Takes::Pattern, Takes::NoPattern, Takes::PatternsIn].iter().any(|it| self.has(*it));
        self.operands.get(usize::from(!is_given)..).unwrap_or_default()
    }

    fn script(&self, language: Language, handling: &mut Handling) {
        let is_given = self.has(Takes::Script) || self.has(Takes::PatternsIn);
        if self.has(Takes::PatternsIn) {
            // A file of the project, with code in it.
            handling.beyond = Some(Use::Unknown);
        }
        let (script, files) = match self.operands.split_first() {
            Some((first, rest)) if !is_given => (Some(first.written), rest),
            _ => (None, self.operands.as_slice()),
        };
        for script in self.scripts.iter().copied().chain(script) {
            if !script.literal().is_some_and(|it| scripts::touches_no_file(language, it)) {
                handling.beyond = Some(Use::Unknown);
            }
        }
        for it in files {
            let assigns = it.written.literal().is_some_and(scripts::is_assignment);
            if language != Language::Awk || !assigns {
                handling.add(it.word.clone(), self.used(Use::Reads), false);
            }
        }
    }

    /// `cp a b dir`: what is copied, where it goes, and under which name it is found there.
    fn destination(&self, used: Use, handling: &mut Handling) {
        let (sources, destination) = match (&self.destination, self.operands.split_last()) {
            (Some(to), _) => (self.operands.as_slice(), Some(to)),
            // With one operand there is none, but for `ln`, which links it here.
            (None, Some((last, []))) => (std::slice::from_ref(last), None),
            (None, Some((last, sources))) => (sources, Some(&last.word)),
            (None, None) => (&[][..], None),
        };
        self.files(sources, used, handling);
        let here = Word::Literal(".".to_owned());
        let to = destination.unwrap_or(&here);
        let mut merges = self.has(Takes::ExactDestination) && self.descends();
        for source in sources {
            match source.written.literal() {
                Some(text) => match text.trim_end_matches('/').rsplit('/').next() {
                    Some("." | "..") => merges |= self.descends(),
                    Some("") | None => {}
                    Some(name) => {
                        let under = Word::Literal(name.to_owned());
                        handling.add(below(Some(to), &under), Use::Puts, self.descends());
                    }
                },
                None => merges |= may_start_with_dot(source.written.text()),
            }
        }
        if let Some(to) = destination.or(merges.then_some(&here)) {
            let used = if merges { Use::Merges } else { Use::Puts };
            handling.add(to.clone(), used, merges || self.descends());
        }
    }

    /// `rsync a host:b`, `scp host:a b`.
    fn remote(&self, handling: &mut Handling) {
        let is_remote = |it: &Operand| {
            it.written.literal().is_some_and(|text| {
                text.contains("://")
                    || text.split_once(':').is_some_and(|(host, _)| !host.contains('/'))
            })
        };
        let Some((last, sources)) = self.operands.split_last() else { return };
        for it in sources.iter().filter(|it| !is_remote(it)) {
            handling.add(it.word.clone(), Use::Reads, true);
        }
        if is_remote(last) {
            return;
        }
        if sources.is_empty() {
            return handling.add(last.word.clone(), Use::Reads, true);
        }
        handling.add(last.word.clone(), Use::Merges, true);
    }

    fn unpack(&self, handling: &mut Handling) {
        let here = Word::Literal(".".to_owned());
        let to = self.destination.clone().unwrap_or(here);
        handling.add(to, Use::Merges, true);
    }

    fn pairs(&self, handling: &mut Handling) {
        for it in &self.operands {
            match it.written.literal().and_then(|it| it.split_once('=')) {
                Some(("if", file)) => {
                    handling.add(Word::Literal(file.to_owned()), Use::Reads, false);
                }
                Some(("of", file)) => {
                    handling.add(Word::Literal(file.to_owned()), Use::Writes, false);
                }
                Some(_) => {}
                None => {
                    let written = it.written.text();
                    let used = if written.starts_with("if=") { Use::Reads } else { Use::Writes };
                    let value = written.split_once('=').map_or(written, |it| it.1);
                    handling.add(Word::unknown(value, "is only partly known"), used, false);
                }
            }
        }
    }

    fn addresses(&self, handling: &mut Handling) {
        for it in &self.operands {
            let Some(text) = it.written.literal() else {
                if may_start_with_dot(it.written.text()) {
                    handling.beyond.get_or_insert(Use::Reads);
                }
                continue;
            };
            let start: String = text.chars().take(5).collect();
            if start.eq_ignore_ascii_case("file:") {
                let path = text.get(5..).unwrap_or_default().trim_start_matches('/');
                handling.add(Word::Literal(format!("/{path}")), Use::Reads, false);
                // With a host, an encoding or a pattern it may be another one.
                handling.beyond.get_or_insert(Use::Reads);
            } else if text.contains(['{', '[']) {
                handling.beyond.get_or_insert(Use::Reads);
            }
            if self.program.operands == Operands::Downloads && !self.has(Takes::Writes) {
                let path = text.split(['?', '#']).next().unwrap_or(text);
                let name = path.rsplit('/').next().unwrap_or_default().to_owned();
                let to = self.destination.as_ref();
                handling.add(below(to, &Word::Literal(name)), Use::Writes, false);
            }
        }
    }

    fn starting_points(&self, handling: &mut Handling) {
        let used = if self.has(Takes::Rewrites) { Use::Writes } else { Use::Reads };
        let signs = ["(", ")", "!", ","];
        let is_point = |it: &&Operand| it.written.literal().is_none_or(|it| !signs.contains(&it));
        let mut points = self.operands.iter().filter(is_point).peekable();
        if points.peek().is_none() {
            handling.add(Word::Literal(".".to_owned()), used, true);
        }
        for it in points {
            handling.add(it.word.clone(), used, true);
        }
    }

    /// What the project's code is given. Paths in it count, and what is not known is the code's affair.
    fn project(&self, texts: usize, handling: &mut Handling) {
        let below = self.descends() || self.has(Takes::Rewrites);
        let used = if self.has(Takes::Rewrites) { Use::Puts } else { Use::Unknown };
        for it in self.operands.iter().skip(texts) {
            let Some(text) = it.word.literal() else { continue };
            let value = text.split_once('=').map(|(_, value)| value);
            // `-Ffile`, or a word that is no option.
            let path = match text.strip_prefix('-') {
                Some(letters) if !letters.starts_with('-') => letters.get(1..),
                Some(_) => None,
                None => Some(text),
            };
            for path in [path, value].into_iter().flatten() {
                handling.add(Word::Literal(path.to_owned()), used, below);
            }
        }
    }

    fn formatted(&self, handling: &mut Handling) {
        let given = self.operands.iter().filter(|it| !it.written.text().starts_with('-'));
        let mut given = given.map(|it| it.word.clone()).peekable();
        if given.peek().is_none() {
            handling.add(Word::Literal(".".to_owned()), Use::Puts, true);
        }
        for word in given {
            handling.add(word, Use::Puts, true);
        }
    }

    /// `git clone address [directory]`.
    fn cloned(&self, handling: &mut Handling) {
        let Some(address) = self.operands.first() else { return };
        let text = address.written.literal().unwrap_or_default();
        if !text.contains(':') {
            handling.add(address.word.clone(), Use::Reads, true);
        }
        let name = text.trim_end_matches('/').rsplit(['/', ':']).next().unwrap_or_default();
        let name = Word::Literal(name.trim_end_matches(".git").to_owned());
        let to = self.operands.get(1).map_or(name, |it| it.word.clone());
        handling.add(to, Use::Puts, true);
    }

    fn revisions(&self, operands: &[Operand], shows: bool, handling: &mut Handling) {
        let mut names_paths = false;
        let mut names_only_files = !operands.is_empty();
        for it in operands {
            let is_path = it.is_behind_dashes
                || it.written.literal().is_some_and(git_words::is_certainly_path);
            names_paths |= is_path;
            names_only_files &= it.written.literal().is_some_and(|it| it.contains(':'));
            for word in git_words::paths_in(it.written, is_path) {
                let word = match &it.word {
                    Word::Literal(_) if is_path => git_words::pathspec(&it.word),
                    _ => word,
                };
                handling.add_from_top(word, Use::Reads, shows);
            }
        }
        if shows && !names_paths && !names_only_files {
            handling.add_from_top(Word::Literal(".".to_owned()), Use::Reads, true);
        }
    }
}

/// A path as seen from the directory that the program goes to first.
fn below(directory: Option<&Word>, path: &Word) -> Word {
    match (directory, path) {
        (None, _) => path.clone(),
        (_, Word::Literal(path)) if path.starts_with('/') || path.is_empty() => {
            Word::Literal(path.clone())
        }
        (Some(Word::Literal(directory)), Word::Literal(path)) => {
            Word::Literal(format!("{directory}/{path}"))
        }
        (Some(directory), path) => {
            let text = format!("{}/{}", directory.text(), path.text());
            Word::unknown(&text, "is only partly known")
        }
    }
}

/// True for `<(…)` and `>(…)`, and nothing behind it.
fn is_substitution(word: &Word) -> bool {
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

/// True for a word whose value may start with anything, `.` and `file:` included.
fn may_start_with_dot(written: &str) -> bool {
    written.trim_start_matches('"').starts_with(['$', '`', '{', '.', '['])
}

fn is_not_operator(word: &Word) -> bool {
    word.literal().is_none_or(|it| {
        !it.starts_with('-') && !matches!(it, "[" | "]" | "!" | "=" | "==" | "!=" | "(" | ")")
    })
}

/// `@file`, or the data itself. What is not known may start with `@`.
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
    let file = text.split_once('=').and_then(|(_, it)| it.strip_prefix(['@', '<']));
    for name in file.into_iter().flat_map(|it| it.split([',', ';'])) {
        handling.add(Word::Literal(name.to_owned()), Use::Reads, false);
    }
}
