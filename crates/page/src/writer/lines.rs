//! Writes words as lines, with empty lines between paragraphs and the marks of lists, quotes and headings at
//! the start of lines.

/// The maximum indentation level of nested lists and quotes. Deeper ones keep only their marks.
const MAX_INDENTS: usize = 12;

/// The gap between two blocks of text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Gap {
    #[default]
    None,
    /// A new line begins.
    Line,
    /// An empty line and a new line.
    Paragraph,
}

/// Text that grows line by line.
#[derive(Debug, Default)]
pub(super) struct LineWriter {
    out: String,
    /// The gap before the next word.
    gap: Gap,
    space: bool,
    /// Marks to write directly before the next word, such as `[` or `**`.
    opening: String,
    /// The prefix of every line.
    prefix: String,
    /// The mark that replaces the end of `prefix` on the next line.
    mark: Option<LineMark>,
    scopes: Vec<LineScope>,
    /// Counts the pieces written, so that a block can tell whether it is empty.
    written: u64,
}

#[derive(Debug)]
struct LineMark {
    /// The length of the prefix before the mark.
    prefix_length: usize,
    text: String,
}

#[derive(Debug)]
struct LineScope {
    prefix_length: usize,
    mark_length: usize,
    written: u64,
}

impl LineWriter {
    /// The number of pieces written so far.
    pub(super) const fn written(&self) -> u64 {
        self.written
    }

    /// The size of the text in bytes.
    pub(super) fn size(&self) -> usize {
        self.out.len()
    }

    /// Whether the text ends with `end`.
    pub(super) fn ends_with(&self, end: &str) -> bool {
        self.out.ends_with(end)
    }

    /// The character directly before the next word, without a gap between.
    pub(super) fn joined_character(&self) -> Option<char> {
        let is_apart =
            self.space || self.gap != Gap::None || self.mark.is_some() || !self.opening.is_empty();
        if is_apart { None } else { self.out.chars().next_back() }
    }

    /// The finished text.
    pub(super) fn finish(self) -> String {
        self.out
    }

    /// Requests a gap before the next word.
    pub(super) fn gap(&mut self, gap: Gap) {
        self.space = false;
        // The first block of a list item is on the same line as its mark.
        if self.mark.is_none() && !self.out.is_empty() {
            self.gap = self.gap.max(gap);
        }
    }

    /// A line break, as `<br>`. A second one in a row makes an empty line.
    pub(super) fn line_break(&mut self) {
        let next = if self.gap == Gap::None { Gap::Line } else { Gap::Paragraph };
        self.gap(next);
    }

    /// Writes text, with every run of white space as one space.
    pub(super) fn flowing(&mut self, text: &str) {
        let mut rest = text;
        while !rest.is_empty() {
            let is_space = |it: &u8| it.is_ascii_whitespace();
            let word_length = rest.bytes().position(|it| is_space(&it)).unwrap_or(rest.len());
            let (word, more) = rest.split_at_checked(word_length).unwrap_or((rest, ""));
            if !word.is_empty() {
                self.put(word);
            }
            let space = more.bytes().take_while(is_space).count();
            self.space |= space > 0;
            rest = more.get(space..).unwrap_or_default();
        }
    }

    /// Writes a piece of a line unchanged.
    pub(super) fn put(&mut self, piece: &str) {
        if self.out.is_empty() || self.gap != Gap::None || self.mark.is_some() {
            self.begin_line();
        } else if self.space {
            self.out.push(' ');
        }
        self.space = false;
        self.out.push_str(&self.opening);
        self.opening.clear();
        self.out.push_str(piece);
        self.written += 1;
    }

    /// Appends to the last word; pending gaps and marks stay pending.
    pub(super) fn append(&mut self, piece: &str) {
        self.out.push_str(piece);
    }

    /// Writes lines unchanged, each with the current prefix.
    pub(super) fn put_lines<'t>(&mut self, lines: impl Iterator<Item = &'t str>) {
        for (number, line) in lines.enumerate() {
            if number > 0 {
                self.gap = Gap::Line;
            }
            self.put(line);
            if line.is_empty() {
                self.trim_line();
            }
        }
    }

    fn begin_line(&mut self) {
        if !self.out.is_empty() {
            self.out.push('\n');
        }
        if self.gap == Gap::Paragraph && !self.out.is_empty() {
            // An empty line in a quote keeps the quote's prefix. A mark is only written before the line that
            // follows.
            let length = self.mark.as_ref().map_or(self.prefix.len(), |it| it.prefix_length);
            let prefix = self.prefix.get(..length).unwrap_or_default();
            self.out.push_str(prefix.trim_end());
            self.out.push('\n');
        }
        self.gap = Gap::None;
        match self.mark.take() {
            Some(mark) => {
                self.out.push_str(self.prefix.get(..mark.prefix_length).unwrap_or_default());
                self.out.push_str(&mark.text);
            }
            None => self.out.push_str(&self.prefix),
        }
    }

    fn trim_line(&mut self) {
        while self.out.ends_with(' ') {
            self.out.pop();
        }
    }

    /// Begins a block whose first line begins with `mark`, and whose other lines begin with `indent`.
    pub(super) fn begin_marked(&mut self, mark: &str, indent: &str) {
        self.scopes.push(LineScope {
            prefix_length: self.prefix.len(),
            mark_length: mark.len(),
            written: self.written,
        });
        let prefix_length = self.prefix.len();
        if !mark.is_empty() {
            let pending =
                self.mark.get_or_insert_with(|| LineMark { prefix_length, text: String::new() });
            pending.text.push_str(mark);
        }
        if self.scopes.len() <= MAX_INDENTS {
            self.prefix.push_str(indent);
        }
    }

    /// Ends the block that began last.
    pub(super) fn end_marked(&mut self) {
        let Some(scope) = self.scopes.pop() else { return };
        self.prefix.truncate(scope.prefix_length);
        // Nothing was written, so the mark is still pending and is removed.
        if scope.written == self.written
            && let Some(mark) = &mut self.mark
        {
            mark.text.truncate(mark.text.len().saturating_sub(scope.mark_length));
            if mark.text.is_empty() {
                self.mark = None;
            }
        }
    }

    /// Adds a mark right before the next word.
    pub(super) fn open(&mut self, mark: &str) {
        self.opening.push_str(mark);
    }

    /// Removes a mark that no word followed.
    pub(super) fn take_back(&mut self, mark: &str) {
        let length = self.opening.len().saturating_sub(mark.len());
        self.opening.truncate(length);
    }
}
