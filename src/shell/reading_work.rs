//! How much work a line may cost. A bound on work, not on time, so that the same line always gets the same
//! answer.

/// Longer lines are not looked into.
pub const MAX_LINE_BYTES: usize = 65_536;
/// How deep scripts in scripts and wrappers in wrappers are followed.
const MAX_DEPTH: usize = 8;
/// A line of more commands, or of more redirections, than a person would read.
const MAX_SEGMENTS: usize = 2_048;
/// The text of a line and of all scripts in it.
const MAX_READ: usize = 2 * MAX_LINE_BYTES;
/// The text of all commands and words, of which some stand in others.
const MAX_COPIED: usize = 16 * MAX_LINE_BYTES;
/// How often the grammar's parser may report progress, which it does every hundred steps. 64 KB of
/// ordinary words take 600 reports.
const MAX_REPORTS: usize = 800;
/// How many pieces of text the parser may ask for. 64 KB read once are 128 of them, but its scanner goes
/// back to try again.
const MAX_REQUESTS: usize = 1_000;

/// Why a line was not looked into as a whole.
pub(crate) const TOO_LONG: &str = "is longer than 65536 bytes, which is too long to be looked into";
pub(crate) const TOO_TANGLED: &str = "is too tangled to be looked into";
pub(crate) const TOO_MANY: &str = "runs more commands than are looked into";

/// The work that was done on one line, everything that is nested in it included.
#[derive(Debug, Default)]
pub struct ReadingWork {
    /// Bytes of scripts.
    pub read: usize,
    /// Bytes of commands and words.
    pub copied: usize,
    /// Progress reports of the grammar's parser.
    pub reports: usize,
    /// Pieces of text that the parser asked for.
    pub requests: usize,
}

impl ReadingWork {
    /// Counts a script that is about to be read.
    pub(crate) fn read(&mut self, bytes: usize) -> Result<(), &'static str> {
        if bytes > MAX_LINE_BYTES {
            return Err(TOO_LONG);
        }
        self.read += bytes;
        if self.read > MAX_READ { Err(TOO_TANGLED) } else { Ok(()) }
    }

    /// Counts a command or a redirection that is about to be taken apart, of which there are so many.
    pub(crate) fn copy(
        &mut self,
        bytes: usize,
        count: usize,
        depth: usize,
    ) -> Result<(), &'static str> {
        self.copied += bytes;
        if count >= MAX_SEGMENTS || depth > MAX_DEPTH {
            return Err(TOO_MANY);
        }
        if self.copied > MAX_COPIED { Err(TOO_TANGLED) } else { Ok(()) }
    }

    /// Counts a progress report; false when there were too many.
    pub(crate) const fn report(&mut self) -> bool {
        self.reports += 1;
        self.reports <= MAX_REPORTS && self.requests <= MAX_REQUESTS
    }

    /// Counts a request for text; false when there were too many.
    pub(crate) const fn request(&mut self) -> bool {
        self.requests += 1;
        self.requests <= MAX_REQUESTS
    }

    /// True when the parser may do nothing more.
    pub(crate) const fn is_spent(&self) -> bool {
        self.reports > MAX_REPORTS || self.requests > MAX_REQUESTS
    }
}
