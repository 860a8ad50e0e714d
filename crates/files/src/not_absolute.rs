//! Suggests the absolute paths that a caller may have meant with a path that is not absolute.
//!
//! An error that names the path to use saves the model a turn. It says whether a path exists only
//! if the path is visible, and says nothing about paths outside the workspace.

use std::path::{Path, PathBuf};

use toolwright_base::{path_from_text, path_to_text};

use crate::{
    path::{PathError, Roots, WorkspacePath},
    visibility::{Visibility, VisibilitySubject},
};

/// The most paths that an error names.
const MAX_PLACES: usize = 5;

/// The error for a path that is not absolute.
pub(super) fn refusal_of(
    asked: &str,
    path: &Path,
    roots: &Roots,
    visibility: &Visibility,
) -> PathError {
    let names_directory = asked.ends_with('/');
    let place = |it: &Path| roots.place_of(it, asked, names_directory);
    let not_absolute =
        |what, meant| PathError::NotAbsolute { asked: asked.to_owned(), what, meant };
    if let Some(from_url) = path_of_url(asked) {
        let meant = match place(&from_url) {
            Ok(place) => in_words(&[place], visibility),
            Err(PathError::Outside { .. }) => outside(&from_url, roots),
            Err(error) => return error,
        };
        return not_absolute("is a URL", meant);
    }
    let mut places: Vec<WorkspacePath> = Vec::new();
    let mut refused = None;
    for root in roots.all() {
        match place(&root.join(path)) {
            Ok(place) if places.contains(&place) => {}
            Ok(place) => places.push(place),
            Err(error) => {
                refused.get_or_insert(error);
            }
        }
    }
    if let Some(below_home) = below_home(path)
        && let Some(home) = roots.home()
    {
        let from_home = home.join(below_home);
        // A directory may be called `~`, but that is rare.
        places.retain(|it| state(it, visibility) == State::Exists);
        match place(&from_home) {
            Ok(place) => places.insert(0, place),
            Err(_) if places.is_empty() => {
                return not_absolute("is relative", outside(&from_home, roots));
            }
            Err(_) => {}
        }
    }
    match refused {
        Some(error) if places.is_empty() => error,
        _ => not_absolute("is relative", in_words(&places, visibility)),
    }
}

/// Whether a path exists, if the caller may know it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Exists,
    IsMissing,
    MayNotBeSeen,
}

fn state(place: &WorkspacePath, visibility: &Visibility) -> State {
    // Checked first: the error must not reveal whether a hidden path exists.
    if !visibility.shows(place.absolute(), VisibilitySubject::File) {
        return State::MayNotBeSeen;
    }
    match place.absolute().symlink_metadata() {
        Ok(_) => State::Exists,
        Err(_) => State::IsMissing,
    }
}

/// A text with the paths that exist, or else with the first path and its state.
fn in_words(places: &[WorkspacePath], visibility: &Visibility) -> String {
    let named = |it: &WorkspacePath| format!("`{}`", path_to_text(it.absolute()));
    let there: Vec<String> =
        places.iter().filter(|it| state(it, visibility) == State::Exists).map(named).collect();
    match (there.as_slice(), places.first()) {
        ([], None) => String::new(),
        ([], Some(first)) => match state(first, visibility) {
            State::MayNotBeSeen => format!(": {}", named(first)),
            State::Exists | State::IsMissing => {
                format!(": {}, which does not exist", named(first))
            }
        },
        ([only], _) => format!(": {only}, which exists"),
        (several, _) => {
            let more = several.len().saturating_sub(MAX_PLACES);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            let shown: Vec<&str> = several.iter().take(MAX_PLACES).map(String::as_str).collect();
            format!(", one of those that exist: {}{more}", shown.join(", "))
        }
    }
}

fn outside(path: &Path, roots: &Roots) -> String {
    let roots = roots.in_words();
    format!(" of a file inside the workspace ({roots}); `{}` is outside", path_to_text(path))
}

/// What follows `~/`.
fn below_home(path: &Path) -> Option<&Path> {
    path.strip_prefix("~").ok()
}

/// The path of a `file:` URL without a host, or with the host `localhost`.
fn path_of_url(asked: &str) -> Option<PathBuf> {
    let scheme = asked.get(..5).filter(|it| it.eq_ignore_ascii_case("file:"))?;
    let behind = asked.get(scheme.len()..)?;
    let path = match behind.strip_prefix("//") {
        Some(with_host) => with_host.strip_prefix("localhost").unwrap_or(with_host),
        None => behind,
    };
    let path = path_from_text(&decoded(path)?).into_owned();
    path.is_absolute().then_some(path)
}

