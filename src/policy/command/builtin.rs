//! Builtins of bash that run text as code, or change what later commands mean.
//!
//! None of them can be allowed by the name that is seen: `test -v 'a[$(rm x)]'` runs `rm`.

use super::{Destination, Word};

/// Why a command is more than its words, if it is.
pub(super) fn hazard(words: &[Word]) -> Option<&'static str> {
    let program = words.first()?.literal()?;
    let arguments = words.get(1..).unwrap_or_default();
    match program {
        "." | "source" => Some("runs another script"),
        "alias" | "unalias" | "enable" | "hash" | "shopt" | "complete" | "compopt" | "bind" => {
            Some("changes what later commands mean")
        }
        "export" | "declare" | "typeset" | "local" | "readonly" | "unset" | "read" | "mapfile"
        | "readarray" | "getopts" | "let" | "fc" | "history" | "compgen" => {
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
        "test" | "[" => {
            (!arguments.iter().all(is_plain_test)).then_some("may evaluate its operands")
        }
        _ => None,
    }
}

/// True for commands that decide nothing and touch nothing.
pub(super) fn is_neutral(words: &[Word]) -> bool {
    let Some(program) = words.first().and_then(Word::literal) else { return false };
    match program {
        ":" | "true" | "false" => true,
        "exit" | "break" | "continue" | "return" => words.len() <= 2,
        "set" | "test" | "[" => hazard(words).is_none(),
        _ => false,
    }
}

/// Where relative paths lead after the command, if it changes that.
pub(super) fn destination(words: &[Word]) -> Option<Destination> {
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
        // `popd` goes back to where the line has been.
        _ => None,
    }
}

/// An unknown argument may be an option as well.
fn starts_with_option(arguments: &[Word]) -> bool {
    arguments.first().is_some_and(|it| it.literal().is_none_or(|text| text.starts_with('-')))
}

/// False for `-v NAME`, for what is not known, and for a format with `%n`, which sets the variable that
/// an argument names.
fn is_plain_format(format: &Word) -> bool {
    let Some(text) = format.literal().filter(|it| !it.starts_with('-')) else { return false };
    let mut rest = text;
    while let Some((_, after)) = rest.split_once('%') {
        let conversion =
            after.trim_start_matches(|it: char| "#0123456789-+ '.*hjlLtzq".contains(it));
        if conversion.starts_with('n') {
            return false;
        }
        // `%%` is a percent sign and starts nothing.
        rest = after.strip_prefix('%').unwrap_or(conversion);
    }
    true
}

fn is_plain_setting(argument: &Word) -> bool {
    matches!(
        argument.literal(),
        Some("-e" | "-u" | "-eu" | "-o" | "-eo" | "-euo" | "pipefail" | "errexit" | "nounset")
    )
}

/// An unknown operand may be `-v`, and the next one an array's index with code in it.
fn is_plain_test(argument: &Word) -> bool {
    argument.literal().is_some_and(|it| !matches!(it, "-v" | "-R") && !it.contains('['))
        || argument.literal() == Some("[")
}
