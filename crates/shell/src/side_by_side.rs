//! Whether parts of a line may run at the same time.

/// True for a line with a pipe or a background command, which runs at the same time as later commands. A
/// `|` or `&` in quotes counts as well, which errs on the safe side.
pub fn may_run_side_by_side(line: &str) -> bool {
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
