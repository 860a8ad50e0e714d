//! Determines from its source text which file names a word may expand to.

/// One element of a word, as a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Letter {
    /// This character.
    Is(char),
    /// `?` or `[…]`: one character of a name.
    One,
    /// `*`: any part of a name.
    Name,
    /// A variable, a substitution or braces: any text, which may contain `/`.
    Anything,
}

/// True if the word may expand to a path that contains one of these names, ignoring case.
pub fn may_become_name<'n>(written: &str, mut names: impl Iterator<Item = &'n str>) -> bool {
    let mut letters = letters_of(written);
    if letters.iter().all(|it| matches!(it, Letter::Is(_))) {
        // The word is unknown for a reason other than a pattern.
        letters.push(Letter::Anything);
    }
    names.any(|name| {
        let starts = (0..=letters.len()).filter(|it| may_start_name(&letters, *it));
        matches_from(&letters, starts, name)
    })
}

fn letters_of(written: &str) -> Vec<Letter> {
    let mut letters = Vec::new();
    let mut rest = written;
    let mut is_quoted = false;
    while let Some(next) = rest.chars().next() {
        rest = rest.get(next.len_utf8()..).unwrap_or_default();
        match next {
            '\'' if !is_quoted => match rest.split_once('\'') {
                Some((inner, after)) => {
                    letters.extend(inner.chars().map(Letter::Is));
                    rest = after;
                }
                None => letters.push(Letter::Anything),
            },
            '"' => is_quoted = !is_quoted,
            '\\' => {
                letters.extend(rest.chars().next().map(Letter::Is));
                rest =
                    rest.get(rest.chars().next().map_or(0, char::len_utf8)..).unwrap_or_default();
            }
            '$' => {
                letters.push(Letter::Anything);
                rest = after_variable(rest);
            }
            // The arguments that `xargs` adds are shown as `…`.
            '…' | '`' | '<' | '>' => return [letters, vec![Letter::Anything]].concat(),
            '{' if !is_quoted => {
                letters.push(Letter::Anything);
                rest = rest.rsplit_once('}').map_or(rest, |it| it.1);
            }
            '~' if letters.is_empty() => letters.push(Letter::Anything),
            '*' if !is_quoted => letters.push(Letter::Name),
            '?' if !is_quoted => letters.push(Letter::One),
            '[' if !is_quoted => {
                letters.push(Letter::One);
                rest = rest.split_once(']').map_or(rest, |it| it.1);
            }
            other => letters.push(Letter::Is(other)),
        }
    }
    letters
}

/// The text after `$x`, `${x…}` or `$(…)`.
fn after_variable(text: &str) -> &str {
    let behind = |close: char| text.rsplit_once(close).map_or("", |it| it.1);
    match text.chars().next() {
        Some('{') => behind('}'),
        Some('(') => behind(')'),
        Some(it) if it.is_ascii_alphabetic() || it == '_' => {
            text.trim_start_matches(|it: char| it.is_ascii_alphanumeric() || it == '_')
        }
        Some(it) => text.get(it.len_utf8()..).unwrap_or_default(),
        None => text,
    }
}

/// True where a name of the path may begin.
fn may_start_name(letters: &[Letter], at: usize) -> bool {
    let before = at.checked_sub(1).and_then(|it| letters.get(it));
    matches!(before, None | Some(Letter::Is('/') | Letter::Anything))
        || letters.get(at) == Some(&Letter::Anything)
}

fn matches_from(letters: &[Letter], starts: impl Iterator<Item = usize>, name: &str) -> bool {
    let mut open: Vec<usize> = starts.collect();
    skip_empty(letters, &mut open);
    for (place, wanted) in name.chars().enumerate() {
        let is_hidden = place == 0 && wanted == '.';
        let mut next = Vec::new();
        for at in open {
            match letters.get(at) {
                Some(Letter::Is(it)) if it.eq_ignore_ascii_case(&wanted) => next.push(at + 1),
                // Patterns do not match the dot at the beginning of a hidden file's name.
                Some(Letter::One) if !is_hidden => next.push(at + 1),
                Some(Letter::Name) if !is_hidden => next.push(at),
                Some(Letter::Anything) => next.push(at),
                _ => {}
            }
        }
        skip_empty(letters, &mut next);
        open = next;
    }
    open.iter()
        .any(|at| matches!(letters.get(*at), None | Some(Letter::Is('/') | Letter::Anything)))
}

/// Adds the states after elements that may match nothing: `*` and variables.
fn skip_empty(letters: &[Letter], open: &mut Vec<usize>) {
    open.sort_unstable();
    open.dedup();
    let mut place = 0;
    while let Some(at) = open.get(place).copied() {
        let is_empty = matches!(letters.get(at), Some(Letter::Name | Letter::Anything));
        if is_empty && open.get(place + 1) != Some(&(at + 1)) {
            open.insert(place + 1, at + 1);
        }
        place += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::may_become_name;

    #[test]
    fn a_word_matches_the_names_it_may_expand_to() {
        let names = [".git", ".npmrc"];
        for word in [
            "$d/hooks",
            ".gi*",
            ".g?t/config",
            "{.git,x}/hooks",
            "$x",
            "a$x",
            "\"$x\"/y",
            ".[g]it",
            "x/.G*/y",
            "`x`",
            "~x",
            "${d}",
            "$(x)/y",
            "*/.git",
            ".*",
            ".git*",
            "'.g'*",
            "$d.npmrc",
        ] {
            assert!(may_become_name(word, names.into_iter()), "{word}");
        }
        for word in [
            "*",
            "*.o",
            "src/*",
            "?git",
            "[.]git",
            "dist/*.js",
            "*git",
            "a*/git",
            ".e*",
            ".gitignore*",
            "x.git*",
        ] {
            assert!(!may_become_name(word, names.into_iter()), "{word}");
        }
    }
}
