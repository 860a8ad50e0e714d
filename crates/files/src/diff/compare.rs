//! Finds the lines that two texts have in common.

use std::{collections::HashMap, ops::Range};

use similar::{
    DiffOp,
    algorithms::{Capture, Compact, DiffHook as _, Replace, myers},
};

/// How many lines, old and new together, are compared each with each. The work grows quadratically, and a
/// time limit would make the result depend on the load of the machine.
const MAX_COMPARED: usize = 10_000;
/// The same for the lines between two anchors.
const MAX_GAP: usize = 2_000;
/// The limit for the sum of the squares of all such gaps.
const MAX_WORK: usize = 400_000_000;

/// Compares two texts line by line.
///
/// In texts with many lines, lines that occur exactly once in each text are anchors, and only the lines
/// between anchors are compared. If two anchors are far apart, everything between them counts as replaced.
pub(crate) fn compare(old: &[&str], new: &[&str]) -> Vec<DiffOp> {
    if old.len() + new.len() <= MAX_COMPARED {
        // The algorithm is named here. If it were chosen at run time, all would be part of the addon.
        let mut found = Compact::new(Replace::new(Capture::new()), old, new);
        let Ok(()) = myers::diff(&mut found, old, 0..old.len(), new, 0..new.len());
        return found.into_inner().into_inner().into_ops();
    }
    let mut found = Replace::new(Capture::new());
    let mut work_left = MAX_WORK;
    let (mut old_at, mut new_at) = (0, 0);
    let ends = (old.len(), new.len(), 0);
    for (old_start, new_start, length) in shared_runs(old, new).into_iter().chain([ends]) {
        let (old_gap, new_gap) = (old_at..old_start, new_at..new_start);
        let lines = old_gap.len() + new_gap.len();
        let work = lines.saturating_mul(lines);
        let Ok(()) = if lines <= MAX_GAP && work <= work_left {
            work_left -= work;
            myers::diff(&mut found, old, old_gap, new, new_gap)
        } else {
            found.replace(old_gap.start, old_gap.len(), new_gap.start, new_gap.len())
        };
        let Ok(()) = found.equal(old_start, new_start, length);
        (old_at, new_at) = (old_start + length, new_start + length);
    }
    let Ok(()) = found.finish();
    joined(found.into_inner().into_ops())
}

/// Runs of equal lines: at the beginning, at the end, and around each anchor.
fn shared_runs(old: &[&str], new: &[&str]) -> Vec<(usize, usize, usize)> {
    let same = |(old, new): &(&&str, &&str)| old == new;
    let head = old.iter().zip(new).take_while(same).count();
    let room = old.len().min(new.len()) - head;
    let ends = old.iter().rev().zip(new.iter().rev());
    let tail = ends.take(room).take_while(same).count();
    let (old_end, new_end) = (old.len() - tail, new.len() - tail);

    let mut runs = vec![(0, 0, head)];
    let (mut old_at, mut new_at) = (head, head);
    for (old_index, new_index) in anchors(old, head..old_end, new, head..new_end) {
        if old_index < old_at || new_index < new_at {
            continue;
        }
        let before = (old.get(old_at..old_index), new.get(new_at..new_index));
        let back = match before {
            (Some(old), Some(new)) => {
                old.iter().rev().zip(new.iter().rev()).take_while(same).count()
            }
            _ => 0,
        };
        let after = (old.get(old_index..old_end), new.get(new_index..new_end));
        let forth = match after {
            (Some(old), Some(new)) => old.iter().zip(new).take_while(same).count(),
            _ => 0,
        };
        runs.push((old_index - back, new_index - back, back + forth));
        (old_at, new_at) = (old_index + forth, new_index + forth);
    }
    runs.push((old_end, new_end, tail));
    runs
}

/// Pairs of lines that occur exactly once in each range: the longest list that is in order in both.
fn anchors(
    old: &[&str],
    old_range: Range<usize>,
    new: &[&str],
    new_range: Range<usize>,
) -> Vec<(usize, usize)> {
    let mut places: HashMap<&str, LineOccurrences> = HashMap::new();
    for index in old_range.clone() {
        let Some(line) = old.get(index) else { continue };
        places.entry(line).or_default().old.add(index);
    }
    for index in new_range {
        let Some(line) = new.get(index) else { continue };
        // A line that the old text does not have cannot be an anchor.
        if let Some(places) = places.get_mut(line) {
            places.new.add(index);
        }
    }
    let pairs: Vec<(usize, usize)> = old_range
        .filter_map(|index| {
            let places = places.get(old.get(index)?)?;
            Some((places.old.only()?, places.new.only()?))
        })
        .collect();
    longest_rising(&pairs)
}

#[derive(Default)]
struct LineOccurrences {
    old: Occurrence,
    new: Occurrence,
}

#[derive(Default)]
enum Occurrence {
    #[default]
    None,
    Once(usize),
    Often,
}

impl Occurrence {
    fn add(&mut self, index: usize) {
        *self = if matches!(self, Self::None) { Self::Once(index) } else { Self::Often };
    }

    fn only(&self) -> Option<usize> {
        if let Self::Once(index) = self { Some(*index) } else { None }
    }
}

/// The longest increasing subsequence by the second number, of pairs that are sorted by the first.
fn longest_rising(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    // For each length, the pair with the lowest end of such a list; for each pair, its predecessor.
    let mut lowest: Vec<usize> = Vec::new();
    let mut follows: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    let second = |index: &usize| pairs.get(*index).map_or(0, |it| it.1);
    for (index, (_, wanted)) in pairs.iter().enumerate() {
        let length = lowest.partition_point(|it| second(it) < *wanted);
        follows.push(length.checked_sub(1).and_then(|it| lowest.get(it).copied()));
        match lowest.get_mut(length) {
            Some(end) => *end = index,
            None => lowest.push(index),
        }
    }
    let mut rising = Vec::with_capacity(lowest.len());
    let mut at = lowest.last().copied();
    while let Some(index) = at {
        rising.extend(pairs.get(index));
        at = follows.get(index).copied().flatten();
    }
    rising.reverse();
    rising
}

/// Joins adjacent runs of equal lines, as grouping requires.
fn joined(ops: Vec<DiffOp>) -> Vec<DiffOp> {
    let mut joined: Vec<DiffOp> = Vec::with_capacity(ops.len());
    for op in ops {
        match (joined.last_mut(), op) {
            (_, DiffOp::Equal { len: 0, .. } | DiffOp::Replace { old_len: 0, new_len: 0, .. }) => {}
            (Some(DiffOp::Equal { len, .. }), DiffOp::Equal { len: more, .. }) => *len += more,
            (_, op) => joined.push(op),
        }
    }
    joined
}
