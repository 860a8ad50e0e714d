//! Suggests similar names for a path that does not exist.

use std::{ffi::OsString, path::Path};

use toolwright_base::name_to_text;

use crate::{
    entry::EntryKind,
    folder::look_at_names,
    path::WorkspacePath,
    visibility::{Visibility, VisibilitySubject},
};

/// How many entries of a directory are read.
const MAX_ENTRIES: usize = 10_000;
/// How many names are suggested.
const MAX_SUGGESTIONS: usize = 3;
/// The largest edit distance of similar names.
const MAX_DISTANCE: usize = 16;
/// How many pairs of characters are compared in total. After that, names are only compared by their stem.
const MAX_COMPARED: usize = 1_000_000;

/// Names in the directory of the missing file that may have been meant, the most similar first.
/// Hidden files are not named. The directory is listed as in a walk, so that a link cannot lead out
/// of the roots.
pub fn close_names(missing: &WorkspacePath, visibility: &Visibility) -> Vec<String> {
    let (Some(parent), Some(name)) = (missing.parent(), missing.absolute().file_name()) else {
        return Vec::new();
    };
    let mut wanted = MissingName::new(&name_to_text(name));
    let mut close: Vec<(usize, OsString, VisibilitySubject)> = Vec::new();
    let listed = look_at_names(&parent, MAX_ENTRIES, &mut |candidate, kind| {
        if let Some(distance) = wanted.distance(&name_to_text(candidate)) {
            let is_folder = kind == EntryKind::Folder;
            let subject =
                if is_folder { VisibilitySubject::Folder } else { VisibilitySubject::File };
            close.push((distance, candidate.to_owned(), subject));
        }
    });
    if listed.is_err() {
        return Vec::new();
    }
    close.sort_by(|(one, name, _), (other, other_name, _)| (one, name).cmp(&(other, other_name)));
    let seen = close
        .into_iter()
        .filter(|(_, name, subject)| visibility.shows(&parent.absolute().join(name), *subject));
    seen.map(|(_, name, _)| name_to_text(&name).into_owned()).take(MAX_SUGGESTIONS).collect()
}

/// The part of an error message that suggests similar names; empty without suggestions.
pub fn similar_names_note(suggestions: &[String]) -> String {
    if suggestions.is_empty() {
        return String::new();
    }
    let names: Vec<_> = suggestions.iter().map(|it| format!("`{it}`")).collect();
    format!("; similar names there: {}", names.join(", "))
}

/// The name that does not exist, with the data to compare other names with it.
struct MissingName {
    name: Vec<char>,
    stem: String,
    most_distant: usize,
    /// How many more pairs of characters may be compared.
    left: usize,
    /// The last three rows of the table of distances between prefixes of two names.
    rows: [Vec<usize>; 3],
}

impl MissingName {
    fn new(name: &str) -> Self {
        let lower = name.to_lowercase();
        let name: Vec<char> = lower.chars().collect();
        let most_distant = (name.len() / 4).clamp(2, MAX_DISTANCE);
        Self {
            stem: stem(&lower),
            name,
            most_distant,
            left: MAX_COMPARED,
            rows: Default::default(),
        }
    }

    /// The distance of a name from the missing one, if it is similar.
    fn distance(&mut self, candidate: &str) -> Option<usize> {
        let lower = candidate.to_lowercase();
        let characters: Vec<char> = lower.chars().collect();
        let distance = self.compare(&characters);
        match distance {
            None if stem(&lower) == self.stem => Some(self.most_distant + 1),
            distance => distance,
        }
    }

