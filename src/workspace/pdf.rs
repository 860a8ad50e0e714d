//! The text of a PDF, page by page, at a cost that no file can drive up.
//!
//! `lopdf` loads a document eagerly: two bytes of an array become a hundred bytes of memory, a
//! predictor's `/Columns` is allocated as written, and a `ToUnicode` range is expanded code by
//! code, so a file of a few kilobytes can take gigabytes whatever limits are set. This module
//! therefore finds and parses objects itself, lazily and on a budget, and leaves to `lopdf` what
//! it does within a bound: stream filters, decryption and the standard font encodings.
//!
//! It must never know about tools, policy, sessions or JSON, and it never touches the disk.

use std::collections::{HashMap, HashSet, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use lopdf::encryption::decrypt_object;
use lopdf::{Dictionary, Document, EncryptionState, Object, ObjectId, Stream, StringFormat};

/// The most pages one read may ask for.
pub const MAX_PAGES_PER_READ: u32 = 20;
/// The most pages a document may have to be read without naming pages.
pub const MAX_PAGES_WITHOUT_RANGE: u32 = 10;
/// The most text, in bytes, that is kept of one page.
pub const MAX_PAGE_TEXT: usize = 1024 * 1024;

/// How far into a file its header may begin, as common readers allow.
const HEADER_WINDOW: usize = 1024;
/// The most bytes one stream may unpack to, per filter, and all streams of one page together.
const MAX_UNPACKED: usize = 12 * 1024 * 1024;
/// Steps of work (bytes copied or unpacked; parsing counts fourfold) for one read.
const MAX_WORK: usize = 256 * 1024 * 1024;
const PARSE_COST: usize = 4;
const CANCEL_CHECK_EVERY: usize = 1024 * 1024;
const MAX_OBJECTS: usize = 500_000;
const MAX_PAGES_IN_DOCUMENT: usize = 50_000;
/// Values in one object: each takes about a hundred bytes once parsed.
const MAX_VALUES: usize = 200_000;
const MAX_DEPTH: usize = 64;
const MAX_FILTERS: usize = 4;
const MAX_PREDICTOR_BITS: i64 = 8 * 1024 * 1024;
const MAX_CACHED_CONTAINERS: usize = 24 * 1024 * 1024;
const MAX_FONTS: usize = 1000;
/// Setting up one font costs about as much as parsing this many bytes.
const FONT_COST: usize = 16 * 1024;
/// Character mappings and width ranges of all fonts together.
const MAX_FONT_ENTRIES: usize = 300_000;
const MAX_REFERENCE_CHAIN: usize = 16;
const MAX_FORM_DEPTH: usize = 4;
const MAX_GRAPHICS_STATES: usize = 256;
const MAX_OPERANDS: usize = 512;
const TRAILER_CANDIDATES: usize = 16;

/// Pages counted from 1, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageRange {
    /// The first page wanted.
    pub first: u32,
    /// The last page wanted.
    pub last: u32,
}

/// Why a text does not name a range of pages.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PageRangeError {
    /// There is nothing to parse.
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
    /// Names what is wrong with the text and shows a right form.
    pub fn parse(text: &str) -> Result<Self, PageRangeError> {
        let text = text.trim();
        if text.is_empty() {
            return Err(PageRangeError::Empty);
        }
        let number = |part: &str| -> Result<u32, PageRangeError> {
            let part = part.trim();
            if part.is_empty() {
                return Err(PageRangeError::Open(shortened(text)));
            }
            if !part.bytes().all(|byte| byte.is_ascii_digit()) {
                return Err(PageRangeError::NotANumber(shortened(text)));
            }
            match part.parse() {
                Ok(0) => Err(PageRangeError::Zero(shortened(text))),
                Ok(page) => Ok(page),
                Err(_) => Err(PageRangeError::TooLarge(shortened(text))),
            }
        };
        let (first, last) = match text.split_once('-') {
            None => (number(text)?, number(text)?),
            Some((first, last)) if first.trim().is_empty() && last.trim().is_empty() => {
                return Err(PageRangeError::NotANumber(shortened(text)));
            }
            Some((first, last)) => (number(first)?, number(last)?),
        };
        if last < first {
            return Err(PageRangeError::Reversed { first, last });
        }
        Ok(Self { first, last })
    }

    fn pages(self) -> u64 {
        (u64::from(self.last) + 1).saturating_sub(u64::from(self.first))
    }
}

fn shortened(text: &str) -> String {
    text.chars().take(40).collect()
}

/// What was read of a PDF.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PdfText {
    /// How many pages the document has.
    pub total_pages: u32,
    /// The pages asked for, in order.
    pub pages: Vec<PdfPage>,
}

/// The text of one page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PdfPage {
    /// The page's number, counted from 1.
    pub number: u32,
    /// The text in the order in which the page draws it.
    pub text: String,
    /// What the text lacks, if anything: it was cut, or some of it could not be decoded.
    pub note: Option<String>,
}

/// Why a PDF could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PdfError {
    /// The bytes hold no PDF header.
    #[error("not a PDF: no `%PDF-` within the first 1024 bytes; read the file as what it is")]
    NotAPdf,
    /// The document needs a password.
    #[error(
        "the PDF is encrypted and needs a password; decrypt it first, for example with `qpdf --decrypt`"
    )]
    Encrypted,
    /// The structure of the document is beyond repair.
    #[error("the PDF is damaged: {0}; repair it first, for example with `qpdf in.pdf out.pdf`")]
    Damaged(&'static str),
    /// The document is too long to be read whole.
    #[error(
        "the PDF has {total} pages, more than {MAX_PAGES_WITHOUT_RANGE}; set pages, for example `1-{MAX_PAGES_WITHOUT_RANGE}`"
    )]
    PagesNeeded {
        /// How many pages the document has.
        total: u32,
    },
    /// The range is longer than one read allows.
    #[error(
        "pages `{first}-{last}` asks for {asked} pages; at most {MAX_PAGES_PER_READ} can be read at once"
    )]
    TooManyPages {
        /// The first page asked for.
        first: u32,
        /// The last page asked for.
        last: u32,
        /// How many pages that is.
        asked: u64,
    },
    /// The range starts after the last page, or is not a range.
    #[error(
        "pages `{first}-{last}` lies outside the document, which has {total} pages; choose pages within `1-{total}`"
    )]
    OutsideDocument {
        /// The first page asked for.
        first: u32,
        /// The last page asked for.
        last: u32,
        /// How many pages the document has.
        total: u32,
    },
    /// Reading on would take more memory or time than a document is worth.
    #[error("the PDF was refused: {0}; convert it to text by other means if you trust it")]
    TooComplex(&'static str),
    /// The caller asked to stop.
    #[error("reading the PDF was cancelled")]
    Cancelled,
    /// A library failed in a way it should not.
    #[error("the PDF reader failed inside: {0}; the file is probably damaged")]
    Crashed(String),
}

/// Reads the text of a PDF, or of the pages in `range`.
///
/// A range that begins inside the document and ends after it is cut at the last page.
///
/// # Errors
/// Says what is wrong with the file or the range; a hostile file is refused, never obeyed.
pub fn read_pdf(
    bytes: &[u8],
    range: Option<PageRange>,
    cancelled: &dyn Fn() -> bool,
) -> Result<PdfText, PdfError> {
    // The filters and ciphers are foreign code: their panic must not cross into the host.
    catch_unwind(AssertUnwindSafe(|| read(bytes, range, cancelled))).unwrap_or_else(|panic| {
        let message = panic
            .downcast_ref::<&str>()
            .map(ToString::to_string)
            .or_else(|| panic.downcast_ref::<String>().cloned());
        Err(PdfError::Crashed(message.unwrap_or_else(|| "no message".to_owned())))
    })
}

fn read(
    bytes: &[u8],
    range: Option<PageRange>,
    cancelled: &dyn Fn() -> bool,
) -> Result<PdfText, PdfError> {
    let header = bytes.get(..HEADER_WINDOW).unwrap_or(bytes);
    if find(header, b"%PDF-", 0).is_none() {
        return Err(PdfError::NotAPdf);
    }
    if let Some(PageRange { first, last }) = range {
        let asked = range.map_or(0, PageRange::pages);
        if asked > u64::from(MAX_PAGES_PER_READ) {
            return Err(PdfError::TooManyPages { first, last, asked });
        }
    }
    let mut reader = Reader::open(bytes, cancelled)?;
    let pages = reader.pages()?;
    let total = u32::try_from(pages.len()).unwrap_or(u32::MAX);
    let (first, last) = match range {
        None if total > MAX_PAGES_WITHOUT_RANGE => return Err(PdfError::PagesNeeded { total }),
        None => (1, total),
        Some(PageRange { first, last }) if first == 0 || first > total || last < first => {
            return Err(PdfError::OutsideDocument { first, last, total });
        }
        Some(PageRange { first, last }) => (first, last.min(total)),
    };
    let mut result = PdfText { total_pages: total, pages: Vec::new() };
    for (number, id) in (1..=total).zip(pages) {
        if number > last {
            break;
        }
        if number < first {
            continue;
        }
        if cancelled() {
            return Err(PdfError::Cancelled);
        }
        result.pages.push(PageText::of(&mut reader, number, id)?);
    }
    Ok(result)
}

fn find(haystack: &[u8], needle: &[u8], from: usize) -> Option<usize> {
    let first = *needle.first()?;
    let mut at = from;
    loop {
        let rest = haystack.get(at..)?;
        at += rest.iter().position(|&byte| byte == first)?;
        if haystack.get(at..)?.starts_with(needle) {
            return Some(at);
        }
        at += 1;
    }
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b'\0' | b'\x0c')
}

fn is_regular(byte: u8) -> bool {
    !is_space(byte) && !b"()<>[]{}/%".contains(&byte)
}

enum Token<'a> {
    Value(Object),
    Keyword(&'a [u8]),
}

