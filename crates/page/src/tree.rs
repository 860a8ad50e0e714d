//! A page as a tree, for selectors.
//!
//! It is built from the same balanced elements as the text, not by a browser's parser: such parsers take time
//! quadratic in the nesting of a page, and duplicate formatting elements without limit.

use std::borrow::Cow;

use ego_tree::NodeId;
use html5ever::{Attribute, LocalName, QualName, ns};
use scraper::{Html, Node, StrTendril, node::Text};

use super::{
    attributes::{Attributes, ElementAttributes},
    character_references::{ReferenceContext, decoded},
    nesting::ElementSink,
    tag::Tag,
    tokenizer::StartTag,
};

/// The maximum number of elements of a tree. Later elements are left out.
pub(super) const MAX_ELEMENTS: usize = 100_000;
/// The maximum number of attributes of an element that are kept.
const MAX_ATTRIBUTES: usize = 64;

/// Builds the tree of a page.
pub(super) struct TreeBuilder {
    page: Html,
    open: Vec<NodeId>,
    elements: usize,
}

impl TreeBuilder {
    pub(super) fn new() -> Self {
        let page = Html::new_document();
        let open = vec![page.tree.root().id()];
        Self { page, open, elements: 0 }
    }

    /// The tree, and whether elements were left out.
    pub(super) fn finish(self) -> (Html, bool) {
        (self.page, self.elements > MAX_ELEMENTS)
    }

    fn append(&mut self, node: Node) -> Option<NodeId> {
        let parent = *self.open.last()?;
        Some(self.page.tree.get_mut(parent)?.append(node).id())
    }
}

impl ElementSink for TreeBuilder {
    fn start(&mut self, element: &StartTag<'_>) {
        self.elements += 1;
        if self.elements > MAX_ELEMENTS {
            return;
        }
        let name = QualName::new(None, ns!(html), local_name(element.name));
        let new = scraper::node::Element::new(name, attributes_of(element.attributes));
        if let Some(id) = self.append(Node::Element(new)) {
            self.open.push(id);
        }
    }

    fn end(&mut self, _tag: Tag) {
        if self.elements <= MAX_ELEMENTS && self.open.len() > 1 {
            self.open.pop();
        }
    }

    fn text(&mut self, text: &str) {
        if self.elements <= MAX_ELEMENTS {
            self.append(Node::Text(Text { text: StrTendril::from(text) }));
        }
    }

    fn is_full(&self) -> bool {
        self.elements > MAX_ELEMENTS
    }
}

fn local_name(name: &str) -> LocalName {
    LocalName::from(name.to_ascii_lowercase())
}

fn attributes_of(attributes: Attributes<'_>) -> Vec<Attribute> {
    let mut kept: Vec<Attribute> = Vec::new();
    for (name, value) in attributes.written().take(MAX_ATTRIBUTES) {
        let name = QualName::new(None, ns!(), local_name(name));
        if !kept.iter().any(|it| it.name == name) {
            let value = decoded(value, ReferenceContext::Attribute).as_ref().into();
            kept.push(Attribute { name, value });
        }
    }
    kept
}

impl ElementAttributes for scraper::node::Element {
    fn value(&self, name: &str) -> Option<Cow<'_, str>> {
        self.attr(name).map(Cow::Borrowed)
    }

    fn may_hide(&self) -> bool {
        !self.attrs.is_empty()
    }
}
