//! Lists the pages of a document in order, by walking its page tree.

use std::collections::HashSet;

use super::PdfError;
use super::object::{Dictionary, Object, ObjectId};
use super::object_reader::ObjectReader;

const MAX_PAGES_IN_DOCUMENT: usize = 50_000;
/// A limit for trees with many nodes but few pages.
const MAX_VISITED_NODES: usize = 2 * MAX_PAGES_IN_DOCUMENT;

enum PageTreeStep {
    Enter(ObjectId),
    Leave(ObjectId),
}

impl ObjectReader<'_> {
    /// The pages in order. They are counted by walking the tree, because its `/Count` may be wrong.
    pub(super) fn pages(&mut self) -> Result<Vec<ObjectId>, PdfError> {
        let mut root = None;
        for trailer in std::mem::take(&mut self.trailers).iter().rev() {
            if let Some(catalog) = self.get_dictionary(trailer, b"Root")?
                && let Some(Object::Reference(id)) = catalog.get(b"Pages")
            {
                root = Some(*id);
                break;
            }
        }
        let root = root.ok_or(PdfError::Damaged("it has no page tree"))?;
        let mut pages = Vec::new();
        let mut above = HashSet::new();
        let mut leaves = HashSet::new();
        let mut visited = 0;
        let mut waiting = vec![PageTreeStep::Enter(root)];
        while let Some(step) = waiting.pop() {
            let id = match step {
                PageTreeStep::Enter(id) => id,
                PageTreeStep::Leave(id) => {
                    above.remove(&id);
                    continue;
                }
            };
            visited += 1;
            if pages.len() + waiting.len() > MAX_PAGES_IN_DOCUMENT || visited > MAX_VISITED_NODES {
                return Err(PdfError::TooComplex("it has more than 50,000 pages"));
            }
            if leaves.contains(&id) {
                pages.push(id);
                continue;
            }
            let node = match self.load(id)? {
                Some(Object::Dictionary(node)) => node,
                _ => Dictionary::default(),
            };
            if !node.has(b"Kids") || node.name(b"Type") == Some(b"Page") {
                leaves.insert(id);
                pages.push(id);
                continue;
            }
            // A node may be listed twice, just as a page may, but not below itself.
            if !above.insert(id) {
                return Err(PdfError::Damaged("its page tree contains a cycle"));
            }
            waiting.push(PageTreeStep::Leave(id));
            if let Some(Object::Array(kids)) = self.get(&node, b"Kids")? {
                waiting.extend(
                    kids.iter().rev().filter_map(Object::as_reference).map(PageTreeStep::Enter),
                );
            }
        }
        if pages.is_empty() || pages == [root] {
            return Err(PdfError::Damaged("its page tree is empty"));
        }
        Ok(pages)
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "tests")]

    use pretty_assertions::assert_eq;

    use crate::pdf::{
        PdfError,
        test_pdf::{read_all, refusal, tree},
    };

    #[test]
    fn refuses_page_trees_that_are_cyclic_empty_or_endless() {
        let circle = Err(PdfError::Damaged("its page tree contains a cycle"));
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
    fn reads_a_node_that_is_listed_twice_and_refuses_one_that_is_listed_without_end() {
        let twice = tree(
            "<< /Type /Pages /Kids [3 0 R 3 0 R] >>",
            &["<< /Type /Pages /Kids [4 0 R] >>", "<< /Type /Page >>"],
        );
        assert_eq!(read_all(&twice).unwrap().total_pages, 2);
        // Forty nodes, each of which lists the next one twice, and no page at the end.
        let nodes: Vec<String> =
            (4..44).map(|next| format!("<< /Kids [{next} 0 R {next} 0 R] >>")).collect();
        let mut nodes: Vec<&str> = nodes.iter().map(String::as_str).collect();
        nodes.push("<< /Kids [] >>");
        assert_eq!(
            refusal(&tree("<< /Kids [3 0 R 3 0 R] >>", &nodes)),
            "it has more than 50,000 pages"
        );
    }

    #[test]
    fn counts_pages_itself_whatever_the_tree_claims() {
        for count in ["-1", "99999999999", "9223372036854775807", "/no"] {
            let kids = format!("<< /Type /Pages /Kids [3 0 R] /Count {count} >>");
            assert_eq!(read_all(&tree(&kids, &["<< /Type /Page >>"])).unwrap().total_pages, 1);
        }
    }
}
