//! Checks that a template passes no value to a program that would run or interpret it.
//!
//! A value that is a single argument is still code for `sh -c`, `eval`, `awk` or `xargs`.

use toolwright_shell::running_programs::{
    BEFORE_SCRIPT, GIT_OPTIONS_WITH_VALUE, InterpreterProgram, RUNNING_OPTIONS, STANDARD_INPUT,
    WITHOUT_END_OF_OPTIONS, WrapperProgram, begins_command, evaluates_any_value,
    evaluates_arguments, interpreter, is_runner, is_shell, running_words, wrapper,
};

use super::{parameter::Parameters, template_words::TemplateWord};

/// True if the program treats arguments after `--` as operands, not options.
pub(super) fn takes_end_of_options(program: &str) -> bool {
    !WITHOUT_END_OF_OPTIONS.contains(&program)
}

/// Checks that a command neither runs nor interprets its parameters. Returns the index of the program that
/// receives them, which may come after `env` or `timeout`.
pub(super) fn check_command(words: &[&TemplateWord]) -> Result<usize, String> {
    let Some((first, arguments)) = words.split_first() else { return Ok(0) };
    let takes_values = arguments.iter().any(|it| it.has_parameter());
    let Some(program) = first.literal() else {
        return if first.has_parameter() {
            Err("a placeholder may not be the program; name the program".to_owned())
        } else if takes_values {
            Err("the program that gets the placeholders is not known; name it".to_owned())
        } else {
            Ok(0)
        };
    };
    let name = program.rsplit('/').next().unwrap_or(&program);
    if let Some(interpreter) = interpreter(name) {
        check_interpreter(interpreter, name, arguments)?;
        return Ok(0);
    }
    // These are refused even without a placeholder among their arguments.
    if evaluates_any_value(name) || is_runner(name) {
        return Err(runs(name, "is given"));
    }
    if name == "set" && !sets_options_alone(arguments) {
        return Err("`set` replaces the values of placeholders; use it for options only".to_owned());
    }
    if let Some(wrapper) = wrapper(name) {
        return check_wrapper(wrapper, name, words);
    }
    if !takes_values {
        return Ok(0);
    }
    if evaluates_arguments(name) {
        return Err(runs(name, "is given"));
    }
    let sets_variable = match name {
        "printf" | "test" | "[" => arguments.iter().any(|it| it.literal().as_deref() == Some("-v")),
        _ => false,
    };
    if sets_variable {
        return Err(format!("`{name} -v` evaluates its argument; remove it"));
    }
    check_commands_on_files(name, arguments)?;
    Ok(0)
}

fn runs(name: &str, how: &str) -> String {
    format!(
        "`{name}` runs or interprets what it {how}, so it may not be used with placeholders; write a script \
         file and run that file"
    )
}

/// True for `set -eu -o pipefail`, and not for `set -- a b`.
fn sets_options_alone(arguments: &[&TemplateWord]) -> bool {
    let mut takes_name = false;
    arguments.iter().all(|it| {
        let text = it.literal().unwrap_or_default();
        let letters = text.strip_prefix(['-', '+']).unwrap_or_default();
        let is_option = !letters.is_empty() && letters.bytes().all(|it| it.is_ascii_alphabetic());
        let fits = is_option || (takes_name && !text.is_empty());
        takes_name = is_option && letters.ends_with('o');
        fits
    })
}

