//! Scripts inside command lines that certainly touch no file.
//!
//! `sed 'w f'` writes and `awk '{ getline < f }'` reads. Only what is understood here is taken for
//! harmless, and that is what people write every day.

use super::Language;

/// True when the script neither opens files nor runs programs.
pub(super) fn touches_no_file(language: Language, script: &str) -> bool {
    match language {
        Language::Awk => is_plain_awk(script),
        Language::Jq => is_plain_jq(script),
        Language::Sed => is_plain_sed(script),
    }
}

/// True for `name=value` among the files of awk, which sets a variable.
pub(super) fn is_assignment(word: &str) -> bool {
    let name = word.split_once('=').map(|it| it.0).unwrap_or_default();
    name.starts_with(|it: char| it.is_ascii_alphabetic() || it == '_')
        && name.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'_')
}

/// Without pipes, redirections, `getline`, `system`, `@include` and changes of what is read.
fn is_plain_awk(script: &str) -> bool {
    let without_or = script.replace("||", "");
    !without_or.contains(['|', '>', '@'])
        && !has_word(script, &["getline", "system", "ARGV", "ARGC", "FUNCTAB", "SYMTAB"])
}

/// Without modules and what `yq` loads.
fn is_plain_jq(script: &str) -> bool {
    let loads = ["load", "load_str", "load_xml", "load_props", "load_base64", "eval", "envsubst"];
    !has_word(script, &["import", "include", "modulemeta"]) && !has_word(script, &loads)
}

fn has_word(script: &str, words: &[&str]) -> bool {
    script.split(|it: char| !it.is_alphanumeric() && it != '_').any(|it| words.contains(&it))
}

/// Reads a script command by command; those that open files or run something are not among them.
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
            // Text up to the end of a line that does not end in a backslash.
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
            // `{` stands in front of another command.
            Some(after) if name == Some('{') => rest = after,
            Some(after) if after.is_empty() || after.starts_with([';', '\n', '}', '#']) => {
                rest = after;
            }
            _ => return false,
        }
    }
}

/// What stands behind the lines that a command is for: `1,$`, `/x/,+3`, `$!`.
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

/// What stands behind `/a/b/`, whatever the sign between the parts is.
fn after_parts(text: &str) -> Option<&str> {
    let mark = text.chars().next().filter(|it| !matches!(it, '\\' | '\n'))?;
    after_part(after_part(text.get(mark.len_utf8()..)?, mark)?, mark)
}

/// What stands behind the next mark that is neither escaped nor in brackets.
fn after_part(text: &str, mark: char) -> Option<&str> {
    let mut characters = text.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '\\' => drop(characters.next()),
            // Where a list of characters ends is read differently by different programs.
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
