//! Whether parts of a line may run at the same time.

/// True for a line with a pipe or something in the background, which runs while later commands do. A sign in
/// quotes counts as well: that is never wrong in the direction that matters.
pub(crate) fn may_run_side_by_side(line: &str) -> bool {
    let mut rest = line;
    while let Some(at) = rest.find(['|', '&']) {
        let before = rest.get(..at).unwrap_or_default();
        let after = rest.get(at + 1..).unwrap_or_default();
        let sign = rest.get(at..=at).unwrap_or_default();
        if after.starts_with(sign) {
            rest = after.get(1..).unwrap_or_default();
        } else if sign == "&" && (before.ends_with(['>', '<']) || after.starts_with('>')) {
            rest = after;
        } else {
            return true;
        }
    }
    false
}
