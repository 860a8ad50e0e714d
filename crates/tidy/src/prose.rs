//! The prose in a file of Rust, JavaScript or TypeScript: its comments and its string literals.
//!
//! It knows where comments, strings and regular expressions begin and end, and nothing else of a language.

use std::{ffi::OsStr, path::Path};

use crate::SourceFile;

/// The comments and literals of a file, in order.
#[derive(Clone, Debug, Default)]
pub struct Prose {
    /// The text of each comment as one line. Neighbouring lines of comments are one comment, so that a line
    /// break hides no phrase.
    pub comments: Vec<String>,
    /// The text of each string literal. An expression in a template is `…`.
    pub literals: Vec<String>,
}

impl Prose {
    /// The prose of a source file.
    pub fn of(file: &SourceFile) -> Self {
        let is_rust = Path::new(&file.path).extension() == Some(OsStr::new("rs"));
        let mut reader =
            Reader { text: &file.text, at: 0, is_rust, comment_end: None, prose: Self::default() };
        reader.code(false);
        reader.prose
    }

    /// The comments of a TOML file. `#` in its strings is not expected.
    pub fn of_toml(file: &SourceFile) -> Self {
        let mut prose = Self::default();
        let mut continued = false;
        for line in file.text.lines() {
            let Some((code, comment)) = line.split_once('#') else {
                continued = false;
                continue;
            };
            let is_alone = code.trim().is_empty();
            prose.add_comment(comment, continued && is_alone);
            continued = is_alone;
        }
        prose
    }

