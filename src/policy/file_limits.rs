//! What rules say of files that a command may reach without naming them, and which files a line names. Whoever
//! holds a command to the policy needs both: the first is closed to it, the second was judged with the line.

use std::{
    borrow::Cow,
    collections::HashSet,
    iter,
    path::{Path, PathBuf},
    sync::Arc,
};

use crate::{
    shell::{Direction, Word},
    tool::{Access, SideEffect, ToolFamily, ToolKind},
};

use super::{
    action::Action,
    condition::Condition,
    engine::PolicyEngine,
    facts::Facts,
    git_settings::changes_git_settings,
    judge::Judge,
    path_pattern::{PathIndex, PatternId, has_wildcard},
    places::{PolicyPlaces, is_protected_name},
    programs::{Use, name_of},
    question::Question,
    rule::{Rule, RuleHit, SettledRules},
    rule_text::Subject,
    touched_files::TouchedPath,
};

/// How many places of one line are kept.
const MAX_NAMED: usize = 4_096;

/// What rules about paths say of one file: nothing, that a person has to be asked, or that it is denied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FileLimit {
    /// About reading it.
    pub(crate) reading: Option<Action>,
    /// About changing it. What must not be read must not be changed either.
    pub(crate) editing: Option<Action>,
}

impl FileLimit {
    /// The stricter of both.
    fn max(self, other: Self) -> Self {
        Self { reading: self.reading.max(other.reading), editing: self.editing.max(other.editing) }
    }
}

/// Where files that a rule limits may lie.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum LimitedStart {
    /// This very place, with everything below it.
    Place(PathBuf),
    /// Anywhere below this directory.
    Below(PathBuf),
}

