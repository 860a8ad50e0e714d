//! The rules about files as the sandbox needs them: which files are limited, and which files a command line
//! names. The sandbox closes limited files that the line does not name; those that it names were judged with
//! the line.

use std::{
    borrow::Cow,
    collections::HashSet,
    iter,
    path::{Path, PathBuf},
    sync::Arc,
};

use toolwright_base::{Access, SideEffect, ToolFamily, ToolKind};
use toolwright_shell::{Direction, Word};

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

/// The most places of one line in each list of [`NamedPlaces`].
const MAX_NAMED: usize = 4_096;

/// The limits that rules about paths put on one file: none, ask, or deny.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FileLimit {
    /// On reading it.
    pub reading: Option<Action>,
    /// On changing it. At least as strict as `reading`.
    pub editing: Option<Action>,
}

impl FileLimit {
    /// The stricter limits of both.
    fn max(self, other: Self) -> Self {
        Self { reading: self.reading.max(other.reading), editing: self.editing.max(other.editing) }
    }
}

/// Where to look for files that a rule limits.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum LimitedStart {
    /// This path, and everything below it.
    Place(PathBuf),
    /// Anywhere below this directory.
    Below(PathBuf),
}

/// The limits on files of a policy.
#[derive(Clone, Debug)]
pub struct FileLimits {
    engine: Arc<PolicyEngine>,
    patterns: HashSet<PatternId>,
    within: Vec<PathBuf>,
    reader: Option<(&'static str, ToolKind)>,
    editor: Option<(&'static str, ToolKind)>,
    runner: Option<(&'static str, ToolKind)>,
    links: Vec<LinkedStart>,
}

/// A path in a rule that leads through a symbolic link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkedStart {
    /// The real path.
    pub place: PathBuf,
    /// The path as the rule writes it.
    pub written: PathBuf,
}

impl FileLimits {
    /// Collects the limits of a policy.
    pub fn of(engine: &Arc<PolicyEngine>) -> Self {
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
    pub fn is_empty(&self) -> bool {
        self.patterns.is_empty() && self.within.is_empty()
    }

    /// Where to look for limited files.
    pub fn starts(&self) -> Vec<LimitedStart> {
        let paths = &self.engine.paths;
        let places = self.patterns.iter().filter_map(|it| start_of(paths, *it));
        let directories = self.within.iter().map(|it| LimitedStart::Place(it.clone()));
        let mut starts: Vec<LimitedStart> = places.chain(directories).collect();
        starts.sort_by(|left, right| left.path().cmp(right.path()));
        starts.dedup();
        starts
    }

    /// The same limits, which then also apply to the real paths of these links. A rule may name a file through
    /// a link, such as a home directory that is one.
    #[must_use]
    pub fn with_links(&self, links: Vec<LinkedStart>) -> Self {
        Self { links, ..self.clone() }
    }

    /// The links given to [`Self::with_links`].
    pub fn links(&self) -> &[LinkedStart] {
        &self.links
    }

    /// The paths by which rules may name a file: its own, and those through links.
    fn names<'a>(&'a self, path: &'a Path) -> impl Iterator<Item = Cow<'a, Path>> {
        let by_link = self.links.iter().filter_map(|it| {
            let below = path.strip_prefix(&it.place).ok()?;
            let is_same = below.as_os_str().is_empty();
            Some(Cow::Owned(if is_same { it.written.clone() } else { it.written.join(below) }))
        });
        iter::once(Cow::Borrowed(path)).chain(by_link)
    }

    /// The paths without wildcards in rules that limit changes, and whether each is a directory. They may not
    /// exist.
    pub fn spelled_out(&self) -> Vec<(PathBuf, bool)> {
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

    /// The limits on a file that a command line does not name: the stricter of the rules for commands and of
    /// those for the file tools.
    pub fn of_file(&self, path: &Path) -> FileLimit {
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

    /// The limits on a file that a command line names.
    pub fn of_named_file(&self, path: &Path) -> FileLimit {
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

    /// A quick check: false when no pattern of a limit matches.
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
    /// The path of either kind.
    pub fn path(&self) -> &Path {
        match self {
            Self::Place(path) | Self::Below(path) => path,
        }
    }
}

impl Judge<'_, '_> {
    /// The strictest limit that rules about paths put on what the call touches. Rules about the whole call were
    /// applied when it started.
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

/// True for a rule that limits files by their paths.
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

/// The path of a pattern without wildcards, and whether it is a directory. For a name that matches at any depth,
/// the path at the top of the project.
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

/// A literal glob as the name it matches, without its backslashes.
fn unescaped(name: &str) -> String {
    let mut characters = name.chars();
    let mut plain = String::with_capacity(name.len());
    while let Some(character) = characters.next() {
        plain.extend(if character == '\\' { characters.next() } else { Some(character) });
    }
    plain
}

/// The paths that a command line names. A line that may run was judged with all of them.
#[derive(Clone, Debug, Default)]
pub struct NamedPlaces {
    /// What it reads.
    pub read: Vec<PathBuf>,
    /// What it changes, or may change.
    pub changed: Vec<PathBuf>,
    /// Those of `changed` that may be replaced by another file. The program then needs to write the directory.
    pub replaced: Vec<PathBuf>,
    /// The names of protected places in scripts that it passes to programs.
    pub protected_names: Vec<String>,
    /// True when it runs a git command that changes the settings of a repository.
    pub changes_git_settings: bool,
}

impl PolicyEngine {
    /// The paths that the command lines of a call name.
    pub fn named_places(&self, question: &Question) -> NamedPlaces {
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
    pub const fn places(&self) -> &PolicyPlaces {
        &self.sources.places
    }
}

/// The known directory at the start of a word with a wildcard or a variable: `secrets` for `secrets/*.txt`. If
/// rules limit files, a person was asked about such a word.
fn partly_known(word: &Word) -> Option<&str> {
    if word.literal().is_some() {
        return None;
    }
    let is_plain = |it: char| it.is_alphanumeric() || matches!(it, '.' | '_' | '-' | '/');
    let text = word.text();
    let plain = text.get(..text.find(|it| !is_plain(it))?)?;
    plain.rsplit_once('/').map(|it| it.0).filter(|it| !it.is_empty() && *it != ".")
}

/// Programs that write into an existing file and do not replace it by another.
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
