//! Lines with Hebrew or Arabic, from the order in which they are seen to the order in which they are read.

use std::ops::Range;

/// A piece of text and where it lies along its line.
pub(super) struct PlacedText {
    pub(super) bytes: Range<usize>,
    pub(super) from: f64,
    pub(super) to: f64,
    pub(super) em: f64,
}

/// Which way a character is read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    LeftToRight,
    RightToLeft,
    /// As its neighbours are.
    Either,
}

pub(super) fn has_right_to_left(text: &str) -> bool {
    !text.is_ascii() && text.chars().any(is_right_to_left)
}

/// The line as a person reads it. Its pieces may have been drawn in any order, so it is first put
/// together from left to right, with a space where two pieces are `word_gap` of the font size apart.
pub(super) fn in_reading_order(text: &str, line: &[PlacedText], word_gap: f64) -> String {
    let mut pieces: Vec<&PlacedText> = line.iter().collect();
    pieces.sort_by(|one, other| one.from.total_cmp(&other.from));
    let mut seen: Vec<&str> = Vec::with_capacity(pieces.len());
    let mut end = f64::INFINITY;
    for piece in pieces {
        let shown = text.get(piece.bytes.clone()).unwrap_or_default();
        let is_apart = piece.from - end > piece.em * word_gap;
        if is_apart && !shown.starts_with(' ') && seen.last().is_some_and(|it| !it.ends_with(' ')) {
            seen.push(" ");
        }
        seen.push(shown);
        end = piece.to;
    }
    read(&seen)
}

/// Pieces in the order in which they are read, from the order in which they are seen.
fn read(seen: &[&str]) -> String {
    let ways: Vec<Way> = seen.iter().map(|it| way_of(it)).collect();
    let letters = || seen.iter().flat_map(|it| it.chars()).filter(|it| it.is_alphabetic());
    let from_right = letters().filter(|it| is_right_to_left(*it)).count();
    let line =
        if 2 * from_right >= letters().count() { Way::RightToLeft } else { Way::LeftToRight };
    let ways = settled(&ways, line);
    // Runs of one way, each in its own order; the runs of a line follow the line's way.
    let mut runs: Vec<(Way, Range<usize>)> = Vec::new();
    for (at, way) in ways.into_iter().enumerate() {
        match runs.last_mut() {
            Some((last, run)) if *last == way => run.end = at + 1,
            _ => runs.push((way, at..at + 1)),
        }
    }
    if line == Way::RightToLeft {
        runs.reverse();
    }
    let mut result = String::new();
    for (way, run) in runs {
        let pieces = seen.get(run).unwrap_or_default();
        if way == Way::RightToLeft {
            let characters = pieces.iter().rev().flat_map(|it| it.chars());
            result.extend(characters.map(mirrored));
        } else {
            result.extend(pieces.iter().copied());
        }
    }
    result
}

/// What can be read either way goes with its neighbours where both go the same way, and else with the line.
fn settled(ways: &[Way], line: Way) -> Vec<Way> {
    let mut result = ways.to_vec();
    let mut at = 0;
    while at < ways.len() {
        let rest = ways.get(at..).unwrap_or_default();
        let neutral = rest.iter().take_while(|&&it| it == Way::Either).count();
        if neutral == 0 {
            at += 1;
            continue;
        }
        let before = at.checked_sub(1).and_then(|it| ways.get(it)).copied().unwrap_or(line);
        let after = rest.get(neutral).copied().unwrap_or(line);
        let way = if before == after { before } else { line };
        for slot in result.iter_mut().skip(at).take(neutral) {
            *slot = way;
        }
        at += neutral;
    }
    result
}

fn way_of(piece: &str) -> Way {
    if piece.chars().any(is_right_to_left) {
        Way::RightToLeft
    } else if piece.chars().any(char::is_alphanumeric) {
        // Numbers are read from left to right in every script.
        Way::LeftToRight
    } else {
        Way::Either
    }
}

/// True for letters of the scripts that are written from right to left; their digits are not.
fn is_right_to_left(character: char) -> bool {
    matches!(character,
        '\u{590}'..='\u{65f}' | '\u{66a}'..='\u{6ef}' | '\u{6fa}'..='\u{8ff}'
        | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}'
        | '\u{10800}'..='\u{10fff}' | '\u{1e800}'..='\u{1efff}')
}

/// What a bracket that is seen in text from right to left is when it is read.
fn mirrored(character: char) -> char {
    match character {
        '(' => ')',
        ')' => '(',
        '[' => ']',
        ']' => '[',
        '{' => '}',
        '}' => '{',
        '<' => '>',
        '>' => '<',
        '\u{ab}' => '\u{bb}',
        '\u{bb}' => '\u{ab}',
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn read_one_by_one(seen: &str) -> String {
        let pieces: Vec<String> = seen.chars().map(String::from).collect();
        read(&pieces.iter().map(String::as_str).collect::<Vec<_>>())
    }

    #[test]
    fn reads_lines_as_their_script_is_read() {
        for (seen, expected) in [
            ("\u{5dd}\u{5d5}\u{5dc}\u{5e9}", "\u{5e9}\u{5dc}\u{5d5}\u{5dd}"),
            // Words of the other way, numbers and brackets.
            ("3.14 abc \u{5d3}\u{5d2}\u{5d1}\u{5d0}", "\u{5d0}\u{5d1}\u{5d2}\u{5d3} 3.14 abc"),
            ("(\u{5d1}\u{5d0})", "(\u{5d0}\u{5d1})"),
            ("one two three \u{5d1}\u{5d0} four", "one two three \u{5d0}\u{5d1} four"),
            (".\u{5d1}\u{5d0} 12-34 \u{5d3}\u{5d2}", "\u{5d2}\u{5d3} 12-34 \u{5d0}\u{5d1}."),
            ("plain", "plain"),
        ] {
            assert_eq!(read_one_by_one(seen), expected);
        }
    }
}
