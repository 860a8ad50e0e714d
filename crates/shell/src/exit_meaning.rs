//! Exit codes that are results, not failures: grep found nothing, files differ, a test is false.
//!
//! The rules are strict on purpose: an exit code has a meaning only if it certainly belongs to the last
//! command, and that command is known. Everything else stays an error.

use super::{
    dialect::ShellDialect,
    lexer::{LexedLine, LinePiece, lex},
    line_reading::{Evaluation, SimpleCommand, TextSpan},
};

/// The meaning of an exit code that is not a failure; `None` for a failure.
pub fn exit_meaning(script: &str, exit_code: i32, said_nothing: bool) -> Option<&'static str> {
    if exit_code != 1 {
        return None;
    }
    let script = script.trim_end();
    let lexed = lex(script, ShellDialect::Bash);
    let last = Commands::of(script, &lexed)?.last()?;
    // After `cd … &&` the code may be that of `cd`, which would have said why it failed.
    if last.after_and && !said_nothing {
        return None;
    }
    let mut words = last.command.words.iter().map(|it| it.of(script));
    let name = words.next()?.rsplit('/').next()?;
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

/// Builtins that end a script early or run another script in its place. The exit code is then not that of the
/// last command.
const LEAVES: [&str; 9] =
    ["exit", "return", "exec", "eval", "source", ".", "readonly", "set", "trap"];

/// A script that the lexer understood completely.
struct Commands<'a> {
    script: &'a str,
    lexed: &'a LexedLine,
}

/// The command whose exit code is the script's.
struct LastCommand<'a> {
    command: &'a SimpleCommand,
    /// True if it is joined by `&&` to the part before it.
    after_and: bool,
}

/// How a part of a script is joined to the one before it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Joint {
    /// It runs regardless of how the part before it ended.
    Next,
    And,
    Or,
    Pipe,
}

impl<'a> Commands<'a> {
    /// `None` for a script that the lexer did not understand.
    fn of(script: &'a str, lexed: &'a LexedLine) -> Option<Self> {
        lexed.gave_up.is_none().then_some(Self { script, lexed })
    }

    fn last(&self) -> Option<LastCommand<'a>> {
        let pieces = self.lexed.pieces.as_slice();
        let (last, before) = pieces.split_last()?;
        let command = self.command_at(last)?;
        if !command.environment.iter().all(|it| self.is_plain(*it)) || self.may_leave(last) {
            return None;
        }
        // The last command may end a pipeline. What matters is how the pipeline is joined to the part before.
        let joints = self.joints();
        let first = joints.iter().rposition(|it| *it != Joint::Pipe)?;
        let after_and = joints.get(first) == Some(&Joint::And);
        if after_and {
            // Any command of the `&&` list may have failed and determined the exit code. Only `cd` is
            // accepted there.
            let begin = joints.get(..first)?.iter().rposition(|it| *it == Joint::Next)?;
            let only_moves = |it: &LinePiece| {
                let words = self.command_at(it).map(|it| it.words.as_slice());
                words.and_then(<[_]>::first).is_some_and(|it| it.of(self.script) == "cd")
            };
            if !before.get(begin..first)?.iter().all(only_moves) {
                return None;
            }
        }
        Some(LastCommand { command, after_and })
    }

    /// How each piece is joined to the one before it. The operator is between the two.
    fn joints(&self) -> Vec<Joint> {
        let mut end = 0;
        let pieces = self.lexed.pieces.iter();
        let joints = pieces.map(|it| {
            let operator = TextSpan { start: end, end: it.span.start }.of(self.script);
            end = it.span.end;
            match operator {
                "&&" => Joint::And,
                "||" => Joint::Or,
                "|" | "|&" => Joint::Pipe,
                _ => Joint::Next,
            }
        });
        joints.collect()
    }

    /// The simple command that a piece is; `None` for a subshell, a loop, a negation or an empty piece.
    fn command_at(&self, piece: &LinePiece) -> Option<&'a SimpleCommand> {
        let text = piece.span.of(self.script);
        let start = piece.span.start + (text.len() - text.trim_start().len());
        let begins = |it: &&SimpleCommand| {
            it.environment.iter().chain(&it.words).any(|it| it.start == start)
        };
        self.lexed.reading.commands.iter().find(begins)
    }

    /// True if something before the last piece may end the script.
    fn may_leave(&self, last: &LinePiece) -> bool {
        const BEFORE_COMMANDS: [&str; 3] = ["time", "command", "builtin"];
        let is_before = |it: &TextSpan| it.start < last.span.start;
        let reading = &self.lexed.reading;
        let leaves = |command: &SimpleCommand| {
            let mut words = command.words.iter().map(|it| it.of(self.script));
            let program = words.find(|it| !BEFORE_COMMANDS.contains(it));
            command.words.first().is_some_and(is_before)
                && program.is_some_and(|it| LEAVES.contains(&it))
        };
        // An arithmetic error ends a script as well.
        let computes =
            |it: &(TextSpan, Evaluation)| it.1 == Evaluation::Arithmetic && is_before(&it.0);
        reading.commands.iter().any(leaves) || reading.evaluations.iter().any(computes)
    }

    /// True for an assignment in which nothing is evaluated.
    fn is_plain(&self, assignment: TextSpan) -> bool {
        !assignment.of(self.script).contains(['$', '`', '\'', '"', '('])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_distinguished_from_failures() {
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
            ("grep x f # comment", Some("no line matched")),
            ("# comment\ngrep x f", Some("no line matched")),
            ("grep x f; # exit", None),
            ("grep x f; f() { exit 1; }", None),
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
