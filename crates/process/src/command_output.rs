//! The output of one command. Its beginning and its end stay in memory. Once it is larger than
//! that, all of it is also written to a file, up to a limit.

use std::{
    fs::File,
    io::{self, Write as _},
    path::PathBuf,
    sync::Arc,
};

use toolwright_base::regular_file;

use super::output_files::OutputFiles;

/// How many bytes of the beginning, and how many of the end, stay in memory.
pub(super) const KEPT: usize = 64 * 1024;
/// How many bytes are queued for a listener before the command has to wait.
const MAX_WAITING: usize = 256 * 1024;

/// The file with the whole output.
#[derive(Debug)]
enum Spill {
    /// There is none yet, because all of the output is in memory.
    NotNeeded,
    /// No file is ever made, because only the beginning is wanted.
    Unwanted,
    /// The file holds the output up to the cap. It is open while the command runs.
    File { file: Option<File>, path: PathBuf, written: u64 },
    /// The file could not be created or written, for this reason.
    Failed(String),
}

/// Whether there is a file with the whole output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SpillState {
    /// There is no file.
    None,
    /// A file holds the output from the first byte on, up to its limit.
    File {
        /// The path of the file.
        path: PathBuf,
        /// How many bytes it holds.
        bytes: u64,
    },
    /// The file could not be created or written, for this reason.
    Failed(String),
}

/// A part of the output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputPart {
    /// Where it begins. This is later than requested if the bytes there were not kept.
    pub offset: u64,
    /// The bytes of the output from there on.
    pub bytes: Vec<u8>,
}

impl OutputPart {
    /// The offset of the first byte after it.
    pub fn end(&self) -> u64 {
        self.offset + self.bytes.len() as u64
    }
}

/// Collects the output of a command.
#[derive(Debug)]
pub(super) struct CommandOutput {
    /// How many bytes of the beginning stay in memory.
    head_bytes: usize,
    head: Vec<u8>,
    /// The last bytes, up to twice [`KEPT`] of them. Empty while the head holds everything.
    tail: Vec<u8>,
    total: u64,
    spill: Spill,
    files: Arc<OutputFiles>,
    file_name: String,
    cap: u64,
    /// Output that the listener has not taken yet. `None` without a listener.
    waiting: Option<Vec<u8>>,
}

impl CommandOutput {
    pub(super) fn new(files: Arc<OutputFiles>, file_name: String, cap: u64) -> Self {
        Self {
            head_bytes: KEPT,
            head: Vec::new(),
            tail: Vec::new(),
            total: 0,
            spill: Spill::NotNeeded,
            files,
            file_name,
            cap,
            waiting: None,
        }
    }

    /// Keeps only the beginning, and never in a file.
    pub(super) fn beginning(files: Arc<OutputFiles>, bytes: usize) -> Self {
        let output = Self::new(files, String::new(), 0);
        Self { head_bytes: bytes, spill: Spill::Unwanted, ..output }
    }

    /// Queues output for a listener from now on, which has to take it.
    pub(super) fn listen(&mut self) {
        self.waiting = Some(Vec::new());
    }

    /// Takes the queued output. Also returns whether the command had to wait.
    pub(super) fn take_waiting(&mut self) -> (Vec<u8>, bool) {
        let was_full = self.is_full();
        (self.waiting.as_mut().map(std::mem::take).unwrap_or_default(), was_full)
    }

    /// True when the command has to wait for its listener.
    pub(super) fn is_full(&self) -> bool {
        self.waiting.as_ref().is_some_and(|it| it.len() >= MAX_WAITING)
    }

    /// Stops queueing output.
    pub(super) fn stop_listening(&mut self) {
        self.waiting = None;
    }