/// The limits on files of a policy.
#[derive(Clone, Debug)]
pub(crate) struct FileLimits {
    engine: Arc<PolicyEngine>,
    patterns: HashSet<PatternId>,
    within: Vec<PathBuf>,
    reader: Option<(&'static str, ToolKind)>,
    editor: Option<(&'static str, ToolKind)>,
    runner: Option<(&'static str, ToolKind)>,
    links: Vec<LinkedStart>,
}

/// A place that a rule names and that links lead to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LinkedStart {
    /// Where it really is.
    pub(crate) place: PathBuf,
    /// As the rule has it.
    pub(crate) written: PathBuf,
}

impl FileLimits {
    /// Collects the limits of a policy.
    pub(crate) fn of(engine: &Arc<PolicyEngine>) -> Self {
        let tools = &engine.sources.tools;
        let named_after = |family: ToolFamily| {
            let known = tools.family_name(family).and_then(|it| tools.find(it))?;
            Some((known.name, known.kind))
        };
        let mut limits = Self {
            patterns: HashSet::new(),
            within: Vec::new(),
            reader: named_after(ToolFamily::ReadsFiles),
            editor: named_after(ToolFamily::EditsFiles),
            runner: named_after(ToolFamily::RunsCommands),
            links: Vec::new(),
            engine: Arc::clone(engine),
        };
        for rule in engine.rules.iter().filter(|it| is_on_files(it)) {
            let (patterns, directories) = patterns_of(rule);
            limits.patterns.extend(patterns);
            limits.within.extend(directories);
        }
        limits
    }

    /// True when no rule limits any file.
    pub(crate) fn is_empty(&self) -> bool {
        self.patterns.is_empty() && self.within.is_empty()
    }

    /// Where to look for files that are limited.
    pub(crate) fn starts(&self) -> Vec<LimitedStart> {
        let paths = &self.engine.paths;
        let places = self.patterns.iter().filter_map(|it| start_of(paths, *it));
        let directories = self.within.iter().map(|it| LimitedStart::Place(it.clone()));
        let mut starts: Vec<LimitedStart> = places.chain(directories).collect();
        starts.sort_by(|left, right| left.path().cmp(right.path()));
        starts.dedup();
        starts
    }

    /// The same limits, for files under their real paths as well: a rule may name them by a link, such as that of a
    /// home.
    pub(crate) fn with_links(&self, links: Vec<LinkedStart>) -> Self {
        Self { links, ..self.clone() }
    }

    /// The links that the limits know of.
    pub(crate) fn links(&self) -> &[LinkedStart] {
        &self.links
    }

    /// The names of a file in rules: its path, and those by links.
    fn names<'a>(&'a self, path: &'a Path) -> impl Iterator<Item = Cow<'a, Path>> {
        let by_link = self.links.iter().filter_map(|it| {
            let below = path.strip_prefix(&it.place).ok()?;
            let is_same = below.as_os_str().is_empty();
            Some(Cow::Owned(if is_same { it.written.clone() } else { it.written.join(below) }))
        });
        iter::once(Cow::Borrowed(path)).chain(by_link)
    }

    /// The places that rules about changes spell out, and whether each is a directory. They may not exist.
    pub(crate) fn spelled_out(&self) -> Vec<(PathBuf, bool)> {
        let project = &self.engine.sources.places.project;
        let rules = self.engine.rules.iter().filter(|it| it.is_limit());
        let patterns = rules.filter_map(|it| match &it.subject {
            Subject::Editing(patterns) => Some(patterns),
            _ => None,
        });
        let texts = patterns.flatten().filter_map(|it| self.engine.paths.text(*it));
        let mut places: Vec<_> = texts.filter_map(|it| spelled_out(it, project)).collect();
        places.sort();
        places.dedup();
        places
    }

    /// What rules say of a file, for commands and for the tools for files: the stricter one counts.
    pub(crate) fn of_file(&self, path: &Path) -> FileLimit {
        self.names(path).fold(FileLimit::default(), |limit, name| limit.max(self.of_name(&name)))
    }

    fn of_name(&self, path: &Path) -> FileLimit {
        if !self.may_be_limited(path) {
            return FileLimit::default();
        }
        let by = |tool: &Option<(&'static str, ToolKind)>, access: fn(PathBuf) -> Access| {
            tool.as_ref().and_then(|(name, kind)| self.limit(name, kind, access(path.to_owned())))
        };
        let reading = by(&self.reader, Access::Read).max(by(&self.runner, Access::Read));
        let editing = by(&self.editor, Access::Write).max(by(&self.runner, Access::Write));
        FileLimit { reading, editing: editing.max(reading) }
    }

    /// What rules say of a file that a command line names.
    pub(crate) fn of_named_file(&self, path: &Path) -> FileLimit {
        let names = self.names(path);
        names.fold(FileLimit::default(), |limit, name| limit.max(self.of_name_in_line(&name)))
    }

    fn of_name_in_line(&self, path: &Path) -> FileLimit {
        let Some((name, kind)) = self.runner.as_ref().filter(|_| self.may_be_limited(path)) else {
            return FileLimit::default();
        };
        let limit = |access: Access| self.limit(name, kind, access);
        FileLimit {
            reading: limit(Access::Read(path.to_owned())),
            editing: limit(Access::Write(path.to_owned())),
        }
    }

    /// False when no pattern of a limit matches, which is quickly found out.
    fn may_be_limited(&self, path: &Path) -> bool {
        self.within.iter().any(|it| path.starts_with(it))
            || (!self.patterns.is_empty()
                && self.engine.paths.matches(path).iter().any(|it| self.patterns.contains(it)))
    }

    fn limit(&self, tool: &str, kind: &ToolKind, access: Access) -> Option<Action> {
        let accesses = [access];
        let question = Question::about_accesses(
            tool,
            kind,
            SideEffect::None,
            &accesses,
            &self.engine.sources.places,
        );
        Judge::of(&self.engine, &question).limit_on_paths()
    }
}

impl LimitedStart {
    /// The place or directory.
    pub(crate) fn path(&self) -> &Path {
        match self {
            Self::Place(path) | Self::Below(path) => path,
        }
    }
}

impl Judge<'_, '_> {
    /// The strictest limit of rules about paths on what the call touches. Rules about the call as a whole
    /// were applied when it began.
    fn limit_on_paths(&self) -> Option<Action> {
        let limits = self.facts.paths.iter().filter_map(|path| {
            let call =
                self.call.iter().filter(|it| !it.rule.is_limit() || it.rule.is_about_paths());
            let mut hits: Vec<RuleHit> = call.copied().collect();
            hits.extend(self.rules_for_path(path, path.direction));
            let settled = SettledRules::of(&hits);
            let certain = settled.certain.filter(|it| it.is_limit()).map(Rule::action);
            certain.max(settled.possible.map(|_| Action::Ask))
        });
        limits.max()
    }
}

/// True for a rule that limits files by where they are.
fn is_on_files(rule: &Rule) -> bool {
    rule.is_limit()
        && match rule.subject {
            Subject::Reading(_) | Subject::Editing(_) => true,
            Subject::Call => rule.is_about_paths(),
            Subject::Command(_) | Subject::Host(_) => false,
        }
}

/// The patterns of a rule, and the directories of its conditions.
fn patterns_of(rule: &Rule) -> (Vec<PatternId>, Vec<PathBuf>) {
    if let Subject::Reading(patterns) | Subject::Editing(patterns) = &rule.subject {
        return (patterns.clone(), Vec::new());
    }
    let (mut patterns, mut directories) = (Vec::new(), Vec::new());
    for condition in &rule.conditions {
        match condition {
            Condition::PathGlob(globs) => patterns.extend(globs),
            Condition::PathWithin(within) => directories.extend(within.iter().cloned()),
            Condition::Param(_)
            | Condition::Command(_)
            | Condition::Host(_)
            | Condition::RiskAtLeast(_) => {}
        }
    }
    (patterns, directories)
}

fn start_of(paths: &PathIndex, id: PatternId) -> Option<LimitedStart> {
    let text = paths.text(id)?;
    let text = text.strip_suffix("/**").unwrap_or(text);
    let mut start = PathBuf::from("/");
    for name in text.split('/').filter(|it| !it.is_empty()) {
        if has_wildcard(name) {
            return Some(LimitedStart::Below(start));
        }
        start.push(unescaped(name));
    }
    Some(LimitedStart::Place(start))
}

/// The place that a pattern spells out, and whether it is a directory. A name that is found at any depth is meant
/// at the top of the project, too.
fn spelled_out(text: &str, project: &Path) -> Option<(PathBuf, bool)> {
    let (text, is_directory) = text.strip_suffix("/**").map_or((text, false), |it| (it, true));
    let (start, name) = text.split_once("/**/").map_or((text, None), |(it, name)| (it, Some(name)));
    let names = start.split('/').chain(name).filter(|it| !it.is_empty());
    if names.clone().any(has_wildcard) || name.is_some_and(|it| it.contains('/')) {
        return None;
    }
    let mut place = PathBuf::from("/");
    place.extend(names.map(unescaped));
    let is_there = name.is_none() || place.parent() == Some(project);
    is_there.then_some((place, is_directory))
}

/// A name as a glob without its backslashes.
fn unescaped(name: &str) -> String {
    let mut characters = name.chars();
    let mut plain = String::with_capacity(name.len());
    while let Some(character) = characters.next() {
        plain.extend(if character == '\\' { characters.next() } else { Some(character) });
    }
    plain
}

/// What a command line names. A line that may run was judged with all of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct NamedPlaces {
    /// What it reads.
    pub(crate) read: Vec<PathBuf>,
    /// What it changes, or may change.
    pub(crate) changed: Vec<PathBuf>,
    /// What it changes by putting another file there, or may change so. A program that does needs the directory.
    pub(crate) replaced: Vec<PathBuf>,
    /// The names of protected places in scripts that it gives to programs.
    pub(crate) protected_names: Vec<String>,
    /// True when it runs a command of git that changes the settings of a repository.
    pub(crate) changes_git_settings: bool,
}

impl PolicyEngine {
    /// What the command lines of a call name.
    pub(crate) fn named_places(&self, question: &Question) -> NamedPlaces {
        let facts = Facts::of(question, &self.sources.places, &self.paths);
        let mut named = NamedPlaces::default();
        for command in &facts.commands {
            for (segment, arguments) in command.segments() {
                named.changes_git_settings |= changes_git_settings(&segment.words);
                let replaces = !is_in_place(&segment.words);
                for argument in arguments {
                    named.add(argument, replaces);
                }
                let changes =
                    arguments.iter().any(|it| it.places.is_empty() && !it.used.only_reads());
                for directory in segment.words.iter().skip(1).filter_map(partly_known) {
                    let place = question.place_of(&question.directory.join(directory));
                    named.read.extend(place.clone());
                    named.changed.extend(place.filter(|_| changes));
                }
                if arguments.iter().any(|it| it.mentions_protected) {
                    for word in &segment.words {
                        named.mention(word);
                    }
                }
            }
            for file in command.redirected.iter().filter(|it| !it.is_harmless) {
                named.add(&file.target, false);
            }
        }
        for path in facts.paths {
            match path.direction {
                Direction::Reads => named.read.push(path.path),
                Direction::Writes => named.changed.push(path.path),
            }
        }
        for list in [&mut named.read, &mut named.changed, &mut named.replaced] {
            list.sort();
            list.dedup();
            list.truncate(MAX_NAMED);
        }
        named
    }

