//! Changes one cell of a notebook's text: what is not part of the change keeps its bytes, formatting
//! and unknown fields included.

use std::{
    borrow::Cow,
    collections::BTreeMap,
    ops::{ControlFlow, Range},
};

use serde_json::json;

use super::{
    CellKind, MAX_NOTEBOOK_BYTES, NotebookError,
    read::{Root, id_of, kind_of},
    read_notebook,
    scan::{each_field, each_item, field, span},
    shortened,
};

/// As many ids are told of.
const SHOWN_IDS: usize = 20;
/// As many fields a cell of another kind may take over.
const MAX_FIELDS: usize = 10_000;

/// What is to be done to a notebook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CellEdit {
    /// Gives a cell a new source, and a new kind where one is named.
    Replace {
        /// Which cell.
        id: String,
        /// Its new text.
        source: String,
        /// Its new kind.
        kind: Option<CellKind>,
    },
    /// Adds a cell.
    Insert {
        /// The cell it comes after; without one it comes first.
        after: Option<String>,
        /// Its text.
        source: String,
        /// Its kind.
        kind: CellKind,
    },
    /// Removes a cell.
    Delete {
        /// Which cell.
        id: String,
    },
}

/// A notebook after a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditedNotebook {
    /// What of the old text is replaced by what.
    pub splices: Vec<Splice>,
    /// The id of the cell that was changed, added or removed.
    pub cell_id: String,
    /// Its position, from 0.
    pub index: usize,
}

/// Why a notebook could not be changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotebookEditError {
    /// The text is no notebook.
    #[error("{0}")]
    Unreadable(#[from] NotebookError),
    /// The text is too long to be taken apart.
    #[error(
        "the notebook has {0} bytes, and those of at most {MAX_NOTEBOOK_BYTES} bytes can be edited; clear its outputs with `jupyter nbconvert --clear-output --inplace`"
    )]
    TooLarge(usize),
    /// No cell has the id.
    #[error("no cell has the id `{id}`; there are {known}")]
    UnknownCell {
        /// The id as it came.
        id: String,
        /// The ids there are.
        known: String,
    },
    /// Several cells have the id.
    #[error("several cells have the id `{id}`; name one by its position: {positions}")]
    AmbiguousCell {
        /// The id as it came.
        id: String,
        /// Their names by position.
        positions: String,
    },
}

/// Applies one change to the text of an `.ipynb` file.
pub fn edit_notebook(text: &str, edit: &CellEdit) -> Result<EditedNotebook, NotebookEditError> {
    if text.len() > MAX_NOTEBOOK_BYTES {
        return Err(NotebookEditError::TooLarge(text.len()));
    }
    // Says in the same words as reading what is wrong with the file.
    read_notebook(text)?;
    let layout = Layout::of(text)?;
    let find = |id: &str| layout.find(id);
    let (mut splices, cell_id, index) = match edit {
        CellEdit::Replace { id, source, kind } => {
            let index = find(id)?;
            (layout.replace(index, source, *kind)?, id.clone(), index)
        }
        CellEdit::Insert { after, source, kind } => {
            let index = after.as_deref().map(find).transpose()?.map_or(0, |it| it + 1);
            let new_id = layout.has_ids.then(|| layout.fresh_id(source));
            let splice = layout.insert(index, source, *kind, new_id.as_deref());
            (vec![splice], new_id.unwrap_or_else(|| format!("cell-{index}")), index)
        }
        CellEdit::Delete { id } => {
            let index = find(id)?;
            (vec![(layout.removal(index), String::new())], id.clone(), index)
        }
    };
    splices.sort_by_key(|(range, _)| range.start);
    Ok(EditedNotebook { splices, cell_id, index })
}

/// The cell that `cell-N` names, counted from 0.
fn by_position(id: &str, count: usize) -> Option<usize> {
    let digits = id.strip_prefix("cell-").filter(|it| it.bytes().all(|it| it.is_ascii_digit()))?;
    digits.parse().ok().filter(|it| *it < count)
}

/// A part of the text, and what takes its place.
pub type Splice = (Range<usize>, String);

