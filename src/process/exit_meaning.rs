//! Exit codes that are answers and no failures: grep found nothing, files differ, a test is false.
//!
//! Deliberately small: only what the last command of a script says for sure. Where it is not sure that
//! the exit code is that command's, it stays an error.

/// What an exit code means, where it is no failure.
pub fn exit_meaning(command: &str, exit_code: i32, said_nothing: bool) -> Option<&'static str> {
    if exit_code != 1 {
        return None;
    }
    let last = last_command(command)?;
    // After `&&` the code may be that of the command before, which would have said why it failed.
    if last.after_and && !said_nothing {
        return None;
    }
    let mut words = last.text.split_ascii_whitespace();
    let program = words.next()?;
    let name = program.rsplit('/').next()?;
    match name {
        "grep" | "egrep" | "fgrep" | "zgrep" | "rg" | "ag" | "ack" => Some("no line matched"),
        "diff" | "cmp" | "colordiff" => Some("the files differ"),
        "test" | "[" | "[[" => Some("the condition is false"),
        "which" | "type" => Some("not found"),
        "command" if matches!(words.next(), Some("-v" | "-V")) => Some("not found"),
        "pgrep" | "pidof" => Some("no process matched"),
        "git" => match words.next()? {
            "diff" if words.any(|it| matches!(it, "--exit-code" | "--quiet")) => {
                Some("there are differences")
            }
            "grep" => Some("no line matched"),
            _ => None,
        },
        _ => None,
    }
}

struct Last<'a> {
    text: &'a str,
    after_and: bool,
}

/// The command whose exit code is the script's. Nothing where a script is not a plain list of commands.
fn last_command(script: &str) -> Option<Last<'_>> {
    let script = script.trim_end();
    // Here documents, options that change whose code counts, and compound commands.
    if script.contains("<<") || script.contains("set -") || script.contains("trap ") {
        return None;
    }
    let mut quote: Option<char> = None;
    let mut begin = 0;
    let mut after_and = false;
    let mut depth = 0_i32;
    let mut characters = script.char_indices().peekable();
    let mut previous = '\n';
    while let Some((at, it)) = characters.next() {
        match (quote, it) {
            (Some(open), it) if it == open => quote = None,
            // Between single quotes nothing else means anything.
            (quote, '\\') if quote != Some('\'') => {
                characters.next();
            }
            (None, '\'' | '"' | '`') => quote = Some(it),
            (None, '(' | '{') => depth += 1,
            (None, ')' | '}') => depth -= 1,
            // A comment, which ends with its line.
            (None, '#') if previous.is_whitespace() => return None,
            (None, '&') if depth == 0 => match characters.peek() {
                Some((next, '&')) => {
                    after_and = true;
                    begin = next + 1;
                    characters.next();
                }
                // `>&2`, `&>file`
                Some((_, '>')) => {}
                _ if previous == '>' || previous == '<' => {}
                _ => {
                    after_and = false;
                    begin = at + 1;
                }
            },
            (None, '|') if depth == 0 => {
                // `||` runs the next one only if what came before failed: the code is the last one's.
                // In a pipeline, a failure of what comes before `&&` still ends the whole.
                if let Some((next, '|' | '&')) = characters.peek().copied() {
                    begin = next + 1;
                    characters.next();
                } else {
                    begin = at + 1;
                }
            }
            (None, ';' | '\n') if depth == 0 => {
                after_and = false;
                begin = at + 1;
            }
            (Some(_) | None, _) => {}
        }
        previous = it;
    }
    let text = script.get(begin..)?.trim();
    let is_plain = quote.is_none() && depth == 0 && !text.starts_with(['(', '{', '!', '&']);
    (is_plain && !text.is_empty()).then_some(Last { text, after_and })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_told_from_failures() {
        for (command, meaning) in [
            ("grep x a.txt", Some("no line matched")),
            ("cat a | grep -v x", Some("no line matched")),
            ("cd src; /usr/bin/grep 'a && b' f", Some("no line matched")),
            ("cd src && rg x", Some("no line matched")),
            ("false || diff a b", Some("the files differ")),
            ("diff a b 2>&1", Some("the files differ")),
            ("[ -f x ]", Some("the condition is false")),
            ("[[ a == b ]]", Some("the condition is false")),
            ("command -v nothing", Some("not found")),
            ("git diff --quiet", Some("there are differences")),
            ("git status", None),
            ("cat missing", None),
            ("grep x f; cat missing", None),
            ("grep x f | wc -l", None),
            ("set -o pipefail; false | grep x", None),
            ("(exit 1)", None),
            ("! grep x f", None),
            ("grep 'unclosed", None),
            ("if grep x f; then exit 1; fi", None),
            ("cat <<E | grep x\ny\nE", None),
            ("grep x f # comment", None),
            ("grep x f &", None),
            ("", None),
        ] {
            assert_eq!(exit_meaning(command, 1, true), meaning, "{command}");
            assert_eq!(exit_meaning(command, 2, true), None, "{command}");
        }
        assert_eq!(exit_meaning("cd nowhere && grep x f", 1, false), None);
    }
}
