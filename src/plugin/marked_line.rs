//! A command template as the shell's lexer can read it: with a mark in the place of each placeholder.
//!
//! A mark is a plain name, so it changes nothing about how the rest of the line is read. Where marks turn up
//! tells where values would go, and only two kinds of places are accepted: words of commands, and the files
//! of redirections.

use super::{
    parameter::{Parameters, shown},
    placeholder::TemplatePart,
    template_words::{KnownWord, TemplateWord},
};
use crate::shell::{LexedLine, TextSpan, Word};

/// Ends a mark, behind its number.
const MARK_END: char = 'E';

/// A template with marks in it.
pub(super) struct MarkedLine {
    line: String,
    /// What every mark begins with, and nothing else in the line does.
    mark: String,
    /// The parameter of each mark, by its number.
    names: Vec<String>,
}

/// A command of the line.
pub(super) struct ReadCommand {
    pub(super) words: Vec<PlacedWord>,
}

/// A word, and where it is in the line.
pub(super) struct PlacedWord {
    pub(super) span: TextSpan,
    pub(super) word: TemplateWord,
}

impl MarkedLine {
    pub(super) fn of(parts: &[TemplatePart]) -> Self {
        let mut mark = "TWM".to_owned();
        let is_used = |mark: &str| {
            parts.iter().any(|it| matches!(it, TemplatePart::Text(text) if text.contains(mark)))
        };
        while is_used(&mark) {
            mark.push('X');
        }
        // The last letter of a text and the first of a mark must not look like a mark together.
        mark.insert(0, 'Q');
        let (mut line, mut names) = (String::new(), Vec::new());
        for part in parts {
            match part {
                TemplatePart::Text(text) => line.push_str(text),
                TemplatePart::Parameter(name) => {
                    line.push_str(&format!("{mark}{}{MARK_END}", names.len()));
                    names.push(name.clone());
                }
            }
        }
        Self { line, mark, names }
    }

    pub(super) fn line(&self) -> &str {
        &self.line
    }

    pub(super) fn has_placeholders(&self) -> bool {
        !self.names.is_empty()
    }

    /// The commands of the line, with their words.
    pub(super) fn commands(&self, lexed: &LexedLine) -> Result<Vec<ReadCommand>, String> {
        let placed =
            |span: &TextSpan| Ok(PlacedWord { span: *span, word: self.word(span.of(&self.line))? });
        let command = |words: &Vec<TextSpan>| {
            Ok(ReadCommand { words: words.iter().map(placed).collect::<Result<_, String>>()? })
        };
        lexed.reading.commands.iter().map(|it| command(&it.words)).collect()
    }

    /// The files of redirections. One that may be missing would leave a redirection without a file.
    pub(super) fn redirection_targets(
        &self,
        lexed: &LexedLine,
        parameters: &Parameters,
    ) -> Result<Vec<(TextSpan, KnownWord)>, String> {
        let mut targets = Vec::new();
        for (span, _) in &lexed.reading.redirections {
            let TemplateWord::Known(word) = self.word(span.of(&self.line))? else { continue };
            for name in word.parameters() {
                if !parameters.find(name).is_some_and(|it| it.is_always_there) {
                    return Err(format!(
                        "`{{{{{name}}}}}` is the file of a redirection, so there has to be one: make the \
                         parameter required or give it a default"
                    ));
                }
            }
            targets.push((*span, word));
        }
        Ok(targets)
    }

