//! Builtins of bash that run text as code, or that change what later commands mean.
//!
//! A rule that names such a builtin does not allow it, because `test -v 'a[$(rm x)]'` runs `rm`.

use super::{
    Destination,
    variable::{is_harmless, is_local},
};
use crate::Word;

/// Why a command may do more than its words say; `None` if it cannot.
pub(crate) fn hazard(words: &[Word]) -> Option<&'static str> {
    let program = words.first()?.literal()?;
    let arguments = words.get(1..).unwrap_or_default();
    match program {
        "." | "source" => Some("runs another script"),
        "alias" | "unalias" | "enable" | "hash" | "shopt" | "complete" | "compopt" | "bind" => {
            Some("changes what later commands mean")
        }
        "export" => (!is_plain_export(arguments)).then_some("sets variables, which can run code"),
        "read" => (!is_plain_read(arguments)).then_some("may set a variable, which can run code"),
        "declare" | "typeset" | "local" | "readonly" | "unset" | "mapfile" | "readarray"
        | "getopts" | "let" | "fc" | "history" | "compgen" => {
            Some("sets variables, which can run code")
        }
        "trap" | "coproc" => Some("runs code at another time"),
        "exec" if arguments.is_empty() => Some("redirects the shell itself"),
        "eval" if arguments.is_empty() => None,
        "set" => {
            (!arguments.iter().all(is_plain_setting)).then_some("changes the shell's settings")
        }
        "wait" => starts_with_option(arguments).then_some("sets variables, which can run code"),
        "printf" => {
            let is_plain = arguments.first().is_none_or(is_plain_format);
            (!is_plain).then_some("may set a variable, which can run code")
        }
        "test" => test_hazard(arguments),
        "[" => match arguments.split_last() {
            Some((last, operands)) if last.literal() == Some("]") => test_hazard(operands),
            _ => Some("has no end that is known"),
        },
        _ => None,
    }
}

/// True for commands that touch nothing and need no permission.
pub(crate) fn is_neutral(words: &[Word]) -> bool {
    let Some(program) = words.first().and_then(Word::literal) else { return false };
    match program {
        // `type` and `command -v` only print what a name means.
        ":" | "true" | "false" | "type" => true,
        "command" => matches!(words.get(1).and_then(Word::literal), Some("-v" | "-V")),
        "echo" | "pwd" | "sleep" | "cat" => only_prints(words),
        "exit" | "break" | "continue" | "return" => words.len() <= 2,
        "set" | "test" | "[" | "[[" | "export" | "read" | "wait" => hazard(words).is_none(),
        _ => false,
    }
}

/// True for commands that only print text of the line, or only wait. They need a permission only if they are
/// redirected to a file.
pub(crate) fn only_prints(words: &[Word]) -> bool {
    let is_constant = |it: &Word| match it.literal() {
        Some(_) => true,
        // The exit status of the previous command is no secret.
        None => it.is_one_argument() && !it.text().replace("$?", "").contains(['$', '`']),
    };
    match words.first().and_then(Word::literal) {
        Some("echo" | "sleep") => words.iter().all(is_constant),
        // Without arguments, `cat` prints its input, and `pwd` the current directory.
        Some("cat" | "pwd") => words.len() == 1,
        _ => false,
    }
}

/// The directory that a command changes to, if it changes the directory.
pub(crate) fn destination(words: &[Word]) -> Option<Destination> {
    let arguments = words.get(1..).unwrap_or_default();
    let arguments = match arguments {
        [first, rest @ ..] if first.literal() == Some("--") => rest,
        all => all,
    };
    match (words.first().and_then(Word::literal)?, arguments) {
        ("cd", []) => Some(Destination::Home),
        ("cd" | "pushd", [to]) => Some(match to.literal() {
            Some(to) if !to.starts_with(['-', '+']) => Destination::Directory(to.to_owned()),
            _ => Destination::Unknown,
        }),
        ("cd" | "pushd", _) => Some(Destination::Unknown),
        // `popd` returns to a directory that the line has been in before.
        _ => None,
    }
}

/// True when the first argument is an option or may be one. `$!` is the id of a process.
fn starts_with_option(arguments: &[Word]) -> bool {
    arguments.first().is_some_and(|it| match it.literal() {
        Some(text) => text.starts_with('-'),
        None => it.text() != "$!",
    })
}

/// False for `-v NAME`, for an unknown word, and for a format with `%n`, which sets the variable that an
/// argument names.
fn is_plain_format(format: &Word) -> bool {
    let Some(text) = format.literal().filter(|it| !it.starts_with('-')) else { return false };
    let mut rest = text;
    while let Some((_, after)) = rest.split_once('%') {
        let conversion =
            after.trim_start_matches(|it: char| "#0123456789-+ '.*hjlLtzq".contains(it));
        if conversion.starts_with('n') {
            return false;
        }
        // `%%` is a percent sign.
        rest = after.strip_prefix('%').unwrap_or(conversion);
    }
    true
}

/// True when only harmless variables are exported. An unknown value may become several words in some
/// shells, and set another variable.
fn is_plain_export(arguments: &[Word]) -> bool {
    !arguments.is_empty()
        && arguments.iter().all(|it| match it.literal().and_then(|it| it.split_once('=')) {
            Some((name, value)) => is_harmless(name, &Word::Literal(value.to_owned())),
            None => false,
        })
}

/// True for a `read` such as `read -r line`, which only sets variables that mean nothing to programs.
fn is_plain_read(arguments: &[Word]) -> bool {
    let mut arguments = arguments.iter().map(Word::literal);
    while let Some(argument) = arguments.next() {
        match argument {
            Some("-r" | "-s" | "-rs" | "-sr") => {}
            Some("-d" | "-p" | "-n" | "-N" | "-t" | "-rd" | "-rp" | "-sp" | "-rsp" | "-rn") => {
                if arguments.next().flatten().is_none() {
                    return false;
                }
            }
            Some(name) if is_local(name) => {}
            _ => return false,
        }
    }
    true
}

fn is_plain_setting(argument: &Word) -> bool {
    matches!(
        argument.literal(),
        Some(
            "-e" | "-u"
                | "-eu"
                | "-o"
                | "-eo"
                | "-uo"
                | "-euo"
                | "+e"
                | "+u"
                | "pipefail"
                | "errexit"
                | "nounset"
        )
    )
}

/// Why operands of `test` may run code; `None` if they cannot. An unknown operand may become `-v`, and the next
/// one an array index with code in it. This cannot happen if every operand is one argument and the operators
/// are known.
fn test_hazard(operands: &[Word]) -> Option<&'static str> {
    let is_plain =
        |it: &Word| it.literal().is_some_and(|it| !matches!(it, "-v" | "-R") && !it.contains('['));
    if operands.iter().all(is_plain) {
        return None;
    }
    if !operands.iter().all(Word::is_one_argument) {
        return Some("has an operand without quotes, which may become several and be evaluated");
    }
    let operands = match operands {
        [first, rest @ ..] if first.literal() == Some("!") => rest,
        all => all,
    };
    let is_understood = match operands {
        [_] => true,
        [operator, _] => operator
            .literal()
            .is_some_and(|it| it.len() == 2 && it.starts_with('-') && !it.ends_with(['v', 'R'])),
        [_, operator, _] => operator.literal().is_some_and(|it| BINARY.contains(&it)),
        _ => false,
    };
    (!is_understood).then_some("may evaluate its operands")
}

/// Operators of `test` between two operands.
const BINARY: [&str; 14] =
    ["=", "==", "!=", "<", ">", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef"];
