//! How much work, how many fonts and how much memory one read may cost. Charging for work is also
//! when a cancelled read is noticed.

use super::PdfError;

/// The work of one read, counted in bytes that are copied or unpacked.
const MAX_WORK: usize = 256 * 1024 * 1024;
/// Parsing a byte costs as much as copying four.
const PARSE_COST: usize = 4;
/// How much work is done between two checks for cancellation.
const CANCEL_CHECK_EVERY: usize = 1024 * 1024;
const MAX_FONTS: usize = 1000;
/// Loading one font costs about as much as copying this many bytes.
const FONT_COST: usize = 16 * 1024;
/// The number of character mappings and width ranges that all fonts may have together.
const MAX_FONT_ENTRIES: usize = 300_000;

pub(super) struct Budget<'a> {
    cancelled: &'a dyn Fn() -> bool,
    work_left: usize,
    work_until_check: usize,
    fonts_left: usize,
    font_entries_left: usize,
}

impl<'a> Budget<'a> {
    /// A budget for one file. Reading each of its bytes once costs nothing.
    pub(super) fn new(file_size: usize, cancelled: &'a dyn Fn() -> bool) -> Self {
        Self {
            cancelled,
            work_left: MAX_WORK.saturating_add(file_size),
            work_until_check: 0,
            fonts_left: MAX_FONTS,
            font_entries_left: MAX_FONT_ENTRIES,
        }
    }

    pub(super) fn charge(&mut self, work: usize) -> Result<(), PdfError> {
        self.work_left = self
            .work_left
            .checked_sub(work)
            .ok_or(PdfError::TooComplex("it takes too much work to read"))?;
        match self.work_until_check.checked_sub(work) {
            Some(left) => self.work_until_check = left,
            None if (self.cancelled)() => return Err(PdfError::Cancelled),
            None => self.work_until_check = CANCEL_CHECK_EVERY,
        }
        Ok(())
    }

    pub(super) fn charge_parsing(&mut self, bytes: usize) -> Result<(), PdfError> {
        self.charge(bytes.saturating_mul(PARSE_COST))
    }

    pub(super) fn charge_font(&mut self) -> Result<(), PdfError> {
        self.charge(FONT_COST)?;
        self.fonts_left = self
            .fonts_left
            .checked_sub(1)
            .ok_or(PdfError::TooComplex("its pages use more than 1,000 fonts"))?;
        Ok(())
    }

    /// Returns whether a font may keep this many more entries, and counts them if so.
    pub(super) fn take_font_entries(&mut self, count: usize) -> bool {
        let left = self.font_entries_left.checked_sub(count);
        self.font_entries_left = left.unwrap_or(self.font_entries_left);
        left.is_some()
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::indexing_slicing, reason = "tests")]

    use pretty_assertions::assert_eq;

    use crate::pdf::test_pdf::{file, refusal, stream};

    #[test]
    fn refuses_work_without_end() {
        let reused = format!("[{}]", "6 0 R ".repeat(150_000));
        let page = format!("<< /Type /Page /Contents {reused} >>");
        let big = stream("", &vec![b' '; 1_000_000]);
        let mut objects =
            vec![b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(), b"<< /Kids [3 0 R] >>".to_vec()];
        objects.extend([page.into_bytes(), b"null".to_vec(), b"null".to_vec(), big]);
        assert_eq!(refusal(&file(&objects)), "a page unpacks to more than 12 MiB");
        objects[5] = stream("/Filter /RunLengthDecode", &vec![128; 1_000_000]);
        assert_eq!(refusal(&file(&objects)), "it takes too much work to read");
    }
}