    /// Refuses placeholders in any other place, where a shell would read more than a word in a value.
    pub(super) fn check_places(
        &self,
        lexed: &LexedLine,
        commands: &[ReadCommand],
        targets: &[(TextSpan, KnownWord)],
    ) -> Result<(), String> {
        let reading = &lexed.reading;
        let environment = reading.commands.iter().flat_map(|it| &it.environment);
        let assignments = reading.assignments.iter().chain(environment);
        let evaluations = reading.evaluations.iter().map(|(span, _)| span);
        let loops = lexed.loops.iter().flat_map(|it| &it.values);
        for (spans, what) in [
            (assignments.collect::<Vec<_>>(), "sets a variable"),
            (evaluations.collect(), "is in a part that the shell evaluates"),
            (loops.collect(), "is a value of a loop's variable"),
        ] {
            if let Some(name) = spans.iter().find_map(|it| self.first_name(it.of(&self.line))) {
                return Err(format!("`{{{{{name}}}}}` {what}; use placeholders as arguments only"));
            }
        }
        let words = commands.iter().flat_map(|it| &it.words).filter_map(|it| match &it.word {
            TemplateWord::Known(word) => Some(word),
            TemplateWord::Expanded => None,
        });
        let found = words
            .chain(targets.iter().map(|it| &it.1))
            .fold(0, |count, word| count + word.parameters().count());
        // In a comment, a here-document or a `case`, a mark is in no word.
        if found != self.names.len() {
            return Err(
                "a placeholder is not an argument of a program; use placeholders as arguments only"
                    .to_owned(),
            );
        }
        if self.has_placeholders() && self.refers_to_values(commands, targets) {
            return Err(
                "`$1`, `$@` and the like stand for the values of placeholders here, and a shell \
                        would split them; use placeholders instead"
                    .to_owned(),
            );
        }
        Ok(())
    }

    /// True when the line may refer to positional parameters by itself. In a word whose text is known, `$1`
    /// is quoted and means nothing to the shell.
    fn refers_to_values(
        &self,
        commands: &[ReadCommand],
        targets: &[(TextSpan, KnownWord)],
    ) -> bool {
        let words = commands.iter().flat_map(|it| &it.words);
        let known = words.filter(|it| matches!(it.word, TemplateWord::Known(_))).map(|it| it.span);
        let mut rest = self.line.clone().into_bytes();
        for span in known.chain(targets.iter().map(|it| it.0)) {
            if let Some(word) = rest.get_mut(span.start..span.end) {
                word.fill(b' ');
            }
        }
        let positional = |it: &u8| it.is_ascii_digit() || b"@*#".contains(it);
        rest.windows(3).any(|it| match it {
            [b'$', b'{', name] => positional(name) || *name == b'!',
            [b'$', name, _] => positional(name),
            _ => false,
        }) || matches!(rest.as_slice(), [.., b'$', name] if positional(name))
    }

    /// A word as it is written.
    fn word(&self, written: &str) -> Result<TemplateWord, String> {
        match Word::read(written, None) {
            Word::Literal(text) => Ok(TemplateWord::Known(KnownWord {
                parts: self.split(&text),
                may_begin_with_dash: false,
            })),
            Word::Unknown { why, .. } => match self.first_name(written) {
                None => Ok(TemplateWord::Expanded),
                Some(name) => {
                    let text = shown(&self.unmarked(written));
                    Err(format!(
                        "`{text}` {why}, which may not be in one word with `{{{{{name}}}}}`; write the \
                         rest of the word as plain text"
                    ))
                }
            },
        }
    }

    /// The text between marks, and the parameters of the marks.
    fn split(&self, text: &str) -> Vec<TemplatePart> {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some((before, name, after)) = self.next_mark(rest) {
            if !before.is_empty() {
                parts.push(TemplatePart::Text(before.to_owned()));
            }
            parts.push(TemplatePart::Parameter(name.to_owned()));
            rest = after;
        }
        if !rest.is_empty() || parts.is_empty() {
            parts.push(TemplatePart::Text(rest.to_owned()));
        }
        parts
    }

    /// The first mark of a text: what is before it, its parameter, and what is behind it.
    fn next_mark<'a>(&'a self, text: &'a str) -> Option<(&'a str, &'a str, &'a str)> {
        let (before, behind) = text.split_once(&self.mark)?;
        let (number, after) = behind.split_once(MARK_END)?;
        Some((before, self.names.get(number.parse::<usize>().ok()?)?, after))
    }

    fn first_name<'a>(&'a self, text: &'a str) -> Option<&'a str> {
        Some(self.next_mark(text)?.1)
    }

    /// The text as it stands in the file.
    fn unmarked(&self, text: &str) -> String {
        let parts = self.split(text).into_iter().map(|it| match it {
            TemplatePart::Text(text) => text,
            TemplatePart::Parameter(name) => format!("{{{{{name}}}}}"),
        });
        parts.collect()
    }
}