/// Reads PDF tokens; once it meets nesting or size beyond the bounds it reads nothing more.
struct Lexer<'a> {
    data: &'a [u8],
    at: usize,
    values_left: usize,
    overflowed: bool,
}

impl<'a> Lexer<'a> {
    fn new(data: &'a [u8], at: usize) -> Self {
        Self { data, at, values_left: MAX_VALUES, overflowed: false }
    }

    fn peek(&self) -> Option<u8> {
        self.data.get(self.at).copied()
    }

    fn take_while(&mut self, accept: impl Fn(u8) -> bool) -> &'a [u8] {
        let rest = self.data.get(self.at..).unwrap_or_default();
        let length = rest.iter().position(|&byte| !accept(byte)).unwrap_or(rest.len());
        self.at += length;
        rest.get(..length).unwrap_or_default()
    }

    fn skip_space(&mut self) {
        loop {
            self.take_while(is_space);
            if self.peek() != Some(b'%') {
                return;
            }
            self.take_while(|byte| byte != b'\n' && byte != b'\r');
        }
    }

    fn eat(&mut self, text: &[u8]) -> bool {
        let found = self.data.get(self.at..).is_some_and(|rest| rest.starts_with(text));
        if found {
            self.at += text.len();
        }
        found
    }

    fn object(&mut self) -> Option<Object> {
        match self.token(0)? {
            Token::Value(value) => Some(value),
            Token::Keyword(_) => None,
        }
    }

    fn token(&mut self, depth: usize) -> Option<Token<'a>> {
        self.skip_space();
        if self.overflowed || depth > MAX_DEPTH || self.values_left == 0 {
            self.overflowed = true;
            return None;
        }
        self.values_left -= 1;
        let value = match self.peek()? {
            b'/' => Object::Name(self.name()),
            b'(' => self.literal_string(),
            b'<' if self.eat(b"<<") => Object::Dictionary(self.dictionary(depth)?),
            b'<' => self.hex_string(),
            b'[' => Object::Array(self.array(depth)?),
            b'0'..=b'9' | b'+' | b'-' | b'.' => self.number(),
            _ => match self.take_while(is_regular) {
                b"true" => Object::Boolean(true),
                b"false" => Object::Boolean(false),
                b"null" => Object::Null,
                b"" => {
                    let stray = self.data.get(self.at..=self.at)?;
                    self.at += 1;
                    return Some(Token::Keyword(stray));
                }
                keyword => return Some(Token::Keyword(keyword)),
            },
        };
        Some(Token::Value(value))
    }

    fn name(&mut self) -> Vec<u8> {
        self.at += 1;
        let raw = self.take_while(is_regular);
        let mut name = Vec::with_capacity(raw.len());
        let mut bytes = raw.iter();
        while let Some(&byte) = bytes.next() {
            let escape = match (byte, bytes.as_slice()) {
                (b'#', [high, low, ..]) => hex_digit(*high).zip(hex_digit(*low)),
                _ => None,
            };
            match escape {
                Some((high, low)) => {
                    name.push(high << 4 | low);
                    bytes.nth(1);
                }
                None => name.push(byte),
            }
        }
        name
    }

    fn literal_string(&mut self) -> Object {
        self.at += 1;
        let mut text = Vec::new();
        let mut open = 1_usize;
        while let Some(byte) = self.peek() {
            self.at += 1;
            match byte {
                b'(' => open += 1,
                b')' => {
                    open -= 1;
                    if open == 0 {
                        break;
                    }
                }
                b'\\' => {
                    text.extend(self.escape());
                    continue;
                }
                _ => {}
            }
            text.push(byte);
        }
        Object::String(text, StringFormat::Literal)
    }

    fn escape(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        Some(match byte {
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'b' => b'\x08',
            b'f' => b'\x0c',
            b'\n' => return None,
            b'\r' => {
                self.eat(b"\n");
                return None;
            }
            b'0'..=b'7' => {
                let mut code = byte - b'0';
                for _ in 0..2 {
                    match self.peek() {
                        Some(digit @ b'0'..=b'7') => {
                            code = code.wrapping_mul(8).wrapping_add(digit - b'0');
                        }
                        _ => break,
                    }
                    self.at += 1;
                }
                code
            }
            other => other,
        })
    }

    fn hex_string(&mut self) -> Object {
        self.at += 1;
        let raw = self.take_while(|byte| byte != b'>');
        self.at += 1;
        let digits: Vec<u8> = raw.iter().copied().filter_map(hex_digit).collect();
        let bytes = digits
            .chunks(2)
            .map(|pair| {
                pair.iter().fold(0, |byte, digit| byte << 4 | digit) << (4 * (2 - pair.len()))
            })
            .collect();
        Object::String(bytes, StringFormat::Hexadecimal)
    }

    fn number(&mut self) -> Object {
        let raw = self.take_while(|byte| byte.is_ascii_digit() || b"+-.".contains(&byte));
        let text = std::str::from_utf8(raw).unwrap_or_default();
        let Ok(integer) = text.parse::<i64>() else {
            return Object::Real(text.parse::<f32>().unwrap_or(0.0));
        };
        match u32::try_from(integer).ok().and_then(|number| Some((number, self.generation()?))) {
            Some(id) => Object::Reference(id),
            None => Object::Integer(integer),
        }
    }

    /// The ` 0 R` that makes the integer before it a reference.
    fn generation(&mut self) -> Option<u16> {
        let window = self.data.get(self.at..)?;
        let window = window.get(..24).unwrap_or(window);
        let mut ahead = Lexer::new(window, 0);
        let spaced = !ahead.take_while(is_space).is_empty();
        let digits = ahead.take_while(|byte| byte.is_ascii_digit());
        let generation = std::str::from_utf8(digits).ok()?.parse().ok()?;
        let spaced = spaced && !ahead.take_while(is_space).is_empty();
        if !spaced || !ahead.eat(b"R") || ahead.peek().is_some_and(is_regular) {
            return None;
        }
        self.at += ahead.at;
        Some(generation)
    }

    fn array(&mut self, depth: usize) -> Option<Vec<Object>> {
        self.at += 1;
        let mut items = Vec::new();
        loop {
            self.skip_space();
            if self.peek().is_none() || self.eat(b"]") {
                return Some(items);
            }
            match self.token(depth + 1)? {
                Token::Value(item) => items.push(item),
                Token::Keyword(b"endobj" | b"endstream" | b"stream") => return Some(items),
                Token::Keyword(_) => {}
            }
        }
    }

    fn dictionary(&mut self, depth: usize) -> Option<Dictionary> {
        let mut dictionary = Dictionary::new();
        loop {
            self.skip_space();
            if self.peek().is_none() || self.eat(b">>") {
                return Some(dictionary);
            }
            if self.peek() == Some(b'/') {
                let key = self.name();
                self.skip_space();
                if self.data.get(self.at..).is_some_and(|rest| rest.starts_with(b">>")) {
                    continue;
                }
                if let Token::Value(value) = self.token(depth + 1)? {
                    dictionary.set(key, value);
                }
            } else if let Token::Keyword(b"endobj" | b"endstream" | b"stream") =
                self.token(depth + 1)?
            {
                return Some(dictionary);
            }
        }
    }
}

fn hex_digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

/// Where an object is: after its header in the file, or in an object stream.
#[derive(Clone, Copy)]
enum Place {
    File { body: usize, generation: u16 },
    Packed { container: ObjectId, position: usize, offset: usize },
}

impl Place {
    fn position(self) -> usize {
        match self {
            Self::File { body, .. } => body,
            Self::Packed { position, .. } => position,
        }
    }
}

/// Finds objects without trusting the cross-reference table, which can point many entries at one
/// large object. Later definitions win, as they do in files that were updated by appending.
struct Reader<'a> {
    bytes: &'a [u8],
    cancelled: &'a dyn Fn() -> bool,
    places: HashMap<u32, Place>,
    containers: Vec<(ObjectId, usize)>,
    trailers: VecDeque<Dictionary>,
    unpacked: HashMap<ObjectId, Rc<Vec<u8>>>,
    unpacked_bytes: usize,
    cipher: Option<(EncryptionState, Option<ObjectId>)>,
    fonts: HashMap<ObjectId, Rc<Font>>,
    fonts_left: usize,
    font_entries_left: usize,
    work_left: usize,
    work_until_check: usize,
}

impl<'a> Reader<'a> {
    fn open(bytes: &'a [u8], cancelled: &'a dyn Fn() -> bool) -> Result<Self, PdfError> {
        let mut reader = Self {
            bytes,
            cancelled,
            places: HashMap::new(),
            containers: Vec::new(),
            trailers: VecDeque::new(),
            unpacked: HashMap::new(),
            unpacked_bytes: 0,
            cipher: None,
            fonts: HashMap::new(),
            fonts_left: MAX_FONTS,
            font_entries_left: MAX_FONT_ENTRIES,
            work_left: MAX_WORK.saturating_add(bytes.len()),
            work_until_check: 0,
        };
        reader.scan()?;
        reader.unlock()?;
        reader.index_containers()?;
        Ok(reader)
    }

