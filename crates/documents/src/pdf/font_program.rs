//! The glyph names of an embedded Type 1 font by code, from the unencrypted part of its program.

use super::encoding::SIMPLE_CODES;
use super::lexer::find;

/// The unencrypted part usually has a few kilobytes.
const MAX_LOOKED_AT: usize = 64 * 1024;

/// The glyph name of each code, from lines such as `dup 65 /A put`. Empty if the program uses the
/// standard encoding or cannot be read.
pub(super) fn names_by_code(program: &[u8]) -> Vec<(usize, Vec<u8>)> {
    let end = find(program, b"eexec", 0).unwrap_or(program.len()).min(MAX_LOOKED_AT);
    let readable = program.get(..end).unwrap_or(program);
    let Some(start) = find(readable, b"/Encoding", 0) else { return Vec::new() };
    let readable = String::from_utf8_lossy(readable.get(start..).unwrap_or_default());
    let mut words = readable.split_ascii_whitespace();
    let mut names = Vec::new();
    while let Some(word) = words.next() {
        match word {
            "dup" => {
                let code = words.next().and_then(number);
                let name = words.next().and_then(|it| it.strip_prefix('/'));
                if let (Some(code), Some(name)) = (code, name)
                    && names.len() < SIMPLE_CODES
                {
                    names.push((code, name.as_bytes().to_vec()));
                }
            }
            "def" if !names.is_empty() => break,
            _ => {}
        }
    }
    names
}

/// Parses a number, which may name its base, as in `8#101`.
fn number(word: &str) -> Option<usize> {
    match word.split_once('#') {
        Some((base, digits)) => {
            let base = base.parse().ok().filter(|base| (2..=36).contains(base))?;
            usize::from_str_radix(digits, base).ok()
        }
        None => word.parse().ok(),
    }
}
