//! Command templates: a command line of a plugin file with placeholders in it.
//!
//! The line is parsed once by the shell's rules, when the file is loaded, with a mark in the place of each
//! placeholder. A line that is only a program and its arguments is kept as a list of arguments, and no shell
//! reads it. Any other line stays a script, in which each word with a placeholder is written as quoted text
//! and positional parameters. In both cases only the text of the file is run, and a value is one argument.

use toolwright_base::ToolError;
use toolwright_shell::{LexedLine, ShellDialect, TextSpan, lex, running_programs::is_builtin};

use super::{
    evaluators::{check_command, check_option, takes_end_of_options},
    marked_line::{MarkedLine, ReadCommand},
    parameter::{CallValues, Parameters},
    placeholder::{TemplatePart, check_names, parts_of},
    template_words::{KnownWord, TemplateWord, as_program, as_word, quoted},
};

/// Runs a list of arguments, of which the first is the program.
const RUN_ARGUMENTS: &str = r#"exec "$@""#;

/// A parsed command template.
#[derive(Clone, Debug)]
pub(super) enum CommandTemplate {
    /// A program and its arguments.
    Arguments(Vec<KnownWord>),
    /// A script for a shell.
    Script(Vec<ScriptPiece>),
}

/// A piece of a script.
#[derive(Clone, Debug)]
pub(super) enum ScriptPiece {
    /// Literal text.
    Text(String),
    /// A word with a parameter.
    Word(KnownWord),
}

/// A template filled with the values of one call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FilledCommand {
    /// The text that a shell reads.
    pub(super) text: String,
    /// Its positional parameters.
    pub(super) parameters: Vec<String>,
    /// The same command as one line, with every value quoted in its place.
    pub(super) line: String,
}

impl CommandTemplate {
    /// Parses a template. Fails if a value might not stay one argument.
    pub(super) fn read(template: &str, parameters: &Parameters) -> Result<Self, String> {
        if template.contains('\0') {
            return Err("it contains a NUL character".to_owned());
        }
        let parts = parts_of(template);
        check_names(&parts, parameters)?;
        let marked = MarkedLine::of(&parts);
        let lexed = lex(marked.line(), ShellDialect::Posix);
        if let Some(why) = lexed.gave_up {
            return Err(format!(
                "the command {why}, which cannot be checked; write it as a script file and run that file"
            ));
        }
        let mut commands = marked.commands(&lexed)?;
        if commands.is_empty() {
            return Err("it runs no program".to_owned());
        }
        let targets = marked.redirection_targets(&lexed, parameters)?;
        marked.check_places(&lexed, &commands, &targets)?;
        if marked.has_placeholders() {
            for command in &mut commands {
                check_words(command, parameters)?;
            }
        }
        Ok(match plain_call(&lexed, marked.line(), &commands) {
            Some(words) => Self::Arguments(words),
            None => Self::Script(pieces(marked.line(), commands, targets)),
        })
    }

    /// Fills in the values of a call.
    pub(super) fn fill(&self, values: CallValues<'_>) -> Result<FilledCommand, ToolError> {
        match self {
            Self::Arguments(words) => {
                let mut parameters = Vec::with_capacity(words.len());
                for word in words {
                    parameters.extend(word.fill(values)?.map(|it| it.concat()));
                }
                let mut line = String::new();
                for (index, argument) in parameters.iter().enumerate() {
                    if index == 0 {
                        line.push_str(&as_program(argument));
                    } else {
                        line.push(' ');
                        line.push_str(&as_word(argument));
                    }
                }
                Ok(FilledCommand { text: RUN_ARGUMENTS.to_owned(), parameters, line })
            }
            Self::Script(pieces) => fill_script(pieces, values),
        }
    }
}

