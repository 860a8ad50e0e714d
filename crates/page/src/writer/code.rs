//! Code is kept unchanged, between fences or backticks that it does not contain.

use super::{PageStyle, lines::LineWriter};
use crate::{attributes::ElementAttributes, tag::Tag};

/// The longest name of a language.
const MAX_LANGUAGE_LENGTH: usize = 30;

/// A `pre` that is being read.
#[derive(Debug)]
pub(super) struct CodeBlock {
    text: String,
    language: Option<String>,
    /// The number of open elements inside it.
    depth: usize,
}

impl CodeBlock {
    pub(super) fn new(attributes: &dyn ElementAttributes) -> Self {
        Self { text: String::new(), language: language_of(attributes), depth: 0 }
    }

    pub(super) fn size(&self) -> usize {
        self.text.len()
    }

    pub(super) fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// An element starts inside it.
    pub(super) fn enter(&mut self, tag: Tag, attributes: &dyn ElementAttributes) {
        self.depth += 1;
        if tag == Tag::Br {
            self.text.push('\n');
        } else if tag.is_block() {
            self.begin_line();
        } else if tag == Tag::Code && self.language.is_none() {
            self.language = language_of(attributes);
        }
    }

    /// An element ends. Returns true if it is the block itself.
    pub(super) fn leave(&mut self, tag: Tag) -> bool {
        if self.depth == 0 {
            return true;
        }
        self.depth -= 1;
        if tag.is_block() {
            self.begin_line();
        }
        false
    }

    fn begin_line(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            self.text.push('\n');
        }
    }

    pub(super) fn write(&self, style: PageStyle, lines: &mut LineWriter) {
        let text = self.text.strip_prefix('\n').unwrap_or(&self.text).trim_end();
        if text.trim().is_empty() {
            return;
        }
        let code = text.lines();
        match style {
            PageStyle::Text => lines.put_lines(code),
            PageStyle::Markdown => {
                let fence = "`".repeat(longest_run_of_backticks(text).max(2) + 1);
                let first = format!("{fence}{}", self.language.as_deref().unwrap_or_default());
                let around = [fence.as_str()];
                lines.put_lines([first.as_str()].into_iter().chain(code).chain(around));
            }
        }
    }
}

/// The language that classes such as `language-rust` name.
fn language_of(attributes: &dyn ElementAttributes) -> Option<String> {
    let classes = attributes.value("class")?;
    let named = |it: &str| {
        let prefixes = ["language-", "lang-", "highlight-source-"];
        prefixes.iter().find_map(|prefix| it.strip_prefix(prefix)).map(str::to_owned)
    };
    let is_name = |it: &String| {
        let is_part = |it: char| it.is_ascii_alphanumeric() || "+-#._".contains(it);
        !it.is_empty() && it.len() <= MAX_LANGUAGE_LENGTH && it.chars().all(is_part)
    };
    classes.split_ascii_whitespace().find_map(named).filter(is_name)
}

fn longest_run_of_backticks(text: &str) -> usize {
    let mut longest = 0;
    let mut run = 0;
    for byte in text.bytes() {
        run = if byte == b'`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}

/// Code within a line.
pub(super) fn in_backticks(code: &str) -> String {
    let longest = longest_run_of_backticks(code);
    let marks = "`".repeat(longest + 1);
    // A space separates backticks of the code from the delimiters.
    let space = if longest > 0 { " " } else { "" };
    format!("{marks}{space}{code}{space}{marks}")
}
