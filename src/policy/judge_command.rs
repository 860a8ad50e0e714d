//! The part of a decision that is about one simple command.

use super::{
    command::{Direction, Role, Segment, Word, is_confusing},
    command_pattern::Match,
    facts::CommandFact,
    judge::{Fallback, Judge},
    rule::{Hit, Settled},
    rule_text::Subject,
    ruling::{Part, Shown},
    tool_names::Family,
};

/// Programs that take no file names.
const WITHOUT_FILES: [&str; 12] = [
    ":", "date", "echo", "exit", "false", "hostname", "kill", "printf", "pwd", "sleep", "true",
    "whoami",
];

/// Programs that read the files they are given and change none.
const READERS: [&str; 30] = [
    "basename",
    "bat",
    "cat",
    "cksum",
    "cmp",
    "cut",
    "diff",
    "dirname",
    "du",
    "egrep",
    "fgrep",
    "file",
    "grep",
    "head",
    "hexdump",
    "less",
    "ls",
    "md5sum",
    "more",
    "nl",
    "od",
    "readlink",
    "realpath",
    "rg",
    "sha256sum",
    "stat",
    "strings",
    "tail",
    "tree",
    "wc",
];

/// Programs that change the files they are given.
const WRITERS: [&str; 16] = [
    "chmod", "chown", "cp", "dd", "install", "ln", "mkdir", "mv", "rm", "rmdir", "rsync", "shred",
    "tee", "touch", "truncate", "unlink",
];

impl<'e> Judge<'e, '_> {
    /// Rules about this very line.
    pub(super) fn rules_for_line(&self, line: &str) -> Vec<Hit<'e>> {
        let named = self.engine.by_line.get(line).into_iter().flatten();
        let hits = named.filter_map(|it| self.hit(*it));
        // Whoever wrote a permission did not see what else stands in the line.
        let is_permitted =
            self.facts.question.family() == Some(Family::Shell) && !line.chars().any(is_confusing);
        hits.filter(|it| is_permitted || it.rule.is_limit()).collect()
    }

    /// Judges one simple command; `None` when there is nothing to say of it.
    pub(super) fn segment_part<'a>(
        &'a self,
        command: &CommandFact,
        segment: &'a Segment,
        line: &[Hit<'e>],
    ) -> Option<Part<'a>> {
        let mut hits = line.to_vec();
        hits.extend(self.rules_for_segment(command, segment));
        let mut is_guarded = false;
        self.look_at_arguments(command, segment, &mut hits, &mut is_guarded);
        if segment.role != Role::Command && !is_guarded {
            // Only limits are about what does nothing by itself.
            let settled = Settled::of(&hits);
            let is_allowed = segment.role == Role::Neutral && settled.certain.is_some();
            if !settled.limits() && !is_allowed {
                return None;
            }
        }
        let mut part = self.part(Shown::Command(&segment.text), &hits, Fallback::Call);
        if is_guarded {
            part.guard();
        }
        Some(part)
    }

    fn rules_for_segment(&self, command: &CommandFact, segment: &Segment) -> Vec<Hit<'e>> {
        let engine = self.engine;
        let is_shell = self.facts.question.family() == Some(Family::Shell);
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
            // What it runs is not told by its program, so every limit may be about it.
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

    /// A rule that names the wrapper and the program it runs, `sudo apt:*`, permits both.
    fn permission_of_wrapper(&self, command: &CommandFact, segment: &Segment) -> Option<Hit<'e>> {
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

    /// Arguments that are paths with rules about them, as far as can be seen.
    fn look_at_arguments(
        &self,
        command: &CommandFact,
        segment: &Segment,
        hits: &mut Vec<Hit<'e>>,
        is_guarded: &mut bool,
    ) {
        let Some(program) = segment.words.first().and_then(Word::literal) else { return };
        let name = program.rsplit('/').next().unwrap_or(program);
        if segment.role == Role::Wrapper || WITHOUT_FILES.contains(&name) {
            return;
        }
        let engine = self.engine;
        let reads = READERS.contains(&name);
        let arguments = command.arguments_as_paths(
            segment,
            self.facts.question,
            &engine.sources.places,
            &engine.paths,
        );
        for argument in arguments {
            let Some(path) = argument else {
                hits.extend(self.possible(&engine.path_limits));
                continue;
            };
            *is_guarded |= path.is_protected && !reads;
            for mut hit in self.rules_for_path(&path, Direction::Writes) {
                if !hit.rule.is_limit() {
                    continue;
                }
                let certainty = match &hit.rule.subject {
                    Subject::Editing(_) if reads => Match::No,
                    Subject::Editing(_) if !WRITERS.contains(&name) => Match::Possible,
                    _ => Match::Certain,
                };
                hit.certainty = hit.certainty.min(certainty);
                if hit.certainty != Match::No {
                    hits.push(hit);
                }
            }
        }
    }
}
