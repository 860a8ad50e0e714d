//! A normalized view of a text, in which some differences are removed, with a mapping back to positions in
//! the text.

use std::{iter, ops::Range};

use unicode_normalization::{
    IsNormalized, UnicodeNormalization as _, char::canonical_combining_class, is_nfc_quick,
};

/// What is normalized. Each kind includes those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ViewKind {
    /// `\r\n` becomes `\n`.
    LineEndings,
    /// Blanks at the end of lines are removed.
    TrailingBlanks,
    /// Quotes, dashes and spaces become those of ASCII, and characters are composed.
    UnicodePunctuation,
}

pub(super) fn is_blank(character: char, kind: ViewKind) -> bool {
    match kind {
        ViewKind::LineEndings => false,
        ViewKind::TrailingBlanks => matches!(character, ' ' | '\t'),
        ViewKind::UnicodePunctuation => matches!(plain(character), ' ' | '\t'),
    }
}

/// The ASCII form of a quote, a dash or a space.
fn plain(character: char) -> char {
    match character {
        '\u{2018}'..='\u{201b}' | '\u{2032}' | '\u{ff07}' => '\'',
        '\u{201c}'..='\u{201f}' | '\u{2033}' | '\u{ff02}' => '"',
        '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{fe58}' | '\u{fe63}' | '\u{ff0d}' => '-',
        '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}' => {
            ' '
        }
        other => other,
    }
}

/// A part of the text that is different in the view. Between two such parts nothing is changed.
#[derive(Clone, Copy, Debug)]
struct Unit {
    view: usize,
    view_length: usize,
    text: usize,
    text_length: usize,
}

/// The normalized text and how it maps to the original.
#[derive(Debug)]
pub(super) struct NormalizedView {
    shown: String,
    units: Vec<Unit>,
    /// How many bytes of the text have been added.
    taken: usize,
}

impl NormalizedView {
    pub(super) fn new(text: &str, kind: ViewKind) -> Self {
        let mut view =
            Self { shown: String::with_capacity(text.len()), units: Vec::new(), taken: 0 };
        for line in text.split_inclusive('\n') {
            view.push_line(line, kind);
        }
        view
    }

    pub(super) fn as_str(&self) -> &str {
        &self.shown
    }

    /// The position in the text of the character at `offset` of the view. `None` inside a unit.
    pub(super) fn start(&self, offset: usize) -> Option<usize> {
        let after = self.units.partition_point(|it| it.view <= offset);
        match after.checked_sub(1).and_then(|it| self.units.get(it)) {
            Some(unit) if unit.view == offset && unit.view_length > 0 => Some(unit.text),
            before => after_unit(before, offset),
        }
    }

    /// The end in the text of the character before `offset` of the view. `None` inside a unit.
    pub(super) fn end(&self, offset: usize) -> Option<usize> {
        let after = self.units.partition_point(|it| it.view < offset);
        after_unit(after.checked_sub(1).and_then(|it| self.units.get(it)), offset)
    }

    fn push_line(&mut self, line: &str, kind: ViewKind) {
        let (body, ending) = match line.strip_suffix('\n') {
            None => (line, ""),
            Some(body) => match body.strip_suffix('\r') {
                None => (body, "\n"),
                Some(body) => (body, "\r\n"),
            },
        };
        let content = body.trim_end_matches(|it| is_blank(it, kind));
        if kind == ViewKind::UnicodePunctuation {
            self.push_plain(content);
        } else {
            self.push_same(content);
        }
        if content.len() < body.len() {
            self.push_unit("", body.len() - content.len());
        }
        match ending {
            "\r\n" => self.push_unit("\n", 2),
            same => self.push_same(same),
        }
    }

    fn push_plain(&mut self, content: &str) {
        let mut rest = content;
        while !rest.is_empty() {
            let bytes = rest.as_bytes();
            let ascii = encoding_rs::Encoding::ascii_valid_up_to(bytes);
            // A combining accent may follow the last ASCII letter.
            let same = if ascii == bytes.len() { ascii } else { ascii.saturating_sub(1) };
            let (plain, other) = rest.split_at(same);
            self.push_same(plain);
            rest = other;
            let (cluster, other) = rest.split_at(cluster_length(rest));
            self.push_cluster(cluster);
            rest = other;
        }
    }

