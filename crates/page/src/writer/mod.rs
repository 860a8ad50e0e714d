//! Writes the elements of a page as text that a model can read: Markdown, or plain text.

mod code;
mod inlines;
mod lines;
mod links;
mod reading_rules;
mod table;

use code::CodeBlock;
use lines::{Gap, LineWriter};
use links::LinkResolver;
use reading_rules::{cleaned, is_hidden, is_permalink, raised};
use table::{CellSpan, OpenTable};
use url::Url;

use super::{attributes::ElementAttributes, nesting::ElementSink, tag::Tag, tokenizer::StartTag};

/// How a page is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageStyle {
    /// As Markdown.
    Markdown,
    /// As plain text: no marks for headings and emphasis, and the URL of a link after its text.
    Text,
}

/// The maximum size of a page's text. The text can be longer than the HTML, because every link may be
/// relative to a long URL.
pub(super) const MAX_TEXT_BYTES: usize = 8 * 1024 * 1024;
/// The maximum nesting of tables that are written as tables.
const MAX_TABLES: usize = 6;
/// The longest title in bytes.
const MAX_TITLE_BYTES: usize = 500;

/// A converted page.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct WrittenPage {
    pub(super) text: String,
    pub(super) title: Option<String>,
    /// The target of an immediate refresh.
    pub(super) onward: Option<String>,
    /// Whether the text was cut at the size limit.
    pub(super) was_cut: bool,
}

#[derive(Debug)]
enum ListKind {
    Bullets,
    Numbers { next: i64 },
}

/// Open emphasis or an open link.
#[derive(Debug)]
struct OpenInline {
    tag: Tag,
    opening: &'static str,
    closing: String,
    written: u64,
}

/// Writes a page, element by element.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is the state of a different open element")]
pub(super) struct PageWriter {
    style: PageStyle,
    links: LinkResolver,
    lines: LineWriter,
    inlines: Vec<OpenInline>,
    lists: Vec<ListKind>,
    tables: Vec<OpenTable>,
    /// The number of open tables that are not written as tables.
    plain_tables: usize,
    block: Option<CodeBlock>,
    /// The text of inline code, and the number of open elements in it.
    code: Option<(String, usize)>,
    /// The number of open elements from the outermost hidden one on.
    unseen: usize,
    title: Option<String>,
    is_in_title: bool,
    /// The number of open headings. Each is written on one line.
    headings: usize,
    /// Whether a link within the page is open.
    is_in_page_link: bool,
    /// Whether the next text is the first in a `sup`.
    is_raised: bool,
    onward: Option<String>,
    was_cut: bool,
}

impl PageWriter {
    pub(super) fn new(style: PageStyle, address: &Url) -> Self {
        Self {
            style,
            links: LinkResolver::new(address),
            lines: LineWriter::default(),
            inlines: Vec::new(),
            lists: Vec::new(),
            tables: Vec::new(),
            plain_tables: 0,
            block: None,
            code: None,
            unseen: 0,
            title: None,
            is_in_title: false,
            headings: 0,
            is_in_page_link: false,
            is_raised: false,
            onward: None,
            was_cut: false,
        }
    }

    /// The finished text.
    pub(super) fn finish(self) -> WrittenPage {
        let title = self.title.map(|it| {
            let mut title = it.split_whitespace().collect::<Vec<_>>().join(" ");
            title.truncate(title.floor_char_boundary(MAX_TITLE_BYTES));
            title
        });
        let title = title.filter(|it| !it.is_empty());
        WrittenPage { text: self.lines.finish(), title, onward: self.onward, was_cut: self.was_cut }
    }

    /// Resolves links relative to another URL, as `<base>` specifies.
    pub(super) fn set_base(&mut self, href: &str) {
        self.links.set_base(href);
    }

    /// Separates a selected element from what follows.
    pub(super) fn separate(&mut self) {
        self.close_inlines();
        self.lines.gap(Gap::Line);
    }

    /// Starts an element, unless it is hidden.
    pub(super) fn start_element(&mut self, tag: Tag, attributes: &dyn ElementAttributes) {
        if self.unseen > 0 {
            self.unseen += 1;
            return;
        }
        if tag.is_never_shown() || (attributes.may_hide() && is_hidden(tag, attributes)) {
            self.unseen = 1;
            match tag {
                Tag::Iframe => self.embedded(attributes),
                Tag::Meta => self.refresh(attributes),
                _ => {}
            }
            return;
        }
        self.enter(tag, attributes);
    }

