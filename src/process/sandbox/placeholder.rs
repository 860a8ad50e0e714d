//! What stands at a place that a command must not make, for as long as the command runs: an empty file or
//! directory with a time that no real one has. The host and the supervisor both compile this file.

/// When a placeholder was last changed, in seconds: long before there were computers.
pub(crate) const PLACEHOLDER_SECONDS: i64 = -1_234_567_891;
/// And the nanoseconds.
pub(crate) const PLACEHOLDER_NANOSECONDS: i64 = 123_456_789;
/// Some file systems keep no time before 1970 or no nanoseconds; there it is this one.
pub(crate) const PLACEHOLDER_SECONDS_LATER: i64 = 987_654_321;

/// True when a file or directory that was last changed at this time is a placeholder, if it is also empty.
pub(crate) const fn is_placeholder_time(seconds: i64, nanoseconds: i64) -> bool {
    (seconds == PLACEHOLDER_SECONDS && nanoseconds == PLACEHOLDER_NANOSECONDS)
        || (seconds == PLACEHOLDER_SECONDS_LATER && nanoseconds == 0)
}