    pub(super) fn append(&mut self, chunk: &[u8]) {
        if let Some(waiting) = &mut self.waiting {
            waiting.extend_from_slice(chunk);
        }
        let room = self.head_bytes.saturating_sub(self.head.len());
        if chunk.len() > room && matches!(self.spill, Spill::NotNeeded) {
            self.spill();
        }
        self.total += chunk.len() as u64;
        let (beginning, rest) = chunk.split_at_checked(room).unwrap_or((chunk, &[]));
        self.head.extend_from_slice(beginning);
        if rest.len() >= KEPT {
            self.tail.clear();
            self.tail.extend_from_slice(last(rest, KEPT));
        } else {
            self.tail.extend_from_slice(rest);
            if self.tail.len() > 2 * KEPT {
                self.tail.drain(..self.tail.len() - KEPT);
            }
        }
        self.write(chunk);
    }

    /// True if only the end of further output is kept: the file is full, and there is no listener.
    pub(super) fn only_counts(&self) -> bool {
        let is_full = match &self.spill {
            Spill::NotNeeded => false,
            Spill::Unwanted => self.head.len() >= self.head_bytes,
            Spill::File { written, .. } => *written >= self.cap,
            Spill::Failed(_) => true,
        };
        is_full && self.waiting.is_none()
    }

    /// Counts bytes that were discarded. At least [`KEPT`] more bytes must follow.
    pub(super) fn skip(&mut self, bytes: u64) {
        self.total += bytes;
        self.tail.clear();
    }

    /// Creates the file and writes the output so far to it.
    pub(super) fn spill(&mut self) {
        if !matches!(self.spill, Spill::NotNeeded) {
            return;
        }
        self.spill = match self.files.create(&self.file_name) {
            Ok((file, path)) => Spill::File { file: Some(file), path, written: 0 },
            Err(error) => Spill::Failed(error.to_string()),
        };
        let head = std::mem::take(&mut self.head);
        self.write(&head);
        self.head = head;
    }

    fn write(&mut self, chunk: &[u8]) {
        let Spill::File { file: Some(file), path, written } = &mut self.spill else { return };
        let room = usize::try_from(self.cap.saturating_sub(*written)).unwrap_or(usize::MAX);
        let within = chunk.get(..room.min(chunk.len())).unwrap_or_default();
        match file.write_all(within) {
            Ok(()) => *written += within.len() as u64,
            Err(error) => {
                // A reader would take an incomplete file for the whole output.
                let _ = std::fs::remove_file(path);
                self.spill = Spill::Failed(error.to_string());
            }
        }
    }

    pub(super) fn total(&self) -> u64 {
        self.total
    }

    pub(super) fn spill_state(&self) -> SpillState {
        match &self.spill {
            Spill::NotNeeded | Spill::Unwanted => SpillState::None,
            Spill::File { path, written, .. } => {
                SpillState::File { path: path.clone(), bytes: *written }
            }
            Spill::Failed(cause) => SpillState::Failed(cause.clone()),
        }
    }

    /// The beginning and the end. The end is empty if the beginning is the whole output.
    pub(super) fn ends(&self) -> (Vec<u8>, Vec<u8>) {
        (self.head.clone(), last(&self.tail, KEPT).to_vec())
    }

    /// The whole output, if all of it is in memory.
    pub(super) fn whole(&self) -> Option<Vec<u8>> {
        (self.total == (self.head.len() + self.tail.len()) as u64)
            .then(|| [self.head.as_slice(), &self.tail].concat())
    }

    /// At most `max` bytes from an offset on. Bytes that were not kept are skipped: the part begins
    /// after them, or ends before them.
    pub(super) fn part(&self, offset: u64, max: usize) -> io::Result<OutputPart> {
        let mut part = self.piece(offset, max)?;
        // The bytes may be partly in memory and partly in the file.
        while part.end() < self.total && part.bytes.len() < max {
            let next = self.piece(part.end(), max - part.bytes.len())?;
            if next.offset > part.end() || next.bytes.is_empty() {
                break;
            }
            part.bytes.extend(next.bytes);
        }
        Ok(part)
    }