/// Where things stand in the text, and how it is laid out.
struct Layout<'a> {
    text: &'a str,
    /// The array of cells.
    cells: &'a str,
    has_ids: bool,
    /// How lines end; empty for a notebook on one line.
    newline: &'static str,
    /// The blanks before a cell.
    cell_indent: String,
    /// One step of indentation.
    step: String,
}

impl<'a> Layout<'a> {
    fn of(text: &'a str) -> Result<Self, NotebookError> {
        let Root { object, cells, .. } = Root::of(text)?;
        let minor = field(object, "nbformat_minor").and_then(|it| it.parse::<u32>().ok());
        let mut first_field = 0;
        each_field(object, &mut |_, value| {
            first_field = span(text, value).start;
            ControlFlow::Break(())
        });
        let step = indent_before_line_of(text, first_field).unwrap_or_default();
        let mut layout = Self {
            text,
            cells,
            has_ids: minor.is_some_and(|it| it >= 5),
            newline: "",
            cell_indent: String::new(),
            step,
        };
        let cell_indent = match layout.cell(0) {
            Some(first) => indent_before(text, span(text, first).start),
            None => (!layout.step.is_empty()).then(|| layout.step.repeat(2)),
        };
        if let Some(indent) = cell_indent {
            layout.newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
            layout.cell_indent = indent;
        }
        Ok(layout)
    }

    /// The inside of the array of cells, without its brackets.
    fn inside(&self) -> Range<usize> {
        let array = span(self.text, self.cells);
        array.start + 1..array.end - 1
    }

