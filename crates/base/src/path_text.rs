//! Converts paths to text and back to exactly the same path.
//!
//! On Unix, file names are bytes and may contain any byte except NUL and `/`. Nearly all names are
//! shown unchanged. A name is written in bash's escape syntax, `$'caf\xe9.txt'`, if it is not UTF-8, or
//! has characters that are invisible, control a terminal or break a list of lines. A name that already
//! looks like an escaped one is escaped too, so that different names always have different texts.
//!
//! A text is read as an escaped name only if it is exactly the escaped form of that name. Any other
//! text stands for itself. So an escape cannot hide a separator, a `..` or another spelling of a plain
//! name.

use std::{
    borrow::Cow,
    ffi::OsStr,
    path::{Path, PathBuf},
};

use crate::terminal::is_confusing;

const BEGIN: &str = "$'";
const END: &str = "'";

/// Whether a character is escaped in a name.
fn is_written_out(character: char) -> bool {
    character.is_control() || is_confusing(character)
}

/// The same text, if it can be shown unchanged: printable ASCII without the character that begins an
/// escape. It always examines all bytes, because that can be vectorized.
fn plain(bytes: &[u8]) -> Option<&str> {
    let is_plain = |it: &u8| matches!(it, b' '..=b'#' | b'%'..=b'~');
    let are_plain = bytes.iter().fold(true, |so_far, it| so_far & is_plain(it));
    if are_plain { std::str::from_utf8(bytes).ok() } else { None }
}

/// The text of a path. Each name is escaped if necessary.
pub fn path_to_text(path: &Path) -> Cow<'_, str> {
    if let Some(text) = plain(path.as_os_str().as_encoded_bytes()) {
        return Cow::Borrowed(text);
    }
    if let Some(text) = path.to_str()
        && !text.contains(is_written_out)
        && !text.contains(BEGIN)
    {
        return Cow::Borrowed(text);
    }
    let bytes = path.as_os_str().as_encoded_bytes();
    let names: Vec<_> = bytes.split(|it| *it == b'/').map(bytes_to_text).collect();
    Cow::Owned(names.join("/"))
}

/// The text of one name, escaped if necessary.
pub fn name_to_text(name: &OsStr) -> Cow<'_, str> {
    bytes_to_text(name.as_encoded_bytes())
}

/// The path for a text made by [`path_to_text`].
pub fn path_from_text(text: &str) -> Cow<'_, Path> {
    if !text.contains(BEGIN) {
        return Cow::Borrowed(Path::new(text));
    }
    let names: Vec<Cow<'_, [u8]>> = text.split('/').map(bytes_from_text).collect();
    if names.iter().all(|it| matches!(it, Cow::Borrowed(_))) {
        return Cow::Borrowed(Path::new(text));
    }
    Cow::Owned(from_bytes(&names.join(b"/".as_slice())))
}

#[cfg(unix)]
fn from_bytes(bytes: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt as _;
    OsStr::from_bytes(bytes).into()
}

/// File names are UTF-16 on these systems, so bytes that are not text cannot be a file name.
#[cfg(not(unix))]
fn from_bytes(bytes: &[u8]) -> PathBuf {
    String::from_utf8_lossy(bytes).into_owned().into()
}

fn bytes_to_text(name: &[u8]) -> Cow<'_, str> {
    if let Some(text) = plain(name) {
        return Cow::Borrowed(text);
    }
    match std::str::from_utf8(name) {
        Ok(text) if !text.contains(is_written_out) && unescaped(text).is_none() => {
            Cow::Borrowed(text)
        }
        _ => Cow::Owned(escaped(name)),
    }
}

fn bytes_from_text(name: &str) -> Cow<'_, [u8]> {
    let meant = unescaped(name).filter(|it| bytes_to_text(it) == name);
    meant.map_or(Cow::Borrowed(name.as_bytes()), Cow::Owned)
}

fn escaped(name: &[u8]) -> String {
    let mut text = String::with_capacity(name.len() + 16);
    text.push_str(BEGIN);
    for chunk in name.utf8_chunks() {
        for character in chunk.valid().chars() {
            match character {
                '\\' | '\'' => text.extend(['\\', character]),
                it if is_written_out(it) => text.extend(it.escape_default()),
                it => text.push(it),
            }
        }
        for byte in chunk.invalid() {
            text.push_str(&format!("\\x{byte:02x}"));
        }
    }
    text.push_str(END);
    text
}

