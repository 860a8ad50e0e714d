//! The mark of a placeholder: an empty file or directory at a path that a command must not create,
//! with a modification time that no real file has. The supervisor makes it, and the host recognises it.

/// The modification time of a placeholder, in seconds: long before there were computers.
pub const PLACEHOLDER_SECONDS: i64 = -1_234_567_891;
/// The nanoseconds of that time.
pub const PLACEHOLDER_NANOSECONDS: i64 = 123_456_789;
/// Used instead on file systems that store no time before 1970 or no nanoseconds.
pub const PLACEHOLDER_SECONDS_LATER: i64 = 987_654_321;

/// True if this modification time marks a placeholder. The caller must check that the file is empty
/// too.
pub const fn is_placeholder_time(seconds: i64, nanoseconds: i64) -> bool {
    (seconds == PLACEHOLDER_SECONDS && nanoseconds == PLACEHOLDER_NANOSECONDS)
        || (seconds == PLACEHOLDER_SECONDS_LATER && nanoseconds == 0)
}
