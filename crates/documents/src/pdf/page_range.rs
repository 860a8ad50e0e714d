//! The pages of a PDF that a caller asks for, such as `3` or `1-5`.

use toolwright_base::shortened;

/// A range of pages, counted from 1, including both ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageRange {
    /// The first page wanted.
    pub first: u32,
    /// The last page wanted.
    pub last: u32,
}

/// Why a text is not a range of pages.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PageRangeError {
    /// The text is empty.
    #[error("pages is empty; give a page such as `3` or a range such as `1-5`")]
    Empty,
    /// One end of the range is missing.
    #[error("pages `{0}` is open-ended; give both ends, such as `1-5`")]
    Open(String),
    /// The text is something other than one or two numbers.
    #[error("pages `{0}` is not a page or a range; give `3` or `1-5`")]
    NotANumber(String),
    /// Page numbers start at 1.
    #[error("pages `{0}` asks for page 0; pages are counted from 1")]
    Zero(String),
    /// The range runs backwards.
    #[error("pages `{first}-{last}` ends before it starts; give `{last}-{first}`")]
    Reversed {
        /// The first page as given.
        first: u32,
        /// The last page as given.
        last: u32,
    },
    /// A number is larger than any page number.
    #[error("pages `{0}` holds a number that is too large for a page")]
    TooLarge(String),
}

impl PageRange {
    /// Parses `3` or `1-5`; spaces around the numbers are allowed, an open end is not.
    ///
    /// # Errors
    /// Says what is wrong with the text and gives a correct example.
    pub fn parse(text: &str) -> Result<Self, PageRangeError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(PageRangeError::Empty);
        }
        let number = |part: &str| -> Result<u32, PageRangeError> {
            let part = part.trim();
            if part.is_empty() {
                return Err(PageRangeError::Open(shortened(text, 40).into_owned()));
            }
            if !part.bytes().all(|byte| byte.is_ascii_digit()) {
                return Err(PageRangeError::NotANumber(shortened(text, 40).into_owned()));
            }
            match part.parse() {
                Ok(0) => Err(PageRangeError::Zero(shortened(text, 40).into_owned())),
                Ok(page) => Ok(page),
                Err(_) => Err(PageRangeError::TooLarge(shortened(text, 40).into_owned())),
            }
        };
        let (first, last) = match text.split_once('-') {
            None => (number(text)?, number(text)?),
            Some((first, last)) if first.trim().is_empty() && last.trim().is_empty() => {
                return Err(PageRangeError::NotANumber(shortened(text, 40).into_owned()));
            }
            Some((first, last)) => (number(first)?, number(last)?),
        };
        if last < first {
            return Err(PageRangeError::Reversed { first, last });
        }
        Ok(Self { first, last })
    }

    pub(super) fn pages(self) -> u64 {
        (u64::from(self.last) + 1).saturating_sub(u64::from(self.first))
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn parses_a_page_and_a_range() {
        assert_eq!(PageRange::parse("3"), Ok(PageRange { first: 3, last: 3 }));
        assert_eq!(PageRange::parse("1-5"), Ok(PageRange { first: 1, last: 5 }));
        assert_eq!(PageRange::parse(" 2 - 4 "), Ok(PageRange { first: 2, last: 4 }));
    }

    #[test]
    fn refuses_a_range_that_is_none_and_says_how_to_write_it() {
        for (text, message) in [
            ("", "pages is empty; give a page such as `3` or a range such as `1-5`"),
            ("0", "pages `0` asks for page 0; pages are counted from 1"),
            ("0-3", "pages `0-3` asks for page 0; pages are counted from 1"),
            ("5-2", "pages `5-2` ends before it starts; give `2-5`"),
            ("3-", "pages `3-` is open-ended; give both ends, such as `1-5`"),
            ("-3", "pages `-3` is open-ended; give both ends, such as `1-5`"),
            ("-", "pages `-` is not a page or a range; give `3` or `1-5`"),
            ("two", "pages `two` is not a page or a range; give `3` or `1-5`"),
            ("1,3", "pages `1,3` is not a page or a range; give `3` or `1-5`"),
            ("1-2-3", "pages `1-2-3` is not a page or a range; give `3` or `1-5`"),
            ("+3", "pages `+3` is not a page or a range; give `3` or `1-5`"),
            ("4294967296", "pages `4294967296` holds a number that is too large for a page"),
        ] {
            assert_eq!(PageRange::parse(text).unwrap_err().to_string(), message);
        }
    }
}