    /// The beginning of a part, either from memory or from the file.
    fn piece(&self, offset: u64, max: usize) -> io::Result<OutputPart> {
        let offset = offset.min(self.total);
        let tail_begins = self.total - self.tail.len() as u64;
        if let Some(from_head) = slice_from(&self.head, offset, max) {
            return Ok(OutputPart { offset, bytes: from_head.to_vec() });
        }
        if offset >= tail_begins {
            let bytes = slice_from(&self.tail, offset - tail_begins, max).unwrap_or_default();
            return Ok(OutputPart { offset, bytes: bytes.to_vec() });
        }
        if let Spill::File { file, path, written } = &self.spill
            && offset < *written
        {
            let length = usize::try_from(*written - offset).unwrap_or(usize::MAX).min(max);
            let mut bytes = vec![0; length];
            match file {
                Some(file) => read_exact_at(file, &mut bytes, offset)?,
                None => read_exact_at(&regular_file::open(path)?, &mut bytes, offset)?,
            }
            return Ok(OutputPart { offset, bytes });
        }
        let bytes = self.tail.get(..max.min(self.tail.len())).unwrap_or_default().to_vec();
        Ok(OutputPart { offset: tail_begins, bytes })
    }

    /// Closes the file and frees memory that only further output would need.
    pub(super) fn settle(&mut self) {
        if let Spill::File { file, .. } = &mut self.spill {
            *file = None;
        }
        self.head.shrink_to_fit();
        self.tail.drain(..self.tail.len().saturating_sub(KEPT));
        self.tail.shrink_to_fit();
    }
}

fn last(bytes: &[u8], count: usize) -> &[u8] {
    bytes.get(bytes.len().saturating_sub(count)..).unwrap_or(bytes)
}

fn slice_from(bytes: &[u8], offset: u64, max: usize) -> Option<&[u8]> {
    let from = usize::try_from(offset).ok().filter(|it| *it < bytes.len())?;
    bytes.get(from..bytes.len().min(from.saturating_add(max)))
}