    fn push_cluster(&mut self, cluster: &str) {
        let mut characters = cluster.chars();
        let first = characters.next().unwrap_or_default();
        let alone = characters.next().is_none();
        if alone && is_nfc_quick(iter::once(first)) == IsNormalized::Yes {
            let plain = plain(first);
            if plain == first {
                self.push_same(cluster);
            } else {
                self.push_unit(plain.encode_utf8(&mut [0; 4]), cluster.len());
            }
            return;
        }
        let composed: String = cluster.nfc().map(plain).collect();
        if composed == cluster {
            self.push_same(cluster);
        } else {
            self.push_unit(&composed, cluster.len());
        }
    }

    fn push_same(&mut self, piece: &str) {
        self.shown.push_str(piece);
        self.taken += piece.len();
    }

    fn push_unit(&mut self, shown: &str, text_length: usize) {
        let view = self.shown.len();
        self.units.push(Unit { view, view_length: shown.len(), text: self.taken, text_length });
        self.shown.push_str(shown);
        self.taken += text_length;
    }
}

fn after_unit(unit: Option<&Unit>, offset: usize) -> Option<usize> {
    let Some(unit) = unit else {
        return Some(offset);
    };
    let beyond = offset.checked_sub(unit.view + unit.view_length)?;
    Some(unit.text + unit.text_length + beyond)
}

/// The length of a character and of all characters that combine with it.
fn cluster_length(text: &str) -> usize {
    let composes = |it: char| {
        !it.is_ascii()
            && (canonical_combining_class(it) != 0
                || is_nfc_quick(iter::once(it)) == IsNormalized::Maybe)
    };
    let mut characters = text.char_indices().skip(1);
    characters.find(|(_, it)| !composes(*it)).map_or(text.len(), |(at, _)| at)
}

/// A target, normalized like a view.
pub(super) struct Needle {
    shown: String,
    first_line: Edge,
    last_line: Edge,
}

/// Whether the target has blanks at an edge, which the view does not have.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Edge {
    Same,
    Blanks,
}

impl Needle {
    pub(super) fn new(target: &str, kind: ViewKind) -> Option<Self> {
        let blank_only = |it: &str| !it.is_empty() && it.chars().all(|it| is_blank(it, kind));
        let (lines, last) = match target.rfind('\n') {
            Some(at) => target.split_at(at + 1),
            None => ("", target),
        };
        let mut view = NormalizedView::new(lines, kind);
        let mut last_line = Edge::Same;
        if blank_only(last) {
            // These are not trailing blanks, but the indentation of what follows.
            view.push_same(last);
        } else {
            view.push_line(last, kind);
            if last.chars().next_back().is_some_and(|it| is_blank(it, kind)) {
                last_line = Edge::Blanks;
            }
        }
        let first = lines.split(['\r', '\n']).next().unwrap_or_default();
        let first_line = if blank_only(first) { Edge::Blanks } else { Edge::Same };
        (!view.shown.is_empty()).then_some(Self { shown: view.shown, first_line, last_line })
    }

    /// A target that was copied from a text shown with normalized line endings.
    pub(super) fn as_shown(target: &str) -> Self {
        Self { shown: target.to_owned(), first_line: Edge::Same, last_line: Edge::Same }
    }

    pub(super) fn as_str(&self) -> &str {
        &self.shown
    }

    /// The range in the text for a range of the view. Blanks at its edges belong to it only if the target
    /// has some there, too, and then a line must end there.
    pub(super) fn locate(
        &self,
        view: &NormalizedView,
        range: &Range<usize>,
    ) -> Option<Range<usize>> {
        let start = match self.first_line {
            Edge::Same => view.start(range.start)?,
            Edge::Blanks => view.end(range.start)?,
        };
        let end = match self.last_line {
            Edge::Same => view.end(range.end)?,
            Edge::Blanks => {
                let rest = view.shown.get(range.end..)?;
                if !rest.is_empty() && !rest.starts_with('\n') {
                    return None;
                }
                view.start(range.end)?
            }
        };
        Some(start..end)
    }
}