    fn charge(&mut self, work: usize) -> Result<(), PdfError> {
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

    fn parse(&mut self, data: &[u8], at: usize) -> Result<(Option<Object>, usize), PdfError> {
        let mut lexer = Lexer::new(data, at);
        let object = lexer.object();
        self.charge(lexer.at.saturating_sub(at).saturating_add(1).saturating_mul(PARSE_COST))?;
        if lexer.overflowed {
            return Err(PdfError::TooComplex("an object is nested too deeply or too large"));
        }
        Ok((object, lexer.at))
    }

    fn add(&mut self, number: u32, place: Place) -> Result<(), PdfError> {
        if self.places.get(&number).is_some_and(|known| known.position() > place.position()) {
            return Ok(());
        }
        self.places.insert(number, place);
        if self.places.len() > MAX_OBJECTS {
            return Err(PdfError::TooComplex("it holds more than 500,000 objects"));
        }
        Ok(())
    }

    /// One pass over the file for object headers, streams and trailers.
    fn scan(&mut self) -> Result<(), PdfError> {
        let bytes = self.bytes;
        let mut trailers = VecDeque::new();
        let mut open: Option<(ObjectId, usize)> = None;
        let mut terminated = true;
        let mut at = 0;
        while let Some(rest) = bytes.get(at..) {
            let Some(step) = rest.iter().position(|byte| matches!(byte, b'o' | b's' | b't')) else {
                break;
            };
            self.charge(step)?;
            at += step;
            let rest = bytes.get(at..).unwrap_or_default();
            let before = bytes.get(..at).unwrap_or_default();
            if rest.starts_with(b"obj") {
                if let Some((number, generation)) = header(before) {
                    self.add(number, Place::File { body: at + 3, generation })?;
                    open = Some(((number, generation), at + 3));
                }
                at += 3;
            } else if rest.starts_with(b"stream")
                && matches!(rest.get(6), Some(b'\r' | b'\n'))
                && before.trim_ascii_end().ends_with(b">>")
                && let Some((id, body)) = open.take()
            {
                let (object, _) = self.parse(before, body)?;
                let dictionary = match object {
                    Some(Object::Dictionary(dictionary)) => dictionary,
                    _ => Dictionary::new(),
                };
                let payload = payload_start(bytes, at);
                let end = self.payload_end(&dictionary, payload, terminated);
                terminated &= end.is_some();
                at = end.unwrap_or(payload);
                if dictionary.has_type(b"ObjStm") {
                    self.containers.push((id, body));
                } else if dictionary.has(b"Root") {
                    trailers.push_back((body, Some(dictionary)));
                }
            } else if rest.starts_with(b"trailer") {
                trailers.push_back((at + 7, None));
                at += 7;
            } else {
                at += 1;
            }
            if trailers.len() > TRAILER_CANDIDATES {
                trailers.pop_front();
            }
        }
        for (position, dictionary) in trailers {
            let parsed = match dictionary {
                Some(dictionary) => Some(Object::Dictionary(dictionary)),
                None => self.parse(bytes, position)?.0,
            };
            if let Some(Object::Dictionary(dictionary)) = parsed
                && dictionary.has(b"Root")
            {
                self.trailers.push_back(dictionary);
            }
        }
        Ok(())
    }

    /// Where a stream's data ends: by `/Length` if `endstream` confirms it, else by `endstream`.
    fn payload_end(&self, dictionary: &Dictionary, start: usize, search: bool) -> Option<usize> {
        let length = match dictionary.get(b"Length") {
            Ok(Object::Integer(length)) => usize::try_from(*length).ok(),
            Ok(Object::Reference((number, _))) => match self.places.get(number) {
                // A length inside an object stream could need that very stream to be found.
                Some(Place::File { body, .. }) => {
                    match Lexer::new(self.window(*body), 0).token(MAX_DEPTH) {
                        Some(Token::Value(Object::Integer(length))) => usize::try_from(length).ok(),
                        _ => None,
                    }
                }
                _ => None,
            },
            _ => None,
        };
        let stated = length.and_then(|length| start.checked_add(length)).filter(|&end| {
            let mut lexer = Lexer::new(self.window(end), 0);
            lexer.take_while(is_space);
            lexer.eat(b"endstream")
        });
        if stated.is_some() || !search {
            return stated;
        }
        find(self.bytes, b"endstream", start)
    }

    /// A few bytes to look at: many streams may point to the same long run of blanks.
    fn window(&self, at: usize) -> &'a [u8] {
        let rest = self.bytes.get(at..).unwrap_or_default();
        rest.get(..64).unwrap_or(rest)
    }

    /// Prepares decryption with the empty password, which opens files that only restrict use.
    fn unlock(&mut self) -> Result<(), PdfError> {
        let Some(trailer) =
            self.trailers.iter().rev().find(|trailer| trailer.has(b"Encrypt")).cloned()
        else {
            return Ok(());
        };
        let mut document = Document::new();
        let mut own_id = None;
        if let Ok(Object::Reference(id)) = trailer.get(b"Encrypt")
            && let Some(object) = self.load(*id)?
        {
            own_id = Some(*id);
            document.objects.insert(*id, object);
        }
        document.trailer = trailer;
        if document.authenticate_password("").is_err() {
            return Err(PdfError::Encrypted);
        }
        let state = EncryptionState::decode(&document, "").map_err(|_| PdfError::Encrypted)?;
        self.cipher = Some((state, own_id));
        Ok(())
    }

    fn index_containers(&mut self) -> Result<(), PdfError> {
        for (id, position) in std::mem::take(&mut self.containers) {
            let Some(Object::Stream(stream)) = self.load(id)? else {
                continue;
            };
            let first = stream.dict.get(b"First").and_then(Object::as_i64).unwrap_or(0);
            let first = usize::try_from(first).unwrap_or(usize::MAX);
            let Some(data) = self.container(id)? else {
                continue;
            };
            let table = String::from_utf8_lossy(data.get(..first).unwrap_or_default()).into_owned();
            self.charge(table.len().saturating_mul(PARSE_COST))?;
            let mut numbers = table.split_ascii_whitespace().map(str::parse::<u32>);
            while let (Some(Ok(number)), Some(Ok(offset))) = (numbers.next(), numbers.next()) {
                let offset = first.saturating_add(usize::try_from(offset).unwrap_or(usize::MAX));
                self.add(number, Place::Packed { container: id, position, offset })?;
            }
        }
        Ok(())
    }

    fn container(&mut self, id: ObjectId) -> Result<Option<Rc<Vec<u8>>>, PdfError> {
        if let Some(data) = self.unpacked.get(&id) {
            return Ok(Some(Rc::clone(data)));
        }
        // A container is never inside another one; following it there could go in circles.
        if !matches!(self.places.get(&id.0), Some(Place::File { .. })) {
            return Ok(None);
        }
        let Some(Object::Stream(stream)) = self.load(id)? else {
            return Ok(None);
        };
        let data = Rc::new(self.unpack(stream)?);
        if self.unpacked_bytes.saturating_add(data.len()) > MAX_CACHED_CONTAINERS {
            self.unpacked.clear();
            self.unpacked_bytes = 0;
        }
        self.unpacked_bytes += data.len();
        self.unpacked.insert(id, Rc::clone(&data));
        Ok(Some(data))
    }

    fn load(&mut self, id: ObjectId) -> Result<Option<Object>, PdfError> {
        let (body, generation) = match self.places.get(&id.0) {
            None => return Ok(None),
            Some(&Place::Packed { container, offset, .. }) => {
                let Some(data) = self.container(container)? else {
                    return Ok(None);
                };
                return Ok(self.parse(&data, offset)?.0);
            }
            Some(&Place::File { body, generation }) => (body, generation),
        };
        let bytes = self.bytes;
        let (object, end) = self.parse(bytes, body)?;
        let Some(mut object) = object else {
            return Ok(None);
        };
        if let Object::Dictionary(dictionary) = &mut object {
            let mut lexer = Lexer::new(bytes, end);
            lexer.skip_space();
            if lexer.eat(b"stream") {
                let start = payload_start(bytes, lexer.at - b"stream".len());
                let image = dictionary
                    .get(b"Subtype")
                    .and_then(Object::as_name)
                    .is_ok_and(|kind| kind == b"Image");
                let end = if image {
                    start
                } else {
                    self.payload_end(dictionary, start, true).unwrap_or(bytes.len())
                };
                self.charge(end.saturating_sub(start))?;
                let content = bytes.get(start..end).unwrap_or_default().to_vec();
                object = Object::Stream(Stream::new(std::mem::take(dictionary), content));
            }
        }
        if let Some((state, own_id)) = &self.cipher
            && *own_id != Some(id)
        {
            // A part that cannot be decrypted stays as it is and yields no text.
            let _ = decrypt_object(state, (id.0, generation), &mut object);
        }
        Ok(Some(object))
    }

    fn resolve(&mut self, object: &Object) -> Result<Option<Object>, PdfError> {
        let mut current = object.clone();
        for _ in 0..MAX_REFERENCE_CHAIN {
            match current {
                Object::Reference(id) => match self.load(id)? {
                    Some(next) => current = next,
                    None => return Ok(None),
                },
                other => return Ok(Some(other)),
            }
        }
        Ok(None)
    }

    fn get(&mut self, dictionary: &Dictionary, key: &[u8]) -> Result<Option<Object>, PdfError> {
        match dictionary.get(key) {
            Ok(object) => self.resolve(object),
            Err(_) => Ok(None),
        }
    }

    fn get_dictionary(
        &mut self,
        dictionary: &Dictionary,
        key: &[u8],
    ) -> Result<Option<Dictionary>, PdfError> {
        Ok(match self.get(dictionary, key)? {
            Some(Object::Dictionary(found)) => Some(found),
            _ => None,
        })
    }