    fn cell(&self, index: usize) -> Option<&'a str> {
        let mut found = None;
        let mut at = 0;
        each_item(self.cells, &mut |cell| {
            if at == index {
                found = Some(cell);
                return ControlFlow::Break(());
            }
            at += 1;
            ControlFlow::Continue(())
        });
        found
    }

    fn place(&self, index: usize) -> Option<Range<usize>> {
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

    /// The cell of an id, or of a position.
    fn find(&self, id: &str) -> Result<usize, NotebookEditError> {
        let mut named = Vec::new();
        let mut known = Vec::new();
        let mut count = 0;
        self.each_id(&mut |index, it| {
            if it == id && named.len() < SHOWN_IDS {
                named.push(index);
            }
            if known.len() < SHOWN_IDS {
                known.push(format!("`{}`", shortened(it)));
            }
            count = index + 1;
        });
        let shown = || id.chars().take(64).collect();
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

    /// An id that no cell has, the same for the same change.
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
            let mut splices = vec![(place(old), self.source(source, !old.starts_with('"')))];
            if new_kind == "code" {
                // What a cell once printed is not what its new source prints.
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
        let fields = kept.chain(own_fields(&new_kind, self.source(source, true))).collect();
        Ok(vec![(span(self.text, cell), self.object(fields))])
    }

    fn insert(&self, index: usize, source: &str, kind: CellKind, id: Option<&str>) -> Splice {
        let mut fields = own_fields(kind.name(), self.source(source, true));
        fields.push(("metadata".to_owned(), "{}".to_owned()));
        fields.extend(id.map(|id| ("id".to_owned(), json!(id).to_string())));
        let cell = self.object(fields);
        let (newline, indent) = (self.newline, &self.cell_indent);
        match index.checked_sub(1).and_then(|before| self.place(before)) {
            Some(before) => (before.end..before.end, format!(",{newline}{indent}{cell}")),
            None => match self.place(0) {
                Some(first) => (first.start..first.start, format!("{cell},{newline}{indent}")),
                // An array without cells is written on one line; it gets lines of its own.
                None => (self.inside(), format!("{newline}{indent}{cell}{newline}{}", self.step)),
            },
        }
    }

    /// The cell with the comma that belongs to it.
    fn removal(&self, index: usize) -> Range<usize> {
        let cell = self.place(index).unwrap_or_default();
        match (self.place(index + 1), index.checked_sub(1).and_then(|it| self.place(it))) {
            (Some(next), _) => cell.start..next.start,
            (None, Some(before)) => before.end..cell.end,
            (None, None) => self.inside(),
        }
    }

    /// An object laid out as the cells of this notebook are, fields by name as Jupyter writes them.
    fn object(&self, mut fields: Vec<(String, String)>) -> String {
        fields.sort();
        let (newline, step) = (self.newline, &self.step);
        let indent = format!("{}{step}", self.cell_indent);
        let colon = if newline.is_empty() { ":" } else { ": " };
        let between =
            if newline.is_empty() { ",".to_owned() } else { format!(",{newline}{indent}") };
        let fields: Vec<String> = fields
            .into_iter()
            .map(|(name, value)| format!("{}{colon}{value}", json!(name)))
            .collect();
        if newline.is_empty() {
            return format!("{{{}}}", fields.join(&between));
        }
        format!("{{{newline}{indent}{}{newline}{}}}", fields.join(&between), self.cell_indent)
    }

    /// A source as Jupyter writes it: a list of lines, or one string where the file has one.
    fn source(&self, source: &str, as_lines: bool) -> String {
        if !as_lines {
            return json!(source).to_string();
        }
        let lines: Vec<String> =
            source.split_inclusive('\n').map(|it| json!(it).to_string()).collect();
        if lines.is_empty() || self.newline.is_empty() {
            return format!("[{}]", lines.join(","));
        }
        let indent = format!("{}{}", self.newline, self.cell_indent);
        let step = &self.step;
        format!(
            "[{indent}{step}{step}{}{indent}{step}]",
            lines.join(&format!(",{indent}{step}{step}"))
        )
    }
}

/// The fields that a cell of a kind has to have.
fn own_fields(kind: &str, source: String) -> Vec<(String, String)> {
    let mut fields = vec![("cell_type", json!(kind).to_string()), ("source", source)];
    if kind == "code" {
        fields.push(("outputs", "[]".to_owned()));
        fields.push(("execution_count", "null".to_owned()));
    }
    fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// The blanks between the last line break and a place, if there is nothing else between.
fn indent_before(text: &str, place: usize) -> Option<String> {
    let before = text.get(..place)?;
    let line = before.get(before.rfind('\n')? + 1..)?;
    line.bytes().all(|it| it == b' ' || it == b'\t').then(|| line.to_owned())
}

/// The blanks at the beginning of the line that a place stands in.
fn indent_before_line_of(text: &str, place: usize) -> Option<String> {
    let before = text.get(..place)?;
    let line = before.get(before.rfind('\n')? + 1..)?;
    Some(line.chars().take_while(|it| matches!(it, ' ' | '\t')).collect())
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

    /// A notebook after a change, as a text.
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
    fn a_new_source_replaces_the_old_one_and_clears_what_it_printed() {
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
    fn a_new_kind_keeps_id_and_metadata_and_drops_what_the_kind_has_not() {
        let edited =
            edit_notebook(NOTEBOOK, &replace("c-code", "text", Some(CellKind::Markdown))).unwrap();
        let root: Value = serde_json::from_str(&edited.text).unwrap();
        assert_eq!(
            root.pointer("/cells/1").unwrap(),
            &json!({ "cell_type": "markdown", "id": "c-code", "metadata": { "x": [1, 2] }, "source": ["text"] })
        );
    }

    #[test]
    fn the_kind_of_a_cell_is_what_its_text_says_however_it_is_written() {
        let spelled = NOTEBOOK.replace(r#""code""#, r#""c\u006fde""#);
        assert_ne!(spelled, NOTEBOOK);
        let edited = edit_notebook(&spelled, &replace("c-code", "a", None)).unwrap().text;
        assert!(edited.contains(r#""outputs": []"#), "{edited}");
        assert!(edited.contains(r#""execution_count": null"#), "{edited}");
        assert!(edited.contains(r#""cell_type": "c\u006fde""#), "{edited}");
        let kinds: Vec<_> =
            read_notebook(&spelled).unwrap().cells.iter().map(|it| it.kind).collect();
        assert_eq!(kinds, [CellKind::Markdown, CellKind::Code]);
        // The names of fields as well.
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
    fn an_unknown_cell_is_refused_with_the_ids_there_are() {
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
        fn any_source_comes_back_as_it_was_given(source in "\\PC{0,20}(\n\\PC{0,10}){0,3}\n?") {
            let edited = edit_notebook(NOTEBOOK, &replace("c-md", &source, None)).unwrap();
            let cells = read_notebook(&edited.text).unwrap().cells;
            prop_assert_eq!(&cells.first().unwrap().source, &source);
            prop_assert_eq!(cells.len(), 2);
        }
    }
}
