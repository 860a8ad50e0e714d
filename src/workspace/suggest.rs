//! Close names for a path that is not there.

use std::path::Path;

use super::walk::{Subject, Visibility};

/// How many entries of a directory are looked at.
const MAX_ENTRIES: usize = 10_000;
/// How many names are suggested.
const MAX_SUGGESTIONS: usize = 3;

/// Names beside the missing file that a person may have meant, the closest first. What may not be seen
/// is not named.
pub(super) fn close_names(missing: &Path, visibility: &Visibility) -> Vec<String> {
    let (Some(parent), Some(name)) =
        (missing.parent(), missing.file_name().and_then(|it| it.to_str()))
    else {
        return Vec::new();
    };
    let Ok(entries) = parent.read_dir() else { return Vec::new() };
    let wanted = name.to_lowercase();
    let stem = Path::new(&wanted).file_stem().unwrap_or_default().to_owned();
    let most_distant = (wanted.chars().count() / 4).max(2);
    let mut close: Vec<(usize, String)> = entries
        .take(MAX_ENTRIES)
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter_map(|candidate| {
            let lower = candidate.to_lowercase();
            let distance = strsim::osa_distance(&wanted, &lower);
            let same_stem = Path::new(&lower).file_stem().is_some_and(|it| it == stem);
            (distance <= most_distant || same_stem).then_some((distance, candidate))
        })
        .collect();
    close.sort();
    let names = close.into_iter().map(|(_, name)| name);
    let seen = names.filter(|it| visibility.shows(&parent.join(it), Subject::File));
    seen.take(MAX_SUGGESTIONS).collect()
}
