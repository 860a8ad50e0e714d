//! Programs whose arguments are another command: `env`, `timeout`, `xargs`, `sh -c`…
//!
//! The tables are short on purpose. After an option that is not listed, the wrapped command is not known.

use super::{Setting, runner::is_runner, subcommand};
use crate::shell::{ShellDialect, Word, is_variable_name};

/// What a command runs besides its own program.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Wrapped {
    /// It runs nothing else, as far as its words show.
    Nothing,
    /// It runs these commands.
    Command(Vec<Inner>, Wrapper),
    /// It has a shell run this text: the one that is named, or else the one that runs the line.
    Script(String, Wrapper, Option<ShellDialect>),
    /// It runs something that its words do not show.
    Hidden,
}

/// A wrapped command: its words, and the index of the first of them in the wrapper.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Inner {
    pub(super) at: usize,
    pub(super) words: Vec<Word>,
    /// The variables that the wrapper sets for it.
    pub(super) environment: Vec<Setting>,
}

impl Inner {
    const fn of(at: usize, words: Vec<Word>) -> Self {
        Self { at, words, environment: Vec::new() }
    }
}

/// Whether the wrapper needs a permission of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wrapper {
    /// It does nothing but run the command. A permission for the command is one for both.
    Transparent,
    /// It does more than that, so it needs its own permission.
    OfItsOwn,
}

/// The options of a wrapper that are understood.
struct WrapperOptions {
    /// Options without a value.
    flags: &'static [&'static str],
    /// Options with a value, which is joined to the option or the next word.
    valued: &'static [&'static str],
    /// How many words come between the options and the command.
    operands: usize,
}

const TIMEOUT: WrapperOptions = WrapperOptions {
    flags: &["--preserve-status", "--foreground", "-v", "--verbose"],
    valued: &["-k", "--kill-after", "-s", "--signal"],
    operands: 1,
};
const NICE: WrapperOptions =
    WrapperOptions { flags: &[], valued: &["-n", "--adjustment"], operands: 0 };
const NOHUP: WrapperOptions = WrapperOptions { flags: &[], valued: &[], operands: 0 };
const TIME: WrapperOptions = WrapperOptions { flags: &["-p"], valued: &[], operands: 0 };
const SETSID: WrapperOptions =
    WrapperOptions { flags: &["-f", "--fork", "-w", "--wait"], valued: &[], operands: 0 };
const STDBUF: WrapperOptions = WrapperOptions {
    flags: &[],
    valued: &["-i", "-o", "-e", "--input", "--output", "--error"],
    operands: 0,
};
const XARGS: WrapperOptions = WrapperOptions {
    flags: &["-0", "--null", "-r", "--no-run-if-empty", "-t", "--verbose", "-x", "--exit"],
    valued: &["-I", "-n", "-L", "-P", "-s", "-d", "--max-args", "--max-procs", "--delimiter"],
    operands: 0,
};
const SUDO: WrapperOptions = WrapperOptions {
    flags: &["-n", "--non-interactive", "-E", "-H", "-k", "-S"],
    valued: &["-u", "--user", "-g", "--group"],
    operands: 0,
};

/// Looks for commands in the words of a command.
pub(super) fn unwrap(words: &[Word]) -> Wrapped {
    let Some(program) = words.first().and_then(Word::literal) else { return Wrapped::Hidden };
    let name = program.rsplit('/').next().unwrap_or(program);
    match by_name(name, words) {
        // `./timeout` may be any program.
        Wrapped::Command(inner, Wrapper::Transparent) if name != program => {
            Wrapped::Command(inner, Wrapper::OfItsOwn)
        }
        Wrapped::Script(script, Wrapper::Transparent, shell) if name != program => {
            Wrapped::Script(script, Wrapper::OfItsOwn, shell)
        }
        other => other,
    }
}

fn by_name(name: &str, words: &[Word]) -> Wrapped {
    match name {
        "env" => env(words),
        "timeout" => plain(words, &TIMEOUT),
        "nice" => plain(words, &NICE),
        "setsid" => plain(words, &SETSID),
        "stdbuf" => plain(words, &STDBUF),
        "command" => command(words),
        "time" => plain(words, &TIME),
        "nohup" | "builtin" | "exec" => plain(words, &NOHUP),
        "sudo" => sudo(words),
        "xargs" => xargs(words),
        "eval" => eval(words),
        "sh" | "dash" => shell(words, ShellDialect::Posix),
        "bash" => shell(words, ShellDialect::Bash),
        "find" => find(words),
        "jobs" => jobs(words),
        "fd" | "fdfind" if words.iter().any(runs_by_option) => Wrapped::Hidden,
        _ if is_runner(name) => Wrapped::Hidden,
        _ if subcommand::may_run_another(name, words) => Wrapped::Hidden,
        _ => Wrapped::Nothing,
    }
}