/// The name that an escaped text stands for. `None` if the text is not escaped.
fn unescaped(text: &str) -> Option<Vec<u8>> {
    let mut rest = text.strip_prefix(BEGIN)?.strip_suffix(END)?;
    let mut name = Vec::with_capacity(rest.len());
    while let Some(at) = rest.find(['\\', '\'']) {
        let (plain, special) = rest.split_at(at);
        name.extend_from_slice(plain.as_bytes());
        let escape = special.strip_prefix('\\')?;
        let mut characters = escape.chars();
        match characters.next()? {
            it @ ('\\' | '\'') => name.push(u8::try_from(it).ok()?),
            'n' => name.push(b'\n'),
            'r' => name.push(b'\r'),
            't' => name.push(b'\t'),
            'x' => {
                name.push(u8::from_str_radix(escape.get(1..3)?, 16).ok()?);
                characters = escape.get(3..)?.chars();
            }
            'u' => {
                let (digits, behind) = escape.get(1..)?.strip_prefix('{')?.split_once('}')?;
                let character = char::from_u32(u32::from_str_radix(digits, 16).ok()?)?;
                name.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                characters = behind.chars();
            }
            _ => return None,
        }
        rest = characters.as_str();
    }
    name.extend_from_slice(rest.as_bytes());
    // No system allows these in a name.
    (!name.contains(&0) && !name.contains(&b'/')).then_some(name)
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::ffi::OsStrExt as _;

    use pretty_assertions::assert_eq;
    use proptest::prelude::*;

    use super::*;

    fn path(bytes: &[u8]) -> &Path {
        Path::new(OsStr::from_bytes(bytes))
    }

    #[test]
    fn names_are_shown_unchanged_where_possible() {
        for (name, text) in [
            (b"/repo/a b.txt".as_slice(), "/repo/a b.txt"),
            ("/repo/\u{e9}\\x'$".as_bytes(), "/repo/\u{e9}\\x'$"),
            // Invisible or misleading: the narrow space in names of screenshots, a change of direction.
            ("at 9\u{202f}AM.png".as_bytes(), r"$'at 9\u{202f}AM.png'"),
            ("a\u{202e}gnp.exe".as_bytes(), r"$'a\u{202e}gnp.exe'"),
            (b"/repo/caf\xe9.txt", r"/repo/$'caf\xe9.txt'"),
            (b"/re\xffpo/a/it's\\\xff", r"/$'re\xffpo'/a/$'it\'s\\\xff'"),
            (b"a\nb/\x1b[31mred", r"$'a\nb'/$'\u{1b}[31mred'"),
            // This looks like an escaped name, so it is escaped.
            (br"$'caf\xe9.txt'", r"$'$\'caf\\xe9.txt\''"),
            (br"$'a'", r"$'$\'a\''"),
            // This cannot be mistaken for an escaped name.
            (br"$'a\q'", r"$'a\q'"),
            (br"$'a", r"$'a"),
            (br"x$'a\xe9'", r"x$'a\xe9'"),
        ] {
            assert_eq!(path_to_text(path(name)), text);
            assert_eq!(path_from_text(text), path(name));
        }
    }

    #[test]
    fn an_escape_cannot_hide_a_plain_name_or_a_separator() {
        for text in [
            r"$'\x2e\x2e'/x",
            r"$'..'",
            r"$'a\x2fb'",
            r"$'\x00'",
            r"$'\u{0}'",
            r"$'\u{2f}\xff'",
            r"$'caf\xE9'",
            r"$'\xc3\xa9'",
            r"$'.git'",
            r"$'\u{1B}'",
            r"$'\u{00001b}'",
            r"$'\u{110000}'",
            r"$'\x+f'",
            r"$'\xé'",
            "$'\u{1b}'",
            "$''",
            "$'",
            r"$'\'",
        ] {
            assert_eq!(path_from_text(text), Path::new(text), "{text}");
        }
    }

    /// Bytes that escapes consist of, and bytes that must be escaped.
    fn name_byte() -> impl Strategy<Value = u8> {
        prop_oneof![
            prop::sample::select(b"$'\\xuntr{}0189abcdefE.\n\x1b\x7f\xc3\xa9\xff".to_vec()),
            any::<u8>(),
        ]
        .prop_filter("no name has these", |it| !matches!(it, 0 | b'/'))
    }

    fn name() -> impl Strategy<Value = Vec<u8>> {
        let plain = prop::collection::vec(name_byte(), 1..12);
        // Also names that are the escaped form of another name, up to twice.
        (plain, 0_usize..3)
            .prop_map(|(name, depth)| (0..depth).fold(name, |name, _| escaped(&name).into_bytes()))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        #[test]
        fn every_path_survives_a_round_trip(names in prop::collection::vec(name(), 1..4), absolute: bool) {
            let mut bytes = names.join(b"/".as_slice());
            if absolute {
                bytes.insert(0, b'/');
            }
            let text = path_to_text(path(&bytes));
            prop_assert!(!text.contains(is_written_out));
            let back = path_from_text(&text);
            prop_assert_eq!(back.as_os_str().as_bytes(), &bytes);
        }

        #[test]
        fn different_names_have_different_texts(one in name(), other in name()) {
            prop_assert_eq!(one == other, bytes_to_text(&one) == bytes_to_text(&other));
        }

        #[test]
        fn any_text_is_one_path_with_as_many_names(text in "([$'\\\\xu{}0-9a-f./]|\\PC){0,16}") {
            let meant = path_from_text(&text);
            prop_assert_eq!(
                meant.as_os_str().as_bytes().split(|it| *it == b'/').count(),
                text.split('/').count()
            );
            // Converting that path to text and back gives the same path.
            let shown = path_to_text(&meant);
            prop_assert_eq!(&path_from_text(&shown), &meant);
        }
    }
}
