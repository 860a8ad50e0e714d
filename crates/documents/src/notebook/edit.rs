//! Changes one cell of a notebook. Every byte outside the change stays as it is, including formatting
//! and unknown fields.
//!
//! The change is a few splices of the text, found with `json_scan`. A syntax tree that keeps every
//! byte, such as `jsonc-parser`'s, would do the same with a node for every token, which for a large
//! notebook takes many times the memory of its text.

use std::{
    borrow::Cow,
    collections::BTreeMap,
    ops::{ControlFlow, Range},
};

use serde_json::json;
use toolwright_base::shortened;

use super::{
    CellKind, MAX_NOTEBOOK_BYTES, NotebookError, SHOWN_ID,
    cell_edit::{CellEdit, NotebookEditError},
    cell_format::{CellFormat, required_fields},
    json_scan::{each_field, each_item, field, span},
    read::{NotebookRoot, id_of, kind_of},
    read_notebook,
};

/// How many ids an error lists.
const SHOWN_IDS: usize = 20;
/// The most fields that a cell may have when its kind changes, because the whole cell is then
/// rewritten.
const MAX_FIELDS: usize = 10_000;

/// The change of a notebook's text that an edit makes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditedNotebook {
    /// The parts of the old text that change, in order, with their new text.
    pub splices: Vec<Splice>,
    /// The id of the cell that was changed, added or removed.
    pub cell_id: String,
    /// The position of that cell, counted from 0.
    pub index: usize,
}

/// Finds out which parts of the text of an `.ipynb` file change, and how.
pub fn edit_notebook(text: &str, edit: &CellEdit) -> Result<EditedNotebook, NotebookEditError> {
    if text.len() > MAX_NOTEBOOK_BYTES {
        return Err(NotebookEditError::TooLarge(text.len()));
    }
    // A broken notebook gets the same error as when it is read.
    read_notebook(text)?;
    let notebook = NotebookText::of(text)?;
    let find = |id: &str| notebook.find(id);
    let (mut splices, cell_id, index) = match edit {
        CellEdit::Replace { id, source, kind } => {
            let index = find(id)?;
            (notebook.replace(index, source, *kind)?, id.clone(), index)
        }
        CellEdit::Insert { after, source, kind } => {
            let index = after.as_deref().map(find).transpose()?.map_or(0, |it| it + 1);
            let new_id = notebook.has_ids.then(|| notebook.fresh_id(source));
            let splice = notebook.insert(index, source, *kind, new_id.as_deref());
            (vec![splice], new_id.unwrap_or_else(|| format!("cell-{index}")), index)
        }
        CellEdit::Delete { id } => {
            let index = find(id)?;
            (vec![(notebook.removal(index), String::new())], id.clone(), index)
        }
    };
    splices.sort_by_key(|(range, _)| range.start);
    Ok(EditedNotebook { splices, cell_id, index })
}

/// An item of an array, counted from 0.
fn item(array: &str, index: usize) -> Option<&str> {
    let mut found = None;
    let mut at = 0;
    each_item(array, &mut |item| {
        if at == index {
            found = Some(item);
            return ControlFlow::Break(());
        }
        at += 1;
        ControlFlow::Continue(())
    });
    found
}

/// The position that `cell-N` names, counted from 0, if there is such a cell.
fn by_position(id: &str, count: usize) -> Option<usize> {
    let digits = id.strip_prefix("cell-").filter(|it| it.bytes().all(|it| it.is_ascii_digit()))?;
    digits.parse().ok().filter(|it| *it < count)
}

/// A part of the text, and its replacement.
pub(crate) type Splice = (Range<usize>, String);

/// The text of a notebook, with what is needed to find and write cells in it.
struct NotebookText<'a> {
    text: &'a str,
    /// The array of cells, with its brackets.
    cells: &'a str,
    /// Whether cells have ids in this version of the format.
    has_ids: bool,
    format: CellFormat,
}

impl<'a> NotebookText<'a> {
    fn of(text: &'a str) -> Result<Self, NotebookError> {
        let NotebookRoot { object, cells, .. } = NotebookRoot::of(text)?;
        let minor = field(object, "nbformat_minor").and_then(|it| it.parse::<u32>().ok());
        let mut first_field = 0;
        each_field(object, &mut |_, value| {
            first_field = span(text, value).start;
            ControlFlow::Break(())
        });
        let first_cell = item(cells, 0).map(|it| span(text, it).start);
        let format = CellFormat::of(text, first_field, first_cell);
        Ok(Self { text, cells, has_ids: minor.is_some_and(|it| it >= 5), format })
    }