    /// Decodes a stream after checking what `lopdf` would take on trust.
    fn unpack(&mut self, mut stream: Stream) -> Result<Vec<u8>, PdfError> {
        let filter = self.get(&stream.dict, b"Filter")?;
        let filters = match &filter {
            Some(Object::Array(filters)) => filters.len(),
            Some(_) => 1,
            None => 0,
        };
        if filters > MAX_FILTERS {
            return Err(PdfError::TooComplex("a stream is packed more than four times"));
        }
        if let Some(filter) = filter {
            stream.dict.set("Filter", filter);
        }
        let parameters = match self.get(&stream.dict, b"DecodeParms")? {
            Some(Object::Array(items)) => {
                let mut resolved = Vec::new();
                for item in items.iter().take(MAX_FILTERS) {
                    resolved.push(self.resolve(item)?.unwrap_or(Object::Null));
                }
                resolved
            }
            Some(single) => vec![single],
            None => Vec::new(),
        };
        for parameter in &parameters {
            let Object::Dictionary(parameter) = parameter else {
                continue;
            };
            let size = [(b"Columns".as_slice(), 1), (b"Colors", 1), (b"BitsPerComponent", 8)]
                .into_iter()
                .map(|(key, default)| {
                    parameter.get(key).and_then(Object::as_i64).unwrap_or(default).max(1)
                })
                .try_fold(1_i64, i64::checked_mul);
            if size.is_none_or(|bits| bits > MAX_PREDICTOR_BITS) {
                return Err(PdfError::TooComplex("a stream asks for rows that are too wide"));
            }
        }
        if filters == 1 {
            parameters
                .into_iter()
                .take(1)
                .for_each(|parameter| stream.dict.set("DecodeParms", parameter));
        } else if !parameters.is_empty() {
            stream.dict.set("DecodeParms", parameters);
        }
        let unpacked = stream.decompressed_content_with_limit(MAX_UNPACKED);
        // A refused bomb has cost as much as the largest stream that is allowed.
        let cost = unpacked.as_ref().map_or(MAX_UNPACKED, Vec::len);
        self.charge(cost.saturating_mul(filters.max(1)))?;
        match unpacked {
            Ok(data) => Ok(data),
            Err(lopdf::Error::Decompress(lopdf::DecompressError::MemoryLimitExceeded {
                ..
            })) => Err(PdfError::TooComplex("a stream unpacks to more than 12 MiB")),
            Err(_) => Ok(Vec::new()),
        }
    }

    /// The pages in order, by walking the tree: its `/Count` is only a claim.
    fn pages(&mut self) -> Result<Vec<ObjectId>, PdfError> {
        let mut root = None;
        for trailer in std::mem::take(&mut self.trailers).iter().rev() {
            if let Some(catalog) = self.get_dictionary(trailer, b"Root")?
                && let Ok(Object::Reference(id)) = catalog.get(b"Pages")
            {
                root = Some(*id);
                break;
            }
        }
        let root = root.ok_or(PdfError::Damaged("it has no page tree"))?;
        let mut pages = Vec::new();
        let mut kids_of = HashSet::new();
        let mut leaves = HashSet::new();
        let mut waiting = vec![root];
        while let Some(id) = waiting.pop() {
            if pages.len() + waiting.len() > MAX_PAGES_IN_DOCUMENT {
                return Err(PdfError::TooComplex("it has more than 50,000 pages"));
            }
            if leaves.contains(&id) {
                pages.push(id);
                continue;
            }
            let node = match self.load(id)? {
                Some(Object::Dictionary(node)) => node,
                _ => Dictionary::new(),
            };
            if !node.has(b"Kids") || node.has_type(b"Page") {
                leaves.insert(id);
                pages.push(id);
                continue;
            }
            if !kids_of.insert(id) {
                return Err(PdfError::Damaged("its page tree goes in circles"));
            }
            if let Some(Object::Array(kids)) = self.get(&node, b"Kids")? {
                waiting.extend(kids.iter().rev().filter_map(|kid| kid.as_reference().ok()));
            }
        }
        if pages.is_empty() || pages == [root] {
            return Err(PdfError::Damaged("its page tree is empty"));
        }
        Ok(pages)
    }
}

/// The `12 0 ` that must stand before `obj`.
fn header(before: &[u8]) -> Option<ObjectId> {
    let window = before.get(before.len().saturating_sub(32)..)?;
    let digits = |text: &[u8]| -> (usize, usize) {
        let end = text.trim_ascii_end().len();
        let head = text.get(..end).unwrap_or_default();
        let count = head.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
        (end - count, end)
    };
    let (start, end) = digits(window);
    let generation = std::str::from_utf8(window.get(start..end)?).ok()?.parse().ok()?;
    let head = window.get(..start)?;
    if head.len() == head.trim_ascii_end().len() {
        return None;
    }
    let (start, end) = digits(head);
    let number = std::str::from_utf8(head.get(start..end)?).ok()?.parse().ok()?;
    Some((number, generation))
}

fn payload_start(bytes: &[u8], keyword: usize) -> usize {
    let mut lexer = Lexer::new(bytes, keyword + b"stream".len());
    if !lexer.eat(b"\r\n") && !lexer.eat(b"\n") {
        lexer.eat(b"\r");
    }
    lexer.at
}

/// What turns the bytes a page shows into characters, and how far they move the pen.
struct Font {
    /// Composite fonts have two-byte codes unless their map says otherwise.
    composite: bool,
    utf16: bool,
    simple: Vec<String>,
    /// Sorted by code length and first code.
    mappings: Vec<Mapping>,
    /// Sorted ranges of codes with their width in thousandths; empty if unknown.
    widths: Vec<(u32, u32, f64)>,
    default_width: f64,
}

struct Mapping {
    length: usize,
    low: u32,
    high: u32,
    target: Box<[u16]>,
}

impl Font {
    fn load(reader: &mut Reader<'_>, font: &Dictionary) -> Result<Self, PdfError> {
        let composite =
            font.get(b"Subtype").and_then(Object::as_name).is_ok_and(|name| name == b"Type0");
        let encoding = reader.get(font, b"Encoding")?;
        let utf16 = matches!(&encoding, Some(Object::Name(name))
            if find(name, b"UCS2", 0).is_some() || find(name, b"UTF16", 0).is_some());
        let mut loaded = Self {
            composite,
            utf16,
            simple: Vec::new(),
            mappings: Vec::new(),
            widths: Vec::new(),
            default_width: if composite { 1000.0 } else { 500.0 },
        };
        if let Some(Object::Stream(stream)) = reader.get(font, b"ToUnicode")? {
            let data = reader.unpack(stream)?;
            loaded.read_mappings(reader, &data)?;
        }
        if composite {
            loaded.read_composite_widths(reader, font)?;
        } else {
            loaded.simple = simple_encoding(reader, encoding)?;
            let first = font.get(b"FirstChar").and_then(Object::as_i64).unwrap_or(0);
            if let Some(Object::Array(widths)) = reader.get(font, b"Widths")? {
                for (code, width) in
                    (u32::try_from(first).unwrap_or(0)..).zip(widths.iter().take(256))
                {
                    loaded.widths.push((code, code, number(width)));
                }
            }
        }
        Ok(loaded)
    }

    fn read_mappings(&mut self, reader: &mut Reader<'_>, data: &[u8]) -> Result<(), PdfError> {
        reader.charge(data.len().saturating_mul(PARSE_COST))?;
        let mut lexer = Lexer::new(data, 0);
        let mut operands: Vec<Object> = Vec::new();
        while let Some(token) = lexer.token(0) {
            match token {
                Token::Value(value) => operands.push(value),
                Token::Keyword(b"endbfchar") => {
                    for pair in operands.chunks_exact(2) {
                        if let [Object::String(code, _), Object::String(target, _)] = pair {
                            self.add_mapping(reader, code, code, target);
                        }
                    }
                    operands.clear();
                }
                Token::Keyword(b"endbfrange") => {
                    for triple in operands.chunks_exact(3) {
                        match triple {
                            [
                                Object::String(low, _),
                                Object::String(high, _),
                                Object::String(target, _),
                            ] => {
                                self.add_mapping(reader, low, high, target);
                            }
                            [Object::String(low, _), _, Object::Array(targets)] => {
                                let length = low.len().min(4);
                                for (code, target) in (big_endian(low)..).zip(targets) {
                                    let bytes = code.to_be_bytes();
                                    let code = bytes.get(4 - length..).unwrap_or_default();
                                    if let Object::String(target, _) = target {
                                        self.add_mapping(reader, code, code, target);
                                    }
                                }
                            }
                            _ => {}
                        }
                    }
                    operands.clear();
                }
                Token::Keyword(_) => operands.clear(),
            }
        }
        self.mappings.sort_by_key(|mapping| (mapping.length, mapping.low));
        Ok(())
    }

    fn add_mapping(&mut self, reader: &mut Reader<'_>, low: &[u8], high: &[u8], target: &[u8]) {
        let fits = (1..=4).contains(&low.len()) && target.len() <= 64;
        let Some(left) = reader.font_entries_left.checked_sub(1).filter(|_| fits) else {
            return;
        };
        reader.font_entries_left = left;
        let target = target
            .chunks(2)
            .map(|unit| unit.iter().fold(0, |code, &byte| code << 8 | u16::from(byte)));
        self.mappings.push(Mapping {
            length: low.len(),
            low: big_endian(low),
            high: big_endian(high),
            target: target.collect(),
        });
    }

    fn read_composite_widths(
        &mut self,
        reader: &mut Reader<'_>,
        font: &Dictionary,
    ) -> Result<(), PdfError> {
        let Some(Object::Array(descendants)) = reader.get(font, b"DescendantFonts")? else {
            return Ok(());
        };
        let Some(first) = descendants.first() else {
            return Ok(());
        };
        let Some(Object::Dictionary(descendant)) = reader.resolve(first)? else {
            return Ok(());
        };
        if let Ok(width) = descendant.get(b"DW") {
            self.default_width = number(width);
        }
        let Some(Object::Array(table)) = reader.get(&descendant, b"W")? else {
            return Ok(());
        };
        let mut items = table.into_iter();
        while let (Some(low), Some(second)) = (items.next(), items.next()) {
            let low = low.as_i64().ok().and_then(|code| u32::try_from(code).ok()).unwrap_or(0);
            let ranges = match reader.resolve(&second)? {
                Some(Object::Array(widths)) => {
                    (low..).zip(&widths).map(|(code, width)| (code, code, number(width))).collect()
                }
                Some(Object::Integer(high)) => {
                    let width = items.next().map_or(0.0, |width| number(&width));
                    vec![(low, u32::try_from(high).unwrap_or(low), width)]
                }
                _ => Vec::new(),
            };
            let Some(left) = reader.font_entries_left.checked_sub(ranges.len()) else {
                break;
            };
            reader.font_entries_left = left;
            self.widths.extend(ranges);
        }
        self.widths.sort_by_key(|range| range.0);
        Ok(())
    }

