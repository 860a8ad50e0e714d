//! What the text of a command tells before a shell reads it.
//!
//! Whether a shell reads it to its end and wants no more: nothing is open there, no quote, no bracket, no
//! document, no `if` without its `fi`.
//!
//! Behind such a text an empty line changes nothing. Behind one that is not whole it would: it would be
//! part of an open document, or move the line at which the shell says that the text ends too early. The
//! answer is yes only where that is certain; no is always safe.

/// True when an empty line behind the text is sure to change nothing.
pub(crate) fn is_whole(text: &[u8]) -> bool {
    let mut scan = TextScan {
        text,
        at: 0,
        open: Vec::new(),
        documents: Vec::new(),
        words: KeywordBalance::default(),
    };
    // With `set -v`, a shell shows every line that it reads.
    !shows_lines(text)
        && scan.reaches_the_end()
        && scan.open.is_empty()
        && scan.documents.is_empty()
        && scan.words.are_balanced()
        && !wants_more(text)
}

/// What is open, and closes with another sign than a quote of one kind.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OpenDelimiter {
    DoubleQuote,
    Backtick,
    Bracket,
    Brace,
}

/// A document that begins with the next line.
struct HereDocument {
    end: Vec<u8>,
    strips_tabs: bool,
}

/// How many words there are that open something, less those that close it.
#[derive(Default)]
struct KeywordBalance([i32; 6]);

impl KeywordBalance {
    fn note(&mut self, word: &[u8]) {
        let [ifs, dos, loops, cases, braces, tests] = &mut self.0;
        match word {
            b"if" => *ifs += 1,
            b"fi" => *ifs -= 1,
            b"do" => *dos += 1,
            b"for" | b"while" | b"until" | b"select" => *loops += 1,
            b"done" => {
                *dos -= 1;
                *loops -= 1;
            }
            b"case" => *cases += 1,
            b"esac" => *cases -= 1,
            b"{" => *braces += 1,
            b"}" => *braces -= 1,
            b"[[" => *tests += 1,
            b"]]" => *tests -= 1,
            // What has to follow these is not looked for.
            b"function" | b"coproc" => *braces += 1_000,
            _ => {}
        }
    }

    fn are_balanced(&self) -> bool {
        self.0.iter().all(|it| *it == 0)
    }
}

struct TextScan<'a> {
    text: &'a [u8],
    at: usize,
    open: Vec<OpenDelimiter>,
    documents: Vec<HereDocument>,
    words: KeywordBalance,
}

