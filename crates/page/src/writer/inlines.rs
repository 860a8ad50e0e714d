//! Emphasis and links. Their opening mark is removed again if they turn out to be empty.

use super::{OpenInline, PageStyle, PageWriter};
use crate::tag::Tag;

impl PageWriter {
    pub(super) fn open_inline(&mut self, tag: Tag, opening: &'static str, closing: String) {
        self.lines.open(opening);
        self.inlines.push(OpenInline { tag, opening, closing, written: self.lines.written() });
    }

    pub(super) fn close_inline(&mut self, tag: Tag) {
        let Some(at) = self.inlines.iter().rposition(|it| it.tag == tag) else { return };
        let inline = self.inlines.remove(at);
        if inline.written == self.lines.written() {
            self.lines.take_back(inline.opening);
        } else {
            self.close_written(&inline);
        }
    }

    pub(super) fn close_written(&mut self, inline: &OpenInline) {
        // Avoids repeating the URL, as in `https://a.b [https://a.b]`.
        let is_said = self.style == PageStyle::Text
            && inline.closing.strip_prefix(" [").is_some_and(|it| {
                let address = it.trim_end_matches(']').trim_end_matches('/');
                self.lines.ends_with(address) || self.lines.ends_with(it.trim_end_matches(']'))
            });
        if !is_said {
            self.lines.append(&inline.closing);
        }
    }

    /// Ends links and emphasis where a block begins or ends, because they cannot span blocks. Those without
    /// text so far stay open, because the block may be their content.
    pub(super) fn close_inlines(&mut self) {
        let written = self.lines.written();
        let (unwritten, mut ended): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.inlines).into_iter().partition(|it| it.written == written);
        self.inlines = unwritten;
        while let Some(inline) = ended.pop() {
            self.close_written(&inline);
        }
    }

    pub(super) fn drop_unwritten_inlines(&mut self) {
        while let Some(inline) = self.inlines.pop() {
            self.lines.take_back(inline.opening);
        }
    }
}