/// A script may receive parameters, but no parameter may be the script or a part of it.
fn check_interpreter(
    interpreter: &InterpreterProgram,
    name: &str,
    arguments: &[&TemplateWord],
) -> Result<(), String> {
    let refused = || Err(runs(name, "is given"));
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        if word.has_parameter() {
            return refused();
        }
        let Some(text) = word.literal() else { return refused() };
        // For a shell, `-` ends the options. For other interpreters `-` means standard input, as do the files
        // in `STANDARD_INPUT` for all of them.
        if text == "--" || (text == "-" && interpreter.is_shell()) {
            return match words.next() {
                Some(script) if !script.has_parameter() => Ok(()),
                _ => refused(),
            };
        }
        if STANDARD_INPUT.contains(&text.as_str()) && !interpreter.begins_with_code {
            break;
        }
        let is_option = text.starts_with('-') && text.len() > 1;
        let is_cluster = is_option && !text.starts_with("--");
        let is_code = interpreter
            .code
            .iter()
            .any(|it| *it == text || (it.len() == 1 && is_cluster && text.contains(*it)));
        if is_code && (is_option || !interpreter.begins_with_code) {
            // The code is the next word, is joined to the option, or follows further options.
            return match words.as_slice().first() {
                Some(code) if code.has_parameter() => refused(),
                Some(code) if code.beginning().starts_with('-') => continue,
                _ => check_further_code(interpreter, name, arguments),
            };
        }
        // The last option of a cluster may take a value, as in `-euo pipefail`.
        let takes_value = |it: &&str| {
            let letter = it.strip_prefix('-').filter(|it| it.len() == 1);
            **it == text || (is_cluster && letter.is_some_and(|it| text.ends_with(it)))
        };
        if interpreter.valued.iter().any(takes_value) {
            let is_file = matches!(text.as_str(), "-f" | "--file");
            match words.next() {
                // `-v name={{value}}`
                Some(value) if value.has_parameter() && !value.beginning().contains('=') => {
                    return refused();
                }
                Some(_) if is_file && interpreter.begins_with_code => {
                    return check_further_code(interpreter, name, arguments);
                }
                Some(_) => continue,
                None => return refused(),
            }
        }
        // After `bun run`, the script is the next word.
        if !is_option && !BEFORE_SCRIPT.contains(&text.as_str()) {
            return if interpreter.begins_with_code {
                check_further_code(interpreter, name, arguments)
            } else {
                Ok(())
            };
        }
    }
    // Without a script it runs its standard input.
    Err(runs(name, "reads"))
}

/// Code may be in several options, as in `sed -e p -e {{x}}`. No placeholder may be in any of them.
fn check_further_code(
    interpreter: &InterpreterProgram,
    name: &str,
    arguments: &[&TemplateWord],
) -> Result<(), String> {
    // After the code of a shell or of python, options belong to the code.
    if interpreter.code.contains(&"c") {
        return Ok(());
    }
    let takes_code = |option: &str| {
        let is_cluster = option.starts_with('-') && !option.starts_with("--");
        let is_letter = |it: &str| it.len() == 1 && is_cluster && option.ends_with(it);
        interpreter.code.iter().any(|it| *it == option || is_letter(it))
            || (interpreter.begins_with_code && matches!(option, "-f" | "--file"))
    };
    // `--expr=` is short for `--expression=`.
    let is_short_for_code = |option: &str| {
        option.len() > 2
            && interpreter.code.iter().chain(&["--file"]).any(|it| it.starts_with(option))
    };
    for (index, word) in arguments.iter().enumerate().filter(|(_, it)| it.has_parameter()) {
        let before = index.checked_sub(1).and_then(|it| arguments.get(it)?.literal());
        let beginning = word.beginning();
        let joined = beginning.split_once('=').map(|it| it.0);
        if before.is_some_and(|it| takes_code(&it)) || joined.is_some_and(is_short_for_code) {
            return Err(runs(name, "is given"));
        }
        if name == "perl" && arguments.iter().any(|it| it.literal().is_some_and(|it| loops(&it))) {
            return Err(
                "`perl -n` and `perl -p` run a file name that ends with `|`; write `<` before the placeholder"
                    .to_owned(),
            );
        }
    }
    Ok(())
}

/// True for options of perl that make it read the files among its arguments.
fn loops(option: &str) -> bool {
    let is_cluster = option.starts_with('-') && !option.starts_with("--");
    let names_module = ["-M", "-m", "-I"].iter().any(|it| option.starts_with(it));
    is_cluster && !names_module && option.contains(['n', 'p'])
}

fn check_wrapper(
    wrapper: &WrapperProgram,
    name: &str,
    words: &[&TemplateWord],
) -> Result<usize, String> {
    let takes_values = words.iter().any(|it| it.has_parameter());
    let unknown = || {
        if takes_values {
            Err(format!(
                "what `{name}` runs is not known; name the program before the placeholders"
            ))
        } else {
            Ok(0)
        }
    };
    let mut at = 1;
    let mut operands = wrapper.operands;
    while let Some(word) = words.get(at) {
        let Some(text) = word.literal() else { return unknown() };
        let is_option = text.starts_with('-');
        if text == "--" || wrapper.flags.contains(&text.as_str()) {
            at += 1;
        } else if wrapper.valued.contains(&text.as_str()) || wrapper.moving.contains(&text.as_str())
        {
            if words.get(at + 1).is_none_or(|it| it.has_parameter()) {
                return unknown();
            }
            at += 2;
        } else if is_option
            && wrapper.valued.iter().chain(wrapper.moving).any(|it| text.starts_with(it))
        {
            at += 1;
        } else if is_option {
            return unknown();
        } else if name == "env" && text.contains('=') {
            at += 1;
        } else if operands > 0 {
            operands -= 1;
            at += 1;
        } else {
            break;
        }
    }
    match words.get(at..) {
        None | Some([]) => unknown(),
        Some(inner) => check_command(inner).map(|it| it + at),
    }
}