    /// The places that rules and command lines refer to.
    pub(crate) const fn places(&self) -> &PolicyPlaces {
        &self.sources.places
    }
}

/// The directory in which a word with a wildcard or a variable begins: `secrets` for `secrets/*.txt`. Where rules
/// limit files, a person was asked about such a word.
fn partly_known(word: &Word) -> Option<&str> {
    if word.literal().is_some() {
        return None;
    }
    let is_plain = |it: char| it.is_alphanumeric() || matches!(it, '.' | '_' | '-' | '/');
    let text = word.text();
    let plain = text.get(..text.find(|it| !is_plain(it))?)?;
    plain.rsplit_once('/').map(|it| it.0).filter(|it| !it.is_empty() && *it != ".")
}

/// Programs that write into a file that is there, and do not put another one in its place.
const IN_PLACE: [&str; 7] = ["chmod", "chown", "cp", "dd", "tee", "touch", "truncate"];

fn is_in_place(words: &[Word]) -> bool {
    name_of(words).is_some_and(|it| IN_PLACE.contains(&it))
}

impl NamedPlaces {
    fn add(&mut self, target: &TouchedPath, replaces: bool) {
        let places = target.places.iter().map(|it| it.path.clone());
        match target.used {
            Use::Reads => self.read.extend(places),
            Use::Writes | Use::Puts | Use::Merges | Use::Unknown => {
                if replaces {
                    self.replaced.extend(places.clone());
                }
                self.changed.extend(places);
            }
        }
    }

    fn mention(&mut self, word: &Word) {
        let is_in_name = |it: char| it.is_alphanumeric() || matches!(it, '.' | '_' | '-');
        let names = word.text().split(|it: char| !is_in_name(it));
        for name in names.filter(|it| is_protected_name(it)) {
            if !self.protected_names.iter().any(|it| it == name) {
                self.protected_names.push(name.to_owned());
            }
        }
    }
}
