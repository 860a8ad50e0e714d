//! Finds the lines that are most similar to a text that was not found. This is only used for suggestions,
//! never for edits.

/// How many bytes of the text are searched.
pub const NEAREST_TEXT_BYTES: usize = 8 * 1024 * 1024;
/// How many bytes of the target are compared.
const MAX_TARGET: usize = 64 * 1024;
/// A region with a lower similarity is not suggested.
const LEAST: f64 = 0.4;
/// The size of the hash table of trigrams. Collisions only make the similarity a little inexact.
const SLOTS: usize = 1 << 16;

/// Lines that are similar to a target.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NearestRegion {
    /// The number of the first line, counted from 1.
    pub first_line: usize,
    /// The number of the last line.
    pub last_line: usize,
    /// The share of common trigrams of characters, from 0 to 1.
    pub(crate) similarity: f64,
}

/// The lines that are most similar to `target`, as many as it has. `None` if nothing is similar.
///
/// Compares the first 8 MiB of the text with the first 64 KiB of the target, in linear time.
pub fn nearest_region(text: &str, target: &str) -> Option<NearestRegion> {
    let text = text.get(..text.floor_char_boundary(NEAREST_TEXT_BYTES)).unwrap_or(text);
    let target = target.get(..target.floor_char_boundary(MAX_TARGET)).unwrap_or(target);
    let target = target.trim_matches(['\r', '\n']);
    let height = target.lines().count();
    let mut overlap = Overlap::new(target);
    let mut best: Option<NearestRegion> = None;
    let mut leaving = text.lines();
    for (index, line) in text.lines().enumerate() {
        overlap.add(line);
        if index >= height {
            overlap.remove(leaving.next().unwrap_or_default());
        }
        let similarity = overlap.similarity();
        if similarity >= LEAST && best.is_none_or(|it| similarity > it.similarity) {
            let last_line = index + 1;
            let first_line = (last_line + 1).saturating_sub(height).max(1);
            best = Some(NearestRegion { first_line, last_line, similarity });
        }
    }
    best
}

/// Counts the trigrams that the target and the current window of lines have in common.
struct Overlap {
    target: Vec<u32>,
    window: Vec<u32>,
    target_total: u32,
    window_total: u32,
    shared: u32,
}

impl Overlap {
    fn new(target: &str) -> Self {
        let mut counts = vec![0; SLOTS];
        let mut target_total = 0;
        for slot in target.lines().flat_map(trigrams) {
            if let Some(count) = counts.get_mut(slot) {
                *count += 1;
                target_total += 1;
            }
        }
        let window = vec![0; SLOTS];
        Self { target: counts, window, target_total, window_total: 0, shared: 0 }
    }

    fn add(&mut self, line: &str) {
        for slot in trigrams(line) {
            if let (Some(seen), Some(wanted)) = (self.window.get_mut(slot), self.target.get(slot)) {
                self.shared += u32::from(*seen < *wanted);
                *seen += 1;
                self.window_total += 1;
            }
        }
    }

    fn remove(&mut self, line: &str) {
        for slot in trigrams(line) {
            if let (Some(seen), Some(wanted)) = (self.window.get_mut(slot), self.target.get(slot)) {
                *seen -= 1;
                self.shared -= u32::from(*seen < *wanted);
                self.window_total -= 1;
            }
        }
    }

    fn similarity(&self) -> f64 {
        let total = self.target_total + self.window_total;
        if total == 0 { 0.0 } else { 2.0 * f64::from(self.shared) / f64::from(total) }
    }
}

/// The trigrams of a line without its indentation, with markers for its start and end.
fn trigrams(line: &str) -> impl Iterator<Item = usize> {
    let line = line.trim();
    let marked = (!line.is_empty()).then(|| {
        let mut before = (0_usize, usize::from(b'\n'));
        line.bytes().chain([b'\n']).map(move |byte| {
            let (first, second) = before;
            before = (second, usize::from(byte));
            (first.wrapping_mul(0x9e35)
                ^ second.wrapping_mul(0x4f1d)
                ^ before.1.wrapping_mul(0x101))
                % SLOTS
        })
    });
    marked.into_iter().flatten()
}