fn transparent(words: &[Word], at: usize) -> Wrapped {
    match words.get(at..) {
        None | Some([]) => Wrapped::Nothing,
        Some(inner) => Wrapped::Command(vec![Inner::of(at, inner.to_vec())], Wrapper::Transparent),
    }
}

/// The index of the first word after the options and operands; `None` if an option is not understood.
fn after_options(words: &[Word], options: &WrapperOptions) -> Option<usize> {
    let mut at = 1;
    while let Some(word) = words.get(at) {
        let text = word.literal()?;
        if text == "--" {
            return Some(at + 1 + options.operands);
        }
        if !text.starts_with('-') || text == "-" {
            break;
        }
        let joined = |it: &&str| {
            if it.starts_with("--") {
                text.strip_prefix(*it).is_some_and(|rest| rest.starts_with('='))
            } else {
                text.starts_with(*it)
            }
        };
        if options.flags.contains(&text)
            || options.valued.iter().any(|it| *it != text && joined(it))
        {
            at += 1;
        } else if options.valued.contains(&text) {
            words.get(at + 1)?.literal()?;
            at += 2;
        } else {
            return None;
        }
    }
    for operand in words.get(at..)?.iter().take(options.operands) {
        operand.literal()?;
    }
    Some(at + options.operands)
}

fn plain(words: &[Word], options: &WrapperOptions) -> Wrapped {
    after_options(words, options).map_or(Wrapped::Hidden, |at| transparent(words, at))
}

fn command(words: &[Word]) -> Wrapped {
    match words.get(1).and_then(Word::literal) {
        // It only says where a command is.
        Some("-v" | "-V") => Wrapped::Nothing,
        _ => plain(words, &NOHUP),
    }
}

/// `sudo` is not transparent, and takes `NAME=value` words before the command.
fn sudo(words: &[Word]) -> Wrapped {
    let Some(mut at) = after_options(words, &SUDO) else { return Wrapped::Hidden };
    let environment = settings(words, &mut at);
    match with_environment(transparent(words, at), &environment) {
        Wrapped::Command(inner, _) => Wrapped::Command(inner, Wrapper::OfItsOwn),
        other => other,
    }
}

fn env(words: &[Word]) -> Wrapped {
    let mut at = 1;
    while let Some(word) = words.get(at) {
        let Some(text) = word.literal() else { break };
        match text {
            "-i" | "-" | "--ignore-environment" | "-0" | "--null" => at += 1,
            "-u" | "--unset" => match words.get(at + 1).and_then(Word::literal) {
                Some(_) => at += 2,
                None => return Wrapped::Hidden,
            },
            "--" => {
                at += 1;
                break;
            }
            _ if text.starts_with('-') => return Wrapped::Hidden,
            _ => break,
        }
    }
    let environment = settings(words, &mut at);
    match words.get(at) {
        // It sets a variable in another form, or may do so.
        Some(word) if word.literal().is_none_or(|it| it.contains('=')) => Wrapped::Hidden,
        _ => with_environment(transparent(words, at), &environment),
    }
}

/// Reads `NAME=value` words, and moves the index after them.
fn settings(words: &[Word], at: &mut usize) -> Vec<Setting> {
    let mut found = Vec::new();
    while let Some((name, value)) =
        words.get(*at).and_then(Word::literal).and_then(|it| it.split_once('='))
        && is_variable_name(name)
    {
        found.push(Setting { name: name.to_owned(), value: Word::Literal(value.to_owned()) });
        *at += 1;
    }
    found
}

fn with_environment(found: Wrapped, environment: &[Setting]) -> Wrapped {
    match found {
        Wrapped::Command(commands, wrapper) => {
            let commands = commands.into_iter();
            let environment = environment.to_vec();
            let with = |it: Inner| Inner { environment: environment.clone(), ..it };
            Wrapped::Command(commands.map(with).collect(), wrapper)
        }
        other => other,
    }
}

