//! How a shell is given a text to run. The host and its supervisor both compile this file.

/// The arguments of a shell that is to run a text, its own name first. A shell puts `$0` before its messages,
/// so it is the name again. The positional parameters of the text, `$1` and so on, follow.
pub(crate) fn shell_arguments<'a>(shell: &'a [u8], text: &'a [u8]) -> [&'a [u8]; 4] {
    let name = shell_name(shell);
    [name, b"-c", text, name]
}

/// The name of the shell at a path, by which it is started.
pub(crate) fn shell_name(shell: &[u8]) -> &[u8] {
    let name = shell.rsplit(|it| *it == b'/').next().filter(|it| !it.is_empty());
    name.unwrap_or(b"sh")
}
