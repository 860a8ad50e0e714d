//! Limits the work that is spent on a line. Work is limited instead of time, so that the same line always
//! gets the same result.

/// Longer lines are not read.
pub const MAX_LINE_BYTES: usize = 65_536;
/// The maximum nesting of scripts and wrappers.
const MAX_DEPTH: usize = 8;
/// The maximum number of commands, and of redirections. No person would read more.
const MAX_SEGMENTS: usize = 2_048;
/// The maximum number of bytes of a line and of all scripts in it.
const MAX_READ: usize = 2 * MAX_LINE_BYTES;
/// The maximum number of bytes of all commands and words together. Nested ones are counted several times.
const MAX_COPIED: usize = 16 * MAX_LINE_BYTES;
/// The maximum number of progress reports of the grammar's parser. It reports every 100 steps; 64 KB of
/// ordinary words take 600 reports.
const MAX_REPORTS: usize = 800;
/// The maximum number of chunks of text that the parser may request. 64 KB are 128 chunks, but its scanner
/// goes back and requests chunks again.
const MAX_REQUESTS: usize = 1_000;

/// Why a part of a line was not read.
pub(crate) const TOO_LONG: &str = "is longer than 65536 bytes, which is too long to be analysed";
/// Why a line is not judged that costs too much work, as the end of a sentence about it.
pub(crate) const TOO_COMPLEX: &str = "is too complex to be analysed";
pub(crate) const TOO_MANY: &str = "runs more commands than are analysed";

/// The work done on one line, including everything that is nested in it.
#[derive(Debug, Default)]
pub struct ReadingWork {
    /// Bytes of the line and of scripts in it.
    pub read: usize,
    /// Bytes of commands and words that were copied.
    pub copied: usize,
    /// Progress reports of the grammar's parser.
    pub reports: usize,
    /// Chunks of text that the parser requested.
    pub requests: usize,
}

impl ReadingWork {
    /// Counts a script that is about to be read.
    pub fn read(&mut self, bytes: usize) -> Result<(), &'static str> {
        if bytes > MAX_LINE_BYTES {
            return Err(TOO_LONG);
        }
        self.read += bytes;
        if self.read > MAX_READ { Err(TOO_COMPLEX) } else { Ok(()) }
    }

    /// Counts a command or a redirection that is about to be copied, after `count` others.
    pub fn copy(&mut self, bytes: usize, count: usize, depth: usize) -> Result<(), &'static str> {
        self.copied += bytes;
        if count >= MAX_SEGMENTS || depth > MAX_DEPTH {
            return Err(TOO_MANY);
        }
        if self.copied > MAX_COPIED { Err(TOO_COMPLEX) } else { Ok(()) }
    }

    /// Counts a progress report. Returns false if there were too many.
    pub(crate) const fn report(&mut self) -> bool {
        self.reports += 1;
        self.reports <= MAX_REPORTS && self.requests <= MAX_REQUESTS
    }

    /// Counts a request for text. Returns false if there were too many.
    pub(crate) const fn request(&mut self) -> bool {
        self.requests += 1;
        self.requests <= MAX_REQUESTS
    }

    /// True if the parser has reached a limit.
    pub(crate) const fn is_spent(&self) -> bool {
        self.reports > MAX_REPORTS || self.requests > MAX_REQUESTS
    }
}