    /// Appends the characters of `bytes`; returns how many codes have none.
    fn decode(&self, bytes: &[u8], text: &mut String) -> usize {
        let mut undecoded = 0;
        let mut rest = bytes;
        while !rest.is_empty() && text.len() <= MAX_PAGE_TEXT {
            let mapped = (1..=rest.len().min(4)).find_map(|length| {
                let (code, after) = rest.split_at_checked(length)?;
                Some((self.mapped(length, big_endian(code))?, after))
            });
            if let Some((units, after)) = mapped {
                text.extend(
                    char::decode_utf16(units)
                        .map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)),
                );
                rest = after;
                continue;
            }
            let (code, after) = rest.split_at(rest.len().min(if self.composite { 2 } else { 1 }));
            rest = after;
            if self.utf16 {
                text.extend(char::from_u32(big_endian(code)));
            } else if let Some(known) =
                code.first().and_then(|&byte| self.simple.get(usize::from(byte)))
            {
                text.push_str(known);
            } else {
                undecoded += 1;
            }
        }
        undecoded
    }

    fn mapped(&self, length: usize, code: u32) -> Option<Vec<u16>> {
        let after = self
            .mappings
            .partition_point(|mapping| (mapping.length, mapping.low) <= (length, code));
        let mapping = self.mappings.get(after.checked_sub(1)?)?;
        if mapping.length != length || code > mapping.high {
            return None;
        }
        let mut target = mapping.target.to_vec();
        let step = u16::try_from(code - mapping.low).unwrap_or(0);
        if let Some(last) = target.last_mut() {
            *last = last.wrapping_add(step);
        }
        Some(target)
    }

    /// The width of `bytes` in units of the font size.
    fn width(&self, bytes: &[u8]) -> f64 {
        let codes = bytes.chunks(if self.composite { 2 } else { 1 }).map(big_endian);
        codes
            .map(|code| {
                let after = self.widths.partition_point(|range| range.0 <= code);
                let range = after.checked_sub(1).and_then(|index| self.widths.get(index));
                range.filter(|range| code <= range.1).map_or(self.default_width, |range| range.2)
                    / 1000.0
            })
            .sum()
    }
}

fn big_endian(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0, |value, &byte| value << 8 | u32::from(byte))
}

fn number(object: &Object) -> f64 {
    let value = object.as_float().map_or(0.0, f64::from);
    if value.is_finite() { value } else { 0.0 }
}

/// What each byte means in a simple font: the standard tables, then the font's own differences.
fn simple_encoding(
    reader: &mut Reader<'_>,
    encoding: Option<Object>,
) -> Result<Vec<String>, PdfError> {
    let (base, differences) = match encoding {
        Some(Object::Name(name)) => (Some(name), None),
        Some(Object::Dictionary(dictionary)) => {
            let base =
                dictionary.get(b"BaseEncoding").and_then(Object::as_name).ok().map(<[u8]>::to_vec);
            (base, reader.get(&dictionary, b"Differences")?)
        }
        _ => (None, None),
    };
    let known = [b"MacRomanEncoding".as_slice(), b"MacExpertEncoding", b"WinAnsiEncoding"];
    let base = base.filter(|name| known.contains(&name.as_slice()));
    let base = Object::Name(base.unwrap_or_else(|| b"StandardEncoding".to_vec()));
    let mut table: Vec<String> =
        (0..=u8::MAX).map(|byte| decode_standard(base.clone(), byte)).collect();
    if let Some(Object::Array(differences)) = differences {
        let mut code = 0;
        for difference in differences.iter().take(1024) {
            match difference {
                Object::Integer(next) => code = usize::try_from(*next).unwrap_or(usize::MAX),
                Object::Name(name) => {
                    if let Some(slot) = table.get_mut(code) {
                        *slot = glyph(name);
                    }
                    code = code.saturating_add(1);
                }
                _ => {}
            }
        }
    }
    Ok(table)
}

fn decode_standard(encoding: Object, byte: u8) -> String {
    let mut font = Dictionary::new();
    font.set("Type", Object::Name(b"Font".to_vec()));
    font.set("Encoding", encoding);
    let document = Document::new();
    let text = font
        .get_font_encoding_with_limit(&document, 0)
        .and_then(|table| table.bytes_to_string(&[byte]));
    text.unwrap_or_default()
}

/// The text of a named glyph; `lopdf` would drop a whole encoding for one name it does not know.
fn glyph(name: &[u8]) -> String {
    let mut encoding = Dictionary::new();
    encoding.set("Differences", vec![Object::Integer(0), Object::Name(name.to_vec())]);
    let known = decode_standard(Object::Dictionary(encoding), 0);
    if !known.is_empty() {
        return known;
    }
    let name = std::str::from_utf8(name).unwrap_or_default();
    let code = name.strip_prefix("uni").or_else(|| name.strip_prefix('u'));
    let character =
        code.and_then(|code| u32::from_str_radix(code.get(..4)?, 16).ok()).and_then(char::from_u32);
    character.map(String::from).unwrap_or_default()
}

/// Where the horizontal unit, the vertical unit and the origin come to lie.
type Matrix = [[f64; 2]; 3];
const IDENTITY: Matrix = shift(0.0, 0.0);

const fn shift(x: f64, y: f64) -> Matrix {
    [[1.0, 0.0], [0.0, 1.0], [x, y]]
}

/// The matrix that applies `first`, then `second`.
fn multiply(first: Matrix, second: Matrix) -> Matrix {
    let [[across_x, across_y], [up_x, up_y], [origin_x, origin_y]] = second;
    let [across, up, [x, y]] =
        first.map(|[x, y]| [x * across_x + y * up_x, x * across_y + y * up_y]);
    [across, up, [x + origin_x, y + origin_y]]
}

/// Read once for each content: copying these for every form drawn would cost more than the forms.
#[derive(Default)]
struct Resources {
    fonts: Dictionary,
    forms: Dictionary,
}

#[derive(Clone)]
struct GraphicsState {
    page: Matrix,
    font: Option<Rc<Font>>,
    size: f64,
    leading: f64,
}

/// Runs the drawing operators that matter for text, placing line breaks and spaces by position.
struct PageText<'r, 'a> {
    reader: &'r mut Reader<'a>,
    text: String,
    cut: bool,
    damaged: bool,
    undecoded: usize,
    state: GraphicsState,
    saved: Vec<GraphicsState>,
    line: Matrix,
    pen: Matrix,
    /// Whether the pen was set anew since the last text, not only advanced.
    moved: bool,
    /// Where the last text ended, and whether the font's widths made that more than a guess.
    last: Option<(f64, f64, bool)>,
}

impl<'r, 'a> PageText<'r, 'a> {
    fn of(reader: &'r mut Reader<'a>, number: u32, id: ObjectId) -> Result<PdfPage, PdfError> {
        let state = GraphicsState { page: IDENTITY, font: None, size: 1.0, leading: 0.0 };
        let mut page = Self {
            reader,
            text: String::new(),
            cut: false,
            damaged: false,
            undecoded: 0,
            state,
            saved: Vec::new(),
            line: IDENTITY,
            pen: IDENTITY,
            moved: false,
            last: None,
        };
        match page.reader.load(id)? {
            Some(Object::Dictionary(dictionary)) => {
                let resources = page.inherited_resources(&dictionary)?;
                let content = page.content(&dictionary)?;
                page.run(&content, &resources, 0)?;
            }
            _ => page.damaged = true,
        }
        Ok(page.finish(number))
    }

    fn finish(self, number: u32) -> PdfPage {
        let mut notes = Vec::new();
        if self.cut {
            notes.push(format!(
                "only the first {MAX_PAGE_TEXT} bytes of this page's text are shown"
            ));
        }
        if self.undecoded > 0 {
            notes.push(format!(
                "{} characters are in a font without a readable encoding",
                self.undecoded
            ));
        }
        if self.damaged {
            notes.push("part of this page is damaged and was skipped".to_owned());
        }
        let text = self.text.trim_end().to_owned();
        PdfPage { number, text, note: (!notes.is_empty()).then(|| notes.join("; ")) }
    }

    fn inherited_resources(&mut self, page: &Dictionary) -> Result<Resources, PdfError> {
        let mut node = page.clone();
        for _ in 0..MAX_DEPTH {
            if let Some(resources) = self.reader.get_dictionary(&node, b"Resources")? {
                return self.resources(&resources);
            }
            match self.reader.get_dictionary(&node, b"Parent")? {
                Some(parent) => node = parent,
                None => break,
            }
        }
        Ok(Resources::default())
    }

    fn resources(&mut self, dictionary: &Dictionary) -> Result<Resources, PdfError> {
        let fonts = self.reader.get_dictionary(dictionary, b"Font")?.unwrap_or_default();
        let forms = self.reader.get_dictionary(dictionary, b"XObject")?.unwrap_or_default();
        Ok(Resources { fonts, forms })
    }

    fn content(&mut self, page: &Dictionary) -> Result<Vec<u8>, PdfError> {
        let parts = match self.reader.get(page, b"Contents")? {
            Some(Object::Array(parts)) => parts,
            Some(single) => vec![single],
            None => Vec::new(),
        };
        let mut content = Vec::new();
        for part in parts {
            let Some(Object::Stream(stream)) = self.reader.resolve(&part)? else {
                self.damaged = true;
                continue;
            };
            let packed = !stream.content.is_empty();
            let data = self.reader.unpack(stream)?;
            self.damaged |= packed && data.is_empty();
            if content.len().saturating_add(data.len()) > MAX_UNPACKED {
                return Err(PdfError::TooComplex("a page unpacks to more than 12 MiB"));
            }
            content.extend_from_slice(&data);
            content.push(b'\n');
        }
        Ok(content)
    }