impl TextScan<'_> {
    /// Goes through the text; false where something does not close or is not understood.
    fn reaches_the_end(&mut self) -> bool {
        while let Some(byte) = self.next() {
            let is_quoted = self.open.last() == Some(&OpenDelimiter::DoubleQuote);
            let goes_on = match byte {
                b'\\' => self.next().is_some(),
                b'\'' if !is_quoted => self.skip_past(b'\''),
                b'"' => self.turn(OpenDelimiter::DoubleQuote),
                b'`' => self.turn(OpenDelimiter::Backtick),
                b'$' => self.after_dollar(is_quoted),
                _ if is_quoted => true,
                b'(' => self.begin(OpenDelimiter::Bracket),
                b')' => self.end(OpenDelimiter::Bracket),
                b'}' if self.open.last() == Some(&OpenDelimiter::Brace) => {
                    self.end(OpenDelimiter::Brace)
                }
                b'<' if self.peek() == Some(b'<') => self.document(),
                b'\n' => self.skip_documents(),
                b'#' if self.begins_a_word() => self.skip_line(),
                _ if is_plain(byte) && self.begins_a_word() => self.word(),
                _ => true,
            };
            if !goes_on {
                return false;
            }
        }
        true
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn next(&mut self) -> Option<u8> {
        let byte = self.peek();
        self.at += usize::from(byte.is_some());
        byte
    }

    /// True when the byte just read is the first of a word.
    fn begins_a_word(&self) -> bool {
        let before = self.at.checked_sub(2).and_then(|it| self.text.get(it));
        before.is_none_or(|it| b" \t\n;&|()`".contains(it))
    }

    fn skip_past(&mut self, wanted: u8) -> bool {
        while let Some(byte) = self.next() {
            if byte == wanted {
                return true;
            }
        }
        false
    }

    /// Closes what opens and closes with the same sign, or opens it.
    fn turn(&mut self, which: OpenDelimiter) -> bool {
        if self.open.last() == Some(&which) { self.end(which) } else { self.begin(which) }
    }

    fn begin(&mut self, which: OpenDelimiter) -> bool {
        self.open.push(which);
        true
    }

    /// A sign that closes nothing, as in the patterns of a `case`, is not understood.
    fn end(&mut self, which: OpenDelimiter) -> bool {
        self.open.pop() == Some(which)
    }

    fn after_dollar(&mut self, is_quoted: bool) -> bool {
        match self.peek() {
            Some(b'(') => {
                self.at += 1;
                self.begin(OpenDelimiter::Bracket)
            }
            Some(b'{') => {
                self.at += 1;
                self.begin(OpenDelimiter::Brace)
            }
            Some(b'\'') if !is_quoted => {
                self.at += 1;
                while let Some(byte) = self.next() {
                    match byte {
                        b'\'' => return true,
                        b'\\' => self.at += 1,
                        _ => {}
                    }
                }
                false
            }
            // Not `$#`, behind which a comment would begin otherwise.
            Some(b'#') => {
                self.at += 1;
                true
            }
            _ => true,
        }
    }

    /// Notes the document that `<<` announces; the first `<` is read.
    fn document(&mut self) -> bool {
        self.at += 1;
        if self.peek() == Some(b'<') {
            self.at += 1;
            return true;
        }
        let strips_tabs = self.peek() == Some(b'-');
        self.at += usize::from(strips_tabs);
        while self.peek().is_some_and(|it| it == b' ' || it == b'\t') {
            self.at += 1;
        }
        let mut end = Vec::new();
        while let Some(byte) = self.peek().filter(|it| !b" \t\n;&|<>()".contains(it)) {
            self.at += 1;
            match byte {
                b'\'' | b'"' => {
                    let from = self.at;
                    if !self.skip_past(byte) {
                        return false;
                    }
                    end.extend(self.text.get(from..self.at - 1).unwrap_or_default());
                }
                b'\\' => end.extend(self.next()),
                // Not a plain word, and in arithmetic not a document at all.
                b'$' | b'`' => return false,
                _ => end.push(byte),
            }
        }
        self.documents.push(HereDocument { end, strips_tabs });
        true
    }

    /// Skips the documents that begin with this line, each to its end.
    fn skip_documents(&mut self) -> bool {
        for document in std::mem::take(&mut self.documents) {
            loop {
                if self.at >= self.text.len() {
                    return false;
                }
                let rest = self.text.get(self.at..).unwrap_or_default();
                let line = rest.split(|it| *it == b'\n').next().unwrap_or_default();
                self.at += line.len() + usize::from(line.len() < rest.len());
                let tabs =
                    line.iter().take_while(|it| document.strips_tabs && **it == b'\t').count();
                if line.get(tabs..) == Some(document.end.as_slice()) {
                    break;
                }
            }
        }
        true
    }

    /// Leaves the end of the line unread: documents begin there.
    fn skip_line(&mut self) -> bool {
        while self.peek().is_some_and(|it| it != b'\n') {
            self.at += 1;
        }
        true
    }

    fn word(&mut self) -> bool {
        let from = self.at - 1;
        while self.peek().is_some_and(is_plain) {
            self.at += 1;
        }
        let ends = self.peek().is_none_or(|it| b" \t\n;&|()`<>".contains(&it));
        if ends {
            self.words.note(self.text.get(from..self.at).unwrap_or_default());
        }
        true
    }
}

/// A part of a word that means itself.
fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"{}[]_-./=+,:@%^~!*?".contains(&byte) || byte >= 0x80
}

/// True where the last sign asks for another command.
fn wants_more(text: &[u8]) -> bool {
    let last_line = text.trim_ascii_end();
    last_line.is_empty()
        || last_line.ends_with(b"|")
        || last_line.ends_with(b"&&")
        || last_line.ends_with(b"()")
}

/// True where the text may have the shell show what it reads, or all of the text.
fn shows_lines(text: &[u8]) -> bool {
    let contains = |part: &[u8]| text.windows(part.len()).any(|it| it == part);
    let options = text.windows(5).enumerate().filter(|(_, it)| *it == b"set -").any(|(at, _)| {
        let options = text.get(at + 5..).unwrap_or_default();
        options.iter().take_while(|it| it.is_ascii_alphabetic()).any(|it| *it == b'v')
    });
    options || contains(b"verbose") || contains(b"BASH_EXECUTION_STRING")
}

/// True where the text has the shell become another program, as far as can be seen.
pub(crate) fn becomes_a_program(text: &[u8]) -> bool {
    text.windows(5).enumerate().filter(|(_, it)| *it == b"exec " || *it == b"exec\t").any(
        |(at, _)| {
            let before = text.get(..at).unwrap_or_default();
            let spaces = before.iter().rev().take_while(|it| b" \t".contains(it)).count();
            let before = before.get(..at - spaces).unwrap_or_default();
            let is_command = before.last().is_none_or(|it| b";&|({\n".contains(it));
            let behind = text.get(at + 5..).unwrap_or_default().trim_ascii_start();
            // Not a redirection, which changes the shell's own descriptors.
            let is_program = !behind.first().is_none_or(|it| b"<>&0123456789{".contains(it));
            is_command && is_program
        },
    )
}