#[cfg(unix)]
fn read_exact_at(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<()> {
    use std::os::unix::fs::FileExt as _;
    file.read_exact_at(bytes, offset)
}

#[cfg(not(unix))]
fn read_exact_at(mut file: &File, bytes: &mut [u8], offset: u64) -> io::Result<()> {
    use std::io::{Read as _, Seek as _, SeekFrom};
    file.seek(SeekFrom::Start(offset))?;
    file.read_exact(bytes)?;
    file.seek(SeekFrom::End(0)).map(|_| ())
}

#[cfg(test)]
#[expect(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]
mod tests {
    use proptest::prelude::*;
    use tempfile::TempDir;

    use super::*;

    fn output(dir: &TempDir, cap: u64) -> CommandOutput {
        CommandOutput::new(Arc::new(OutputFiles::below(dir.path())), "x.txt".to_owned(), cap)
    }

    fn file(output: &CommandOutput) -> (PathBuf, u64) {
        match output.spill_state() {
            SpillState::File { path, bytes } => Some((path, bytes)),
            SpillState::None | SpillState::Failed(_) => None,
        }
        .unwrap()
    }

    fn all(output: &CommandOutput, max: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        loop {
            let part = output.part(bytes.len() as u64, max).unwrap();
            assert_eq!(part.offset, bytes.len() as u64);
            if part.bytes.is_empty() {
                return bytes;
            }
            bytes.extend(part.bytes);
        }
    }

    #[test]
    fn only_large_output_makes_a_file_which_holds_it_from_the_first_byte() {
        let dir = TempDir::new().unwrap();
        let mut output = output(&dir, u64::MAX);
        output.append(&vec![b'a'; KEPT]);
        assert_eq!(output.spill_state(), SpillState::None);
        output.append(b"b");
        let (path, bytes) = file(&output);
        let whole = [vec![b'a'; KEPT], b"b".to_vec()].concat();
        assert_eq!((bytes, std::fs::read(path).unwrap()), (whole.len() as u64, whole.clone()));
        assert_eq!(output.ends(), (vec![b'a'; KEPT], b"b".to_vec()));
        assert_eq!(all(&output, 1_000), whole);
    }

    #[test]
    fn a_part_can_span_memory_and_the_file() {
        let dir = TempDir::new().unwrap();
        let mut output = output(&dir, u64::MAX);
        let bytes: Vec<u8> = (0..5 * KEPT).map(|at| (at % 251).try_into().unwrap()).collect();
        output.append(&bytes);
        output.settle();
        assert_eq!(output.part(0, 4 * KEPT).unwrap().bytes, bytes[..4 * KEPT]);
        let over = OutputPart { offset: KEPT as u64 - 1, bytes: bytes[KEPT - 1..=KEPT].to_vec() };
        assert_eq!(output.part(over.offset, 2).unwrap(), over);
        assert_eq!(output.part(1, usize::MAX).unwrap().bytes, bytes[1..]);
    }

    #[test]
    fn whole_output_is_available_while_beginning_and_end_touch() {
        let dir = TempDir::new().unwrap();
        let mut output = output(&dir, u64::MAX);
        let bytes: Vec<u8> = (0..KEPT + 10).map(|at| (at % 251).try_into().unwrap()).collect();
        output.append(&bytes);
        assert_eq!(output.whole(), Some(bytes));
        output.append(&vec![b'x'; 2 * KEPT]);
        assert_eq!(output.whole(), None);
    }

    #[test]
    fn a_file_ends_at_its_cap_and_later_output_is_counted() {
        let dir = TempDir::new().unwrap();
        let mut output = output(&dir, 100_000);
        for _ in 0..10 {
            output.append(&vec![b'x'; 50_000]);
        }
        output.append(b"end");
        let (path, bytes) = file(&output);
        assert_eq!((bytes, path.metadata().unwrap().len()), (100_000, 100_000));
        assert_eq!(output.total(), 500_003);
        assert!(output.ends().1.ends_with(b"xend"));
        let part = output.part(200_000, 10).unwrap();
        assert_eq!(part.offset, 500_003 - output.tail.len() as u64);
    }

    #[test]
    fn a_file_that_cannot_be_made_is_reported_and_memory_is_kept() {
        let mut output = CommandOutput::new(
            Arc::new(OutputFiles::below(std::path::Path::new("/nonexistent/place"))),
            "x.txt".to_owned(),
            u64::MAX,
        );
        output.append(&vec![b'x'; 2 * KEPT]);
        assert!(matches!(output.spill_state(), SpillState::Failed(_)));
        assert_eq!(output.total(), 2 * KEPT as u64);
        assert_eq!(all(&output, 100_000).len(), 2 * KEPT);
    }

    #[test]
    fn skipped_bytes_leave_no_gap_in_the_kept_end() {
        let dir = TempDir::new().unwrap();
        let mut output = output(&dir, 100_000);
        output.append(&vec![b'x'; 90_000]);
        assert!(!output.only_counts());
        output.append(&vec![b'x'; 20_000]);
        assert!(output.only_counts());
        output.skip(1_000_000);
        output.append(&[vec![b'y'; KEPT], b"end".to_vec()].concat());
        assert_eq!(output.total(), 1_110_003 + KEPT as u64);
        let (head, tail) = output.ends();
        assert_eq!((head.len(), tail.len()), (KEPT, KEPT));
        assert!(tail.ends_with(b"yend") && !tail.contains(&b'x'));
        let part = output.part(500_000, 10).unwrap();
        assert_eq!(part, OutputPart { offset: 1_110_003, bytes: vec![b'y'; 10] });
    }

    proptest! {
        #[test]
        fn output_in_any_pieces_can_be_read_back(
            sizes in proptest::collection::vec(1_usize..90_000, 1..12),
            step in 1_000_usize..100_000,
        ) {
            let dir = TempDir::new().unwrap();
            let mut output = output(&dir, u64::MAX);
            let mut whole = Vec::new();
            for (index, size) in sizes.into_iter().enumerate() {
                let chunk: Vec<u8> = (0..size).map(|at| ((at * 31 + index * 7) % 251).try_into().unwrap()).collect();
                output.append(&chunk);
                whole.extend(chunk);
            }
            prop_assert!(all(&output, step) == whole);
            let (head, tail) = output.ends();
            prop_assert!(whole.starts_with(&head) && whole.ends_with(&tail));
        }
    }
}
