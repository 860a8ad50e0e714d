//! Revisions and paths as git writes them.

use super::super::command::Word;

/// A path of git, which may have patterns of its own. Those that say where they start or what they leave
/// out, and those with wildcards, are not known.
pub(super) fn pathspec(word: &Word) -> Word {
    match word.literal() {
        Some(text) if text.starts_with(':') || text.contains(['*', '?', '[']) => {
            Word::unknown(text, "is a pattern of git")
        }
        _ => word.clone(),
    }
}

/// The paths in a word that is a path, or may be a revision: `HEAD:dir/file` names a file.
pub(super) fn paths_in(word: &Word, is_path: bool) -> Vec<Word> {
    let Some(text) = word.literal() else { return vec![word.clone()] };
    let mut found = vec![pathspec(word)];
    if let (false, Some((_, path))) = (is_path, text.rsplit_once(':')) {
        found = vec![Word::Literal(if path.is_empty() { "." } else { path }.to_owned())];
    }
    found
}

/// True for what no revision looks like: `./x`, `src/`, `src/a.rs`.
pub(super) fn is_certainly_path(text: &str) -> bool {
    if text.contains(':') || text.contains("..") && !text.starts_with("../") {
        return false;
    }
    let name = text.rsplit('/').next().unwrap_or_default();
    let extension = name.rsplit_once('.').map(|it| it.1);
    text.starts_with(['.', '/'])
        || text.ends_with('/')
        || extension.is_some_and(|it| {
            (1..=5).contains(&it.len()) && it.bytes().all(|it| it.is_ascii_alphabetic())
        })
}