/// Decodes percent escapes such as `%20`. `None` if the result is not a path.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let hexadecimal = if *first == b'%' { after.get(..2) } else { None };
        let byte = hexadecimal
            .and_then(|it| std::str::from_utf8(it).ok())
            .filter(|it| it.bytes().all(|digit| digit.is_ascii_hexdigit()))
            .and_then(|it| u8::from_str_radix(it, 16).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { after.get(2..).unwrap_or_default() } else { after };
    }
    String::from_utf8(bytes).ok().filter(|it| !it.contains('\0'))
}

#[cfg(all(test, unix))]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use std::fs;

    use pretty_assertions::assert_eq;
    use tempfile::TempDir;

    use super::*;
    use crate::path::RelativePaths;

    /// Resolves a path in two roots. `a.txt` is in both, `only.txt` in the second, and `secret.txt`
    /// in the first is hidden.
    fn refused(asked: &str) -> String {
        let dir = TempDir::new().unwrap();
        let base = dir.path().canonicalize().unwrap();
        for file in ["one/src/a.txt", "one/secret.txt", "two/src/a.txt", "two/only.txt", "out.txt"]
        {
            let file = base.join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, "").unwrap();
        }
        let roots = Roots::new(&base.join("one"), &[base.join("two")]).unwrap();
        let roots = roots.with_home(Some(base.clone()));
        let no_secrets = Visibility::judged_by(|path, _| !path.ends_with("secret.txt"));
        let asked = asked.replace("BASE", base.to_str().unwrap());
        let error = roots.resolve(&asked, RelativePaths::Refused(&no_secrets)).unwrap_err();
        error.to_string().replace(base.to_str().unwrap(), "BASE")
    }

    #[test]
    fn a_refusal_gives_the_paths_to_use_and_says_which_exist() {
        let cases = [
            ("only.txt", "is relative; give the absolute path: `BASE/two/only.txt`, which exists"),
            (
                "./only.txt",
                "is relative; give the absolute path: `BASE/two/only.txt`, which exists",
            ),
            (
                "src/../src/a.txt",
                "is relative; give the absolute path, one of those that exist: `BASE/one/src/a.txt`, `BASE/two/src/a.txt`",
            ),
            (
                "new.txt",
                "is relative; give the absolute path: `BASE/one/new.txt`, which does not exist",
            ),
            (
                "~/one/src/a.txt",
                "is relative; give the absolute path: `BASE/one/src/a.txt`, which exists",
            ),
            (
                "~/one/new.txt",
                "is relative; give the absolute path: `BASE/one/new.txt`, which does not exist",
            ),
            (
                "file://BASE/two/only.txt",
                "is a URL; give the absolute path: `BASE/two/only.txt`, which exists",
            ),
            (
                "FILE://localhostBASE/two/on%6cy.txt",
                "is a URL; give the absolute path: `BASE/two/only.txt`, which exists",
            ),
            (
                "file:BASE/two/100%.txt",
                "is a URL; give the absolute path: `BASE/two/100%.txt`, which does not exist",
            ),
        ];
        for (asked, words) in cases {
            assert_eq!(refused(asked), format!("`{asked}` {words}"));
        }
    }

    #[test]
    fn nothing_is_revealed_about_hidden_or_outside_paths() {
        let outside =
            "give the absolute path of a file inside the workspace (`BASE/one`, `BASE/two`)";
        let cases = [
            ("secret.txt", "is relative; give the absolute path: `BASE/one/secret.txt`".to_owned()),
            ("~/out.txt", format!("is relative; {outside}; `BASE/out.txt` is outside")),
            ("~/nowhere.txt", format!("is relative; {outside}; `BASE/nowhere.txt` is outside")),
            ("file://BASE/out.txt", format!("is a URL; {outside}; `BASE/out.txt` is outside")),
            (
                "../out.txt",
                "is outside the workspace (`BASE/one`, `BASE/two`); use a path inside it, or ask the user"
                    .to_owned(),
            ),
        ];
        for (asked, words) in cases {
            assert_eq!(refused(asked), format!("`{asked}` {words}"));
        }
    }
}
