//! The words of a command template, and how they are written for a shell.

use toolwright_base::ToolError;

use super::{
    parameter::{CallValues, refused, shown},
    placeholder::TemplatePart,
};

/// A word in a command.
#[derive(Clone, Debug)]
pub(super) enum TemplateWord {
    /// A word whose text is known but for its parameters.
    Known(KnownWord),
    /// A word that the shell expands, such as `$HOME` or `*.ts`. It has no parameter.
    Expanded,
}

/// A word whose text is known but for its parameters.
#[derive(Clone, Debug)]
pub(super) struct KnownWord {
    pub(super) parts: Vec<TemplatePart>,
    /// True if a value at the start of the word may begin with `-`.
    pub(super) may_begin_with_dash: bool,
}

impl TemplateWord {
    /// The text, if it has no parameter and the shell does not expand it.
    pub(super) fn literal(&self) -> Option<String> {
        match self {
            Self::Known(word) if !word.has_parameter() => Some(word.text_before_parameter()),
            Self::Known(_) | Self::Expanded => None,
        }
    }

    pub(super) fn has_parameter(&self) -> bool {
        matches!(self, Self::Known(word) if word.has_parameter())
    }

    /// The text up to the first parameter.
    pub(super) fn beginning(&self) -> String {
        match self {
            Self::Known(word) => word.text_before_parameter(),
            Self::Expanded => String::new(),
        }
    }
}

impl KnownWord {
    pub(super) fn has_parameter(&self) -> bool {
        self.parameters().next().is_some()
    }

    /// The names of its parameters.
    pub(super) fn parameters(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|it| match it {
            TemplatePart::Parameter(name) => Some(name.as_str()),
            TemplatePart::Text(_) => None,
        })
    }

    fn text_before_parameter(&self) -> String {
        let texts = self.parts.iter().map_while(|it| match it {
            TemplatePart::Text(text) => Some(text.as_str()),
            TemplatePart::Parameter(_) => None,
        });
        texts.collect()
    }

    /// The parts of the word with the values of a call filled in; `None` if a value is missing.
    pub(super) fn fill(&self, values: CallValues<'_>) -> Result<Option<Vec<String>>, ToolError> {
        let mut filled = Vec::with_capacity(self.parts.len());
        for part in &self.parts {
            match part {
                TemplatePart::Text(text) => filled.push(text.clone()),
                TemplatePart::Parameter(name) => match values.text(name)? {
                    Some(value) => filled.push(value),
                    None => return Ok(None),
                },
            }
        }
        let begins_with = self
            .parameters()
            .next()
            .filter(|_| self.text_before_parameter().is_empty() && !self.may_begin_with_dash);
        if let Some(name) = begins_with
            && filled.iter().find(|it| !it.is_empty()).is_some_and(|it| it.starts_with('-'))
        {
            let value = shown(&filled.concat());
            let cause = format!(
                "`{value}` begins with `-`, so the program would treat it as an option; give a value that does not"
            );
            return Err(refused(name, &cause));
        }
        Ok(Some(filled))
    }
}

/// The text in single quotes, which every shell reads literally.
pub(super) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// The text as a word in a command line, quoted if a shell would interpret it.
pub(super) fn as_word(text: &str) -> String {
    let is_plain = |it: u8| it.is_ascii_alphanumeric() || b"_-./:=@%+,".contains(&it);
    if !text.is_empty() && text.bytes().all(is_plain) { text.to_owned() } else { quoted(text) }
}

/// Reserved words of the shell, which have a meaning at the start of a command.
const RESERVED: [&str; 17] = [
    "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for", "function", "if", "in",
    "select", "then", "time", "until", "while",
];

/// The text as the first word in a command line.
pub(super) fn as_program(text: &str) -> String {
    let is_special = text.contains('=') || RESERVED.contains(&text);
    if is_special { quoted(text) } else { as_word(text) }
}