    fn add_comment(&mut self, line: &str, continues: bool) {
        match self.comments.last_mut() {
            Some(last) if continues => {
                last.push(' ');
                last.push_str(line.trim());
            }
            _ => self.comments.push(line.trim().to_owned()),
        }
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    is_rust: bool,
    /// Where the last comment ended that had its lines for itself. The next line continues it.
    comment_end: Option<usize>,
    prose: Prose,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// Reads code, in a template up to the brace that ends its expression.
    fn code(&mut self, in_template: bool) {
        let mut depth = 0_usize;
        while let Some(next) = self.rest().chars().next() {
            if self.is_rust && self.raw_string() {
                continue;
            }
            if self.rest().starts_with("//") {
                self.line_comment();
            } else if self.rest().starts_with("/*") {
                self.block_comment();
            } else if next == '"' || (!self.is_rust && next == '\'') {
                self.string(next);
            } else if self.is_rust && next == '\'' {
                self.character();
            } else if !self.is_rust && next == '`' {
                self.template();
            } else if !self.is_rust && next == '/' && self.expression_begins() {
                self.regular_expression();
            } else {
                match next {
                    '{' => depth += 1,
                    '}' if in_template && depth == 0 => return,
                    '}' => depth = depth.saturating_sub(1),
                    _ => {}
                }
                self.at += next.len_utf8();
            }
        }
    }

    fn line_comment(&mut self) {
        let line_start = self.text[..self.at].rfind('\n').map_or(0, |it| it + 1);
        let is_alone = self.text[line_start..self.at].trim().is_empty();
        let line = self.rest().lines().next().unwrap();
        let words = line.trim_start_matches('/');
        let words = words.strip_prefix('!').unwrap_or(words);
        let continues = self.comment_end.is_some_and(|it| it + 1 == line_start);
        self.prose.add_comment(words, is_alone && continues);
        self.at += line.len();
        self.comment_end = is_alone.then_some(self.at);
    }

    fn block_comment(&mut self) {
        let length = self.rest().find("*/").map_or(self.rest().len(), |it| it + 2);
        let comment = &self.rest()[..length];
        let lines = comment.trim_start_matches("/*").trim_end_matches("*/").lines();
        let lines = lines.map(|it| it.trim().trim_start_matches('*').trim());
        let text = lines.collect::<Vec<_>>().join(" ");
        self.prose.comments.push(text.trim().to_owned());
        self.at += length;
    }

    /// Reads a string whose escapes are not characters of prose. In JavaScript it ends with its line.
    fn string(&mut self, quote: char) {
        let mut literal = String::new();
        let mut characters = self.rest().char_indices().skip(1);
        let mut length = self.rest().len();
        while let Some((at, it)) = characters.next() {
            if it == quote || (it == '\n' && !self.is_rust) {
                length = at + it.len_utf8();
                break;
            }
            match it {
                '\\' => {
                    let escaped = characters.next().map(|it| it.1);
                    let is_kept = escaped.is_some_and(|it| "\\\"'`".contains(it));
                    literal.push(escaped.filter(|_| is_kept).unwrap_or(' '));
                }
                it => literal.push(it),
            }
        }
        self.at += length;
        self.prose.literals.push(one_line(&literal));
    }

    /// Reads a raw string of Rust, if one begins here.
    fn raw_string(&mut self) -> bool {
        let is_name = |it: char| it.is_alphanumeric() || it == '_';
        if self.text[..self.at].ends_with(is_name) {
            return false;
        }
        let rest = self.rest();
        let Some(rest) = rest.strip_prefix("br").or_else(|| rest.strip_prefix('r')) else {
            return false;
        };
        let marks = rest.len() - rest.trim_start_matches('#').len();
        let Some(literal) = rest[marks..].strip_prefix('"') else { return false };
        let end = format!("\"{}", "#".repeat(marks));
        let length = literal.find(&end).unwrap_or(literal.len());
        self.prose.literals.push(one_line(&literal[..length]));
        self.at = self.text.len() - literal.len() + (length + end.len()).min(literal.len());
        true
    }

    /// Skips a character of Rust, or the mark of a lifetime.
    fn character(&mut self) {
        let mut characters = self.rest().char_indices().skip(1);
        let first = characters.next();
        let second = characters.next();
        let length = match (first, second) {
            (Some((_, '\\')), Some((at, it))) => {
                let after = at + it.len_utf8();
                self.rest()[after..].find('\'').map_or(1, |it| after + it + 1)
            }
            (Some(_), Some((at, '\''))) => at + 1,
            _ => 1,
        };
        self.at += length;
    }

    fn template(&mut self) {
        self.at += 1;
        let mut literal = String::new();
        while let Some(next) = self.rest().chars().next() {
            if self.rest().starts_with("${") {
                self.at += 2;
                self.code(true);
                literal.push('…');
                self.at = (self.at + 1).min(self.text.len());
                continue;
            }
            self.at += next.len_utf8();
            match next {
                '`' => break,
                '\\' => {
                    let escaped = self.rest().chars().next();
                    self.at += escaped.map_or(0, char::len_utf8);
                    literal.push(escaped.filter(|it| "\\`$".contains(*it)).unwrap_or(' '));
                }
                it => literal.push(it),
            }
        }
        self.prose.literals.push(one_line(&literal));
    }

    /// True if a `/` here begins a regular expression, and is not a division.
    fn expression_begins(&self) -> bool {
        let before = self.text[..self.at].trim_end();
        let word = before.rsplit(|it: char| !it.is_alphanumeric()).next().unwrap();
        match before.chars().next_back() {
            None => true,
            Some(_) if ["return", "of", "in", "case", "typeof", "await"].contains(&word) => true,
            Some(it) => "(,=:[!&|?{};+-*<>~^%".contains(it),
        }
    }

    fn regular_expression(&mut self) {
        let (mut in_class, mut is_escaped) = (false, false);
        let line = self.rest().lines().next().unwrap();
        let end = line.char_indices().skip(1).find(|(_, it)| {
            let ends = *it == '/' && !in_class && !is_escaped;
            match it {
                '[' if !is_escaped => in_class = true,
                ']' if !is_escaped => in_class = false,
                _ => {}
            }
            is_escaped = *it == '\\' && !is_escaped;
            ends
        });
        self.at += end.map_or(1, |(at, _)| at + 1);
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prose(path: &str, text: &str) -> Prose {
        Prose::of(&SourceFile { path: path.to_owned(), text: text.to_owned() })
    }

    #[test]
    fn comments_are_found_at_the_end_of_code_too() {
        let rust =
            "//! One\n//! file.\n\nlet x = 'a'; // two\n// three\n/* four */ fn f<'a>() {}\n";
        assert_eq!(prose("a.rs", rust).comments, ["One file.", "two", "three", "four"]);
        let js =
            "/**\n * One\n * file.\n */\nconst x = a / b; // two\nf('//', /\\/['\"]/); // three\n";
        assert_eq!(prose("a.js", js).comments, ["One file.", "two", "three"]);
        let toml = SourceFile { path: String::new(), text: "# a\n# b\nc = 1 # d\n# e".to_owned() };
        assert_eq!(Prose::of_toml(&toml).comments, ["a b", "d", "e"]);
    }

    #[test]
    fn literals_are_found() {
        let rust = "f(\"a \\\n   b\", r#\"c \"d\" // e\"#, '\"', b\"f\", '\\'', \"g\")";
        let rust = prose("a.rs", rust);
        assert_eq!(
            (rust.literals.as_slice(), rust.comments.len()),
            (&["a b", "c \"d\" // e", "f", "g"].map(str::to_owned)[..], 0)
        );
        let js = "f('a', \"b\", `c ${{ d: `e${1}` }.d} g`, /[/`'\"]/, 1 / 2, 'h')";
        assert_eq!(prose("a.js", js).literals, ["a", "b", "e…", "c … g", "h"]);
    }
}