    /// Ends the element that started last.
    pub(super) fn end_element(&mut self, tag: Tag) {
        if self.unseen > 0 {
            self.unseen -= 1;
            return;
        }
        self.leave(tag);
    }

    /// Starts an element, even a hidden one.
    pub(super) fn enter(&mut self, tag: Tag, attributes: &dyn ElementAttributes) {
        if let Some(block) = &mut self.block {
            block.enter(tag, attributes);
            return;
        }
        if let Some((text, depth)) = &mut self.code {
            *depth += 1;
            if tag.is_block() || tag == Tag::Br {
                text.push(' ');
            }
            return;
        }
        if tag.is_block() {
            self.close_inlines();
            self.lines.gap(gap_around(tag));
        }
        match tag {
            Tag::Base => {
                if let Some(href) = attributes.value("href") {
                    self.links.set_base(&href);
                }
            }
            // Only the first title counts.
            Tag::Title if self.title.is_some() => self.unseen = 1,
            Tag::Title => self.is_in_title = true,
            Tag::Br if self.headings > 0 => self.lines.flowing(" "),
            Tag::Br => self.lines.line_break(),
            Tag::Sup => self.is_raised = true,
            Tag::Meta => self.refresh(attributes),
            Tag::Hr => {
                self.lines.gap(Gap::Paragraph);
                self.lines.put("---");
                self.lines.gap(Gap::Paragraph);
            }
            Tag::Img => self.image(attributes),
            Tag::A => self.link(attributes),
            Tag::Pre | Tag::Xmp | Tag::Plaintext | Tag::Textarea => {
                self.drop_unwritten_inlines();
                self.block = Some(CodeBlock::new(attributes));
            }
            Tag::Code | Tag::Kbd | Tag::Samp | Tag::Tt => self.code = Some((String::new(), 1)),
            Tag::B | Tag::Strong => self.emphasis(tag, "**"),
            Tag::Em | Tag::I => self.emphasis(tag, "*"),
            Tag::Del | Tag::S | Tag::Strike => self.emphasis(tag, "~~"),
            Tag::Q => self.open_inline(tag, "\u{201c}", "\u{201d}".to_owned()),
            Tag::Ul | Tag::Menu | Tag::Dir => self.begin_list(ListKind::Bullets),
            Tag::Ol => {
                let first = attributes.value("start").and_then(|it| it.trim().parse().ok());
                self.begin_list(ListKind::Numbers { next: first.unwrap_or(1) });
            }
            Tag::Li => self.list_item(attributes),
            Tag::Dd => self.lines.begin_marked(": ", "  "),
            Tag::Blockquote => self.lines.begin_marked("> ", "> "),
            Tag::Table | Tag::Tr | Tag::Td | Tag::Th => {
                self.enter_table_part(tag, attributes);
            }
            _ => {
                if let Some(level) = tag.heading_level() {
                    self.headings += 1;
                    let mark = ["", "# ", "## ", "### ", "#### ", "##### ", "###### "];
                    let mark = match self.style {
                        PageStyle::Markdown => mark.get(level).copied().unwrap_or_default(),
                        PageStyle::Text => "",
                    };
                    self.lines.begin_marked(mark, "");
                }
            }
        }
    }

    fn leave(&mut self, tag: Tag) {
        if let Some(block) = &mut self.block {
            if block.leave(tag) {
                self.end_code_block();
            }
            return;
        }
        if let Some((_, depth)) = &mut self.code {
            *depth -= 1;
            if *depth == 0 {
                self.end_code();
            }
            return;
        }
        match tag {
            Tag::Title => self.is_in_title = false,
            Tag::A => self.is_in_page_link = false,
            Tag::Sup => self.is_raised = false,
            Tag::Ul | Tag::Menu | Tag::Dir | Tag::Ol => {
                self.lists.pop();
                if self.lists.is_empty() {
                    self.lines.gap(Gap::Paragraph);
                }
            }
            Tag::Table | Tag::Tr | Tag::Td | Tag::Th => return self.leave_table_part(tag),
            _ => {}
        }
        if tag.is_block() {
            self.close_inlines();
            self.lines.gap(gap_around(tag));
            let is_heading = tag.heading_level().is_some();
            if is_heading {
                self.headings = self.headings.saturating_sub(1);
            }
            if is_heading || matches!(tag, Tag::Li | Tag::Dd | Tag::Blockquote) {
                self.lines.end_marked();
                self.lines.gap(gap_around(tag));
            }
        } else if self.inlines.iter().any(|it| it.tag == tag) {
            self.close_inline(tag);
        }
    }

