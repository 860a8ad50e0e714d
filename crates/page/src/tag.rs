//! The HTML elements that affect the text of a page.

macro_rules! tags {
    ($($variant:ident $name:literal,)+) => {
        /// An element by its name. Elements without special rules are [`Tag::Other`].
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Tag {
            $(#[doc = $name] $variant,)+
            /// Any other element.
            Other,
        }

        impl Tag {
            /// The number of variants.
            pub(super) const COUNT: usize = Self::Other as usize + 1;

            fn of_lower_case(name: &str) -> Self {
                match name {
                    $($name => Self::$variant,)+
                    _ => Self::Other,
                }
            }
        }
    };
}

tags! {
    A "a",
    Address "address",
    Article "article",
    Aside "aside",
    Audio "audio",
    B "b",
    Base "base",
    Blockquote "blockquote",
    Body "body",
    Br "br",
    Button "button",
    Canvas "canvas",
    Caption "caption",
    Center "center",
    Code "code",
    Col "col",
    Colgroup "colgroup",
    Datalist "datalist",
    Dd "dd",
    Del "del",
    Details "details",
    Dialog "dialog",
    Dir "dir",
    Div "div",
    Dl "dl",
    Dt "dt",
    Em "em",
    Embed "embed",
    Fieldset "fieldset",
    Figcaption "figcaption",
    Figure "figure",
    Footer "footer",
    Form "form",
    Frameset "frameset",
    H1 "h1",
    H2 "h2",
    H3 "h3",
    H4 "h4",
    H5 "h5",
    H6 "h6",
    Head "head",
    Header "header",
    Hgroup "hgroup",
    Hr "hr",
    Html "html",
    I "i",
    Iframe "iframe",
    Img "img",
    Input "input",
    Kbd "kbd",
    Legend "legend",
    Li "li",
    Link "link",
    Main "main",
    Map "map",
    Menu "menu",
    Meta "meta",
    Nav "nav",
    Noembed "noembed",
    Noframes "noframes",
    Noscript "noscript",
    Object "object",
    Ol "ol",
    Optgroup "optgroup",
    Option "option",
    P "p",
    Param "param",
    Plaintext "plaintext",
    Pre "pre",
    Q "q",
    S "s",
    Samp "samp",
    Script "script",
    Search "search",
    Section "section",
    Select "select",
    Source "source",
    Span "span",
    Strike "strike",
    Strong "strong",
    Style "style",
    Summary "summary",
    Sup "sup",
    Svg "svg",
    Table "table",
    Tbody "tbody",
    Td "td",
    Template "template",
    Textarea "textarea",
    Tfoot "tfoot",
    Th "th",
    Thead "thead",
    Title "title",
    Tr "tr",
    Track "track",
    Tt "tt",
    Ul "ul",
    Video "video",
    Wbr "wbr",
    Xmp "xmp",
}

/// How the content of an element is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ContentModel {
    /// As HTML.
    Markup,
    /// As text with character references, up to the end tag.
    Characters,
    /// Unchanged, up to the end tag.
    Verbatim,
    /// Unchanged, up to the end of the page.
    ToTheEnd,
}

impl Tag {
    /// The element with a name, in any letter case.
    pub(super) fn of(name: &str) -> Self {
        const LONGEST: usize = 10;
        let mut lower = [0; LONGEST];
        let Some(lower) = lower.get_mut(..name.len()) else { return Self::Other };
        lower.copy_from_slice(name.as_bytes());
        lower.make_ascii_lowercase();
        std::str::from_utf8(lower).map_or(Self::Other, Self::of_lower_case)
    }

    pub(super) const fn content_model(self) -> ContentModel {
        match self {
            Self::Title | Self::Textarea => ContentModel::Characters,
            Self::Script
            | Self::Style
            | Self::Iframe
            | Self::Noembed
            | Self::Noframes
            | Self::Xmp => ContentModel::Verbatim,
            Self::Plaintext => ContentModel::ToTheEnd,
            _ => ContentModel::Markup,
        }
    }

