//! It finds simple commands everywhere: in lists, pipes, substitutions, functions, loops, `case`, `[[`. A
//! command that it finds can be denied. To allow a command, the lexer must agree.

mod visitor;

use std::{borrow::Cow, cell::RefCell, ops::ControlFlow};

use tree_sitter::{Decode, ParseOptions, ParseState, Parser, Tree};

use super::{
    lexer::{BehindDocument, LexedLine, LinePiece},
    line_reading::{LineReading, TextSpan},
    reading_work::ReadingWork,
};
use visitor::TreeVisitor;

/// The maximum size of a group of pieces for the parser, in bytes. For adversarial text, the parser takes
/// more than twice the time for twice the text, so text that the lexer understood is parsed in small groups.
const MAX_GROUP_BYTES: usize = 1_024;
/// The maximum size of a group in operators and reserved words, for a piece that cannot be divided. Plain
/// words, quoted text and here-documents cost little.
const MAX_GROUP_TOKENS: usize = 512;
/// The same for text that the lexer did not understand, in characters that a shell may interpret.
const MAX_SIGNS: usize = 512;
/// The size of the chunks in which the parser gets the text, so that going back in the text is counted.
const REQUEST_BYTES: usize = 512;

/// The result of reading by grammar.
#[derive(Default)]
pub(crate) struct GrammarReading {
    pub reading: LineReading,
    /// Constructs that change what commands mean or evaluate text as code.
    pub hazards: Vec<&'static str>,
    /// True if the line has a loop.
    pub loops: bool,
    /// True if all text that the lexer understood was parsed.
    pub confirms: bool,
    /// True if all text that the lexer did not understand was parsed.
    pub reads_rest: bool,
}

/// Parses a line. The lexer understood its pieces, and perhaps not the text after them.
pub(crate) fn read_by_grammar(
    line: &str,
    lexed: &LexedLine,
    work: &mut ReadingWork,
) -> GrammarReading {
    let mut parsed =
        GrammarReading { confirms: true, reads_rest: true, ..GrammarReading::default() };
    let (pieces, is_understood) = (&lexed.pieces, lexed.gave_up.is_none());
    let shown = without(line, &lexed.behind_documents);
    let line = shown.as_ref();
    parsed.reading.redirections.extend(lexed.behind_documents.iter().filter_map(|it| it.opened));
    let end = if is_understood { line.len() } else { last_end(pieces) };
    for group in groups(pieces, end) {
        let fits = group.tokens <= MAX_GROUP_TOKENS;
        parsed.confirms &= fits && parsed.piece(line, group.span, work).is_some();
    }
    if !is_understood {
        let rest = TextSpan { start: end, end: line.len() };
        let signs = rest.of(line).bytes().filter(|it| b"|&;<>(){}[]$`\"'!".contains(it)).count();
        parsed.reads_rest = signs <= MAX_SIGNS && parsed.piece(line, rest, work).is_some();
    }
    parsed.hazards.sort_unstable();
    parsed.hazards.dedup();
    parsed.reading = std::mem::take(&mut parsed.reading).sorted();
    parsed
}

/// The line with blanks in place of the parts that are hidden from the grammar.
fn without<'l>(line: &'l str, hidden: &[BehindDocument]) -> Cow<'l, str> {
    if hidden.is_empty() {
        return Cow::Borrowed(line);
    }
    let mut shown = String::with_capacity(line.len());
    for it in hidden {
        shown.push_str(TextSpan { start: shown.len(), end: it.span.start }.of(line));
        shown.extend(std::iter::repeat_n(' ', it.span.end.saturating_sub(shown.len())));
    }
    shown.push_str(TextSpan { start: shown.len(), end: line.len() }.of(line));
    Cow::Owned(shown)
}

fn last_end(pieces: &[LinePiece]) -> usize {
    pieces.last().map_or(0, |it| it.span.end)
}

/// Joins neighbouring pieces into groups within the limits. Together the groups cover the whole text up to
/// `end`, except for operators between them.
fn groups(pieces: &[LinePiece], end: usize) -> Vec<LinePiece> {
    let mut groups: Vec<LinePiece> = Vec::new();
    for piece in pieces {
        match groups.last_mut() {
            Some(group)
                if piece.span.end - group.span.start <= MAX_GROUP_BYTES
                    && group.tokens + piece.tokens < MAX_GROUP_TOKENS =>
            {
                group.span.end = piece.span.end;
                group.tokens += piece.tokens + 1;
            }
            _ => groups.push(*piece),
        }
    }
    // An operator at the end of the line belongs to the last group.
    if let Some(last) = groups.last_mut() {
        last.span.end = end;
    }
    groups
}

fn tree_of(text: &str, work: &mut ReadingWork) -> Option<Tree> {
    if work.is_spent() {
        return None;
    }
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_bash::LANGUAGE.into()).ok()?;
    let work = RefCell::new(work);
    let mut progress = |_: &ParseState| {
        if work.borrow_mut().report() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    let options = ParseOptions::new().progress_callback(&mut progress);
    let bytes = text.as_bytes();
    // At the limit the text appears to end, which soon ends the parser.
    let mut rest = |at: usize, _| {
        let until = bytes.len().min(at.saturating_add(REQUEST_BYTES));
        bytes.get(at..until).filter(|_| work.borrow_mut().request()).unwrap_or_default()
    };
    let tree = parser.parse_custom_encoding::<AsciiOnly, _, _>(&mut rest, None, Some(options));
    tree.filter(|_| !work.borrow().is_spent())
}

/// Gives the grammar the same stand-in for every character that is not ASCII. For bash all of them are parts
/// of words (the lexer knows the exception). The grammar's scanner would read beyond a table of 256 entries
/// for some of them (tree-sitter-bash issue 337), treat others as spaces, and depend on the locale for
/// letters.
struct AsciiOnly;

impl Decode for AsciiOnly {
    fn decode(bytes: &[u8]) -> (i32, u32) {
        /// `×` is not a letter, digit or space, and it is inside the table.
        const STAND_IN: i32 = 0xd7;
        match bytes {
            [] => (0, 0),
            [it @ 0..=0x7f, ..] => (i32::from(*it), 1),
            [_, rest @ ..] => {
                let more = rest.iter().take_while(|it| **it & 0xc0 == 0x80).count();
                (STAND_IN, u32::try_from(more).map_or(1, |it| it + 1))
            }
        }
    }
}

impl GrammarReading {
    /// Reads one part of the line; `None` if the parser was stopped.
    fn piece(&mut self, line: &str, span: TextSpan, work: &mut ReadingWork) -> Option<()> {
        let text = span.of(line);
        let tree = tree_of(text, work)?;
        let found = TreeVisitor::of(text, &tree);
        self.reading.add(found.reading, span.start);
        self.hazards.extend(found.hazards);
        self.loops |= found.loops;
        Some(())
    }
}