fn fill_script(pieces: &[ScriptPiece], values: CallValues<'_>) -> Result<FilledCommand, ToolError> {
    let mut filled =
        FilledCommand { text: String::new(), parameters: Vec::new(), line: String::new() };
    for piece in pieces {
        match piece {
            ScriptPiece::Text(text) => {
                filled.text.push_str(text);
                filled.line.push_str(text);
            }
            ScriptPiece::Word(word) => {
                let Some(texts) = word.fill(values)? else { continue };
                filled.line.push_str(&as_word(&texts.concat()));
                for (part, text) in word.parts.iter().zip(texts) {
                    match part {
                        TemplatePart::Text(text) => filled.text.push_str(&quoted(text)),
                        TemplatePart::Parameter(_) => {
                            filled.parameters.push(text);
                            filled.text.push_str(&format!("\"${{{}}}\"", filled.parameters.len()));
                        }
                    }
                }
            }
        }
    }
    Ok(filled)
}

/// Checks the words of one command, and records where a value may begin with `-`.
fn check_words(command: &mut ReadCommand, parameters: &Parameters) -> Result<(), String> {
    let words: Vec<&TemplateWord> = command.words.iter().map(|it| &it.word).collect();
    let program = check_command(&words)?;
    for index in 0..words.len() {
        check_option(&words, program, index, parameters)?;
    }
    let name = words.get(program).and_then(|it| it.literal()).unwrap_or_default();
    let mut is_behind_options = false;
    for (index, it) in command.words.iter_mut().enumerate() {
        if let TemplateWord::Known(word) = &mut it.word {
            word.may_begin_with_dash = is_behind_options;
        }
        is_behind_options |= index > program
            && takes_end_of_options(&name)
            && it.word.literal().as_deref() == Some("--");
    }
    Ok(())
}

/// The words of a line that is one program and its arguments.
fn plain_call(lexed: &LexedLine, line: &str, commands: &[ReadCommand]) -> Option<Vec<KnownWord>> {
    let [command] = commands else { return None };
    let reading = &lexed.reading;
    let is_more = !reading.assignments.is_empty()
        || !reading.redirections.is_empty()
        || !reading.evaluations.is_empty()
        || !lexed.loops.is_empty();
    let mut between = String::new();
    let mut at = 0;
    for word in &command.words {
        between.push_str(TextSpan { start: at, end: word.span.start }.of(line));
        at = word.span.end;
    }
    between.push_str(TextSpan { start: at, end: line.len() }.of(line));
    if is_more || !between.chars().all(|it| it == ' ' || it == '\t') {
        return None;
    }
    let words: Option<Vec<KnownWord>> = command
        .words
        .iter()
        .map(|it| match &it.word {
            TemplateWord::Known(word) => Some(word.clone()),
            TemplateWord::Expanded => None,
        })
        .collect();
    let program = command.words.first()?.word.literal()?;
    words.filter(|_| !is_builtin(&program))
}

/// The line as a script: words with parameters, and the text between them.
fn pieces(
    line: &str,
    commands: Vec<ReadCommand>,
    targets: Vec<(TextSpan, KnownWord)>,
) -> Vec<ScriptPiece> {
    let words = commands.into_iter().flat_map(|it| it.words).filter_map(|it| match it.word {
        TemplateWord::Known(word) => Some((it.span, word)),
        TemplateWord::Expanded => None,
    });
    let mut words: Vec<(TextSpan, KnownWord)> =
        words.chain(targets).filter(|(_, word)| word.has_parameter()).collect();
    words.sort_by_key(|(span, _)| *span);
    let mut pieces = Vec::new();
    let mut at = 0;
    for (span, word) in words {
        pieces.push(ScriptPiece::Text(TextSpan { start: at, end: span.start }.of(line).to_owned()));
        pieces.push(ScriptPiece::Word(word));
        at = span.end;
    }
    pieces.push(ScriptPiece::Text(TextSpan { start: at, end: line.len() }.of(line).to_owned()));
    pieces
}

#[cfg(test)]
mod tests;