    /// The number of characters to insert, remove, replace or swap with their neighbour. `None` if there are
    /// too many. Only cells near the diagonal are computed, because all others exceed the limit.
    fn compare(&mut self, other: &[char]) -> Option<usize> {
        let (name, most) = (&self.name, self.most_distant);
        if name.len().abs_diff(other.len()) > most {
            return None;
        }
        let far = most + 1;
        let [before, last, current] = &mut self.rows;
        for row in [&mut *before, &mut *last, &mut *current] {
            row.clear();
            row.resize(other.len() + 1, far);
        }
        for (column, distance) in last.iter_mut().enumerate().take(far) {
            *distance = column;
        }
        for (row, character) in name.iter().enumerate() {
            let (from, to) = (row.saturating_sub(most), (row + most + 1).min(other.len()));
            self.left = self.left.checked_sub(to - from.min(to))?;
            current.fill(far);
            if row < most
                && let Some(first) = current.first_mut()
            {
                *first = row + 1;
            }
            let mut nearest = current.first().copied().unwrap_or(far);
            for column in from..to {
                let at = |row: &[usize], column: usize| row.get(column).copied().unwrap_or(far);
                let is_same = other.get(column) == Some(character);
                let exchanged = at(last, column) + usize::from(!is_same);
                let changed = at(last, column + 1).min(at(current, column)) + 1;
                let mut distance = exchanged.min(changed);
                if column > 0
                    && row > 0
                    && other.get(column - 1) == Some(character)
                    && other.get(column) == name.get(row - 1)
                {
                    distance = distance.min(at(before, column - 1) + 1);
                }
                if let Some(cell) = current.get_mut(column + 1) {
                    *cell = distance.min(far);
                }
                nearest = nearest.min(distance);
            }
            if nearest > most {
                return None;
            }
            std::mem::swap(before, last);
            std::mem::swap(last, current);
        }
        last.last().copied().filter(|it| *it <= most)
    }
}

fn stem(name: &str) -> String {
    Path::new(name).file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use std::fs;

    use pretty_assertions::assert_eq;
    use proptest::prelude::*;
    use tempfile::TempDir;

    use super::*;
    use crate::path::{RelativePaths, Roots};

    fn beside(dir: &Path, missing: &str, visibility: &Visibility) -> Vec<String> {
        let roots = Roots::new(dir, &[]).unwrap();
        let place = roots.resolve(missing, RelativePaths::FromFirstRoot).unwrap();
        close_names(&place, visibility)
    }

    #[test]
    fn similar_names_are_suggested() {
        let dir = TempDir::new().unwrap();
        for name in ["Readme.md", "readme.txt", "raedme.md", "other.md", "secret.md"] {
            fs::write(dir.path().join(name), "").unwrap();
        }
        fs::create_dir(dir.path().join("sacret")).unwrap();
        let everything = Visibility::everything();
        let near = beside(dir.path(), "readme.md", &everything);
        assert_eq!(near, ["Readme.md", "raedme.md", "readme.txt"]);
        assert_eq!(beside(dir.path(), "sacret.md", &everything), ["secret.md", "sacret"]);
        let no_secrets = Visibility::judged_by(|path, subject| {
            !path.ends_with("secret.md") && subject == VisibilitySubject::File
        });
        assert_eq!(beside(dir.path(), "sacret.md", &no_secrets), Vec::<String>::new());
    }

    #[test]
    #[cfg(unix)]
    fn a_directory_swapped_for_a_link_reveals_no_names_of_its_target() {
        let (dir, outside) = (TempDir::new().unwrap(), TempDir::new().unwrap());
        fs::write(outside.path().join("passwords.txt"), "").unwrap();
        fs::create_dir(dir.path().join("sub")).unwrap();
        let roots = Roots::new(dir.path(), &[]).unwrap();
        let place = roots.resolve("sub/password.txt", RelativePaths::FromFirstRoot).unwrap();
        fs::remove_dir(dir.path().join("sub")).unwrap();
        std::os::unix::fs::symlink(outside.path(), dir.path().join("sub")).unwrap();
        assert_eq!(close_names(&place, &Visibility::everything()), Vec::<String>::new());
    }

    #[test]
    fn many_long_names_take_a_limited_amount_of_work() {
        let mut wanted = MissingName::new(&format!("{}.txt", "ab".repeat(100)));
        for number in 0..MAX_ENTRIES {
            // Each differs at the beginning, in the middle and at the end, so that no comparison ends early.
            let name = format!("x{}{number}{}y.txt", "ab".repeat(48), "ab".repeat(50));
            wanted.distance(&name);
        }
        // Comparing all would take far more than the limit.
        assert!(wanted.left < 2 * MAX_DISTANCE + 1, "{}", wanted.left);
        // After the limit, names are found by their stem.
        assert_eq!(wanted.distance(&format!("{}.md", "ab".repeat(100))), Some(MAX_DISTANCE + 1));
    }

    proptest! {
        #[test]
        fn the_distance_equals_that_of_the_full_table(one in "[abc.]{0,14}", other in "[abc.]{0,14}") {
            let mut wanted = MissingName::new(&one);
            let whole = strsim::osa_distance(&one, &other);
            let expected = Some(whole).filter(|it| *it <= wanted.most_distant);
            let characters: Vec<char> = other.chars().collect();
            prop_assert_eq!(wanted.compare(&characters), expected);
        }
    }
}