    fn run(&mut self, content: &[u8], resources: &Resources, depth: usize) -> Result<(), PdfError> {
        let mut chosen: HashMap<Vec<u8>, Rc<Font>> = HashMap::new();
        let mut lexer = Lexer::new(content, 0);
        let mut operands: Vec<Object> = Vec::new();
        let mut charged = 0;
        while let Some(token) = lexer.token(0) {
            if lexer.at - charged > CANCEL_CHECK_EVERY / PARSE_COST {
                self.reader.charge((lexer.at - charged) * PARSE_COST)?;
                charged = lexer.at;
            }
            let operator = match token {
                Token::Value(value) => {
                    if operands.len() < MAX_OPERANDS {
                        operands.push(value);
                    }
                    continue;
                }
                Token::Keyword(operator) => operator,
            };
            lexer.values_left = MAX_VALUES;
            match operator {
                b"Tf" => {
                    self.state.size = operands.get(1).map_or(1.0, number);
                    self.state.font = match operands.first() {
                        Some(Object::Name(name)) => {
                            if !chosen.contains_key(name)
                                && let Some(font) = self.font(&resources.fonts, name)?
                            {
                                chosen.insert(name.clone(), font);
                            }
                            chosen.get(name).cloned()
                        }
                        _ => None,
                    };
                }
                b"Do" if depth < MAX_FORM_DEPTH => {
                    self.form(resources, operands.first(), depth)?;
                }
                b"BI" => skip_inline_image(&mut lexer),
                _ => self.operate(operator, &operands),
            }
            operands.clear();
            if self.cut {
                break;
            }
        }
        self.damaged |= lexer.overflowed;
        self.reader.charge((lexer.at.saturating_sub(charged)) * PARSE_COST)
    }

    fn font(&mut self, fonts: &Dictionary, name: &[u8]) -> Result<Option<Rc<Font>>, PdfError> {
        let id = fonts.get(name).and_then(Object::as_reference).ok();
        if let Some(known) = id.and_then(|id| self.reader.fonts.get(&id)) {
            return Ok(Some(Rc::clone(known)));
        }
        let Some(dictionary) = self.reader.get_dictionary(fonts, name)? else {
            return Ok(None);
        };
        self.reader.charge(FONT_COST)?;
        self.reader.fonts_left = self
            .reader
            .fonts_left
            .checked_sub(1)
            .ok_or(PdfError::TooComplex("its pages use more than 1,000 fonts"))?;
        let font = Rc::new(Font::load(self.reader, &dictionary)?);
        if let Some(id) = id {
            self.reader.fonts.insert(id, Rc::clone(&font));
        }
        Ok(Some(font))
    }

    fn form(
        &mut self,
        resources: &Resources,
        name: Option<&Object>,
        depth: usize,
    ) -> Result<(), PdfError> {
        let Some(Object::Name(name)) = name else {
            return Ok(());
        };
        let Some(Object::Stream(stream)) = self.reader.get(&resources.forms, name)? else {
            return Ok(());
        };
        if !stream.dict.get(b"Subtype").and_then(Object::as_name).is_ok_and(|kind| kind == b"Form")
        {
            return Ok(());
        }
        let own = match self.reader.get_dictionary(&stream.dict, b"Resources")? {
            Some(own) => Some(self.resources(&own)?),
            None => None,
        };
        let placed = match self.reader.get(&stream.dict, b"Matrix")? {
            Some(Object::Array(matrix)) => matrix_of(&matrix),
            _ => IDENTITY,
        };
        let data = self.reader.unpack(stream)?;
        let state = self.state.clone();
        let saved = std::mem::take(&mut self.saved);
        self.state.page = multiply(placed, self.state.page);
        self.run(&data, own.as_ref().unwrap_or(resources), depth + 1)?;
        self.state = state;
        self.saved = saved;
        Ok(())
    }

    fn operate(&mut self, operator: &[u8], operands: &[Object]) {
        let operand = |index: usize| operands.get(index).map_or(0.0, number);
        match operator {
            b"q" if self.saved.len() < MAX_GRAPHICS_STATES => self.saved.push(self.state.clone()),
            b"Q" => self.state = self.saved.pop().unwrap_or_else(|| self.state.clone()),
            b"cm" => self.state.page = multiply(matrix_of(operands), self.state.page),
            b"BT" => self.start_line(IDENTITY),
            b"Tm" => self.start_line(matrix_of(operands)),
            b"TL" => self.state.leading = operand(0),
            b"Td" => self.move_line(operand(0), operand(1)),
            b"TD" => {
                self.state.leading = -operand(1);
                self.move_line(operand(0), operand(1));
            }
            b"T*" => self.move_line(0.0, -self.state.leading),
            b"Tj" => self.show_all(operands),
            b"TJ" => {
                if let Some(Object::Array(items)) = operands.first() {
                    self.show_all(items);
                }
            }
            b"'" => {
                self.move_line(0.0, -self.state.leading);
                self.show_all(operands);
            }
            b"\"" => {
                self.move_line(0.0, -self.state.leading);
                self.show_all(operands.get(2..).unwrap_or_default());
            }
            _ => {}
        }
    }

    fn start_line(&mut self, matrix: Matrix) {
        self.moved = true;
        self.line = matrix;
        self.pen = matrix;
    }

    fn move_line(&mut self, x: f64, y: f64) {
        self.start_line(multiply(shift(x, y), self.line));
    }

    fn move_pen(&mut self, x: f64) {
        self.pen = multiply(shift(x, 0.0), self.pen);
    }

    fn show_all(&mut self, items: &[Object]) {
        for item in items {
            match item {
                Object::String(bytes, _) => self.show(bytes),
                Object::Integer(_) | Object::Real(_) => {
                    self.move_pen(-number(item) / 1000.0 * self.state.size);
                }
                _ => {}
            }
        }
    }

    fn show(&mut self, bytes: &[u8]) {
        let Some(font) = self.state.font.clone() else {
            self.undecoded = self.undecoded.saturating_add(bytes.len());
            return;
        };
        if self.cut {
            return;
        }
        let [[across_x, across_y], _, [x, y]] = multiply(self.pen, self.state.page);
        let em = (self.state.size * across_x.hypot(across_y)).abs();
        if let Some((last_x, last_y, measured)) = self.last {
            let gap = x - last_x;
            if (y - last_y).abs() > em * 0.5 {
                self.text.push('\n');
            } else if (gap > em * 0.15
                || gap < -em
                || (!measured && self.moved && gap.abs() > em * 0.01))
                && !self.text.ends_with([' ', '\n'])
            {
                self.text.push(' ');
            }
        }
        self.undecoded = self.undecoded.saturating_add(font.decode(bytes, &mut self.text));
        if self.text.len() > MAX_PAGE_TEXT {
            self.cut = true;
            let end = (0..=MAX_PAGE_TEXT).rev().find(|&end| self.text.is_char_boundary(end));
            self.text.truncate(end.unwrap_or(0));
        }
        self.move_pen(font.width(bytes) * self.state.size);
        let [_, _, [x, y]] = multiply(self.pen, self.state.page);
        self.moved = false;
        self.last = Some((x, y, !font.widths.is_empty()));
    }
}

fn matrix_of(operands: &[Object]) -> Matrix {
    if operands.len() != 6 {
        return IDENTITY;
    }
    let mut values = operands.iter().map(number);
    let mut pair = || [values.next().unwrap_or(0.0), values.next().unwrap_or(0.0)];
    [pair(), pair(), pair()]
}