    /// Writes decoded text.
    pub(super) fn write_text(&mut self, text: &str) {
        if self.unseen > 0 || self.was_cut {
            return;
        }
        let cleaned = cleaned(text);
        if self.is_in_title {
            self.title.get_or_insert_default().push_str(&cleaned);
        } else if let Some(block) = &mut self.block {
            block.push(&cleaned);
            self.check_size(block_size(self.block.as_ref()));
        } else if let Some((code, _)) = &mut self.code {
            code.push_str(&cleaned);
            let size = code.len();
            self.check_size(size);
        } else if !(self.is_in_page_link && is_permalink(&cleaned)) {
            let is_raised = std::mem::take(&mut self.is_raised);
            match is_raised.then(|| raised(&cleaned, self.lines.joined_character())).flatten() {
                Some(power) => self.lines.put(&power),
                None => self.lines.flowing(&cleaned),
            }
            self.check_size(0);
        }
    }

    fn check_size(&mut self, more: usize) {
        let in_tables: usize = self.tables.iter().map(OpenTable::size).sum();
        self.was_cut |= self.lines.size() + in_tables + more > MAX_TEXT_BYTES;
    }

    fn begin_list(&mut self, kind: ListKind) {
        if self.lists.is_empty() {
            self.lines.gap(Gap::Paragraph);
        }
        self.lists.push(kind);
    }

    fn list_item(&mut self, attributes: &dyn ElementAttributes) {
        let mark = match self.lists.last_mut() {
            Some(ListKind::Numbers { next }) => {
                let own = attributes.value("value").and_then(|it| it.trim().parse().ok());
                let number: i64 = own.unwrap_or(*next);
                *next = number.saturating_add(1);
                format!("{number}. ")
            }
            Some(ListKind::Bullets) | None => "- ".to_owned(),
        };
        self.lines.begin_marked(&mark, &" ".repeat(mark.len()));
    }

    fn emphasis(&mut self, tag: Tag, mark: &'static str) {
        if self.style == PageStyle::Markdown {
            let is_said = self.inlines.iter().any(|it| it.opening == mark);
            let mark = if is_said { "" } else { mark };
            self.open_inline(tag, mark, mark.to_owned());
        }
    }

    fn link(&mut self, attributes: &dyn ElementAttributes) {
        let Some(href) = attributes.value("href") else { return };
        self.is_in_page_link = href.trim_start().starts_with('#');
        let Some(target) = self.links.resolve(&href) else { return };
        match self.style {
            PageStyle::Markdown => self.open_inline(Tag::A, "[", format!("]({target})")),
            PageStyle::Text => self.open_inline(Tag::A, "", format!(" [{target}]")),
        }
    }

    fn image(&mut self, attributes: &dyn ElementAttributes) {
        let Some(alt) = attributes.value("alt") else { return };
        let alt = alt.split_whitespace().collect::<Vec<_>>().join(" ");
        if alt.is_empty() {
            return;
        }
        let source = attributes.value("src").and_then(|it| self.links.resolve(&it));
        match (self.style, source) {
            (PageStyle::Markdown, Some(source)) => self.lines.put(&format!("![{alt}]({source})")),
            (PageStyle::Markdown, None) | (PageStyle::Text, _) => self.lines.put(&alt),
        }
    }

    fn embedded(&mut self, attributes: &dyn ElementAttributes) {
        let source = attributes.value("src").and_then(|it| self.links.resolve(&it));
        let Some(source) = source.filter(|_| self.block.is_none() && self.code.is_none()) else {
            return;
        };
        let title = attributes.value("title").unwrap_or_default();
        let words = if title.trim().is_empty() { "embedded page" } else { title.trim() };
        self.separate();
        match self.style {
            PageStyle::Markdown => self.lines.put(&format!("[{words}]({source})")),
            PageStyle::Text => self.lines.put(&format!("{words} [{source}]")),
        }
        self.lines.gap(Gap::Line);
    }

