//! The arguments with which a shell runs a text. They are the same with and without a supervisor.

/// The arguments of a shell that runs a text, starting with its own name. A shell prefixes its
/// messages with `$0`, so that is the name again. The caller appends the positional parameters,
/// `$1` and so on.
pub fn shell_arguments<'a>(shell: &'a [u8], text: &'a [u8]) -> [&'a [u8]; 4] {
    let name = shell_name(shell);
    [name, b"-c", text, name]
}

/// The name of the shell at a path, which becomes its first argument.
pub fn shell_name(shell: &[u8]) -> &[u8] {
    let name = shell.rsplit(|it| *it == b'/').next().filter(|it| !it.is_empty());
    name.unwrap_or(b"sh")
}
