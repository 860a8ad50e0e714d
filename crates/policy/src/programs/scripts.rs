//! Finds scripts in command lines that certainly touch no file.
//!
//! `sed 'w f'` writes a file, and `awk '{ getline < f }'` reads one. Only scripts that are understood here count
//! as harmless. They cover everyday use.

use super::Language;

/// True when the script neither opens files nor runs programs.
pub(super) fn touches_no_file(language: Language, script: &str) -> bool {
    match language {
        Language::Awk => is_plain_awk(script),
        Language::Jq => is_plain_jq(script),
        Language::Sed => is_plain_sed(script),
    }
}

/// True for `name=value` among the file operands of awk, which sets a variable.
pub(super) fn is_assignment(word: &str) -> bool {
    let name = word.split_once('=').map(|it| it.0).unwrap_or_default();
    name.starts_with(|it: char| it.is_ascii_alphabetic() || it == '_')
        && name.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_')
}

/// True for awk scripts without pipes, redirections, `getline`, `system`, `@include` and changes of the
/// input files.
fn is_plain_awk(script: &str) -> bool {
    let without_or = script.replace("||", "");
    !without_or.contains(['|', '>', '@'])
        && !has_word(script, &["getline", "system", "ARGV", "ARGC", "FUNCTAB", "SYMTAB"])
}

/// True for jq and yq scripts that load neither modules nor files.
fn is_plain_jq(script: &str) -> bool {
    let loads = ["load", "load_str", "load_xml", "load_props", "load_base64", "eval", "envsubst"];
    !has_word(script, &["import", "include", "modulemeta"]) && !has_word(script, &loads)
}

fn has_word(script: &str, words: &[&str]) -> bool {
    script.split(|it: char| !it.is_alphanumeric() && it != '_').any(|it| words.contains(&it))
}

/// True for sed scripts in which every command is known to open no file and run nothing.
fn is_plain_sed(script: &str) -> bool {
    let mut rest = script;
    loop {
        rest = rest.trim_start_matches([' ', '\t', '\n', ';', '}']);
        if rest.is_empty() {
            return true;
        }
        let Some(command) = behind_addresses(rest) else { return false };
        let mut characters = command.chars();
        let name = characters.next();
        let arguments = characters.as_str();
        let after = match name {
            Some('{' | 'p' | 'd' | 'D' | 'P' | 'n' | 'N' | 'g' | 'G' | 'h' | 'H' | 'x' | '=') => {
                Some(arguments)
            }
            Some('q' | 'Q' | 'l') => {
                Some(arguments.trim_start_matches(|it: char| it == ' ' || it.is_ascii_digit()))
            }
            Some('b' | 't' | 'T' | ':') => {
                arguments.find(['\n', ';', '}']).map_or(Some(""), |at| arguments.get(at..))
            }
            // The text ends with the first line that does not end in a backslash.
            Some('a' | 'i' | 'c') => after_text(arguments),
            Some('#') => arguments.find('\n').map_or(Some(""), |at| arguments.get(at..)),
            Some('s') => after_parts(arguments).map(|it| {
                it.trim_start_matches([
                    'g', 'p', 'i', 'I', 'm', 'M', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9',
                ])
            }),
            Some('y') => after_parts(arguments),
            _ => None,
        };
        match after.map(|it| it.trim_start_matches([' ', '\t'])) {
            // `{` is followed by another command.
            Some(after) if name == Some('{') => rest = after,
            Some(after) if after.is_empty() || after.starts_with([';', '\n', '}', '#']) => {
                rest = after;
            }
            _ => return false,
        }
    }
}

/// The text after the address of a command: `1,$`, `/x/,+3`, `$!`.
fn behind_addresses(text: &str) -> Option<&str> {
    let mut rest = text;
    for place in 0..2 {
        rest = match rest.chars().next()? {
            '/' => after_part(rest.get(1..)?, '/')?.trim_start_matches(['I', 'M']),
            '\\' => {
                let mark = rest.chars().nth(1)?;
                after_part(rest.get(1 + mark.len_utf8()..)?, mark)?.trim_start_matches(['I', 'M'])
            }
            '$' => rest.get(1..)?,
            it if it.is_ascii_digit() || (place == 1 && matches!(it, '+' | '~')) => {
                rest.trim_start_matches(|it: char| it.is_ascii_digit() || matches!(it, '+' | '~'))
            }
            _ => break,
        };
        rest = rest.trim_start_matches(' ');
        match rest.strip_prefix(',') {
            Some(second) if place == 0 => rest = second.trim_start_matches(' '),
            _ => break,
        }
    }
    Some(rest.trim_start_matches(['!', ' ']))
}

/// The text after `/a/b/`, with any character as the delimiter.
fn after_parts(text: &str) -> Option<&str> {
    let mark = text.chars().next().filter(|it| !matches!(it, '\\' | '\n'))?;
    after_part(after_part(text.get(mark.len_utf8()..)?, mark)?, mark)
}

/// The text after the next delimiter that is neither escaped nor in brackets.
fn after_part(text: &str, mark: char) -> Option<&str> {
    let mut characters = text.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '\\' => drop(characters.next()),
            // Programs disagree about where a list of characters ends.
            '[' if text.get(at..)?.split(']').next()?.contains(mark) => return None,
            it if it == mark => return text.get(at + mark.len_utf8()..),
            _ => {}
        }
    }
    None
}

fn after_text(text: &str) -> Option<&str> {
    let mut escaped = false;
    for (at, character) in text.char_indices() {
        match character {
            '\n' if !escaped => return text.get(at..),
            '\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    Some("")
}