    /// Records the target of `<meta http-equiv=refresh content="0; url=/new">`.
    fn refresh(&mut self, attributes: &dyn ElementAttributes) {
        let is_refresh = attributes
            .value("http-equiv")
            .is_some_and(|it| it.trim().eq_ignore_ascii_case("refresh"));
        if !is_refresh || self.onward.is_some() {
            return;
        }
        let content = attributes.value("content").unwrap_or_default();
        let Some((_, target)) = content.split_once([';', ',']) else { return };
        let target = target.trim();
        let target = match target.split_once('=') {
            Some((name, target)) if name.trim().eq_ignore_ascii_case("url") => target.trim(),
            _ => target,
        };
        self.onward = self.links.resolve(target.trim_matches(['"', '\'']));
    }

    fn end_code(&mut self) {
        let Some((code, _)) = self.code.take() else { return };
        let words = code.split_ascii_whitespace().collect::<Vec<_>>().join(" ");
        if code.starts_with(|it: char| it.is_ascii_whitespace()) {
            self.lines.flowing(" ");
        }
        if !words.is_empty() {
            match self.style {
                PageStyle::Markdown => self.lines.put(&code::in_backticks(&words)),
                PageStyle::Text => self.lines.put(&words),
            }
        }
        if code.ends_with(|it: char| it.is_ascii_whitespace()) {
            self.lines.flowing(" ");
        }
        self.check_size(0);
    }

    fn end_code_block(&mut self) {
        let Some(block) = self.block.take() else { return };
        block.write(self.style, &mut self.lines);
        self.lines.gap(Gap::Paragraph);
        self.check_size(0);
    }

    fn enter_table_part(&mut self, tag: Tag, attributes: &dyn ElementAttributes) {
        if tag == Tag::Table {
            if self.tables.len() >= MAX_TABLES {
                self.plain_tables += 1;
                return;
            }
            self.drop_unwritten_inlines();
            self.tables.push(OpenTable::begin(&mut self.lines));
            return;
        }
        let Some(table) = self.tables.last_mut().filter(|_| self.plain_tables == 0) else { return };
        if tag == Tag::Tr {
            table.begin_row();
        } else {
            let span = |name: &str| {
                let span = attributes.value(name).and_then(|it| it.trim().parse().ok());
                span.unwrap_or(1).max(1)
            };
            let place = CellSpan { columns: span("colspan"), rows: span("rowspan") };
            table.begin_cell(place, tag == Tag::Th, &mut self.lines);
        }
    }

    fn leave_table_part(&mut self, tag: Tag) {
        self.close_inlines();
        if self.plain_tables > 0 {
            self.plain_tables -= usize::from(tag == Tag::Table);
            self.lines.gap(gap_around(tag));
            return;
        }
        match tag {
            Tag::Table => {
                self.drop_unwritten_inlines();
                if let Some(table) = self.tables.pop() {
                    table.end(self.style, &mut self.lines);
                }
            }
            Tag::Td | Tag::Th => {
                if let Some(table) = self.tables.last_mut() {
                    table.end_cell(&mut self.lines);
                }
            }
            _ => {}
        }
        if self.tables.is_empty() {
            self.lines.gap(gap_around(tag));
        }
        self.check_size(0);
    }
}

fn block_size(block: Option<&CodeBlock>) -> usize {
    block.map_or(0, CodeBlock::size)
}

fn gap_around(tag: Tag) -> Gap {
    if tag.is_paragraph_like() || matches!(tag, Tag::Pre | Tag::Hr | Tag::Xmp) {
        Gap::Paragraph
    } else {
        Gap::Line
    }
}

impl ElementSink for PageWriter {
    fn start(&mut self, element: &StartTag<'_>) {
        self.start_element(element.tag, &element.attributes);
    }

    fn end(&mut self, tag: Tag) {
        self.end_element(tag);
    }

    fn text(&mut self, text: &str) {
        self.write_text(text);
    }

    fn is_full(&self) -> bool {
        self.was_cut
    }
}
