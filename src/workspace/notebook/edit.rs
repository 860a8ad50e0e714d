//! Changes one cell of a notebook's text: what is not part of the change keeps its bytes, formatting
//! and unknown fields included.

use std::{collections::HashMap, ops::Range};

use serde_json::{json, value::RawValue};

use super::{CellKind, NotebookError, read_notebook};

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
    /// The whole text.
    pub text: String,
    /// What of the old text was replaced by what.
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
    // Says in the same words as reading what is wrong with the file.
    let ids: Vec<String> = read_notebook(text)?.cells.into_iter().map(|cell| cell.id).collect();
    let layout = Layout::of(text)?;
    let find = |id: &str| {
        let mut named = ids.iter().enumerate().filter(|(_, it)| *it == id).map(|(index, _)| index);
        match (named.next(), named.next()) {
            (Some(index), None) => Ok(index),
            (Some(_), Some(_)) => Err(NotebookEditError::AmbiguousCell {
                id: id.chars().take(64).collect(),
                positions: position_names(id, &ids),
            }),
            (None, _) => by_position(id, ids.len()).ok_or_else(|| unknown(id, &ids)),
        }
    };
    let (mut splices, cell_id, index) = match edit {
        CellEdit::Replace { id, source, kind } => {
            let index = find(id)?;
            (layout.replace(index, source, *kind)?, id.clone(), index)
        }
        CellEdit::Insert { after, source, kind } => {
            let index = after.as_deref().map(find).transpose()?.map_or(0, |it| it + 1);
            let new_id = layout.has_ids.then(|| fresh_id(source, &ids));
            let splice = layout.insert(index, source, *kind, new_id.as_deref());
            (vec![splice], new_id.unwrap_or_else(|| format!("cell-{index}")), index)
        }
        CellEdit::Delete { id } => {
            let index = find(id)?;
            (vec![(layout.removal(index), String::new())], id.clone(), index)
        }
    };
    splices.sort_by_key(|(range, _)| range.start);
    Ok(EditedNotebook { text: spliced(text, &splices), splices, cell_id, index })
}

/// The cell that `cell-N` names, counted from 0.
fn by_position(id: &str, count: usize) -> Option<usize> {
    let digits = id.strip_prefix("cell-").filter(|it| it.bytes().all(|it| it.is_ascii_digit()))?;
    digits.parse().ok().filter(|it| *it < count)
}

fn position_names(id: &str, ids: &[String]) -> String {
    let positions = ids.iter().enumerate().filter(|(_, it)| *it == id);
    let names: Vec<String> =
        positions.take(20).map(|(index, _)| format!("`cell-{index}`")).collect();
    names.join(", ")
}

fn unknown(id: &str, ids: &[String]) -> NotebookEditError {
    let mut known: Vec<String> = ids.iter().take(20).map(|it| format!("`{it}`")).collect();
    match ids.len().checked_sub(20) {
        Some(more) if more > 0 => known.push(format!("and {more} more")),
        _ if ids.is_empty() => known.push("no cells".to_owned()),
        _ => {}
    }
    NotebookEditError::UnknownCell { id: id.chars().take(64).collect(), known: known.join(", ") }
}

/// An id that no cell has, the same for the same change.
fn fresh_id(source: &str, ids: &[String]) -> String {
    let mut salt = 0_u32;
    loop {
        let hash = blake3::hash(format!("{salt} {} {source}", ids.join(" ")).as_bytes()).to_hex();
        let id: String = hash.chars().take(8).collect();
        if !ids.contains(&id) {
            return id;
        }
        salt += 1;
    }
}

/// A part of the text, and what takes its place.
pub type Splice = (Range<usize>, String);

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

