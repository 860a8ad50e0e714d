//! Finds the command in the arguments of another command: `env`, `timeout`, `xargs`, `sh -c`…

use super::Setting;
use crate::{
    ShellDialect, Word, is_variable_name,
    running_programs::{WrapperProgram, begins_command, is_runner, may_run_another, wrapper},
};

/// What a command runs besides its own program.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Wrapped {
    /// Its words show no other command.
    Nothing,
    /// It runs these commands.
    Command(Vec<Inner>, Wrapper),
    /// A shell runs this text: the given dialect, or else the shell that runs the line.
    Script(String, Wrapper, Option<ShellDialect>),
    /// It runs something that its words do not show.
    Hidden,
}

/// A wrapped command: its words, and the index of the first of them in the wrapper.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Inner {
    pub(crate) at: usize,
    pub(crate) words: Vec<Word>,
    /// The variables that the wrapper sets for it.
    pub(crate) environment: Vec<Setting>,
}

impl Inner {
    const fn of(at: usize, words: Vec<Word>) -> Self {
        Self { at, words, environment: Vec::new() }
    }
}

/// Whether the wrapper needs its own permission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wrapper {
    /// It only runs the command. A permission for the command covers both.
    Transparent,
    /// It does more than run the command, so it needs its own permission.
    NeedsPermission,
}

/// Looks for commands in the words of a command.
pub(crate) fn unwrap(words: &[Word]) -> Wrapped {
    let Some(program) = words.first().and_then(Word::literal) else { return Wrapped::Hidden };
    let name = program.rsplit('/').next().unwrap_or(program);
    match by_name(name, words) {
        // `./timeout` may be any program.
        Wrapped::Command(inner, Wrapper::Transparent) if name != program => {
            Wrapped::Command(inner, Wrapper::NeedsPermission)
        }
        Wrapped::Script(script, Wrapper::Transparent, shell) if name != program => {
            Wrapped::Script(script, Wrapper::NeedsPermission, shell)
        }
        other => other,
    }
}

fn by_name(name: &str, words: &[Word]) -> Wrapped {
    if let Some(wrapper) = wrapper(name) {
        return match name {
            "env" => env(words, wrapper),
            "sudo" => sudo(words, wrapper),
            "xargs" => xargs(words, wrapper),
            "eval" => eval(words),
            // It only prints where a command is.
            "command" if matches!(words.get(1).and_then(Word::literal), Some("-v" | "-V")) => {
                Wrapped::Nothing
            }
            _ => after_options(words, wrapper).map_or(Wrapped::Hidden, |at| transparent(words, at)),
        };
    }
    match name {
        "sh" | "dash" => shell(words, ShellDialect::Posix),
        "bash" => shell(words, ShellDialect::Bash),
        "find" => find(words),
        "jobs" => jobs(words),
        "fd" | "fdfind" if words.iter().any(|it| may_begin_command(name, it)) => Wrapped::Hidden,
        _ if is_runner(name) => Wrapped::Hidden,
        _ if may_run_another(name, words) => Wrapped::Hidden,
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
fn after_options(words: &[Word], options: &WrapperProgram) -> Option<usize> {
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

/// `sudo` is not transparent, and takes `NAME=value` words before the command.
fn sudo(words: &[Word], options: &WrapperProgram) -> Wrapped {
    let Some(mut at) = after_options(words, options) else { return Wrapped::Hidden };
    let environment = settings(words, &mut at);
    match with_environment(transparent(words, at), &environment) {
        Wrapped::Command(inner, _) => Wrapped::Command(inner, Wrapper::NeedsPermission),
        other => other,
    }
}

fn env(words: &[Word], options: &WrapperProgram) -> Wrapped {
    let mut at = 1;
    while let Some(word) = words.get(at) {
        let Some(text) = word.literal() else { break };
        match text {
            _ if options.flags.contains(&text) => at += 1,
            _ if options.valued.contains(&text) => {
                match words.get(at + 1).and_then(Word::literal) {
                    Some(_) => at += 2,
                    None => return Wrapped::Hidden,
                }
            }
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

/// `xargs` appends what it reads to the words of the command, or with `-I` replaces a text in them. Both are
/// treated as unknown words, because another option may cancel the `-I`.
fn xargs(words: &[Word], options: &WrapperProgram) -> Wrapped {
    let Some(at) = after_options(words, options) else { return Wrapped::Hidden };
    let mut given = words.get(..at).unwrap_or_default().iter().filter_map(Word::literal);
    let mut replaced = Vec::new();
    while let Some(option) = given.next() {
        match option.strip_prefix("-I") {
            Some("") => replaced.extend(given.next()),
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

/// `jobs -x` runs the command that follows.
fn jobs(words: &[Word]) -> Wrapped {
    let option = words.get(1).map(Word::literal);
    match (option, words.get(2..)) {
        (Some(Some("-x")), Some(inner @ [_, ..])) => {
            let inner = Inner::of(2, inner.to_vec());
            Wrapped::Command(vec![inner], Wrapper::NeedsPermission)
        }
        (Some(Some("-l" | "-n" | "-p" | "-r" | "-s")) | None, _) => Wrapped::Nothing,
        (Some(Some(text)), _) if !text.starts_with('-') => Wrapped::Nothing,
        _ => Wrapped::Hidden,
    }
}

/// True for an option that a command follows. An unknown word may be one.
fn may_begin_command(program: &str, word: &Word) -> bool {
    word.literal().is_none_or(|it| begins_command(program, it))
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
                // A word that looks like an option is one, even after `-c`.
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
        if !word.literal().is_some_and(|it| begins_command("find", it)) {
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
    if found.is_empty() {
        Wrapped::Nothing
    } else {
        Wrapped::Command(found, Wrapper::NeedsPermission)
    }
}