    /// True for elements that have no content and no end tag.
    pub(super) const fn is_void(self) -> bool {
        matches!(
            self,
            Self::Base
                | Self::Br
                | Self::Col
                | Self::Embed
                | Self::Hr
                | Self::Img
                | Self::Input
                | Self::Link
                | Self::Meta
                | Self::Param
                | Self::Source
                | Self::Track
                | Self::Wbr
        )
    }

    /// True for elements whose content starts on a new line.
    pub(super) const fn is_block(self) -> bool {
        matches!(
            self,
            Self::Address
                | Self::Article
                | Self::Aside
                | Self::Blockquote
                | Self::Body
                | Self::Caption
                | Self::Center
                | Self::Dd
                | Self::Details
                | Self::Dialog
                | Self::Dir
                | Self::Div
                | Self::Dl
                | Self::Dt
                | Self::Fieldset
                | Self::Figcaption
                | Self::Figure
                | Self::Footer
                | Self::Form
                | Self::Frameset
                | Self::H1
                | Self::H2
                | Self::H3
                | Self::H4
                | Self::H5
                | Self::H6
                | Self::Head
                | Self::Header
                | Self::Hgroup
                | Self::Hr
                | Self::Html
                | Self::Legend
                | Self::Li
                | Self::Main
                | Self::Menu
                | Self::Nav
                | Self::Ol
                | Self::Optgroup
                | Self::Option
                | Self::P
                | Self::Plaintext
                | Self::Pre
                | Self::Search
                | Self::Section
                | Self::Select
                | Self::Summary
                | Self::Table
                | Self::Tbody
                | Self::Td
                | Self::Textarea
                | Self::Tfoot
                | Self::Th
                | Self::Thead
                | Self::Tr
                | Self::Ul
                | Self::Xmp
        )
    }

    /// True for blocks that are surrounded by empty lines.
    pub(super) const fn is_paragraph_like(self) -> bool {
        self.heading_level().is_some()
            || matches!(
                self,
                Self::Article
                    | Self::Aside
                    | Self::Blockquote
                    | Self::Dl
                    | Self::Fieldset
                    | Self::Figure
                    | Self::Footer
                    | Self::Header
                    | Self::Main
                    | Self::Nav
                    | Self::P
                    | Self::Section
                    | Self::Table
            )
    }

    /// 1 for `h1` to 6 for `h6`.
    pub(super) const fn heading_level(self) -> Option<usize> {
        match self {
            Self::H1 => Some(1),
            Self::H2 => Some(2),
            Self::H3 => Some(3),
            Self::H4 => Some(4),
            Self::H5 => Some(5),
            Self::H6 => Some(6),
            _ => None,
        }
    }

    /// True for elements that may be in the head of a page.
    pub(super) const fn belongs_in_head(self) -> bool {
        matches!(
            self,
            Self::Base
                | Self::Link
                | Self::Meta
                | Self::Noscript
                | Self::Script
                | Self::Style
                | Self::Template
                | Self::Title
        )
    }

    /// True for elements whose content is not shown to readers.
    pub(super) const fn is_never_shown(self) -> bool {
        matches!(
            self,
            Self::Audio
                | Self::Canvas
                | Self::Datalist
                | Self::Iframe
                | Self::Noembed
                | Self::Noframes
                | Self::Script
                | Self::Style
                | Self::Svg
                | Self::Template
                | Self::Video
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_case_insensitive() {
        assert_eq!(Tag::of("BlockQuote"), Tag::Blockquote);
        assert_eq!(Tag::of("h6"), Tag::H6);
        for other in ["", "x", "my-element", "a-name-longer-than-any", "ß"] {
            assert_eq!(Tag::of(other), Tag::Other, "{other}");
        }
    }
}