fn skip_inline_image(lexer: &mut Lexer<'_>) {
    let mut at = lexer.at;
    while let Some(found) = find(lexer.data, b"EI", at) {
        at = found + 2;
        let before = found.checked_sub(1).and_then(|index| lexer.data.get(index));
        let after = lexer.data.get(at);
        if before.is_some_and(|&byte| is_space(byte)) && after.is_none_or(|&byte| is_space(byte)) {
            lexer.at = at;
            return;
        }
    }
    lexer.at = lexer.data.len();
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "tests")]

    use std::cell::Cell;
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::ZlibEncoder;
    use pretty_assertions::assert_eq;
    use proptest::prelude::*;

    use super::*;

    /// Lays out objects numbered from 1 as a file; object 1 is the catalog.
    fn file(objects: &[Vec<u8>]) -> Vec<u8> {
        let mut out = b"%PDF-1.5\n".to_vec();
        let mut offsets = Vec::new();
        for (index, object) in objects.iter().enumerate() {
            offsets.push(out.len());
            writeln!(out, "{} 0 obj", index + 1).unwrap();
            out.extend(object);
            out.extend(b"\nendobj\n");
        }
        let xref = out.len();
        write!(out, "xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1).unwrap();
        for offset in offsets {
            writeln!(out, "{offset:010} 00000 n ").unwrap();
        }
        let size = objects.len() + 1;
        write!(out, "trailer\n<< /Size {size} /Root 1 0 R >>\nstartxref\n{xref}\n%%EOF\n").unwrap();
        out
    }

    fn stream(entries: &str, content: &[u8]) -> Vec<u8> {
        let mut out = format!("<< {entries} /Length {} >>\nstream\n", content.len()).into_bytes();
        out.extend(content);
        out.extend(b"\nendstream");
        out
    }

    fn deflate(content: &[u8]) -> Vec<u8> {
        let mut encoder = ZlibEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(content).unwrap();
        encoder.finish().unwrap()
    }

    const FONT: &str =
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>";

    /// One page for each content stream; all use font `/F1`, which is object 3.
    fn document_with_font(font: &str, contents: &[Vec<u8>], more: &[Vec<u8>]) -> Vec<u8> {
        let kids: Vec<String> =
            (0..contents.len()).map(|page| format!("{} 0 R", 4 + 2 * page)).collect();
        let kids =
            format!("<< /Type /Pages /Kids [{}] /Count {} >>", kids.join(" "), contents.len());
        let mut objects = vec![
            b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
            kids.into_bytes(),
            font.as_bytes().to_vec(),
        ];
        for (page, content) in contents.iter().enumerate() {
            let content_id = 5 + 2 * page;
            objects.push(
                format!("<< /Type /Page /Parent 2 0 R /Contents {content_id} 0 R /Resources << /Font << /F1 3 0 R >> >> >>")
                    .into_bytes(),
            );
            objects.push(content.clone());
        }
        objects.extend_from_slice(more);
        file(&objects)
    }

    fn document(contents: &[Vec<u8>]) -> Vec<u8> {
        document_with_font(FONT, contents, &[])
    }

    fn pages(count: usize) -> Vec<u8> {
        let content = |page: usize| {
            stream("", format!("BT /F1 24 Tf 20 100 Td (Page {page}) Tj ET").as_bytes())
        };
        document(&(1..=count).map(content).collect::<Vec<_>>())
    }

    fn read_all(bytes: &[u8]) -> Result<PdfText, PdfError> {
        read_pdf(bytes, None, &|| false)
    }

    fn read_range(bytes: &[u8], first: u32, last: u32) -> Result<PdfText, PdfError> {
        read_pdf(bytes, Some(PageRange { first, last }), &|| false)
    }

    fn text_of(bytes: &[u8]) -> String {
        let PdfText { pages, .. } = read_all(bytes).unwrap();
        assert_eq!(
            pages.iter().map(|page| page.note.clone()).collect::<Vec<_>>(),
            vec![None; pages.len()]
        );
        pages.into_iter().map(|page| page.text).collect::<Vec<_>>().join("|")
    }

    fn drawn(operators: &str) -> String {
        text_of(&document(&[stream("", operators.as_bytes())]))
    }

    fn refusal(bytes: &[u8]) -> &'static str {
        match read_all(bytes) {
            Err(PdfError::TooComplex(reason)) => reason,
            other => panic!("expected a refusal, got {other:?}"),
        }
    }

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

    #[test]
    fn reads_all_pages_of_a_short_document() {
        let page = |number| PdfPage { number, text: format!("Page {number}"), note: None };
        let expected = PdfText { total_pages: 3, pages: vec![page(1), page(2), page(3)] };
        assert_eq!(read_all(&pages(3)), Ok(expected));
    }

    #[test]
    fn reads_the_pages_asked_for_and_cuts_the_range_at_the_end() {
        let numbers = |text: PdfText| text.pages.iter().map(|page| page.number).collect::<Vec<_>>();
        let bytes = pages(12);
        assert_eq!(numbers(read_range(&bytes, 3, 4).unwrap()), [3, 4]);
        assert_eq!(numbers(read_range(&bytes, 12, 31).unwrap()), [12]);
    }

    #[test]
    fn refuses_ranges_that_are_missing_too_long_or_outside() {
        let bytes = pages(12);
        assert_eq!(read_all(&bytes), Err(PdfError::PagesNeeded { total: 12 }));
        assert_eq!(
            read_range(&bytes, 1, 21),
            Err(PdfError::TooManyPages { first: 1, last: 21, asked: 21 })
        );
        let everything = PdfError::TooManyPages { first: 0, last: u32::MAX, asked: 1 << 32 };
        assert_eq!(read_range(&bytes, 0, u32::MAX), Err(everything));
        for (first, last) in [(13, 13), (0, 1), (5, 4)] {
            let expected = PdfError::OutsideDocument { first, last, total: 12 };
            assert_eq!(read_range(&bytes, first, last), Err(expected));
        }
    }

    #[test]
    fn says_when_a_file_is_no_pdf() {
        assert_eq!(read_all(b""), Err(PdfError::NotAPdf));
        assert_eq!(read_all(b"not a pdf\n"), Err(PdfError::NotAPdf));
        let mut late = vec![b' '; 2000];
        late.extend(pages(1));
        assert_eq!(read_all(&late), Err(PdfError::NotAPdf));
        assert_eq!(read_all(b"%PDF-1.4\n"), Err(PdfError::Damaged("it has no page tree")));
    }

    #[test]
    fn reads_compressed_content_and_chains_of_filters() {
        let plain = b"BT /F1 12 Tf (packed) Tj ET";
        let digits = deflate(plain).iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>();
        let hex = digits.concat();
        let single = stream("/Filter /FlateDecode", &deflate(plain));
        let chain = stream("/Filter [/ASCIIHexDecode /FlateDecode]", hex.as_bytes());
        assert_eq!(text_of(&document(&[single, chain])), "packed|packed");
    }

    #[test]
    fn reads_objects_from_object_streams_and_takes_the_latest_version() {
        let table = "1 0 2 34 3 81 4 ";
        let first = "<< /Type /Catalog /Pages 2 0 R >> ";
        let second = "<< /Type /Pages /Kids [4 0 R] /Count 1 >>      ";
        let page = "<</Type/Page/Parent 2 0 R/Contents 9 0 R/Resources<</Font<</F1 3 0 R>>>>>>";
        let table = format!("{table}{} ", 81 + FONT.len() + 1);
        let packed = deflate(format!("{table}{first}{second}{FONT} {page}").as_bytes());
        let mut out = b"%PDF-1.5\n8 0 obj\n".to_vec();
        out.extend(stream(
            &format!("/Type /ObjStm /N 4 /First {} /Filter /FlateDecode", table.len()),
            &packed,
        ));
        out.extend(b"\nendobj\n9 0 obj\n");
        out.extend(stream("", b"BT /F1 9 Tf (old) Tj ET"));
        out.extend(b"\nendobj\n9 0 obj\n");
        out.extend(stream("", b"BT /F1 9 Tf (new) Tj ET"));
        out.extend(b"\nendobj\n10 0 obj\n");
        out.extend(stream("/Type /XRef /Root 1 0 R /W [1 2 1]", b""));
        out.extend(b"\nendobj\n");
        assert_eq!(text_of(&out), "new");
    }

    #[test]
    fn breaks_lines_and_words_by_position() {
        assert_eq!(drawn("BT /F1 10 Tf 0 90 Td (one) Tj 0 -12 Td (two) Tj ET"), "one\ntwo");
        assert_eq!(
            drawn("BT /F1 10 Tf 12 TL (one) Tj T* (two) Tj (three) ' 0 0 (four) \" ET"),
            "one\ntwo\nthree\nfour"
        );
        assert_eq!(drawn("BT /F1 10 Tf [(wo) 20 (rd) -333 (next)] TJ ET"), "word next");
        assert_eq!(
            drawn("BT /F1 10 Tf 1 0 0 1 5 5 Tm (a) Tj ET BT 1 0 0 1 50 5 Tm (b) Tj ET"),
            "a b"
        );
        assert_eq!(
            drawn("q 1 0 0 1 0 50 cm BT /F1 9 Tf (a) Tj ET Q BT /F1 9 Tf (b) Tj ET"),
            "a\nb"
        );
        assert_eq!(drawn("BT /F1 9 Tf (a\\(b\\)\\101\\\n(c)) Tj <64 6> Tj ET"), "a(b)A(c)d`");
        assert_eq!(drawn("BI /W 1 ID \u{1}(x) Tj EI BT /F1 9 Tf (y) Tj ET"), "y");
    }

    #[test]
    fn decodes_text_by_the_maps_of_its_font() {
        let map = b"/CIDInit /ProcSet findresource begin begincmap 1 begincodespacerange <0000> <ffff> endcodespacerange\n\
            2 beginbfchar <0001> <00e9> <0002> <d83dde00> endbfchar\n\
            2 beginbfrange <0010> <0012> <0041> <0020> <0021> [<0078> <00660069>] endbfrange endcmap end";
        let font = "<< /Type /Font /Subtype /Type0 /Encoding /Identity-H /ToUnicode 6 0 R >>";
        let content = stream("", b"BT /F1 9 Tf <00010002001000120021> Tj ET");
        let bytes =
            document_with_font(font, &[content], &[stream("/Filter /FlateDecode", &deflate(map))]);
        assert_eq!(text_of(&bytes), "\u{e9}\u{1f600}ACfi");

        let font = "<< /Type /Font /Subtype /Type1 /Encoding << /BaseEncoding /WinAnsiEncoding \
            /Differences [65 /alpha /uni20AC /nonsense] >> >>";
        let content = stream("", b"BT /F1 9 Tf (ABCD\\200) Tj ET");
        assert_eq!(text_of(&document_with_font(font, &[content], &[])), "\u{3b1}\u{20ac}D\u{20ac}");
    }

    #[test]
    fn notes_text_whose_encoding_is_unknown() {
        let font = "<< /Type /Font /Subtype /Type0 /Encoding /Identity-H >>";
        let read = read_all(&document_with_font(
            font,
            &[stream("", b"BT /F1 9 Tf <00010002> Tj ET")],
            &[],
        ))
        .unwrap();
        let note = "2 characters are in a font without a readable encoding".to_owned();
        assert_eq!(read.pages, vec![PdfPage { number: 1, text: String::new(), note: Some(note) }]);
    }

    #[test]
    fn reads_text_inside_forms_but_not_forever() {
        let form = stream(
            "/Type /XObject /Subtype /Form /Resources << /Font << /F1 3 0 R >> /XObject << /X 6 0 R >> >>",
            b"BT /F1 9 Tf (form) Tj ET /X Do /X Do",
        );
        let page = b"<< /Type /Page /Parent 2 0 R /Contents 5 0 R /Resources << /XObject << /X 6 0 R >> >> >>";
        let bytes = file(&[
            b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(),
            b"<< /Type /Pages /Kids [4 0 R] /Count 1 >>".to_vec(),
            FONT.as_bytes().to_vec(),
            page.to_vec(),
            stream("", b"/X Do"),
            form,
        ]);
        assert_eq!(text_of(&bytes).matches("form").count(), 15);
    }

    #[test]
    fn asks_for_a_password_only_where_one_is_needed() {
        let encrypted = |user_password: &str| {
            let mut document = Document::load_mem(&pages(2)).unwrap();
            let id = Object::string_literal("0123456789abcdef");
            document.trailer.set("ID", vec![id.clone(), id]);
            let state = EncryptionState::try_from(lopdf::EncryptionVersion::V2 {
                document: &document,
                owner_password: "owner",
                user_password,
                key_length: 128,
                permissions: lopdf::Permissions::all(),
            });
            document.encrypt(&state.unwrap()).unwrap();
            let mut bytes = Vec::new();
            document.save_to(&mut bytes).unwrap();
            bytes
        };
        assert_eq!(text_of(&encrypted("")), "Page 1|Page 2");
        assert_eq!(read_all(&encrypted("secret")), Err(PdfError::Encrypted));
    }

    #[test]
    fn stops_between_pages_when_cancelled() {
        let asked = Cell::new(0);
        let cancelled = || asked.replace(asked.get() + 1) > 2;
        assert_eq!(read_pdf(&pages(9), None, &cancelled), Err(PdfError::Cancelled));
    }

    #[test]
    fn refuses_streams_that_unpack_to_too_much() {
        let zeros = vec![0; 64 * 1024 * 1024];
        let once = deflate(&zeros);
        let single = stream("/Filter /FlateDecode", &once);
        assert_eq!(refusal(&document(&[single])), "a stream unpacks to more than 12 MiB");
        let double = stream("/Filter [/FlateDecode /FlateDecode]", &deflate(&once));
        assert_eq!(refusal(&document(&[double])), "a stream unpacks to more than 12 MiB");
        let many = stream(&format!("/Filter [{}]", "/FlateDecode ".repeat(500)), &once);
        assert_eq!(refusal(&document(&[many])), "a stream is packed more than four times");
        let container = stream("/Type /ObjStm /N 1 /First 4 /Filter /FlateDecode", &once);
        let bytes = document_with_font(FONT, &[stream("", b"")], &[container]);
        assert_eq!(refusal(&bytes), "a stream unpacks to more than 12 MiB");
    }

    #[test]
    fn refuses_an_lzw_stream_that_unpacks_to_too_much() {
        // After a clear code, each code is the entry just being added: run lengths grow by one.
        let mut bits = Vec::new();
        for _ in 0..12 {
            let mut width = 9;
            let codes = std::iter::once(256).chain(std::iter::once(65)).chain(258..4094_u16);
            for code in codes {
                bits.extend((0..width).rev().map(|bit| code >> bit & 1 == 1));
                width = match code {
                    510..1022 => 10,
                    1022..2046 => 11,
                    2046..4096 => 12,
                    _ => 9,
                };
            }
        }
        let bytes: Vec<u8> = bits
            .chunks(8)
            .map(|byte| {
                byte.iter()
                    .enumerate()
                    .fold(0, |all, (index, &bit)| all | u8::from(bit) << (7 - index))
            })
            .collect();
        let unpacked = Stream::new(lopdf::dictionary! { "Filter" => "LZWDecode" }, bytes.clone());
        assert!(unpacked.decompressed_content().unwrap().len() > MAX_UNPACKED);
        assert_eq!(
            refusal(&document(&[stream("/Filter /LZWDecode", &bytes)])),
            "a stream unpacks to more than 12 MiB"
        );
    }

    #[test]
    fn refuses_a_predictor_with_endless_rows() {
        let parameters =
            "/Filter /FlateDecode /DecodeParms << /Predictor 12 /Columns 30000000000 >>";
        let bytes = document(&[stream(parameters, &deflate(b"x"))]);
        assert_eq!(refusal(&bytes), "a stream asks for rows that are too wide");
    }

    #[test]
    fn reads_a_character_map_over_every_code_at_no_cost() {
        let map = b"1 beginbfrange <00000000> <ffffffff> <0041> endbfrange";
        let font = "<< /Type /Font /Subtype /Type0 /Encoding /Identity-H /ToUnicode 6 0 R >>";
        let content = stream("", b"BT /F1 9 Tf <00000002> Tj ET");
        assert_eq!(text_of(&document_with_font(font, &[content], &[stream("", map)])), "C");
    }

    #[test]
    fn cuts_the_text_of_a_page_and_says_so() {
        let map = b"1 beginbfchar <41> <00e400e400e400e400e400e400e400e4> endbfchar";
        let font = "<< /Type /Font /Subtype /Type1 /ToUnicode 6 0 R >>";
        let content = format!("BT /F1 9 Tf ({}) Tj ET", "A".repeat(5_000_000));
        let bytes = document_with_font(font, &[stream("", content.as_bytes())], &[stream("", map)]);
        let page = read_all(&bytes).unwrap().pages.remove(0);
        assert_eq!(page.text.len(), MAX_PAGE_TEXT);
        assert_eq!(
            page.note.unwrap(),
            "only the first 1048576 bytes of this page's text are shown"
        );
    }

    fn tree(kids: &str, more: &[&str]) -> Vec<u8> {
        let mut objects =
            vec![b"<< /Type /Catalog /Pages 2 0 R >>".to_vec(), kids.as_bytes().to_vec()];
        objects.extend(more.iter().map(|object| object.as_bytes().to_vec()));
        file(&objects)
    }

    #[test]
    fn refuses_page_trees_that_are_cyclic_empty_or_endless() {
        let circle = Err(PdfError::Damaged("its page tree goes in circles"));
        assert_eq!(read_all(&tree("<< /Type /Pages /Kids [2 0 R] >>", &[])), circle);
        let two = tree("<< /Type /Pages /Kids [3 0 R] >>", &["<< /Type /Pages /Kids [2 0 R] >>"]);
        assert_eq!(read_all(&two), circle);
        let empty = Err(PdfError::Damaged("its page tree is empty"));
        assert_eq!(read_all(&tree("<< /Type /Pages /Kids [] /Count 9 >>", &[])), empty);
        assert_eq!(read_all(&tree("2 0 R", &[])), empty);
        for (count, reason) in [
            (1_000_000, "an object is nested too deeply or too large"),
            (60_000, "it has more than 50,000 pages"),
        ] {
            let kids = format!("<< /Type /Pages /Kids [{}] >>", "3 0 R ".repeat(count));
            assert_eq!(refusal(&tree(&kids, &["<< /Type /Page >>"])), reason);
        }
    }

    #[test]
    fn counts_pages_itself_whatever_the_tree_claims() {
        for count in ["-1", "99999999999", "9223372036854775807", "/no"] {
            let kids = format!("<< /Type /Pages /Kids [3 0 R] /Count {count} >>");
            assert_eq!(read_all(&tree(&kids, &["<< /Type /Page >>"])).unwrap().total_pages, 1);
        }
    }

    #[test]
    fn refuses_nesting_that_would_exhaust_the_stack() {
        let deep = "an object is nested too deeply or too large";
        assert_eq!(refusal(&tree(&"[".repeat(200_000), &[])), deep);
        assert_eq!(refusal(&tree(&"<</A".repeat(200_000), &[])), deep);
        let page = read_all(&document(&[stream("", "[".repeat(200_000).as_bytes())]))
            .unwrap()
            .pages
            .remove(0);
        assert_eq!(page.note.unwrap(), "part of this page is damaged and was skipped");
    }

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

    #[test]
    fn draws_many_forms_without_copying_the_resources_each_time() {
        let names: String =
            (0..50_000).map(|name| ["/N", &name.to_string(), " 0 "].concat()).collect();
        let page = format!(
            "<< /Type /Page /Contents 5 0 R /Resources << /XObject << /X 6 0 R {names} >> >> >>"
        );
        let mut objects = vec![b"<< /Type /Catalog /Pages 2 0 R >>".to_vec()];
        objects.extend([b"<< /Kids [4 0 R] >>".to_vec(), b"null".to_vec(), page.into_bytes()]);
        objects.push(stream("", "/X Do ".repeat(20_000).as_bytes()));
        objects.push(stream("/Subtype /Form", b" "));
        assert_eq!(text_of(&file(&objects)), "");
    }

    #[test]
    fn never_panics_on_a_file_cut_anywhere() {
        let bytes = pages(3);
        for length in 0..bytes.len() {
            match read_all(&bytes[..length]) {
                Ok(_) | Err(PdfError::NotAPdf | PdfError::Damaged(_)) => {}
                Err(other) => panic!("cut at {length}: {other}"),
            }
        }
    }

    proptest! {
        #[test]
        fn never_panics_on_noise_after_a_header(noise: Vec<u8>) {
            let mut bytes = b"%PDF-1.7\n".to_vec();
            bytes.extend(noise);
            let read = read_all(&bytes);
            prop_assert!(!matches!(read, Err(PdfError::Crashed(_))));
        }

        #[test]
        fn never_panics_on_a_damaged_file(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..20)) {
            let mut bytes = document(&[stream("/Filter /FlateDecode", &deflate(b"BT /F1 9 Tf [(a) -300 (b)] TJ ET"))]);
            for (index, value) in changes {
                let index = index.index(bytes.len());
                bytes[index] = value;
            }
            let read = read_all(&bytes);
            prop_assert!(!matches!(read, Err(PdfError::Crashed(_))));
        }

        #[test]
        fn never_panics_on_any_content(content in "[ -~\n]{0,300}") {
            let read = read_all(&document(&[stream("", content.as_bytes())]));
            prop_assert!(!matches!(read, Err(PdfError::Crashed(_))));
        }
    }
}