/// Checks the commands of `find -exec` and similar options.
fn check_commands_on_files(program: &str, arguments: &[&TemplateWord]) -> Result<(), String> {
    for (index, word) in arguments.iter().enumerate() {
        let runs_command = word.literal().is_some_and(|it| begins_command(program, &it));
        if runs_command && let Some(command) = arguments.get(index + 1..) {
            check_command(command)?;
        }
    }
    Ok(())
}

/// True if a word is the value of git's own `-c`, which comes before the subcommand. The `-c` of `git switch`
/// comes after it.
fn is_git_setting(arguments: &[&TemplateWord], index: usize) -> bool {
    let mut at = 0;
    while at < index {
        let Some(text) = arguments.get(at).and_then(|it| it.literal()) else { return false };
        match text.as_str() {
            "-c" if at + 1 == index => return true,
            option if GIT_OPTIONS_WITH_VALUE.contains(&option) => at += 2,
            _ if text.starts_with('-') => at += 1,
            _ => return false,
        }
    }
    false
}

/// True for the last word in `sh -c {{x}}` among the arguments of an unknown program, such as `docker exec
/// box sh -c {{x}}`.
fn is_code_of_inner_shell(words: &[&TemplateWord], index: usize) -> bool {
    let literal = |back: usize| index.checked_sub(back).and_then(|it| words.get(it)?.literal());
    let is_shell = literal(2).is_some_and(|it| is_shell(it.rsplit('/').next().unwrap_or_default()));
    let takes_code = literal(1)
        .is_some_and(|it| it.starts_with('-') && !it.starts_with("--") && it.contains('c'));
    index > 2 && is_shell && takes_code
}

/// Checks a word with a parameter: a value may not become an option, complete one, or be a command that an
/// option runs. `program` is the index of the program, which may come after `env` or `timeout`.
pub(super) fn check_option(
    words: &[&TemplateWord],
    program: usize,
    index: usize,
    parameters: &Parameters,
) -> Result<(), String> {
    let Some(TemplateWord::Known(word)) = words.get(index) else { return Ok(()) };
    let Some(name) = word.parameters().next() else { return Ok(()) };
    let before = index.checked_sub(1).and_then(|it| words.get(it)).and_then(|it| it.literal());
    let beginning = TemplateWord::Known(word.clone()).beginning();
    let joined = beginning.split_once('=').map(|it| it.0.to_owned());
    let path = words.get(program).and_then(|it| it.literal()).unwrap_or_default();
    let program_name = path.rsplit('/').next().unwrap_or_default();
    if is_code_of_inner_shell(words, index) {
        return Err(format!(
            "`{{{{{name}}}}}` is code of a shell; write a script file and run that file"
        ));
    }
    let is_setting = program_name == "git"
        && words
            .get(program + 1..)
            .zip(index.checked_sub(program + 1))
            .is_some_and(|(arguments, index)| is_git_setting(arguments, index));
    let runs_next = |word: &str| running_words(program_name).any(|it| it == word);
    for option in before.into_iter().chain(joined) {
        if RUNNING_OPTIONS.contains(&option.as_str())
            || runs_next(&option)
            || (is_setting && option == "-c")
        {
            return Err(format!(
                "the value of `{option}` is run, so it may not be `{{{{{name}}}}}`"
            ));
        }
    }
    let ends_options = words.iter().take(index).any(|it| it.literal().as_deref() == Some("--"));
    if !beginning.starts_with('-') || beginning.contains('=') || ends_options {
        return Ok(());
    }
    for name in word.parameters() {
        if !parameters.find(name).is_some_and(|it| it.is_plain) {
            return Err(format!(
                "`{beginning}{{{{{name}}}}}` lets a value choose options; write the value as a \
                 separate argument or after `=`, or list its values with `enum`"
            ));
        }
    }
    Ok(())
}