    /// The range between the brackets of the array of cells.
    fn inside(&self) -> Range<usize> {
        let array = span(self.text, self.cells);
        array.start + 1..array.end - 1
    }

    fn cell(&self, index: usize) -> Option<&'a str> {
        item(self.cells, index)
    }

    fn range(&self, index: usize) -> Option<Range<usize>> {
        self.cell(index).map(|it| span(self.text, it))
    }

    fn each_id(&self, each: &mut dyn FnMut(usize, &str)) {
        let mut index = 0;
        each_item(self.cells, &mut |cell| {
            each(index, &id_of(index, cell));
            index += 1;
            ControlFlow::Continue(())
        });
    }

    /// The position of the cell with this id, or with the name `cell-N`.
    fn find(&self, id: &str) -> Result<usize, NotebookEditError> {
        let mut named = Vec::new();
        let mut known = Vec::new();
        let mut count = 0;
        self.each_id(&mut |index, it| {
            if it == id && named.len() < SHOWN_IDS {
                named.push(index);
            }
            if known.len() < SHOWN_IDS {
                known.push(format!("`{}`", shortened(it, SHOWN_ID)));
            }
            count = index + 1;
        });
        let shown = || shortened(id, SHOWN_ID).into_owned();
        match *named.as_slice() {
            [index] => Ok(index),
            [] => by_position(id, count).ok_or_else(|| {
                match count.checked_sub(SHOWN_IDS) {
                    Some(more) if more > 0 => known.push(format!("and {more} more")),
                    _ if count == 0 => known.push("no cells".to_owned()),
                    _ => {}
                }
                NotebookEditError::UnknownCell { id: shown(), known: known.join(", ") }
            }),
            _ => {
                let positions: Vec<String> =
                    named.iter().map(|it| format!("`cell-{it}`")).collect();
                let positions = positions.join(", ");
                Err(NotebookEditError::AmbiguousCell { id: shown(), positions })
            }
        }
    }

    /// An id that no cell has. It is a hash, so that the same edit always gives the same id.
    fn fresh_id(&self, source: &str) -> String {
        let mut salt = 0_u32;
        loop {
            let mut hasher = blake3::Hasher::new();
            hasher.update(salt.to_string().as_bytes());
            self.each_id(&mut |_, it| {
                hasher.update(b" ").update(it.as_bytes());
            });
            hasher.update(b" ").update(source.as_bytes());
            let id: String = hasher.finalize().to_hex().chars().take(8).collect();
            let mut is_taken = false;
            self.each_id(&mut |_, it| is_taken |= it == id);
            if !is_taken {
                return id;
            }
            salt += 1;
        }
    }

    fn replace(
        &self,
        index: usize,
        source: &str,
        kind: Option<CellKind>,
    ) -> Result<Vec<Splice>, NotebookError> {
        let cell = self.cell(index).unwrap_or_default();
        let part = |name: &str| field(cell, name);
        let old_kind = kind_of(cell).map(Cow::into_owned);
        let new_kind =
            kind.map_or_else(|| old_kind.clone().unwrap_or_default(), |it| it.name().to_owned());
        if let (Some(old), true) = (part("source"), old_kind.as_ref() == Some(&new_kind)) {
            let place = |part: &str| span(self.text, part);
            let mut splices = vec![(place(old), self.format.source(source, !old.starts_with('"')))];
            if new_kind == "code" {
                // The outputs are those of the old source.
                splices.extend(part("outputs").map(|it| (place(it), "[]".to_owned())));
                splices.extend(part("execution_count").map(|it| (place(it), "null".to_owned())));
            }
            return Ok(splices);
        }
        let mut rebuilt = BTreeMap::new();
        each_field(cell, &mut |name, value| {
            if !matches!(name, "cell_type" | "source" | "outputs" | "execution_count") {
                rebuilt.insert(name.to_owned(), value);
            }
            if rebuilt.len() > MAX_FIELDS {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        });
        if rebuilt.len() > MAX_FIELDS {
            let what = format!("cell `{index}` has more than {MAX_FIELDS} fields");
            return Err(NotebookError::NotANotebook(what));
        }
        let kept = rebuilt.into_iter().map(|(name, value)| (name, value.to_owned()));
        let fields =
            kept.chain(required_fields(&new_kind, self.format.source(source, true))).collect();
        Ok(vec![(span(self.text, cell), self.format.cell(fields))])
    }

    fn insert(&self, index: usize, source: &str, kind: CellKind, id: Option<&str>) -> Splice {
        let mut fields = required_fields(kind.name(), self.format.source(source, true));
        fields.push(("metadata".to_owned(), "{}".to_owned()));
        fields.extend(id.map(|id| ("id".to_owned(), json!(id).to_string())));
        let cell = self.format.cell(fields);
        let (newline, indent) = (self.format.newline, &self.format.cell_indent);
        match index.checked_sub(1).and_then(|before| self.range(before)) {
            Some(before) => (before.end..before.end, format!(",{newline}{indent}{cell}")),
            None => match self.range(0) {
                Some(first) => (first.start..first.start, format!("{cell},{newline}{indent}")),
                // The first cell of an empty array is written on its own lines.
                None => {
                    (self.inside(), format!("{newline}{indent}{cell}{newline}{}", self.format.step))
                }
            },
        }
    }

    /// The range of a cell with the comma before or after it.
    fn removal(&self, index: usize) -> Range<usize> {
        let cell = self.range(index).unwrap_or_default();
        match (self.range(index + 1), index.checked_sub(1).and_then(|it| self.range(it))) {
            (Some(next), _) => cell.start..next.start,
            (None, Some(before)) => before.end..cell.end,
            (None, None) => self.inside(),
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use pretty_assertions::assert_eq;
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    const NOTEBOOK: &str = r##"{
 "cells": [
  {
   "cell_type": "markdown",
   "id": "c-md",
   "metadata": {},
   "source": [
    "# Head\n",
    "text"
   ]
  },
  {
   "cell_type": "code",
   "execution_count": 1,
   "id": "c-code",
   "metadata": {"x":   [1,2]},
   "outputs": [
    {
     "name": "stdout",
     "output_type": "stream",
     "text": [
      "1\n"
     ]
    }
   ],
   "source": [
    "print(1)"
   ]
  }
 ],
 "metadata": {"unknown":   {"b": 1, "a": 2}},
 "nbformat": 4,
 "nbformat_minor": 5
}
"##;

    /// Like [`EditedNotebook`], with the whole new text.
    #[derive(Debug)]
    struct Edited {
        text: String,
        cell_id: String,
        index: usize,
    }

    fn edit_notebook(text: &str, edit: &CellEdit) -> Result<Edited, NotebookEditError> {
        let EditedNotebook { splices, cell_id, index } = super::edit_notebook(text, edit)?;
        Ok(Edited { text: spliced(text, &splices), cell_id, index })
    }

    fn spliced(text: &str, splices: &[Splice]) -> String {
        let mut result = String::with_capacity(text.len());
        let mut at = 0;
        for (range, new) in splices {
            result.push_str(text.get(at..range.start).unwrap_or_default());
            result.push_str(new);
            at = range.end;
        }
        result.push_str(text.get(at..).unwrap_or_default());
        result
    }

    fn replace(id: &str, source: &str, kind: Option<CellKind>) -> CellEdit {
        CellEdit::Replace { id: id.to_owned(), source: source.to_owned(), kind }
    }

    #[test]
    fn a_new_source_replaces_the_old_one_and_clears_its_outputs() {
        let edited = edit_notebook(NOTEBOOK, &replace("c-code", "a\nb", None)).unwrap();
        let outputs = NOTEBOOK.find("[\n    {\n     \"name\"").unwrap();
        let expected = format!(
            "{}[],\n   \"source\": [\n    \"a\\n\",\n    \"b\"\n   ]\n  }}\n ],{}",
            NOTEBOOK
                .get(..outputs)
                .unwrap()
                .replace("\"execution_count\": 1", "\"execution_count\": null"),
            NOTEBOOK.split("\n ],").nth(1).unwrap(),
        );
        assert_eq!(edited.text, expected);
        assert_eq!((edited.cell_id.as_str(), edited.index), ("c-code", 1));
    }

    #[test]
    fn a_cell_that_is_inserted_and_deleted_again_leaves_every_byte_as_it_was() {
        for (after, index) in [(None, 0), (Some("c-md"), 1), (Some("c-code"), 2)] {
            let insert = CellEdit::Insert {
                after: after.map(str::to_owned),
                source: "x = 1\n".to_owned(),
                kind: CellKind::Code,
            };
            let edited = edit_notebook(NOTEBOOK, &insert).unwrap();
            assert_eq!(edited.index, index);
            let cells = read_notebook(&edited.text).unwrap().cells;
            assert_eq!(cells.get(index).unwrap().source, "x = 1\n");
            assert_eq!(cells.get(index).unwrap().id, edited.cell_id);
            let delete = CellEdit::Delete { id: edited.cell_id };
            assert_eq!(edit_notebook(&edited.text, &delete).unwrap().text, NOTEBOOK);
        }
    }

    #[test]
    fn a_new_kind_keeps_id_and_metadata_and_drops_other_fields() {
        let edited =
            edit_notebook(NOTEBOOK, &replace("c-code", "text", Some(CellKind::Markdown))).unwrap();
        let root: Value = serde_json::from_str(&edited.text).unwrap();
        assert_eq!(
            root.pointer("/cells/1").unwrap(),
            &json!({ "cell_type": "markdown", "id": "c-code", "metadata": { "x": [1, 2] }, "source": ["text"] })
        );
    }

    #[test]
    fn an_escaped_cell_type_is_decoded() {
        let spelled = NOTEBOOK.replace(r#""code""#, r#""c\u006fde""#);
        assert_ne!(spelled, NOTEBOOK);
        let edited = edit_notebook(&spelled, &replace("c-code", "a", None)).unwrap().text;
        assert!(edited.contains(r#""outputs": []"#), "{edited}");
        assert!(edited.contains(r#""execution_count": null"#), "{edited}");
        assert!(edited.contains(r#""cell_type": "c\u006fde""#), "{edited}");
        let kinds: Vec<_> =
            read_notebook(&spelled).unwrap().cells.iter().map(|it| it.kind).collect();
        assert_eq!(kinds, [CellKind::Markdown, CellKind::Code]);
        // The same applies to the names of fields.
        let spelled = NOTEBOOK.replace(r#""cell_type""#, r#""cell\u005ftype""#);
        let edited = edit_notebook(&spelled, &replace("c-code", "a", None)).unwrap().text;
        assert!(edited.contains(r#""outputs": []"#), "{edited}");
    }

    #[test]
    fn notebooks_without_ids_or_lines_or_cells_work() {
        let compact = r#"{"nbformat":4,"nbformat_minor":2,"metadata":{},"cells":[]}"#;
        let insert =
            CellEdit::Insert { after: None, source: "a".to_owned(), kind: CellKind::Markdown };
        let edited = edit_notebook(compact, &insert).unwrap();
        assert_eq!(
            edited.text,
            r#"{"nbformat":4,"nbformat_minor":2,"metadata":{},"cells":[{"cell_type":"markdown","metadata":{},"source":["a"]}]}"#
        );
        let edited = edit_notebook(&edited.text, &replace("cell-0", "b", None)).unwrap();
        assert!(edited.text.contains(r#""source":["b"]"#), "{}", edited.text);
        let delete = CellEdit::Delete { id: "cell-0".to_owned() };
        assert_eq!(edit_notebook(&edited.text, &delete).unwrap().text, compact);
    }

    #[test]
    fn the_error_for_an_unknown_cell_lists_the_ids() {
        let error = edit_notebook(NOTEBOOK, &replace("nope", "", None)).unwrap_err();
        assert_eq!(error.to_string(), "no cell has the id `nope`; there are `c-md`, `c-code`");
    }

    #[test]
    fn an_id_that_two_cells_have_is_refused_and_a_position_is_a_plain_number() {
        let doubled = NOTEBOOK.replace("c-md", "c-code");
        let error = edit_notebook(&doubled, &replace("c-code", "", None)).unwrap_err();
        assert_eq!(
            error.to_string(),
            "several cells have the id `c-code`; name one by its position: `cell-0`, `cell-1`"
        );
        assert_eq!(edit_notebook(&doubled, &replace("cell-1", "", None)).unwrap().index, 1);
        assert!(edit_notebook(NOTEBOOK, &replace("cell-+1", "", None)).is_err());
    }

    proptest! {
        #[test]
        fn any_source_is_read_back_unchanged(source in "\\PC{0,20}(\n\\PC{0,10}){0,3}\n?") {
            let edited = edit_notebook(NOTEBOOK, &replace("c-md", &source, None)).unwrap();
            let cells = read_notebook(&edited.text).unwrap().cells;
            prop_assert_eq!(&cells.first().unwrap().source, &source);
            prop_assert_eq!(cells.len(), 2);
        }
    }
}
