//! A command template in a form that the shell lexer can read: each placeholder is replaced by a mark.
//!
//! A mark is a plain name, so it does not change how the rest of the line is read. The position of a mark
//! shows where the value would go. Only two positions are accepted: words of commands, and the files of
//! redirections.

use toolwright_shell::{LexedLine, TextSpan, Word};

use super::{
    parameter::{Parameters, shown},
    placeholder::TemplatePart,
    template_words::{KnownWord, TemplateWord},
};

/// Ends a mark, after its number.
const MARK_END: char = 'E';

/// A template in which marks replace the placeholders.
pub(super) struct MarkedLine {
    line: String,
    /// The prefix of every mark. It occurs nowhere else in the line.
    mark: String,
    /// The parameter of each mark, indexed by the mark's number.
    names: Vec<String>,
}

/// A command of the line.
pub(super) struct ReadCommand {
    pub(super) words: Vec<PlacedWord>,
}

/// A word and its position in the line.
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
        // Prevents the end of a literal text and the start of a mark from forming another mark together.
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

    /// The files of redirections. Fails if a file's parameter is optional, because the redirection would lack
    /// a file.
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
                        "`{{{{{name}}}}}` is the file of a redirection, so it must have a value: make the \
                         parameter required or give it a default"
                    ));
                }
            }
            targets.push((*span, word));
        }
        Ok(targets)
    }

    /// Refuses placeholders in all other positions, where a shell could interpret a value as more than a
    /// word.
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
        // In a comment, a here-document or a `case`, a mark is not part of a word.
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

    /// True if the line may itself refer to positional parameters. In a word whose text is known, `$1` is
    /// quoted and is literal text.
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

    /// Parses a word from its source text.
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

    /// The first mark of a text: the text before it, its parameter, and the text after it.
    fn next_mark<'a>(&'a self, text: &'a str) -> Option<(&'a str, &'a str, &'a str)> {
        let (before, behind) = text.split_once(&self.mark)?;
        let (number, after) = behind.split_once(MARK_END)?;
        Some((before, self.names.get(number.parse::<usize>().ok()?)?, after))
    }

    fn first_name<'a>(&'a self, text: &'a str) -> Option<&'a str> {
        Some(self.next_mark(text)?.1)
    }

    /// The text with the placeholders restored.
    fn unmarked(&self, text: &str) -> String {
        let parts = self.split(text).into_iter().map(|it| match it {
            TemplatePart::Text(text) => text,
            TemplatePart::Parameter(name) => format!("{{{{{name}}}}}"),
        });
        parts.collect()
    }
}
