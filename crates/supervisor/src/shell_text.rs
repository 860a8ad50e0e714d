//! Checks the text of a command before a shell reads it: whether it is complete, so that an empty
//! line can be appended, and whether it replaces the shell with `exec`.
//!
//! A text is complete when nothing is open at its end: no quote, no bracket, no here-document, no
//! `if` without its `fi`. An empty line after an incomplete text would become part of an open
//! here-document, or change the line number in the shell's message about the unexpected end. The
//! check says "complete" only if that is certain. The opposite is always safe.

/// True if an empty line after the text certainly changes nothing.
pub(crate) fn is_complete(text: &[u8]) -> bool {
    let mut scan = TextScan {
        text,
        at: 0,
        open: Vec::new(),
        documents: Vec::new(),
        words: KeywordBalance::default(),
    };
    // With `set -v`, the shell would also show the empty line.
    !shows_lines(text)
        && scan.reaches_the_end()
        && scan.open.is_empty()
        && scan.documents.is_empty()
        && scan.words.are_balanced()
        && !wants_more(text)
}

/// A delimiter that was opened and not closed yet. Single quotes are skipped as a whole.
#[derive(Clone, Copy, PartialEq, Eq)]
enum OpenDelimiter {
    DoubleQuote,
    Backtick,
    Bracket,
    Brace,
}

/// A here-document that begins with the next line.
struct HereDocumentStart {
    end: Vec<u8>,
    strips_tabs: bool,
}

/// For each kind of block, how many keywords open one minus how many close one.
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
            // The text that has to follow these is not parsed, so such a text never counts as complete.
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
    documents: Vec<HereDocumentStart>,
    words: KeywordBalance,
}

impl TextScan<'_> {
    /// Reads the text to its end. Returns false if something is not closed or not understood.
    fn reaches_the_end(&mut self) -> bool {
        while let Some(byte) = self.next() {
            let is_quoted = self.open.last() == Some(&OpenDelimiter::DoubleQuote);
            let is_understood = match byte {
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
            if !is_understood {
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

    /// True when the byte that was just read begins a word.
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

    /// Closes a delimiter that opens and closes with the same character, or opens it.
    fn turn(&mut self, which: OpenDelimiter) -> bool {
        if self.open.last() == Some(&which) { self.end(which) } else { self.begin(which) }
    }

    fn begin(&mut self, which: OpenDelimiter) -> bool {
        self.open.push(which);
        true
    }

    /// Closes a delimiter. A closing delimiter that was not opened, as in the patterns of a `case`,
    /// is not understood.
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
            // The `#` of `$#` begins no comment.
            Some(b'#') => {
                self.at += 1;
                true
            }
            _ => true,
        }
    }

    /// Records the here-document that `<<` announces. The first `<` has been read.
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
                // Not a plain word. In arithmetic, `<<` is no here-document at all.
                b'$' | b'`' => return false,
                _ => end.push(byte),
            }
        }
        self.documents.push(HereDocumentStart { end, strips_tabs });
        true
    }

    /// Skips the here-documents that begin with this line, each to its end.
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

    /// Skips to the end of the line, which stays unread because here-documents begin there.
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

/// True for a byte that stands for itself in a word.
fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"{}[]_-./=+,:@%^~!*?".contains(&byte) || byte >= 0x80
}

/// True when the text ends with an operator that another command has to follow.
fn wants_more(text: &[u8]) -> bool {
    let last_line = text.trim_ascii_end();
    last_line.is_empty()
        || last_line.ends_with(b"|")
        || last_line.ends_with(b"&&")
        || last_line.ends_with(b"()")
}

/// True when the text may make the shell show the lines that it reads, or the whole text.
fn shows_lines(text: &[u8]) -> bool {
    let contains = |part: &[u8]| text.windows(part.len()).any(|it| it == part);
    let options = text.windows(5).enumerate().filter(|(_, it)| *it == b"set -").any(|(at, _)| {
        let options = text.get(at + 5..).unwrap_or_default();
        options.iter().take_while(|it| it.is_ascii_alphabetic()).any(|it| *it == b'v')
    });
    options || contains(b"verbose") || contains(b"BASH_EXECUTION_STRING")
}

/// True when the text seems to replace the shell by another program with `exec`.
pub(crate) fn execs_a_program(text: &[u8]) -> bool {
    text.windows(5).enumerate().filter(|(_, it)| *it == b"exec " || *it == b"exec\t").any(
        |(at, _)| {
            let before = text.get(..at).unwrap_or_default();
            let spaces = before.iter().rev().take_while(|it| b" \t".contains(it)).count();
            let before = before.get(..at - spaces).unwrap_or_default();
            let is_command = before.last().is_none_or(|it| b";&|({\n".contains(it));
            let behind = text.get(at + 5..).unwrap_or_default().trim_ascii_start();
            // `exec` with a redirection only changes the shell's own descriptors.
            let is_program = !behind.first().is_none_or(|it| b"<>&0123456789{".contains(it));
            is_command && is_program
        },
    )
}
