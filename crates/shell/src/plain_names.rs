//! Variables that can only contain names of ordinary files, because the line itself sets them.
//!
//! In `for f in src/*.ts; do mv "$f" "${f%.ts}.js"; done`, the value of `$f` is not known before the line
//! runs. But it is certainly not a hidden file, and it is below the current directory.

use std::ops::Range;

use super::{
    lexer::{LexedLine, variable_of},
    line_reading::TextSpan,
};

/// Builtins that set variables, or that run text which may set them.
const SETTERS: [&str; 18] = [
    ".",
    "coproc",
    "declare",
    "eval",
    "export",
    "fc",
    "getopts",
    "let",
    "local",
    "mapfile",
    "printf",
    "read",
    "readarray",
    "readonly",
    "source",
    "trap",
    "typeset",
    "unset",
];

/// The variables that contain plain names, each with the part of the line in which this holds.
#[derive(Default)]
pub struct PlainNames<'l> {
    names: Vec<(&'l str, Range<usize>)>,
}

impl<'l> PlainNames<'l> {
    /// Finds them in a line that was understood.
    pub fn of(line: &'l str, lexed: &LexedLine) -> Self {
        let commands = &lexed.reading.commands;
        let sets = |it: Option<&TextSpan>| it.is_some_and(|it| SETTERS.contains(&it.of(line)));
        // `${x:=y}` sets a variable as well.
        if commands.iter().any(|it| sets(it.words.first())) || line.contains(":=") {
            return Self::default();
        }
        let assigned = |it: &TextSpan| {
            let text = it.of(line);
            Some((variable_of(text)?, text.split_once('=')?.1))
        };
        let assignments: Vec<(&str, &str)> =
            lexed.reading.assignments.iter().filter_map(assigned).collect();
        let loops = || lexed.loops.iter().map(|it| (it.variable.of(line), it));
        let is_plain = |name: &str| {
            assignments.iter().filter(|it| it.0 == name).all(|it| is_plain_name(it.1))
                && loops()
                    .filter(|it| it.0 == name)
                    .all(|it| it.1.values.iter().all(|value| is_plain_name(value.of(line))))
        };
        let in_loops = loops().map(|(name, it)| (name, it.body.clone()));
        // An assignment that is not the first command may be in a part that does not run, and one before
        // `&` or `|` runs in another shell.
        let continues = |it: &&TextSpan| {
            let behind = line.get(it.end..).unwrap_or_default().trim_start_matches([' ', '\t']);
            it.start == 0 && [";", "\n", "&&"].iter().any(|sign| behind.starts_with(sign))
        };
        let first = lexed.reading.assignments.first().filter(continues);
        let first = first.and_then(|it| Some((variable_of(it.of(line))?, it.end..line.len())));
        let names = in_loops.chain(first).filter(|(name, _)| is_plain(name)).collect();
        Self { names }
    }

    /// The text of a word with `*` in place of each variable that holds a plain name; `None` if it has no
    /// such variable.
    pub fn spelling(&self, word: TextSpan, line: &str) -> Option<String> {
        let here = |it: &&(&'l str, Range<usize>)| it.1.contains(&word.start);
        let names: Vec<&str> = self.names.iter().filter(here).map(|it| it.0).collect();
        if names.is_empty() {
            return None;
        }
        let mut rest = word.of(line);
        let mut spelled = String::new();
        let mut is_quoted = false;
        let mut has_any = false;
        while let Some(next) = rest.chars().next() {
            if next == '$'
                && let Some(after) = names.iter().find_map(|it| behind_variable(rest, it))
            {
                spelled.push_str(if is_quoted { "\"*\"" } else { "*" });
                has_any = true;
                rest = after;
                continue;
            }
            // Single-quoted text and escaped characters are kept as they are written.
            let length = match next {
                '\'' if !is_quoted => rest.get(1..)?.find('\'')? + 2,
                '\\' => 1 + rest.get(1..)?.chars().next().map_or(0, char::len_utf8),
                other => other.len_utf8(),
            };
            is_quoted ^= next == '"';
            spelled.push_str(rest.get(..length)?);
            rest = rest.get(length..)?;
        }
        has_any.then_some(spelled)
    }
}

/// The text after `$name`, `${name}` or `${name%end}`. `${name#start}` is not accepted, because the remaining
/// name may begin with a dot.
fn behind_variable<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let inside = text.strip_prefix('$')?;
    if let Some(after) = inside.strip_prefix(name) {
        let continues = after.starts_with(|it: char| it.is_ascii_alphanumeric() || it == '_');
        return (!continues && !after.starts_with('[')).then_some(after);
    }
    let after = inside.strip_prefix('{')?.strip_prefix(name)?;
    if let Some(after) = after.strip_prefix('}') {
        return Some(after);
    }
    let (removed, behind) = after.strip_prefix('%')?.split_once('}')?;
    (!removed.contains(['$', '`', '{', '\'', '"', '\\'])).then_some(behind)
}

/// True for a relative path in which no name begins with a dot, and which does not look like an option.
fn is_plain_name(value: &str) -> bool {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "_-.+*?".contains(it);
    let value_is_plain =
        |it: &str| !it.is_empty() && !it.starts_with('.') && it.chars().all(is_plain);
    !value.starts_with('-') && value.split('/').all(value_is_plain)
}
