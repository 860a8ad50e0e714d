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
    // After `cd … &&` the code may be that of `cd`, which would have said why it failed.
    if last.after_and && !said_nothing {
        return None;
    }
    let mut words = last.text.split_ascii_whitespace().skip_while(|it| is_assignment(it));
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
            "diff" if words.any(|it| matches!(it, "--exit-code" | "--quiet" | "--no-index")) => {
                Some("there are differences")
            }
            "grep" => Some("no line matched"),
            _ => None,
        },
        _ => None,
    }
}

/// A variable that is set for one command, to something plain.
fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, value)| {
        let is_name = |it: char| it.is_ascii_alphanumeric() || it == '_';
        !name.is_empty() && name.chars().all(is_name) && !value.contains(['$', '`', '\'', '"', '('])
    })
}

struct Last<'a> {
    text: &'a str,
    after_and: bool,
}

/// How a command is joined to the one before it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Joint {
    /// It runs whatever came before.
    Next,
    And,
    Or,
    Pipe,
}

/// Words that end a script early, or run another in its place: the code is then not the last command's.
const LEAVES: [&str; 9] =
    ["exit", "return", "exec", "eval", "source", ".", "readonly", "set", "trap"];

/// The command whose exit code is the script's. Nothing where a script is not a plain list of commands.
fn last_command(script: &str) -> Option<Last<'_>> {
    let commands = commands(script.trim_end())?;
    let ((_, text), before) = commands.split_last()?;
    if text.is_empty() || text.starts_with(['(', '{', '!', '&']) {
        return None;
    }
    // A wrong sum ends a script, too.
    if before.iter().any(|(_, text)| may_leave(text) || text.contains("((")) {
        return None;
    }
    // The pipeline that the last command ends began somewhere, joined to what is before it.
    let first = commands.iter().rposition(|(joint, _)| *joint != Joint::Pipe)?;
    let joint = commands.get(first)?.0;
    if joint == Joint::And {
        // Up to the beginning of the list: whatever failed there gave its code.
        let list = commands.get(..first)?;
        let begin = list.iter().rposition(|(joint, _)| *joint == Joint::Next)?;
        let only_moves = |(_, text): &(Joint, &str)| text.split_whitespace().next() == Some("cd");
        if !list.get(begin..)?.iter().all(only_moves) {
            return None;
        }
    }
    Some(Last { text, after_and: joint == Joint::And })
}

/// True where one of the commands in a text may be one of those that leave.
fn may_leave(text: &str) -> bool {
    const BEFORE_COMMANDS: [&str; 12] = [
        "", "then", "do", "else", "elif", "if", "while", "until", "!", "time", "command", "builtin",
    ];
    let mut previous = "";
    text.split(|it: char| it.is_whitespace() || "(){};&|".contains(it)).any(|word| {
        let is_command = BEFORE_COMMANDS.contains(&previous);
        previous = word;
        is_command && LEAVES.contains(&word)
    })
}

/// The commands of a script, with how each is joined to the one before. Nothing where there may be more
/// to it.
fn commands(script: &str) -> Option<Vec<(Joint, &str)>> {
    // Here documents; what they hold is no commands.
    if script.contains("<<") {
        return None;
    }
    let mut commands = Vec::new();
    let mut quote: Option<char> = None;
    let mut begin = 0;
    let mut joint = Joint::Next;
    let mut depth = 0_i32;
    let mut characters = script.char_indices().peekable();
    let mut previous = '\n';
    while let Some((at, it)) = characters.next() {
        let mut next = None;
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
                Some((_, '&')) => next = Some(Joint::And),
                // `>&2`, `&>file`
                Some((_, '>')) => {}
                _ if previous == '>' || previous == '<' => {}
                _ => next = Some(Joint::Next),
            },
            (None, '|') if depth == 0 && previous != '>' => {
                let is_or = matches!(characters.peek(), Some((_, '|')));
                next = Some(if is_or { Joint::Or } else { Joint::Pipe });
            }
            (None, ';' | '\n') if depth == 0 => next = Some(Joint::Next),
            (Some(_) | None, _) => {}
        }
        if let Some(next) = next {
            commands.push((joint, script.get(begin..at)?.trim()));
            begin = at + 1;
            // `&&`, `||` and `|&` are one sign.
            if matches!(characters.peek(), Some((_, '&' | '|'))) && it != ';' && it != '\n' {
                begin += 1;
                characters.next();
            }
            joint = next;
        }
        previous = it;
    }
    commands.push((joint, script.get(begin..)?.trim()));
    // Between lines and behind `;` there may be nothing.
    (quote.is_none() && depth == 0).then_some(commands)
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
            ("echo BUILD FAILED; false || exit 1; grep x f", None),
            ("make || { echo no; exit 1; }; grep x f", None),
            ("if ! make; then return 1; fi\ngrep x f", None),
            (". ./env.sh; grep x f", None),
            ("f() { exit 1; }; f; grep x f", None),
            ("exec 2>&1; grep x f", None),
            ("echo $((1/0)); grep x f", None),
            ("false && grep x f", None),
            ("make && cat log | grep x", None),
            ("cd a && make && grep x f", None),
            ("cd a && cd b && grep x f", Some("no line matched")),
            ("cd a && cat f | grep x", Some("no line matched")),
            ("make; cd a && grep x f", Some("no line matched")),
            ("make && true || grep x f", Some("no line matched")),
            ("make || true && grep x f", None),
            ("grep exit f", Some("no line matched")),
            ("find . -name 'exit' | grep x", Some("no line matched")),
            ("ls source; echo exit; grep x f", Some("no line matched")),
            ("cd a || exit; grep x f", None),
            ("echo a |& grep x", Some("no line matched")),
            ("true & grep x f", Some("no line matched")),
            ("LC_ALL=C grep x f", Some("no line matched")),
            ("A=$(false) grep x f", None),
            ("git diff --no-index a b", Some("there are differences")),
        ] {
            assert_eq!(exit_meaning(command, 1, true), meaning, "{command}");
            assert_eq!(exit_meaning(command, 2, true), None, "{command}");
        }
        assert_eq!(exit_meaning("cd nowhere && grep x f", 1, false), None);
    }
}
