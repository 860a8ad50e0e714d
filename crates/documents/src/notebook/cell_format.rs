//! The formatting of a notebook's JSON, so that new cells look like the others.

use serde_json::json;

/// The line breaks and the indentation of a notebook.
pub(super) struct CellFormat {
    /// The line ending; empty if the whole notebook is on one line.
    pub(super) newline: &'static str,
    /// The indentation of a cell.
    pub(super) cell_indent: String,
    /// One level of indentation.
    pub(super) step: String,
}

impl CellFormat {
    /// The format of `text`, where the first field of the notebook and its first cell, if there is
    /// one, begin at these positions.
    pub(super) fn of(text: &str, first_field: usize, first_cell: Option<usize>) -> Self {
        let step = indent_of_line_at(text, first_field).unwrap_or_default();
        let cell_indent = match first_cell {
            Some(cell) => indent_before(text, cell),
            None => (!step.is_empty()).then(|| step.repeat(2)),
        };
        let newline = match cell_indent {
            Some(_) if text.contains("\r\n") => "\r\n",
            Some(_) => "\n",
            None => "",
        };
        Self { newline, cell_indent: cell_indent.unwrap_or_default(), step }
    }

    /// A cell with these fields, sorted by name as Jupyter does.
    pub(super) fn cell(&self, mut fields: Vec<(String, String)>) -> String {
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

    /// The `source` of a cell: a list of lines, as Jupyter writes it, or a single string if the file
    /// has one.
    pub(super) fn source(&self, source: &str, as_lines: bool) -> String {
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

/// The fields that every cell of this kind has.
pub(super) fn required_fields(kind: &str, source: String) -> Vec<(String, String)> {
    let mut fields = vec![("cell_type", json!(kind).to_string()), ("source", source)];
    if kind == "code" {
        fields.push(("outputs", "[]".to_owned()));
        fields.push(("execution_count", "null".to_owned()));
    }
    fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// The white space between the last line break and a position. `None` if there is anything else.
fn indent_before(text: &str, position: usize) -> Option<String> {
    let before = text.get(..position)?;
    let line = before.get(before.rfind('\n')? + 1..)?;
    line.bytes().all(|it| it == b' ' || it == b'\t').then(|| line.to_owned())
}

/// The indentation of the line at a position.
fn indent_of_line_at(text: &str, position: usize) -> Option<String> {
    let before = text.get(..position)?;
    let line = before.get(before.rfind('\n')? + 1..)?;
    Some(line.chars().take_while(|it| matches!(it, ' ' | '\t')).collect())
}