/// What `xargs` reads is added after the words of the command, or with `-I` replaces a text in them. Both
/// are treated as unknown, because another option may cancel the `-I`.
fn xargs(words: &[Word]) -> Wrapped {
    let Some(at) = after_options(words, &XARGS) else { return Wrapped::Hidden };
    let mut options = words.get(..at).unwrap_or_default().iter().filter_map(Word::literal);
    let mut replaced = Vec::new();
    while let Some(option) = options.next() {
        match option.strip_prefix("-I") {
            Some("") => replaced.extend(options.next()),
            Some(text) => replaced.push(text),
            None => {}
        }
    }
    let unknown = |it: &Word| match it.literal() {
        Some(text) if replaced.iter().any(|it| text.contains(it)) => {
            Word::unknown(text, "comes from the input of `xargs`")
        }
        _ => it.clone(),
    };
    let mut inner: Vec<Word> = words.get(at..).unwrap_or_default().iter().map(unknown).collect();
    if inner.is_empty() {
        return Wrapped::Nothing;
    }
    inner.push(Word::unknown("…", "comes from the input of `xargs`"));
    Wrapped::Command(vec![Inner::of(at, inner)], Wrapper::Transparent)
}

fn eval(words: &[Word]) -> Wrapped {
    let text: Option<Vec<&str>> = words.iter().skip(1).map(Word::literal).collect();
    text.map_or(Wrapped::Hidden, |it| Wrapped::Script(it.join(" "), Wrapper::Transparent, None))
}

/// `jobs -x` runs what follows.
fn jobs(words: &[Word]) -> Wrapped {
    let option = words.get(1).map(Word::literal);
    match (option, words.get(2..)) {
        (Some(Some("-x")), Some(inner @ [_, ..])) => {
            let inner = Inner::of(2, inner.to_vec());
            Wrapped::Command(vec![inner], Wrapper::OfItsOwn)
        }
        (Some(Some("-l" | "-n" | "-p" | "-r" | "-s")) | None, _) => Wrapped::Nothing,
        (Some(Some(text)), _) if !text.starts_with('-') => Wrapped::Nothing,
        _ => Wrapped::Hidden,
    }
}

/// The options of `fd` that run a command.
fn runs_by_option(word: &Word) -> bool {
    word.literal().is_none_or(|it| {
        it.starts_with("--exec")
            || (it.starts_with('-') && !it.starts_with("--") && it.contains(['x', 'X']))
    })
}

fn shell(words: &[Word], shell: ShellDialect) -> Wrapped {
    let mut at = 1;
    while let Some(word) = words.get(at) {
        let Some(text) = word.literal() else { return Wrapped::Hidden };
        if text.starts_with('+') {
            return Wrapped::Hidden;
        }
        let Some(flags) = text.strip_prefix('-') else {
            // A script file, judged as an argument.
            return Wrapped::Nothing;
        };
        if flags.is_empty() || !flags.bytes().all(|it| b"ceu".contains(&it)) {
            return Wrapped::Hidden;
        }
        at += 1;
        if flags.contains('c') {
            return match words.get(at).and_then(Word::literal) {
                // What looks like an option is one, even here.
                Some(script) if !script.starts_with(['-', '+']) => {
                    Wrapped::Script(script.to_owned(), Wrapper::Transparent, Some(shell))
                }
                _ => Wrapped::Hidden,
            };
        }
    }
    // It runs what it reads from its input.
    Wrapped::Hidden
}

/// Finds every `-exec` of a `find`. A word with `{}` becomes file names.
fn find(words: &[Word]) -> Wrapped {
    let mut found = Vec::new();
    let mut at = 1;
    while let Some(word) = words.get(at) {
        at += 1;
        if !matches!(word.literal(), Some("-exec" | "-execdir" | "-ok" | "-okdir")) {
            continue;
        }
        let rest = words.get(at..).unwrap_or_default();
        let mut before = None;
        let inner: Vec<Word> = rest
            .iter()
            .take_while(|it| match (before.replace(it.literal()).flatten(), it.literal()) {
                // `+` only ends the command directly after `{}`.
                (_, Some(";")) | (Some("{}"), Some("+")) => false,
                _ => true,
            })
            .map(|it| match it.literal() {
                Some(text) if text.contains("{}") => Word::unknown(text, "becomes file names"),
                _ => it.clone(),
            })
            .collect();
        if inner.is_empty() {
            return Wrapped::Hidden;
        }
        let after = at + inner.len();
        found.push(Inner::of(at, inner));
        at = after;
    }
    // An unknown word may become an `-exec` with its command.
    if let Some(unknown) = words.iter().find(|it| it.literal().is_none()) {
        found.push(Inner::of(usize::MAX, vec![unknown.clone()]));
    }
    if found.is_empty() { Wrapped::Nothing } else { Wrapped::Command(found, Wrapper::OfItsOwn) }
}