/// Where things stand in the text, and how it is laid out.
struct Layout<'a> {
    text: &'a str,
    cells: Vec<Range<usize>>,
    /// The inside of the `cells` array, without its brackets.
    inside: Range<usize>,
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
        let root = fields(text, text)?;
        let missing = || NotebookError::NotANotebook("it has no `cells`".to_owned());
        let array = root.iter().find(|(name, _)| name == "cells").map(|(_, it)| it.clone());
        let array = array.ok_or_else(missing)?;
        let raw: Vec<&RawValue> = serde_json::from_str(text.get(array.clone()).unwrap_or_default())
            .map_err(|err| NotebookError::Json(err.to_string()))?;
        let cells: Vec<Range<usize>> = raw.into_iter().map(|it| span(text, it)).collect();
        let minor = root.iter().find(|(name, _)| name == "nbformat_minor");
        let minor = minor.and_then(|(_, it)| text.get(it.clone())?.trim().parse::<u32>().ok());
        let first_field = root.first().map_or(0, |(_, it)| it.start);
        let step = indent_before_line_of(text, first_field).unwrap_or_default();
        let cell_indent = match cells.first() {
            Some(first) => indent_before(text, first.start),
            None => (!step.is_empty()).then(|| step.repeat(2)),
        };
        let newline = match cell_indent {
            None => "",
            Some(_) if text.contains("\r\n") => "\r\n",
            Some(_) => "\n",
        };
        Ok(Self {
            text,
            inside: array.start + 1..array.end - 1,
            has_ids: minor.is_some_and(|it| it >= 5),
            newline,
            cell_indent: cell_indent.unwrap_or_default(),
            step,
            cells,
        })
    }

    fn cell(&self, index: usize) -> Range<usize> {
        self.cells.get(index).cloned().unwrap_or_default()
    }

    fn replace(
        &self,
        index: usize,
        source: &str,
        kind: Option<CellKind>,
    ) -> Result<Vec<Splice>, NotebookError> {
        let cell = self.cell(index);
        let fields = fields(self.text, self.text.get(cell.clone()).unwrap_or_default())?;
        let field = |name: &str| fields.iter().find(|(it, _)| it == name).map(|(_, it)| it.clone());
        let raw = |range: &Range<usize>| self.text.get(range.clone()).unwrap_or_default();
        let old_kind = field("cell_type").map(|it| raw(&it).trim_matches('"').to_owned());
        let new_kind =
            kind.map_or_else(|| old_kind.clone().unwrap_or_default(), |it| it.name().to_owned());
        if let (Some(place), true) = (field("source"), old_kind.as_ref() == Some(&new_kind)) {
            let mut splices =
                vec![(place.clone(), self.source(source, !raw(&place).starts_with('"')))];
            if new_kind == "code" {
                // What a cell once printed is not what its new source prints.
                splices.extend(field("outputs").map(|it| (it, "[]".to_owned())));
                splices.extend(field("execution_count").map(|it| (it, "null".to_owned())));
            }
            return Ok(splices);
        }
        let mut rebuilt: Vec<(String, String)> = fields
            .iter()
            .filter(|(name, _)| {
                !matches!(name.as_str(), "cell_type" | "source" | "outputs" | "execution_count")
            })
            .map(|(name, range)| (name.clone(), raw(range).to_owned()))
            .collect();
        rebuilt.extend(own_fields(&new_kind, self.source(source, true)));
        Ok(vec![(cell, self.object(rebuilt))])
    }

    fn insert(&self, index: usize, source: &str, kind: CellKind, id: Option<&str>) -> Splice {
        let mut fields = own_fields(kind.name(), self.source(source, true));
        fields.push(("metadata".to_owned(), "{}".to_owned()));
        fields.extend(id.map(|id| ("id".to_owned(), json!(id).to_string())));
        let cell = self.object(fields);
        let (newline, indent) = (self.newline, &self.cell_indent);
        match index.checked_sub(1).and_then(|before| self.cells.get(before)) {
            Some(before) => (before.end..before.end, format!(",{newline}{indent}{cell}")),
            None => match self.cells.first() {
                Some(first) => (first.start..first.start, format!("{cell},{newline}{indent}")),
                // An array without cells is written on one line; it gets lines of its own.
                None => {
                    (self.inside.clone(), format!("{newline}{indent}{cell}{newline}{}", self.step))
                }
            },
        }
    }

    /// The cell with the comma that belongs to it.
    fn removal(&self, index: usize) -> Range<usize> {
        let cell = self.cell(index);
        match (self.cells.get(index + 1), index.checked_sub(1).and_then(|it| self.cells.get(it))) {
            (Some(next), _) => cell.start..next.start,
            (None, Some(before)) => before.end..cell.end,
            (None, None) => self.inside.clone(),
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

/// The fields of an object, in the order they stand, with where their values stand in the whole text.
fn fields(text: &str, object: &str) -> Result<Vec<(String, Range<usize>)>, NotebookError> {
    let raw: HashMap<String, &RawValue> =
        serde_json::from_str(object).map_err(|err| NotebookError::Json(err.to_string()))?;
    let mut fields: Vec<_> = raw.into_iter().map(|(name, it)| (name, span(text, it))).collect();
    fields.sort_by_key(|(_, range)| range.start);
    Ok(fields)
}

/// Where a value that was read from the text stands in it.
fn span(text: &str, raw: &RawValue) -> Range<usize> {
    let start = (raw.get().as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
    start..start + raw.get().len()
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
