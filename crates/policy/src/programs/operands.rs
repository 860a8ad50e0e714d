//! Turns the operands of a command into paths.

use toolwright_shell::Word;

use super::{
    Language, Operands, Takes, Use,
    collected::{Collected, Operand, below},
    handling::Handling,
    scripts,
};

impl<'r> Collected<'r> {
    pub(super) fn operands(&self, handling: &mut Handling, hides_command: bool) {
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
            Operands::Settings => self.settings(handling),
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
                    // Archive programs expand patterns themselves.
                    let is_pattern = |it: &Operand| it.written.text().contains(['*', '?', '[']);
                    if files.iter().any(is_pattern) {
                        handling.beyond.get_or_insert(Use::Reads);
                    }
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
                if self.has(Takes::Extracts) && !self.has(Takes::OnlyReads) {
                    self.unpack(handling);
                } else if !self.has(Takes::Lists) && !self.has(Takes::Extracts) {
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
            Operands::CodeFile => self.code(handling),
            Operands::FormattedFiles => self.formatted(handling),
            Operands::CloudArguments => self.cloud(handling),
            Operands::Revisions
            | Operands::Objects
            | Operands::Log
            | Operands::Cloned
            | Operands::Remotes
            | Operands::PatternThenRevisions
            | Operands::Restored
            | Operands::Pathspecs(_)
            | Operands::Named(_) => self.git_operands(handling),
        }
    }

    /// Adds the operands as files. Some programs read more file names from a file: `@list`.
    fn files(&self, operands: &[Operand], used: Use, handling: &mut Handling) {
        let searches =
            matches!(self.program.operands, Operands::PatternThenFiles(_)) && self.descends();
        if operands.is_empty() && (self.program.here || searches) {
            let here = below(self.within.as_ref(), &Word::Literal(".".to_owned()));
            handling.add(here, self.used(used), self.descends());
        }
        for it in operands {
            handling.add(it.word.clone(), self.used(used), self.descends());
            if let Some(list) = it.written.literal().and_then(|it| it.strip_prefix('@')) {
                handling.add(Word::Literal(list.to_owned()), Use::Reads, false);
                handling.beyond.get_or_insert(Use::Reads);
            }
        }
    }

    /// The operands without the pattern, if the first of them is one.
    pub(super) fn behind_pattern(&self) -> &[Operand<'r>] {
        let is_given =
            [Takes::Pattern, Takes::NoPattern, Takes::PatternsIn].iter().any(|it| self.has(*it));
        self.operands.get(usize::from(!is_given)..).unwrap_or_default()
    }

    /// `git config name value` and `git config set name value` write to a file that git trusts.
    fn settings(&self, handling: &mut Handling) {
        let first = self.operands.first().and_then(|it| it.written.literal());
        let writes = match first {
            Some("get" | "list") => false,
            Some("set" | "unset" | "rename-section" | "remove-section" | "edit") => true,
            _ => self.operands.len() > 1 && !self.has(Takes::OnlyReads),
        };
        if writes || self.has(Takes::Rewrites) {
            handling.add(Word::Literal(".git/config".to_owned()), Use::Writes, false);
        }
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

    /// `cp a b dir`: the sources, the destination, and the names of the copies.
    fn destination(&self, used: Use, handling: &mut Handling) {
        let (sources, destination) = match (&self.destination, self.operands.split_last()) {
            (Some(to), _) => (self.operands.as_slice(), Some(to)),
            // With one operand there is no destination, except for `ln`, which creates the link in the
            // current directory.
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

    pub(super) fn unpack(&self, handling: &mut Handling) {
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
        let is_stored = self.has(Takes::StoresByName)
            || (self.program.operands == Operands::Downloads && !self.has(Takes::Writes));
        let to = self.destination.as_ref();
        for it in &self.operands {
            let Some(text) = it.written.literal() else {
                if may_start_with_dot(it.written.text()) {
                    handling.beyond.get_or_insert(Use::Reads);
                }
                if is_stored {
                    handling.add(below(to, it.written), Use::Writes, false);
                }
                continue;
            };
            let start: String = text.chars().take(5).collect();
            if start.eq_ignore_ascii_case("file:") {
                let path = text.get(5..).unwrap_or_default().trim_start_matches('/');
                handling.add(Word::Literal(format!("/{path}")), Use::Reads, false);
                // With a host, an encoding or a pattern, the URL may mean another file.
                handling.beyond.get_or_insert(Use::Reads);
            } else if text.contains(['{', '[']) {
                handling.beyond.get_or_insert(Use::Reads);
            }
            if is_stored {
                let path = text.split(['?', '#']).next().unwrap_or(text);
                let name = path.rsplit('/').next().unwrap_or_default().to_owned();
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

    /// Adds the arguments of the project's code. Only words that are known count as paths.
    fn project(&self, texts: usize, handling: &mut Handling) {
        let below = self.descends() || self.has(Takes::Rewrites);
        let used = if self.has(Takes::Rewrites) { Use::Puts } else { Use::Unknown };
        for it in self.operands.iter().skip(texts) {
            let Some(text) = it.word.literal() else { continue };
            let value = text.split_once('=').map(|(_, value)| value);
            // The value in `-Ffile`, or a word that is not an option.
            let path = match text.strip_prefix('-') {
                Some(letters) if !letters.starts_with('-') => letters.get(1..),
                Some(_) => None,
                None => Some(text),
            };
            let listed = path.and_then(|it| it.strip_prefix('@'));
            for path in [path, value, listed].into_iter().flatten() {
                handling.add(Word::Literal(path.to_owned()), used, below);
            }
        }
    }

    /// Adds a file with code. Without a file, the code is read from the input and is not known.
    fn code(&self, handling: &mut Handling) {
        let elsewhere = [Takes::Names, Takes::Pattern, Takes::PatternsIn];
        let file = self.operands.first().and_then(|it| it.written.literal());
        if matches!(file, None | Some("-")) && !elsewhere.iter().any(|it| self.has(*it)) {
            handling.beyond = Some(Use::Unknown);
        }
        self.project(0, handling);
    }

    /// `aws … --body file://x`.
    fn cloud(&self, handling: &mut Handling) {
        for text in self.operands.iter().filter_map(|it| it.written.literal()) {
            let file = text.split_once("file://").or_else(|| text.split_once("fileb://"));
            if let Some((_, path)) = file {
                handling.add(Word::Literal(path.to_owned()), Use::Reads, false);
            }
        }
        self.project(1, handling);
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
}

/// True for a word whose value may start with anything, such as `.` or `file:`.
fn may_start_with_dot(written: &str) -> bool {
    written.trim_start_matches('"').starts_with(['$', '`', '{', '.', '['])
}

fn is_not_operator(word: &Word) -> bool {
    word.literal().is_none_or(|it| {
        !it.starts_with('-') && !matches!(it, "[" | "]" | "!" | "=" | "==" | "!=" | "(" | ")")
    })
}
