//! Judges command lines.

use toolwright_base::{ToolFamily, is_confusing};
use toolwright_shell::{Direction, Doubt, Role, Segment, Word, trimmed};

use super::{
    action::Action,
    command_pattern::Match,
    judge::{Fallback, Judge},
    programs::Use,
    rule::{Rule, RuleHit, SettledRules},
    rule_text::Subject,
    ruling::{JudgedPart, ShownPart, Why},
    touched_files::{CommandFact, RedirectedFact, TouchedPath},
};

/// The rules that apply to a line as a whole.
struct JudgedLine<'e> {
    hits: Vec<RuleHit<'e>>,
    /// True when a permission is for exactly this line. Its author has seen everything that the line touches.
    is_named: bool,
}

impl<'e: 'q, 'q> Judge<'e, 'q> {
    pub(super) fn command_parts<'a>(
        &'a self,
        command: &'a CommandFact,
        parts: &mut Vec<JudgedPart<'a>>,
    ) {
        let text = trimmed(command.line);
        let before = parts.len();
        let named = self.rules_for_line(text);
        let is_named = named.iter().any(|it| !it.rule.is_limit());
        let line = JudgedLine { hits: [self.call.clone(), named].concat(), is_named };
        let mut doubts = command.analysis.doubts.iter();
        if let Some(doubt) = doubts.find(|it| !self.is_lifted(command, it)) {
            parts.push(self.doubtful_part(text, command, doubt, &line));
        }
        parts.extend(self.unseen_paths_part(text, command));
        for (segment, arguments) in command.segments() {
            parts.extend(self.segment_part(command, segment, arguments, &line));
        }
        for file in command.redirected.iter().filter(|it| !it.is_harmless) {
            parts.push(self.redirected_part(file, &line));
        }
        if parts.len() == before {
            parts.push(self.part(ShownPart::Command(text), &line.hits, Fallback::Call));
        }
    }

    /// Judges what a line may do beyond its commands. Any limit may apply to it.
    fn doubtful_part<'a>(
        &'a self,
        text: &'a str,
        command: &CommandFact,
        doubt: &'a Doubt,
        line: &JudgedLine<'e>,
    ) -> JudgedPart<'a> {
        let limits = [&self.engine.command_limits, &self.engine.path_limits];
        let possible = limits.into_iter().filter_map(|it| self.possible(it));
        if let Some(unread) = command.analysis.unread {
            // The strictest rule that may apply to the unread part counts as if it applied.
            let every = limits.into_iter().flatten().filter_map(|it| self.hit(*it));
            let called = line.hits.iter().copied().filter(|it| it.certainty == Match::Possible);
            let hits = [line.hits.clone(), possible.collect()].concat();
            let part = self.part(ShownPart::Command(text), &hits, Fallback::Call);
            return match every.chain(called).map(|it| it.rule).max_by_key(|it| it.action()) {
                Some(rule) if rule.action() > part.action || part.action == Action::Ask => {
                    JudgedPart {
                        action: rule.action().max(part.action),
                        why: Why::Unread(rule, unread),
                        ..part
                    }
                }
                _ => {
                    JudgedPart { doubt: (part.action == Action::Ask).then_some(&doubt.why), ..part }
                }
            };
        }
        let hits = line.hits.iter().copied().chain(possible).collect::<Vec<_>>();
        let mut part = self.part(ShownPart::Command(text), &hits, Fallback::Call);
        if part.action == Action::Ask && !matches!(part.why, Why::Rule(_)) {
            part.doubt = Some(&doubt.why);
        }
        part
    }

    /// If a line names more paths than are looked up, the strictest limit on paths counts as if it applied.
    fn unseen_paths_part<'a>(
        &'a self,
        text: &'a str,
        command: &CommandFact,
    ) -> Option<JudgedPart<'a>> {
        let limits = self.engine.path_limits.iter().filter_map(|it| self.hit(*it));
        let rule = limits.map(|it| it.rule).max_by_key(|it| it.action())?;
        let why = Why::Unread(rule, "names more paths than are looked up");
        let part =
            JudgedPart { shown: ShownPart::Command(text), action: rule.action(), why, doubt: None };
        command.names_too_many_paths.then_some(part)
    }

    /// True when a permission names what is doubtful, as `FOO=bar npm test:*` names the variable.
    fn is_lifted(&self, command: &CommandFact, doubt: &Doubt) -> bool {
        let segment = doubt.segment.and_then(|it| command.analysis.segments.get(it));
        segment.is_some_and(|it| {
            let hits = self.rules_for_segment(command, it);
            hits.iter().any(|it| !it.rule.is_limit() && it.certainty == Match::Certain)
        })
    }

    /// Rules for exactly this line.
    fn rules_for_line(&self, line: &str) -> Vec<RuleHit<'e>> {
        let named = self.engine.by_line.get(line).into_iter().flatten();
        let hits = named.filter_map(|it| self.hit(*it));
        // A line with invisible characters may not be what the author of a permission saw.
        let is_permitted = self.facts.question.family() == Some(ToolFamily::RunsCommands)
            && !line.chars().any(is_confusing);
        hits.filter(|it| is_permitted || it.rule.is_limit()).collect()
    }

    fn redirected_part<'a>(
        &'a self,
        file: &'a RedirectedFact,
        line: &JudgedLine<'e>,
    ) -> JudgedPart<'a> {
        let shown = ShownPart::Redirection(file.direction, &file.shown);
        let mut hits = line.hits.clone();
        hits.extend(self.rules_for_target(&file.target, file.direction));
        if line.is_named {
            return self.part(shown, &hits, Fallback::Call);
        }
        let mut part = self.path_part(shown, file.target.known(), file.direction, &hits);
        if file.direction == Direction::Writes
            && let Some(why) = self.guard_of(&file.target)
        {
            part.guard(why);
        }
        part
    }

    /// Judges one simple command; `None` if it needs no permission.
    fn segment_part<'a>(
        &'a self,
        command: &CommandFact,
        segment: &'a Segment,
        arguments: &[TouchedPath],
        line: &JudgedLine<'e>,
    ) -> Option<JudgedPart<'a>> {
        let mut hits = line.hits.clone();
        hits.extend(self.rules_for_segment(command, segment));
        let mut guard = None;
        for argument in arguments {
            hits.extend(self.limits_on_argument(argument));
            if argument.below {
                hits.extend(self.limits_below(argument));
            }
            if !line.is_named {
                guard = guard.or_else(|| self.guard_of(argument));
            }
        }
        // A rule that names the wrapper and its command also accepts the words that the wrapper adds.
        if matches!(guard, Some(Why::MaybeProtected))
            && self.permission_of_wrapper(command, segment).is_some()
        {
            guard = None;
        }
        if segment.role != Role::Command && guard.is_none() {
            // Only limits apply to a command that needs no permission.
            let settled = SettledRules::of(&hits);
            let is_allowed = segment.role == Role::Neutral && settled.certain.is_some();
            if !settled.limits() && !is_allowed {
                return None;
            }
        }
        let mut part = self.part(ShownPart::Command(&segment.text), &hits, Fallback::Call);
        if let Some(why) = guard {
            part.guard(why);
        }
        Some(part)
    }

    fn rules_for_segment(&self, command: &CommandFact, segment: &Segment) -> Vec<RuleHit<'e>> {
        let engine = self.engine;
        let is_shell = self.facts.question.family() == Some(ToolFamily::RunsCommands);
        let mut hits = Vec::new();
        let mut add = |place: usize| {
            let Some(mut hit) = self.hit(place) else { return };
            let Subject::Command(pattern) = &hit.rule.subject else { return };
            let certainty = if hit.rule.is_limit() {
                pattern.limits(segment)
            } else {
                Match::certain_if(is_shell && pattern.permits(segment).is_some())
            };
            hit.certainty = hit.certainty.min(certainty);
            if hit.certainty != Match::No {
                hits.push(hit);
            }
        };
        let program = segment.words.first().and_then(Word::literal);
        match program {
            // What it runs is not known, so every limit may apply.
            _ if segment.hides_command => {
                engine.command_limits.iter().for_each(|it| add(*it));
                program.into_iter().flat_map(|it| self.about(it)).for_each(&mut add);
            }
            Some(program) => self.about(program).for_each(&mut add),
            None => {}
        }
        engine.for_commands.iter().for_each(|it| add(*it));
        if is_shell {
            hits.extend(self.permission_of_wrapper(command, segment));
        }
        hits
    }

    fn about<'s>(&'s self, program: &'s str) -> impl Iterator<Item = usize> + 's {
        let name = program.rsplit('/').next().unwrap_or(program);
        let by_path = self.engine.by_program.get(program).into_iter().flatten();
        let by_name = self.engine.by_program.get(name).filter(|_| name != program);
        by_path.chain(by_name.into_iter().flatten()).copied()
    }

    /// The permission that names a wrapper and the program that it runs, such as `sudo apt:*`. It permits both.
    fn permission_of_wrapper(
        &self,
        command: &CommandFact,
        segment: &Segment,
    ) -> Option<RuleHit<'e>> {
        let mut within = segment.within?;
        let mut place = within.word;
        loop {
            let wrapper = command.analysis.segments.get(within.segment)?;
            let program = wrapper.words.first().and_then(Word::literal)?;
            let permission = self.about(program).filter_map(|it| self.hit(it)).find(|hit| {
                let Subject::Command(pattern) = &hit.rule.subject else { return false };
                !hit.rule.is_limit() && pattern.permits(wrapper).is_some_and(|named| named > place)
            });
            if permission.is_some() {
                return permission;
            }
            within = wrapper.within?;
            place = place.saturating_add(within.word);
        }
    }

    /// The rules about a path that may mean several places. A rule that applies to all of them certainly applies;
    /// a limit that applies to some of them may apply.
    fn rules_for_target(&self, target: &TouchedPath, direction: Direction) -> Vec<RuleHit<'e>> {
        if let Some([place]) = target.known() {
            return self.rules_for_path(place, direction);
        }
        let mut found: Vec<(RuleHit<'e>, usize)> = Vec::new();
        for (at, place) in target.places.iter().enumerate() {
            for hit in self.rules_for_path(place, direction) {
                match found.iter_mut().find(|it| std::ptr::eq(it.0.rule, hit.rule)) {
                    // A rule counts once for each place, even if several of its patterns match.
                    Some((_, count)) => *count += usize::from(*count == at),
                    None => found.push((hit, usize::from(at == 0))),
                }
            }
        }
        let is_for_all = |count: usize| count == target.places.len();
        let hits = found.into_iter().filter_map(|(hit, count)| match hit.certainty {
            _ if target.is_known() && is_for_all(count) => Some(hit),
            certainty if hit.rule.is_limit() => {
                // The path as written is enough to deny it, whatever it leads to.
                let is_certain = target.is_spelled_out() && is_for_all(count);
                let most = if is_certain { Match::Certain } else { Match::Possible };
                Some(RuleHit { certainty: certainty.min(most), ..hit })
            }
            _ => None,
        });
        let mut hits: Vec<RuleHit> = hits.collect();
        if !target.is_known() {
            hits.extend(self.possible_limits(direction));
        }
        hits
    }

    /// The limits that may apply to an unknown file: one of each kind is enough.
    fn possible_limits(&self, direction: Direction) -> impl Iterator<Item = RuleHit<'e>> {
        let engine = self.engine;
        let limits = engine.path_limits.iter().filter_map(|it| engine.rules.get(*it));
        let reading = |it: &&Rule| matches!(it.subject, Subject::Reading(_));
        let first = limits.clone().find(reading);
        let editing = limits.clone().find(|it| !reading(it));
        let editing = editing.filter(|_| direction == Direction::Writes);
        let found = first.into_iter().chain(editing);
        found.map(|rule| RuleHit { rule, certainty: Match::Possible })
    }

    /// The limits on a file that is an argument of a program.
    fn limits_on_argument(&self, argument: &TouchedPath) -> Vec<RuleHit<'e>> {
        let only_reads = argument.used.only_reads();
        let direction = if only_reads { Direction::Reads } else { Direction::Writes };
        let mut hits = self.rules_for_target(argument, direction);
        hits.retain_mut(|hit| {
            if argument.used == Use::Unknown && matches!(hit.rule.subject, Subject::Editing(_)) {
                hit.certainty = hit.certainty.min(Match::Possible);
            }
            hit.rule.is_limit()
        });
        hits
    }

    /// The limits on files below a directory that is an argument of a program.
    fn limits_below(&self, argument: &TouchedPath) -> Vec<RuleHit<'e>> {
        let engine = self.engine;
        let patterns = argument.places.iter().flat_map(|it| engine.paths.starting_below(&it.path));
        let rules = patterns.filter_map(|it| engine.by_path.get(&it));
        let hits = rules.filter_map(|it| self.hit(*it)).filter(|it| match it.rule.subject {
            Subject::Editing(_) => it.rule.is_limit() && !argument.used.only_reads(),
            _ => it.rule.is_limit() && !argument.used.is_destination(),
        });
        hits.map(|it| RuleHit { certainty: it.certainty.min(Match::Possible), ..it }).collect()
    }

    /// Why a person has to be asked about a file that a program writes, if so.
    fn guard_of(&self, target: &TouchedPath) -> Option<Why<'e>> {
        if target.used.only_reads() {
            return None;
        }
        let is_protected = target.places.iter().any(|it| it.is_protected);
        if target.mentions_protected
            || (is_protected
                && !self.names_protected(&self.rules_for_target(target, Direction::Writes)))
        {
            return Some(Why::Protected);
        }
        let places = &self.engine.sources.places;
        let holds_protected = target.below
            && matches!(target.used, Use::Writes | Use::Merges)
            && target.places.iter().any(|it| places.may_hold_protected(&it.path));
        let is_lost = target.is_lost() && target.used.changes();
        let may_be = holds_protected || is_lost || target.may_be_protected;
        may_be.then_some(Why::MaybeProtected)
    }
}
