//! Puts lines with Hebrew or Arabic text into reading order.
//!
//! A page places characters by position. Sorted from left to right they are in the order in which
//! they are seen, which for these scripts is not the order in which they are read.

use std::ops::Range;

/// A piece of text and its position along its line.
pub(super) struct PlacedText {
    pub(super) bytes: Range<usize>,
    pub(super) from: f64,
    pub(super) to: f64,
    pub(super) em: f64,
}

/// The direction in which a character is read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ReadingDirection {
    LeftToRight,
    RightToLeft,
    /// Read in the direction of its neighbours, as spaces and punctuation are.
    Either,
}

pub(super) fn has_right_to_left(text: &str) -> bool {
    !text.is_ascii() && text.chars().any(is_right_to_left)
}

/// The line as a person reads it. Its pieces may have been drawn in any order, so they are first
/// sorted from left to right, with a space between two that are `word_gap` of the font size apart.
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

/// Joins pieces that are sorted from left to right in the order in which they are read.
fn read(seen: &[&str]) -> String {
    let directions: Vec<ReadingDirection> = seen.iter().map(|it| direction_of(it)).collect();
    let letters = || seen.iter().flat_map(|it| it.chars()).filter(|it| it.is_alphabetic());
    let from_right = letters().filter(|it| is_right_to_left(*it)).count();
    let line = if 2 * from_right >= letters().count() {
        ReadingDirection::RightToLeft
    } else {
        ReadingDirection::LeftToRight
    };
    let directions = settled(&directions, line);
    // Characters are ordered by the direction of their run, runs by the direction of the line.
    let mut runs: Vec<(ReadingDirection, Range<usize>)> = Vec::new();
    for (at, direction) in directions.into_iter().enumerate() {
        match runs.last_mut() {
            Some((last, run)) if *last == direction => run.end = at + 1,
            _ => runs.push((direction, at..at + 1)),
        }
    }
    if line == ReadingDirection::RightToLeft {
        runs.reverse();
    }
    let mut result = String::new();
    for (direction, run) in runs {
        let pieces = seen.get(run).unwrap_or_default();
        if direction == ReadingDirection::RightToLeft {
            let characters = pieces.iter().rev().flat_map(|it| it.chars());
            result.extend(characters.map(mirrored));
        } else {
            result.extend(pieces.iter().copied());
        }
    }
    result
}

/// Gives pieces without a direction that of their neighbours if these agree, otherwise that of the line.
fn settled(directions: &[ReadingDirection], line: ReadingDirection) -> Vec<ReadingDirection> {
    let mut result = directions.to_vec();
    let mut at = 0;
    while at < directions.len() {
        let rest = directions.get(at..).unwrap_or_default();
        let neutral = rest.iter().take_while(|&&it| it == ReadingDirection::Either).count();
        if neutral == 0 {
            at += 1;
            continue;
        }
        let before = at.checked_sub(1).and_then(|it| directions.get(it)).copied().unwrap_or(line);
        let after = rest.get(neutral).copied().unwrap_or(line);
        let direction = if before == after { before } else { line };
        for slot in result.iter_mut().skip(at).take(neutral) {
            *slot = direction;
        }
        at += neutral;
    }
    result
}

fn direction_of(piece: &str) -> ReadingDirection {
    if piece.chars().any(is_right_to_left) {
        ReadingDirection::RightToLeft
    } else if piece.chars().any(char::is_alphanumeric) {
        // Numbers are read from left to right in every script.
        ReadingDirection::LeftToRight
    } else {
        ReadingDirection::Either
    }
}

/// Whether this is a letter of a script that is written from right to left. Digits of these scripts
/// are not: numbers are written from left to right.
fn is_right_to_left(character: char) -> bool {
    matches!(character,
        '\u{590}'..='\u{65f}' | '\u{66a}'..='\u{6ef}' | '\u{6fa}'..='\u{8ff}'
        | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}'
        | '\u{10800}'..='\u{10fff}' | '\u{1e800}'..='\u{1efff}')
}

/// Brackets are drawn mirrored in text from right to left; this is the bracket that is meant.
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
            // Words of the other direction, numbers and brackets.
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
