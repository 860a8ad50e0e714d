//! What is shown to a person must not act on the terminal it is shown in.

/// The text with the characters written out that `acts` names.
pub(crate) fn escaped(text: &str, acts: impl Fn(char) -> bool) -> String {
    let escape = |it: char| if acts(it) { it.escape_default().to_string() } else { it.to_string() };
    if text.contains(&acts) { text.chars().map(escape).collect() } else { text.to_owned() }
}

/// True for control characters beside those that only part lines and words.
pub(crate) fn acts_on_a_terminal(character: char) -> bool {
    character.is_control() && !matches!(character, '\n' | '\t' | '\r')
}
